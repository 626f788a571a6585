//! A secret that cannot print, and the mask that takes it out of other text.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize, Serializer};

/// What stands where a secret was.
pub const MASK: &str = "[secret]";

/// Shorter secrets are not masked: text would be full of holes that give the secret away.
pub const SHORTEST_MASKED: usize = 6;

/// A credential or header value. `Debug`, `Display` and `Serialize` give `[secret]`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct Secret(Box<str>);

impl Secret {
    /// Wraps a text. [`crate::auth::SecretSource`] also cleans and checks it.
    #[must_use]
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// Gives the text away; only what goes into a request may see it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}

/// Replaces secrets in text, in every form in which a server may send them back.
#[derive(Default)]
pub(crate) struct Mask {
    /// Longest first, so that a form is not cut by a shorter one inside it.
    forms: Vec<String>,
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").field("forms", &self.forms.len()).finish()
    }
}

impl Mask {
    /// Adds a secret: plain, as JSON writes it, percent-encoded, and inside any base64 text.
    pub(crate) fn add(&mut self, secret: &str) {
        if secret.len() < SHORTEST_MASKED {
            return;
        }
        self.forms.push(secret.to_owned());
        let json = serde_json::Value::from(secret).to_string();
        self.forms.push(json.trim_matches('"').to_owned());
        self.forms.push(secret.replace('/', "\\/"));
        for set in [COMPONENT, NON_ALPHANUMERIC] {
            let upper = utf8_percent_encode(secret, set).to_string();
            self.forms.push(lower_escapes(&upper));
            self.forms.push(upper.replace("%20", "+"));
            self.forms.push(upper);
        }
        let every_byte: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
        self.forms.push(lower_escapes(&every_byte));
        self.forms.push(every_byte);
        self.forms.extend((0..3).flat_map(|offset| base64_inside(secret, offset)));
        self.forms.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.forms.dedup();
    }

    pub(crate) fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        for form in &self.forms {
            if masked.contains(form.as_str()) {
                masked = Cow::Owned(masked.replace(form.as_str(), MASK));
            }
        }
        masked
    }
}

/// A mask that is built anew only when the secrets have changed: it is asked for with every header.
#[derive(Default)]
pub(crate) struct KeptMask(Mutex<Option<(Vec<Secret>, Arc<Mask>)>>);

impl KeptMask {
    pub(crate) fn get(&self, known: Vec<Secret>, build: impl FnOnce() -> Mask) -> Arc<Mask> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((secrets, mask)) if *secrets == known => Arc::clone(mask),
            Some(_) | None => {
                let mask = Arc::new(build());
                *kept = Some((known, Arc::clone(&mask)));
                mask
            }
        }
    }
}

const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The part of a base64 text that depends on the secret alone, when `offset` (modulo 3) bytes stand
/// before it: `user:secret` and `Bearer secret` encode to texts that hold one of these.
fn base64_inside(secret: &str, offset: usize) -> [String; 2] {
    let mut bytes = vec![0; offset];
    bytes.extend_from_slice(secret.as_bytes());
    let start = (offset * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    let inside = |text: String| text.get(start..end).unwrap_or_default().to_owned();
    [inside(STANDARD_NO_PAD.encode(&bytes)), inside(URL_SAFE_NO_PAD.encode(&bytes))]
}

/// Lower-cases the digits of percent escapes and nothing else.
fn lower_escapes(encoded: &str) -> String {
    let mut pieces = encoded.split('%');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2).unwrap_or((piece, ""));
        text.push('%');
        text.push_str(&digits.to_ascii_lowercase());
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "sntryu_aB/9+c d=é~x1";

    fn masked(text: &str) -> String {
        let mut mask = Mask::default();
        mask.add(TOKEN);
        mask.apply(text).into_owned()
    }

    #[test]
    fn a_secret_prints_as_a_placeholder() {
        let secret = Secret::new(TOKEN);
        assert_eq!(format!("{secret} {secret:?}"), "[secret] [secret]");
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"[secret]\"");
    }

    #[test]
    fn a_secret_is_masked_plain_escaped_and_percent_encoded() {
        assert_eq!(masked(&format!("a {TOKEN} b {TOKEN}")), "a [secret] b [secret]");
        let json = serde_json::json!({ "echo": format!("Bearer {TOKEN}") }).to_string();
        assert_eq!(masked(&json), r#"{"echo":"Bearer [secret]"}"#);
        assert_eq!(masked("x=sntryu_aB%2F9%2Bc%20d%3D%C3%A9~x1"), "x=[secret]");
        assert_eq!(masked("x=sntryu_aB%2f9%2bc%20d%3d%c3%a9~x1"), "x=[secret]");
        assert_eq!(masked("x=sntryu_aB%2F9%2Bc+d%3D%C3%A9~x1"), "x=[secret]");
        assert_eq!(masked(r"sntryu_aB\/9+c d=é~x1"), "[secret]");
        let every_byte: String = TOKEN.bytes().map(|byte| format!("%{byte:02x}")).collect();
        assert_eq!(masked(&format!("%41{every_byte}%42")), "%41[secret]%42");
    }

    #[test]
    fn a_secret_is_masked_inside_base64_at_every_alignment() {
        for before in ["", "u", "us", "use", "user:", "Bearer ", "name:"] {
            for after in ["", "x", "yz", "\r\n!"] {
                let text = format!("{before}{TOKEN}{after}");
                for encoded in [STANDARD_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                    let masked = masked(&encoded);
                    assert!(masked.contains(MASK), "{before:?} {after:?}: {masked}");
                    assert!(masked.len() < MASK.len() + 17, "{before:?} {after:?}: {masked}");
                }
            }
        }
    }

    #[test]
    fn a_short_secret_and_other_text_stay_as_they_are() {
        let mut mask = Mask::default();
        mask.add("abc");
        assert!(matches!(mask.apply("abcdef"), Cow::Borrowed("abcdef")));
        assert_eq!(masked("nothing here"), "nothing here");
    }
}
