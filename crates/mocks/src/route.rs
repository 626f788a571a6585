//! The route table: templates to handlers, with reading and writing told apart by type.

use axum::http::Method;
use percent_encoding::percent_decode_str;

use crate::http::{Answer, Call};

/// One operation. A reading handler cannot change state: it gets a shared reference.
#[derive(Debug)]
pub(crate) struct Route<S> {
    pub(crate) method: Method,
    /// Relative to the API's base, with the trailing slash: `/core/users/{id}/`.
    pub(crate) template: &'static str,
    pub(crate) handler: Handler<S>,
}

#[derive(Debug)]
pub(crate) enum Handler<S> {
    Read(fn(&S, &Call<'_>) -> Answer),
    Write(fn(&mut S, &Call<'_>) -> Answer),
}

pub(crate) fn get<S>(template: &'static str, read: fn(&S, &Call<'_>) -> Answer) -> Route<S> {
    Route { method: Method::GET, template, handler: Handler::Read(read) }
}

pub(crate) fn post<S>(template: &'static str, write: fn(&mut S, &Call<'_>) -> Answer) -> Route<S> {
    Route { method: Method::POST, template, handler: Handler::Write(write) }
}

pub(crate) fn put<S>(template: &'static str, write: fn(&mut S, &Call<'_>) -> Answer) -> Route<S> {
    Route { method: Method::PUT, template, handler: Handler::Write(write) }
}

pub(crate) fn patch<S>(template: &'static str, write: fn(&mut S, &Call<'_>) -> Answer) -> Route<S> {
    Route { method: Method::PATCH, template, handler: Handler::Write(write) }
}

pub(crate) fn delete<S>(
    template: &'static str,
    write: fn(&mut S, &Call<'_>) -> Answer,
) -> Route<S> {
    Route { method: Method::DELETE, template, handler: Handler::Write(write) }
}

/// Where a path leads.
#[derive(Debug)]
pub(crate) enum Found<'r, S> {
    Route { route: &'r Route<S>, values: Vec<String> },
    WrongMethod { template: &'static str, allowed: Vec<&'r str> },
    Slashless,
    Nothing,
}

/// Finds the route of an encoded path (relative to the base). HEAD is answered as GET.
pub(crate) fn find<'r, S>(routes: &'r [Route<S>], method: &Method, path: &str) -> Found<'r, S> {
    let Some((template, values)) = best_template(routes, path) else {
        let slashed = !path.ends_with('/') && best_template(routes, &format!("{path}/")).is_some();
        return if slashed { Found::Slashless } else { Found::Nothing };
    };
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let same_path = || routes.iter().filter(|route| route.template == template);
    match same_path().find(|route| route.method == *method) {
        Some(route) => Found::Route { route, values },
        None => Found::WrongMethod {
            template,
            allowed: same_path().map(|route| route.method.as_str()).collect(),
        },
    }
}

/// Templates are equal when they differ in the names of placeholders only.
pub(crate) fn same_template(left: &str, right: &str) -> bool {
    left.split('/').count() == right.split('/').count()
        && left
            .split('/')
            .zip(right.split('/'))
            .all(|(l, r)| l == r || (is_placeholder(l) && is_placeholder(r)))
}

/// The most literal template wins, so `users/me/` is not a user with the id `me`.
fn best_template<S>(routes: &[Route<S>], path: &str) -> Option<(&'static str, Vec<String>)> {
    routes
        .iter()
        .filter_map(|route| Some((route.template, values(route.template, path)?)))
        .min_by_key(|(_, values)| values.len())
}

fn values(template: &str, path: &str) -> Option<Vec<String>> {
    if template.split('/').count() != path.split('/').count() {
        return None;
    }
    let mut values = Vec::new();
    for (expected, actual) in template.split('/').zip(path.split('/')) {
        let actual = percent_decode_str(actual).decode_utf8().ok()?;
        if is_placeholder(expected) {
            // The real servers decode before they route: an encoded slash is a slash.
            if actual.is_empty() || actual.contains('/') {
                return None;
            }
            values.push(actual.into_owned());
        } else if expected != actual {
            return None;
        }
    }
    Some(values)
}

fn is_placeholder(segment: &str) -> bool {
    segment.starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Reply;

    fn routes() -> Vec<Route<()>> {
        let read: fn(&(), &Call<'_>) -> Answer = |_, _| Ok(Reply::empty(200));
        vec![get("/users/{id}/", read), get("/users/me/", read), get("/r/{version}/d/", read)]
    }

    fn template(path: &str) -> Option<(&'static str, Vec<String>)> {
        match find(&routes(), &Method::GET, path) {
            Found::Route { route, values } => Some((route.template, values)),
            Found::WrongMethod { .. } | Found::Slashless | Found::Nothing => None,
        }
    }

    #[test]
    fn a_literal_segment_beats_a_placeholder() {
        assert_eq!(template("/users/me/"), Some(("/users/me/", vec![])));
        assert_eq!(template("/users/7/"), Some(("/users/{id}/", vec!["7".to_owned()])));
    }

    #[test]
    fn values_are_decoded_and_an_encoded_slash_is_a_slash() {
        let version = vec!["quay@5.2.0+train.7".to_owned()];
        assert_eq!(template("/r/quay%405.2.0%2Btrain.7/d/"), Some(("/r/{version}/d/", version)));
        assert_eq!(template("/r/a%2Fb/d/"), None);
        assert_eq!(template("/users//"), None);
    }

    #[test]
    fn a_missing_slash_and_a_wrong_method_are_told_apart_from_an_unknown_path() {
        let routes = routes();
        assert!(matches!(find(&routes, &Method::GET, "/users/7"), Found::Slashless));
        assert!(matches!(find(&routes, &Method::GET, "/other/"), Found::Nothing));
        let Found::WrongMethod { allowed, .. } = find(&routes, &Method::PUT, "/users/7/") else {
            panic!("expected a wrong method");
        };
        assert_eq!(allowed, ["GET"]);
    }

    #[test]
    fn placeholder_names_do_not_matter_between_templates() {
        assert!(same_template("/o/{org}/repos/", "/o/{organization_id_or_slug}/repos/"));
        assert!(!same_template("/o/{org}/repos/", "/o/{org}/"));
        assert!(!same_template("/o/{org}/", "/o/me/"));
    }
}
