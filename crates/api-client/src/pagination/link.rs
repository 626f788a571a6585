//! The `Link` header (RFC 8288) and GitLab's `X-Next-Page`.

use super::Next;

/// Returns what the headers say about the next page, if they say anything.
pub(super) fn next(headers: &[(String, String)]) -> Option<Next> {
    let links: Vec<Link> = values(headers, "link").flat_map(parse).collect();
    if let Some(next) = links.iter().find(|link| link.is("next")) {
        // Sentry always sends both links and says here whether there is anything behind them.
        let empty = next.parameter("results").is_some_and(|it| it.eq_ignore_ascii_case("false"));
        return Some(if empty { Next::End } else { Next::Url(next.target.clone()) });
    }
    if links.iter().any(|link| link.is("prev") || link.is("previous") || link.is("last")) {
        return Some(Next::End);
    }
    let page = values(headers, "x-next-page").next()?.trim();
    Some(if page.is_empty() {
        Next::End
    } else {
        Next::Query(vec![("page".to_owned(), page.to_owned())])
    })
}

fn values<'a>(
    headers: &'a [(String, String)],
    name: &'static str,
) -> impl Iterator<Item = &'a str> {
    headers.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
}

struct Link {
    target: String,
    parameters: Vec<(String, String)>,
}

impl Link {
    fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn is(&self, relation: &str) -> bool {
        let relations = self.parameter("rel").unwrap_or_default();
        relations.split_whitespace().any(|it| it.eq_ignore_ascii_case(relation))
    }
}

/// Reads `<target>; name="value"; …, …`. What is broken ends the list.
fn parse(header: &str) -> Vec<Link> {
    let mut links = Vec::new();
    let mut rest = header;
    while let Some((target, after)) =
        rest.split_once('<').and_then(|(_, after)| after.split_once('>'))
    {
        let (parameters, after) = parameters(after);
        links.push(Link { target: target.trim().to_owned(), parameters });
        rest = after;
    }
    links
}

/// Reads parameters up to the comma that ends a link; returns them and what follows.
fn parameters(text: &str) -> (Vec<(String, String)>, &str) {
    let mut parameters = Vec::new();
    let mut rest = text.trim_start();
    while let Some(after) = rest.strip_prefix(';') {
        let after = after.trim_start();
        let end = after.find(['=', ';', ',']).unwrap_or(after.len());
        let (name, after) = after.split_at(end);
        let (value, after) = match after.strip_prefix('=').map(str::trim_start) {
            Some(value) => unquote(value),
            None => (String::new(), after),
        };
        parameters.push((name.trim().to_ascii_lowercase(), value));
        rest = after.trim_start();
    }
    (parameters, rest)
}

fn unquote(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at(text.find([';', ',']).unwrap_or(text.len()));
        return (value.trim().to_owned(), rest);
    };
    let mut value = String::new();
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => value.extend(letters.next()),
            other => value.push(other),
        }
    }
    (value, letters.as_str())
}
