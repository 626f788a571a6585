//! Sentry's search syntax, as far as it takes to tell what a caller wrote on purpose: filters, and
//! whether another query still has them.

/// A filter of a query, as in `!level:error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filter<'q> {
    pub(crate) negated: bool,
    pub(crate) key: &'q str,
    pub(crate) value: &'q str,
}

/// Keys under which whole texts are searched.
const TEXT_KEYS: [&str; 3] = ["message", "log.body", "body"];

impl<'q> Filter<'q> {
    /// A token that is a filter: a key that begins with a small letter, a colon, a value.
    fn of(token: &'q str) -> Option<Self> {
        let token = token.trim_start_matches('(');
        let (negated, token) = token.strip_prefix('!').map_or((false, token), |it| (true, it));
        let colon = key_end(token)?;
        let (key, value) = (token.get(..colon)?, token.get(colon + 1..)?);
        let value = without_closing(value);
        // `https://…` is an address, not a filter.
        let is_filter = !value.is_empty() && !value.starts_with("//") && key.len() > 1;
        is_filter.then_some(Self { negated, key, value })
    }

    /// The value without quotes and wildcards.
    fn plain(&self) -> &'q str {
        plain(self.value)
    }

    /// What the value stands for: the members of a list, or itself.
    fn values(&self) -> Vec<&'q str> {
        match self.value.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            Some(members) => members.split(',').map(|it| plain(it.trim())).collect(),
            None => vec![self.plain()],
        }
    }
}

/// Where the key of a token ends: `level`, `tags[a,number]`, `count_unique(user.id)`.
fn key_end(token: &str) -> Option<usize> {
    if !token.starts_with(|it: char| it.is_ascii_lowercase()) {
        return None;
    }
    let mut depth = 0_usize;
    for (at, character) in token.char_indices() {
        match character {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.checked_sub(1)?,
            ':' if depth == 0 => return Some(at),
            _ if depth > 0 => {}
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '.' | '-' => {}
            _ => return None,
        }
    }
    None
}

/// A value without the parentheses that close a group around its filter.
fn without_closing(value: &str) -> &str {
    let mut value = value;
    while value.ends_with(')') && value.matches(')').count() > value.matches('(').count() {
        value = &value[..value.len() - 1];
    }
    value
}

fn plain(value: &str) -> &str {
    value.trim_matches(|it| matches!(it, '"' | '*'))
}

/// The tokens of a query; quotes, and lists after a colon, hold together what spaces part.
pub(crate) fn tokens(query: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let (mut start, mut quoted, mut listed, mut before) = (None, false, false, ' ');
    for (at, character) in query.char_indices() {
        match character {
            '"' if before != '\\' => quoted = !quoted,
            '[' if before == ':' && !quoted => listed = true,
            ']' if !quoted => listed = false,
            _ => {}
        }
        if character.is_whitespace() && !quoted && !listed {
            tokens.extend(start.take().and_then(|start| query.get(start..at)));
        } else if start.is_none() {
            start = Some(at);
        }
        before = character;
    }
    tokens.extend(start.and_then(|start| query.get(start..)));
    tokens
}

/// The filters of a query.
pub(crate) fn filters(query: &str) -> Vec<Filter<'_>> {
    tokens(query).into_iter().filter_map(Filter::of).collect()
}

/// Whether somebody who knows the syntax wrote this: it has a filter.
pub(crate) fn is_structured(query: &str) -> bool {
    !filters(query).is_empty()
}

/// Whether there is nothing but filters, so nothing that could be put into other words.
pub(crate) fn is_only_filters(query: &str) -> bool {
    let joins =
        |token: &str| matches!(token.trim_matches(|it| matches!(it, '(' | ')')), "" | "AND" | "OR");
    tokens(query).into_iter().all(|token| joins(token) || Filter::of(token).is_some())
}

/// Whether a new query has every token of the old one, and no more alternatives.
pub(crate) fn keeps(old: &str, new: &str) -> bool {
    let alternatives = |query: &str| tokens(query).into_iter().filter(|it| *it == "OR").count();
    missing(&tokens(old), &tokens(new)).is_empty() && alternatives(new) <= alternatives(old)
}

/// Whether a new query searches texts for what the old one filtered by.
pub(crate) fn is_downgrade(old: &str, new: &str) -> bool {
    let (old, found) = (filters(old), filters(new));
    let is_text = |it: &&Filter<'_>| TEXT_KEYS.contains(&it.key);
    let mut texts: Vec<&str> = found.iter().filter(is_text).map(|it| it.value).collect();
    texts.extend(tokens(new).into_iter().filter(|it| Filter::of(it).is_none()));
    let gone = missing(&old, &found);
    gone.iter()
        .filter(|it| !TEXT_KEYS.contains(&it.key))
        .flat_map(Filter::values)
        .any(|value| texts.iter().any(|text| has_words(text, value)))
}

/// What the first list has more often than the second.
fn missing<T: PartialEq + Copy>(wanted: &[T], found: &[T]) -> Vec<T> {
    let mut left = found.to_vec();
    wanted
        .iter()
        .filter(|wanted| match left.iter().position(|it| it == *wanted) {
            Some(at) => {
                left.swap_remove(at);
                false
            }
            None => true,
        })
        .copied()
        .collect()
}

/// Whether a text has these words, whole and in a row.
fn has_words(text: &str, wanted: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let parts =
            text.split(|it: char| it.is_whitespace() || matches!(it, '"' | '*' | ',' | '[' | ']'));
        parts.filter(|it| !it.is_empty()).map(str::to_lowercase).collect()
    };
    let (text, wanted) = (words(text), words(wanted));
    !wanted.is_empty() && text.windows(wanted.len()).any(|it| it == wanted)
}

/// A query that holds for these environments alone.
pub(crate) fn within_environments(query: &str, environments: &[String]) -> String {
    let named: Vec<String> = environments.iter().map(|it| quoted(it)).collect();
    let filter = match named.as_slice() {
        [] => return query.to_owned(),
        [one] => format!("environment:{one}"),
        several => format!("environment:[{}]", several.join(",")),
    };
    if query.trim().is_empty() {
        return filter;
    }
    if tokens(query).contains(&"OR") {
        return format!("({query}) {filter}");
    }
    format!("{query} {filter}")
}

/// A value as the syntax takes it.
fn quoted(value: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.' | '/');
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The AI conversation that a query is about, if it is about exactly one.
pub(crate) fn conversation(query: &str) -> Option<&str> {
    let filters = filters(query);
    let mut named = filters.iter().filter(|it| it.key == "gen_ai.conversation.id");
    let one = named.next().filter(|it| !it.negated)?;
    let is_one = named.next().is_none() && !one.value.contains(['*', '[', '<', '>']);
    is_one.then(|| one.plain()).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_lists_hold_a_token_together() {
        assert_eq!(
            tokens(r#"level:error message:"card declined" environment:[a, b] free [x y"#),
            ["level:error", r#"message:"card declined""#, "environment:[a, b]", "free", "[x", "y"]
        );
        assert_eq!(tokens(r#"message:"half open"#), [r#"message:"half open"#]);
        assert_eq!(tokens(r#"a:"x \" y" b"#), [r#"a:"x \" y""#, "b"]);
        assert!(tokens(" \n ").is_empty());
    }

    #[test]
    fn filters_are_told_from_words() {
        for query in [
            "level:error",
            "slow things span.op:db",
            "!has:user",
            "tags[plan]:free",
            "tags[size,number]:>5",
            "lastSeen:-24h",
            "(level:fatal OR level:error)",
            "count_unique(user.id):>10",
            "url:http://a.test/",
        ] {
            assert!(is_structured(query), "{query}");
        }
        for query in [
            "",
            "errors of the last hour",
            "https://acme.sentry.io/issues/1",
            "see http://a.test/x:y",
            "TypeError: x is not a function",
            "Level:error",
            "what happened at 10:30",
            "note: nothing",
            "a:b",
        ] {
            assert!(!is_structured(query), "{query}");
        }
    }

    #[test]
    fn a_group_is_no_part_of_its_filters() {
        let found = filters("(level:fatal OR p95(span.duration):>(1)) !has:user");
        let shown: Vec<_> = found.iter().map(|it| (it.negated, it.key, it.value)).collect();
        assert_eq!(
            shown,
            [
                (false, "level", "fatal"),
                (false, "p95(span.duration)", ">(1)"),
                (true, "has", "user")
            ]
        );
        assert!(is_only_filters("(level:fatal OR !has:user)") && !is_only_filters("a b:c level:x"));
    }

    #[test]
    fn a_query_is_kept_when_every_token_is_and_nothing_widens_it() {
        for (old, new, expected) in [
            ("level:error", "level:error release:1", true),
            ("level:error", "release:1", false),
            (r#"message:"card declined""#, r#"message:"card declined" level:error"#, true),
            (r#"message:"card declined""#, "message:card declined", false),
            ("a:1x a:1x", "a:1x", false),
            ("level:error", "level:error OR level:info", false),
            ("level:error OR level:info", "level:error OR level:info", true),
        ] {
            assert_eq!(keeps(old, new), expected, "{old} -> {new}");
        }
    }

    #[test]
    fn a_filter_that_became_a_text_is_a_downgrade() {
        for (old, new, expected) in [
            ("severity:error", "message:error", true),
            ("severity:error", r#"log.body:"*an error happened*""#, true),
            ("severity:error", "error", true),
            ("severity:error", "message:errors", false),
            ("severity:error", "severity:error message:error", false),
            ("severity:error", "level:error", false),
            (r#"customer:"acme corp""#, r#"message:"for acme corp only""#, true),
            (r#"customer:"acme corp""#, r#"message:"acme and corp""#, false),
            ("tag.x:[a1,b1]", "message:b1", true),
            ("key.x:1 key.x:1", "key.x:1 message:1", true),
            ("message:error", "error", false),
            ("errors", "message:errors", false),
        ] {
            assert_eq!(is_downgrade(old, new), expected, "{old} -> {new}");
        }
    }

    #[test]
    fn environments_hold_for_the_whole_query() {
        let two = ["production".to_owned(), "my stage".to_owned()];
        assert_eq!(within_environments("a", &[]), "a");
        assert_eq!(within_environments("", &two[..1]), "environment:production");
        assert_eq!(
            within_environments("level:error", &two),
            r#"level:error environment:[production,"my stage"]"#
        );
        assert_eq!(
            within_environments("aa:b OR bb:c", &two[..1]),
            "(aa:b OR bb:c) environment:production"
        );
    }

    #[test]
    fn one_conversation_is_recognized() {
        let of = conversation;
        assert_eq!(of("gen_ai.conversation.id:abc span.op:gen_ai.chat"), Some("abc"));
        assert_eq!(of(r#"gen_ai.conversation.id:"a b""#), Some("a b"));
        for query in [
            "!gen_ai.conversation.id:abc",
            "gen_ai.conversation.id:a* ",
            "gen_ai.conversation.id:[a,b]",
            "gen_ai.conversation.id:a gen_ai.conversation.id:b",
            "has:gen_ai.conversation.id",
        ] {
            assert_eq!(of(query), None, "{query}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_query(old in ".{0,200}", new in ".{0,200}") {
            let rejoined: String = tokens(&old).concat();
            let solid: String = old.chars().filter(|it| !it.is_whitespace()).collect();
            let kept: String = rejoined.chars().filter(|it| !it.is_whitespace()).collect();
            assert_eq!(kept, solid);
            assert!(keeps(&old, &old) && !is_downgrade(&old, &old));
            keeps(&old, &new);
            is_downgrade(&old, &new);
            conversation(&new);
            within_environments(&old, &[new]);
        }
    }
}
