//! Downloaded bytes as something a client can show: a picture, or a file.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::output::Part;

use super::segment;

/// The largest picture or file that is handed on: clients refuse larger messages.
const MAX_BYTES: usize = 3_500_000;

/// Whether such content is read as text.
pub(crate) fn is_text(mime: &str) -> bool {
    let known = ["json", "xml", "javascript", "yaml", "x-ndjson", "toml", "sql", "graphql"];
    mime.starts_with("text/")
        || mime.strip_prefix("application/").is_some_and(|kind| {
            known.contains(&kind) || kind.ends_with("+json") || kind.ends_with("+xml")
        })
}

/// The picture or file, or why it is none.
///
/// A picture must be one by its bytes: a client that is handed other bytes as a picture can lose
/// the whole conversation.
pub(crate) fn file_part(name: &str, mime: &str, bytes: &[u8]) -> Result<Part, String> {
    if bytes.len() > MAX_BYTES {
        let size = bytes.len();
        return Err(format!(
            "Not shown: it has {size} bytes, more than the {MAX_BYTES} that clients take."
        ));
    }
    let data = STANDARD.encode(bytes);
    if !mime.starts_with("image/") {
        let uri = format!("file://{}", segment(name));
        return Ok(Part::File { uri, mime_type: mime.to_owned(), data });
    }
    match picture_type(bytes) {
        Some(mime_type) => Ok(Part::Image { mime_type: mime_type.to_owned(), data }),
        None => Err(format!(
            "Not shown: it is called `{mime}`, but its {} bytes are no picture that clients take (PNG, JPEG, GIF, WebP).",
            bytes.len()
        )),
    }
}

/// The kind of picture the bytes begin as.
pub(crate) fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

/// Width and height of a PNG or JPEG, from its header.
pub(crate) fn dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    match picture_type(bytes)? {
        "image/png" => {
            let number = |at: usize| -> Option<u32> {
                Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
            };
            Some((number(16)?, number(20)?))
        }
        "image/jpeg" => jpeg_dimensions(bytes),
        _ => None,
    }
}

/// Walks the segments of a JPEG to its frame header.
fn jpeg_dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| -> Option<u16> {
        Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
    };
    let mut at = 2;
    loop {
        let &[0xff, marker] = bytes.get(at..at + 2)? else { return None };
        let length = usize::from(number(at + 2)?);
        // Frame headers, without the tables that have markers among them.
        if (0xc0..=0xcf).contains(&marker) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            return Some((number(at + 7)?.into(), number(at + 5)?.into()));
        }
        if length < 2 {
            return None;
        }
        at += 2 + length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_bytes_and_measured_from_their_headers() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 4, 0, 0, 0, 3, 0]);
        assert_eq!(dimensions(&png), Some((1024, 768)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x0b\x08\x03\0\x04\0\x01";
        assert_eq!(dimensions(jpeg), Some((1024, 768)));
        for broken in [&png[..18], &jpeg[..9], b"\xff\xd8\xff\xe0\0\0", b"GIF89a", b""] {
            assert_eq!(dimensions(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn what_is_too_large_or_no_picture_is_said_and_not_sent() {
        assert!(file_part("a", "text/csv", &vec![0; MAX_BYTES + 1]).unwrap_err().contains("bytes"));
        assert!(file_part("a", "image/png", b"<svg>").unwrap_err().contains("no picture"));
        let file = file_part("a b/../c.bin", "application/x", b"x").unwrap();
        let Part::File { uri, .. } = file else { panic!("a file") };
        assert_eq!(uri, "file://a%20b%2F..%2Fc.bin");
    }
}
