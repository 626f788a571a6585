//! Who is asking, and people and teams as other entities name them.

use serde::Deserialize;

use super::error::Error;
use super::lenient::{field, id, optional_id};
use super::{Client, region};

/// The user a token belongs to.
#[derive(Debug, Clone, Deserialize)]
pub struct User {
    /// The numeric id, as text.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The full name.
    #[serde(default, deserialize_with = "field")]
    pub name: Option<String>,
    /// The address.
    #[serde(default, deserialize_with = "field")]
    pub email: Option<String>,
}

/// A person or team that owns or made something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actor {
    /// `user` or `team`.
    pub kind: Option<String>,
    /// The numeric id, as text.
    pub id: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The address of a person.
    pub email: Option<String>,
    /// The account's name of a person.
    pub username: Option<String>,
}

impl Actor {
    /// What to call them: name, address, account or, failing all, `team:7`.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        let known = [&self.name, &self.email, &self.username];
        let named = known.into_iter().flatten().find(|it| !it.is_empty()).cloned();
        named.or_else(|| match (&self.kind, &self.id) {
            (Some(kind), Some(id)) => Some(format!("{kind}:{id}")),
            (None, Some(id)) => Some(id.clone()),
            (_, None) => None,
        })
    }
}

/// Sentry writes an actor as an object or, in rules, as `team:7`.
impl<'de> Deserialize<'de> for Actor {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Object(Fields),
        }
        #[derive(Deserialize)]
        struct Fields {
            #[serde(default, rename = "type", deserialize_with = "field")]
            kind: Option<String>,
            #[serde(default, deserialize_with = "optional_id")]
            id: Option<String>,
            #[serde(default, deserialize_with = "field")]
            name: Option<String>,
            #[serde(default, deserialize_with = "field")]
            email: Option<String>,
            #[serde(default, deserialize_with = "field")]
            username: Option<String>,
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Text(text) => match text.split_once(':') {
                Some((kind, id)) => {
                    let (kind, id) = (Some(kind.to_owned()), Some(id.to_owned()));
                    Self { kind, id, ..Self::default() }
                }
                None => Self { name: Some(text), ..Self::default() },
            },
            Written::Object(Fields { kind, id, name, email, username }) => {
                Self { kind, id, name, email, username }
            }
        })
    }
}

impl Client {
    /// Returns the user the token belongs to; regions do not know, so the control host is asked.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn authenticated_user(&self) -> Result<User, Error> {
        let control = region::control(self.base_url()).and_then(|host| self.at(&host).ok());
        control.as_ref().unwrap_or(self).get("/api/0/auth/").entity().await
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json};
    use super::*;

    fn label(text: &str) -> Option<String> {
        serde_json::from_str::<Actor>(text).unwrap().label()
    }

    #[test]
    fn an_actor_is_called_by_the_best_that_is_known() {
        for (written, expected) in [
            (r#"{"type":"team","id":7,"name":"dock-oncall"}"#, Some("dock-oncall")),
            (r#"{"type":"user","id":"7","name":"","email":"a@b.test"}"#, Some("a@b.test")),
            (r#"{"id":"7","username":"ada","name":null}"#, Some("ada")),
            (r#"{"type":"user","id":"7"}"#, Some("user:7")),
            (r#""team:7""#, Some("team:7")),
            ("{}", None),
        ] {
            assert_eq!(label(written).as_deref(), expected, "{written}");
        }
    }

    #[tokio::test]
    async fn the_user_is_read_whatever_else_is_said() {
        let body = r#"{"id":7001,"name":"Eval Runner","email":null,"flags":{"a":1}}"#;
        let server = Server::start(vec![json(200, body)]).await;
        let user = server.client().authenticated_user().await.unwrap();
        assert_eq!(
            (user.id.as_str(), user.name.as_deref(), user.email),
            ("7001", Some("Eval Runner"), None)
        );
        assert_eq!(server.lines(), ["GET /api/0/auth/"]);
    }
}
