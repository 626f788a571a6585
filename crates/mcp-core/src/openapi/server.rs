//! Where an API is: server URLs with their variables, and how a path is put behind one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use url::Url;

use super::document::Document;
use super::text::Json;

/// A server of a document, a path or an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// As written: absolute or relative, perhaps with `{variables}`.
    pub url: String,
    /// What may stand in it.
    pub variables: Vec<ServerVariable>,
}

/// A variable in a server's URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerVariable {
    /// Its name between the braces.
    pub name: String,
    /// What stands there when nothing else is asked for.
    pub default: Option<String>,
    /// The values it may have; empty where any may stand.
    pub choices: Vec<String>,
}

impl Server {
    /// The URL without a slash at its end: absolute where the document says so or its own
    /// address is known, else only the path (`/api/v3`, or nothing).
    ///
    /// `values` go before the variables' defaults. A variable without either stays as `{name}`.
    #[must_use]
    pub fn resolve(&self, document: Option<&Url>, values: &BTreeMap<String, String>) -> String {
        let mut url = self.url.trim().to_owned();
        for variable in &self.variables {
            if let Some(value) = values.get(&variable.name).or(variable.default.as_ref()) {
                url = url.replace(&format!("{{{}}}", variable.name), value);
            }
        }
        if url.is_empty() {
            url.push('/');
        }
        if names_host_and_port(&url) {
            let scheme = document.map_or("https", Url::scheme);
            url = format!("{scheme}://{url}");
        }
        let absolute = match document {
            Some(document) => document.join(&url).ok(),
            None if url.starts_with("//") => Url::parse(&format!("https:{url}")).ok(),
            None => Url::parse(&url).ok(),
        };
        match absolute.filter(|it| it.has_host() && !url.contains('{')) {
            Some(mut absolute) => {
                absolute.set_query(None);
                absolute.set_fragment(None);
                absolute.as_str().trim_end_matches('/').to_owned()
            }
            None if url.contains("://") => url.trim_end_matches('/').to_owned(),
            None => {
                let path = url.trim_start_matches("./").trim_matches('/');
                if path.is_empty() { String::new() } else { format!("/{path}") }
            }
        }
    }
}

impl Document {
    /// The document's servers; where it names none, the root of wherever it came from.
    #[must_use]
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// The first server's URL, see [`Server::resolve`].
    #[must_use]
    pub fn server_url(&self, values: &BTreeMap<String, String>) -> String {
        let document = self.document_url();
        self.servers
            .first()
            .map(|server| server.resolve(document.as_ref(), values))
            .unwrap_or_default()
    }

    /// The paths of the document's servers, such as `/api/v3`, the longest first.
    #[must_use]
    pub fn base_paths(&self) -> Vec<String> {
        let document = self.document_url();
        let mut paths: Vec<_> = self
            .servers
            .iter()
            .map(|server| path_of(&server.resolve(document.as_ref(), &BTreeMap::new())).to_owned())
            .filter(|path| !path.is_empty())
            .collect();
        paths.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        paths.dedup();
        paths
    }
}

/// Puts a path behind a base URL or base path: one slash between them, and the path's own slash
/// at its end kept.
#[must_use]
pub fn join_url(base: &str, path: &str) -> String {
    format!("{}/{}", base.trim_end_matches('/'), path.strip_prefix('/').unwrap_or(path))
}

/// Whether a URL starts with `host:port`, its scheme forgotten: `127.0.0.1:8055`, `localhost:80/api`.
fn names_host_and_port(url: &str) -> bool {
    let authority = url.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

fn path_of(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("://") else { return url };
    rest.find('/').and_then(|start| rest.get(start..)).unwrap_or_default()
}

/// Reads the `servers` of a document, a path item or an operation.
pub(super) fn servers(servers: Option<Json<'_>>) -> Vec<Server> {
    servers.into_iter().flat_map(Json::elements).filter_map(server).collect()
}

/// The server of a document that names none.
pub(super) fn root_server() -> Server {
    Server { url: "/".to_owned(), variables: Vec::new() }
}

fn server(server: Json<'_>) -> Option<Server> {
    let variables = server.get("variables").into_iter().flat_map(Json::members);
    Some(Server {
        url: server.get_str("url")?.into_owned(),
        variables: variables
            .map(|(name, variable)| {
                let choices = variable.get("enum").into_iter().flat_map(Json::elements);
                let choices: Vec<_> = choices.filter_map(Json::scalar).map(Into::into).collect();
                let default = variable.get_scalar("default").map(Into::into);
                ServerVariable {
                    name: name.name().into_owned(),
                    default: default.or_else(|| choices.first().cloned()),
                    choices,
                }
            })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(server: &str, document: Option<&str>, expected: &str) {
        let document = document.map(|url| Url::parse(url).unwrap());
        let server = Server { url: server.to_owned(), variables: Vec::new() };
        assert_eq!(server.resolve(document.as_ref(), &BTreeMap::new()), expected);
    }

    #[test]
    fn relative_urls_stand_on_the_documents_own() {
        let document = Some("http://127.0.0.1:9/docs/openapi.json?a=b");
        check("/myapp/", document, "http://127.0.0.1:9/myapp");
        check("/", document, "http://127.0.0.1:9");
        check("", document, "http://127.0.0.1:9");
        check("v2", document, "http://127.0.0.1:9/docs/v2");
        check("../v2/", document, "http://127.0.0.1:9/v2");
        check("//other.example/x", document, "http://other.example/x");
        check("https://a.example/api/", document, "https://a.example/api");
    }

    #[test]
    fn a_host_and_port_without_a_scheme_have_that_of_the_document() {
        let document = Some("http://127.0.0.1:8055/server/specs/oas");
        check("127.0.0.1:8055", document, "http://127.0.0.1:8055");
        check("localhost:8055/api/", document, "http://localhost:8055/api");
        check("[::1]:80", Some("https://a.example/x"), "https://[::1]:80");
        check("api.example:8443/v1", None, "https://api.example:8443/v1");
        check("./v1:2/x", document, "http://127.0.0.1:8055/server/specs/v1:2/x");
    }

    #[test]
    fn without_a_document_url_only_the_path_is_known() {
        check("/api/v3", None, "/api/v3");
        check("/api/v3/", None, "/api/v3");
        check("api", None, "/api");
        check("/", None, "");
        check("", None, "");
        check("//a.example/x/", None, "https://a.example/x");
        check("https://{region}.example/api/", None, "https://{region}.example/api");
    }

    #[test]
    fn variables_take_the_given_value_before_their_default() {
        let text = r#"{"servers": [{"url": "https://{region}.example:{port}/{base}", "variables": {
            "region": {"default": "us", "enum": ["us", "eu"]}, "port": {"enum": [443, 8443]}, "base": {"default": "v1"}
        }}]}"#;
        let servers = servers(Json::new(text).get("servers"));
        assert_eq!(servers[0].resolve(None, &BTreeMap::new()), "https://us.example/v1");
        let values = BTreeMap::from([
            ("region".to_owned(), "eu".to_owned()),
            ("port".to_owned(), "1".to_owned()),
        ]);
        assert_eq!(servers[0].resolve(None, &values), "https://eu.example:1/v1");
        assert_eq!(servers[0].variables[0].choices, ["us", "eu"]);
    }

    #[test]
    fn joining_neither_loses_nor_doubles_a_slash() {
        assert_eq!(join_url("https://a.example/api/", "/users/"), "https://a.example/api/users/");
        assert_eq!(join_url("https://a.example", "users"), "https://a.example/users");
        assert_eq!(join_url("", "/users"), "/users");
    }
}
