//! Splits text and identifiers into lower-case words, and words into stems.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

/// Longer runs of letters are encoded data, not words.
const MAX_WORD: usize = 40;
/// Words up to this length keep their digits: `s3`, `v1`, `2fa`, `k8s`, `ipv6`.
const MAX_MIXED: usize = 4;

/// Calls `each` with every word of `text`: `createOAuth2-provider_v3` has `create`, `oauth`, `2`,
/// `provider` and `v3`.
pub(super) fn words(text: &str, mut each: impl FnMut(&str)) {
    let mut run = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() {
            run.push(c);
        } else if !run.is_empty() {
            split_run(&run, &mut word, &mut each);
            run.clear();
        }
    }
    split_run(&run, &mut word, &mut each);
}

/// Splits a run of letters and digits where its case changes.
fn split_run(run: &[char], word: &mut String, each: &mut impl FnMut(&str)) {
    let mut rest = run;
    while !rest.is_empty() {
        let hump = hump(rest);
        let (part, tail) = rest.split_at(hump.end);
        split_digits(part.get(..hump.word).unwrap_or(part), word, each);
        rest = tail;
    }
}

/// The first word of a camel-case run: its letters, and where the next one starts.
struct Hump {
    word: usize,
    end: usize,
}

fn hump(run: &[char]) -> Hump {
    let upper = |i: usize| run.get(i).is_some_and(|c| c.is_uppercase());
    let lower = |i: usize| run.get(i).is_some_and(|c| c.is_lowercase());
    for i in 1..run.len() {
        if !upper(i) {
            continue;
        }
        if !upper(i - 1) {
            return Hump { word: i, end: i };
        }
        if !lower(i + 1) {
            continue;
        }
        if run.get(i + 1) == Some(&'s') && !lower(i + 2) {
            // The plural of an abbreviation: `DSNs`, `userIDs`.
            return Hump { word: i + 1, end: i + 2 };
        }
        if i > 1 || run.first() == Some(&'A') {
            return Hump { word: i, end: i };
        }
        // A lone capital belongs to what follows: `OAuth`.
    }
    Hump { word: run.len(), end: run.len() }
}

fn split_digits(part: &[char], word: &mut String, each: &mut impl FnMut(&str)) {
    let mixed = part.len() > MAX_MIXED;
    for piece in part.chunk_by(|a, b| !mixed || a.is_ascii_digit() == b.is_ascii_digit()) {
        if piece.len() <= MAX_WORD {
            word.clear();
            for c in piece {
                match c.is_ascii() {
                    true => word.push(c.to_ascii_lowercase()),
                    false => word.extend(c.to_lowercase()),
                }
            }
            each(word);
        }
    }
}

/// The stem of a lower-case word (Porter2): `policies` and `policy` share one, as do `org` and
/// `organization`.
pub(super) fn stem(word: &str) -> Cow<'_, str> {
    if let Ok(at) = IRREGULAR.binary_search_by_key(&word, |it| it.0) {
        return Cow::Borrowed(IRREGULAR.get(at).map_or(word, |it| it.1));
    }
    let short = SHORT_FORMS.binary_search_by_key(&word, |it| it.0).ok();
    let word = short.and_then(|at| SHORT_FORMS.get(at)).map_or(word, |it| it.1);
    // The stemmer knows English; words of other scripts stay as they are.
    if word.is_ascii() {
        Stemmer::create(Algorithm::English).stem(word)
    } else {
        Cow::Borrowed(word)
    }
}

/// Whether a word says nothing about what is looked for, like a single letter. `me` and `my` do.
pub(super) fn is_stop_word(word: &str) -> bool {
    matches!(word.as_bytes(), [letter] if letter.is_ascii_alphabetic())
        || STOP_WORDS.binary_search(&word).is_ok()
}

/// Sorted.
const STOP_WORDS: &[&str] = &[
    "about", "after", "all", "also", "an", "and", "another", "any", "are", "as", "at", "be",
    "been", "before", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "don",
    "down", "each", "either", "every", "exist", "exists", "few", "for", "from", "had", "has",
    "have", "having", "he", "her", "his", "how", "if", "in", "into", "is", "it", "its", "just",
    "let", "ll", "may", "might", "more", "most", "must", "need", "new", "nor", "not", "now", "of",
    "on", "one", "only", "or", "our", "over", "please", "shall", "she", "should", "so", "some",
    "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "to", "too", "under", "until", "up", "us", "use", "using", "ve", "very", "via",
    "want", "was", "we", "were", "what", "when", "where", "whether", "which", "while", "will",
    "with", "within", "without", "would", "yet", "you", "your",
];

/// Words that Porter2 would mix with others ("customer" with "custom"), with their stems, sorted.
#[rustfmt::skip]
const IRREGULAR: &[(&str, &str)] = &[
    ("activities", "activity"), ("activity", "activity"), ("authenticator", "authenticator"),
    ("authenticators", "authenticator"), ("author", "author"), ("authorisation", "authoriz"),
    ("authorise", "authoriz"), ("authorised", "authoriz"), ("authorities", "authority"),
    ("authority", "authority"), ("authorization", "authoriz"), ("authorizations", "authoriz"),
    ("authorize", "authoriz"), ("authorized", "authoriz"), ("authorizes", "authoriz"),
    ("authorizing", "authoriz"), ("authors", "author"), ("authz", "authoriz"),
    ("consumer", "consumer"), ("consumers", "consumer"), ("container", "container"),
    ("containers", "container"), ("controller", "controller"), ("controllers", "controller"),
    ("customer", "customer"), ("customers", "customer"), ("developer", "developer"),
    ("developers", "developer"), ("important", "important"), ("manager", "manager"),
    ("managers", "manager"), ("personal", "personal"), ("provider", "provider"),
    ("providers", "provider"),
];

/// Short forms, other spellings and irregular participles, sorted.
#[rustfmt::skip]
const SHORT_FORMS: &[(&str, &str)] = &[
    ("acct", "account"), ("addr", "address"), ("admin", "administrator"),
    ("admins", "administrator"), ("app", "application"), ("apps", "application"),
    ("attr", "attribute"), ("attrs", "attribute"), ("auth", "authentication"),
    ("authn", "authentication"), ("bought", "buy"), ("bound", "bind"),
    ("built", "build"), ("catalogue", "catalog"), ("cert", "certificate"), ("certs", "certificate"),
    ("cfg", "configuration"), ("config", "configuration"), ("configs", "configuration"),
    ("db", "database"), ("dbs", "database"), ("deps", "dependency"), ("desc", "description"),
    ("dir", "directory"), ("dirs", "directory"), ("doc", "document"), ("docs", "document"),
    ("env", "environment"), ("envs", "environment"), ("favourite", "favorite"),
    ("favourites", "favorite"), ("given", "give"), ("hidden", "hide"), ("img", "image"),
    ("imgs", "image"), ("info", "information"), ("k8s", "kubernetes"), ("kept", "keep"),
    ("lang", "language"), ("licence", "license"), ("licences", "license"), ("made", "make"),
    ("mrs", "mr"), ("msg", "message"), ("msgs", "message"), ("num", "number"),
    ("org", "organization"), ("organisation", "organization"), ("organisations", "organization"),
    ("orgs", "organization"), ("paid", "pay"), ("param", "parameter"), ("params", "parameter"),
    ("passwd", "password"), ("perm", "permission"), ("perms", "permission"), ("pref", "preference"),
    ("prefs", "preference"), ("prs", "pr"), ("pw", "password"), ("pwd", "password"),
    ("repo", "repository"), ("repos", "repository"), ("seen", "see"), ("sent", "send"),
    ("shown", "show"), ("sold", "sell"), ("spent", "spend"), ("stat", "statistics"),
    ("stats", "statistics"), ("svc", "service"), ("sync", "synchronize"),
    ("synchronise", "synchronize"), ("taken", "take"), ("temp", "temporary"), ("tx", "transaction"),
    ("txn", "transaction"), ("var", "variable"), ("vars", "variable"), ("vms", "vm"),
    ("vpcs", "vpc"), ("written", "write"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        words(text, |word| found.push(word.to_owned()));
        found
    }

    #[test]
    fn identifiers_are_split_where_their_case_changes() {
        for (text, expected) in [
            ("listUserTeams", "list user teams"),
            ("core_users_list", "core users list"),
            ("actions/re-run-workflow", "actions re run workflow"),
            ("HTTPServerURL", "http server url"),
            ("OAuthProvider", "oauth provider"),
            ("createAUser", "create a user"),
            ("openDSNs and PRs", "open dsn and pr"),
            ("userIDsByName", "user id by name"),
            ("GitHub's API", "git hub s api"),
            ("ÜberGröße 東京", "über größe 東京"),
        ] {
            assert_eq!(split(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn short_words_keep_their_digits() {
        for (text, expected) in [
            ("oauth2", "oauth 2"),
            ("OAuth2Provider", "oauth 2 provider"),
            ("s3 v1 2fa k8s ipv6", "s3 v1 2fa k8s ipv6"),
            ("readCoreV1Pod", "read core v1 pod"),
            ("sha256", "sha 256"),
        ] {
            assert_eq!(split(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn encoded_data_is_no_word() {
        assert_eq!(split(&"x".repeat(1_000)), Vec::<String>::new());
        assert_eq!(split(&format!("a {} b", "é".repeat(90))), ["a", "b"]);
    }

    #[test]
    fn short_forms_share_a_stem_with_what_they_are_short_for() {
        for (short, long) in [
            ("org", "organizations"),
            ("repos", "repository"),
            ("config", "configuration"),
            ("sent", "send"),
            ("policies", "policy"),
        ] {
            assert_eq!(stem(short), stem(long), "{short}");
        }
    }

    #[test]
    fn words_of_different_meaning_have_different_stems() {
        for (one, other) in
            [("customers", "custom"), ("author", "authorized"), ("provider", "provided")]
        {
            assert_ne!(stem(one), stem(other), "{one}");
        }
        assert_eq!(stem("customer"), stem("customers"));
    }

    #[test]
    fn lists_that_are_searched_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(SHORT_FORMS.is_sorted_by_key(|it| it.0));
        assert!(IRREGULAR.is_sorted_by_key(|it| it.0));
    }

    #[test]
    fn stop_words_leave_whose_it_is() {
        assert!(is_stop_word("the") && is_stop_word("a"));
        assert!(!is_stop_word("me") && !is_stop_word("my") && !is_stop_word("7"));
    }
}
