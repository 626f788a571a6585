//! From a concrete path to the operation it calls, and to the nearest ones where it calls none.
//!
//! A path is taken apart, checked and built anew from its template. What a server might read in
//! two ways is refused, never repaired.

use std::borrow::Cow;
use std::cmp::Ordering;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use thiserror::Error;

use super::document::{Document, Method, StoredPath};

/// Longer paths are refused; servers give up at about this length.
const MAX_PATH: usize = 8_192;

/// Where templates with values of several segments are kept among the others.
const ANY_LENGTH: u16 = u16::MAX;

/// What is encoded in a segment: all but the characters RFC 3986 allows there, and `;`, at which
/// some servers cut a segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b':')
    .remove(b'=')
    .remove(b'@');

/// As `SEGMENT`, for the fixed parts of a template, which may be encoded already.
const FIXED: &AsciiSet = &SEGMENT.remove(b'%').remove(b';');

/// The operation a path calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteMatch {
    /// Its index in [`Document::summaries`].
    pub operation: usize,
    /// Its path template.
    pub template: String,
    /// The decoded values of the template's parameters, in its order.
    pub values: Vec<(String, String)>,
    /// The path to send, below the server's own: each value encoded, the slash at the end as in
    /// the template.
    pub path: String,
}

/// Why a path calls no operation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RouteError {
    /// The method is not one of HTTP's.
    #[error("`{method}` is not an HTTP method")]
    UnknownMethod {
        /// As given, shortened.
        method: String,
    },
    /// No template has this form.
    #[error("no documented operation has this path")]
    UnknownPath,
    /// The path is documented, but not with this method.
    #[error("this path is documented only for {}", list(allowed))]
    OtherMethods {
        /// The methods it has.
        allowed: Vec<Method>,
    },
    /// It is a whole URL.
    #[error("the path is a whole URL; give only the path, the server is configured")]
    Absolute,
    /// It has a query or fragment in it.
    #[error(
        "the path holds `?` or `#`; give query parameters as `query`, and write these characters in a value as %3F and %23"
    )]
    Query,
    /// A segment is `.` or `..`.
    #[error("the path holds a segment `.` or `..`")]
    DotSegment,
    /// A value holds a slash.
    #[error(
        "the path holds an encoded slash (%2F); a value with a slash cannot be sent this way, call the operation by its id"
    )]
    EncodedSlash,
    /// There is a backslash, encoded or not.
    #[error("the path holds a backslash")]
    Backslash,
    /// There is a control character, encoded or not.
    #[error("the path holds a control character")]
    ControlCharacter,
    /// What is percent-encoded is no text.
    #[error("the path is not UTF-8 when decoded")]
    NotText,
    /// Two slashes follow one another.
    #[error("the path holds an empty segment (`//`)")]
    EmptySegment,
    /// It is too long.
    #[error("the path has more than {MAX_PATH} bytes")]
    TooLong,
}

impl Document {
    /// Finds the operation that a method and a concrete path call.
    ///
    /// Fixed segments go before parameters. A missing or surplus slash at the end is corrected,
    /// and the path of the server may stand in front.
    ///
    /// # Errors
    /// When the path is ambiguous to a server, or no operation has it.
    pub fn route(&self, method: &str, path: &str) -> Result<RouteMatch, RouteError> {
        let Some(method) = Method::parse(method) else {
            return Err(RouteError::UnknownMethod { method: method.chars().take(20).collect() });
        };
        let (segments, slash) = taken_apart(path)?;
        let mut allowed = Vec::new();
        let below = self.base_paths().into_iter().filter_map(|base| {
            let base: Vec<_> =
                base.split('/').filter(|it| !it.is_empty()).map(str::to_owned).collect();
            segments.strip_prefix(base.as_slice())
        });
        for segments in std::iter::once(segments.as_slice()).chain(below) {
            if let Some(found) = self.best(method, segments, slash, &mut allowed) {
                return Ok(found);
            }
        }
        if allowed.is_empty() {
            return Err(RouteError::UnknownPath);
        }
        allowed.sort();
        allowed.dedup();
        Err(RouteError::OtherMethods { allowed })
    }

    /// The operations nearest to a method and path that call none, the nearest first.
    #[must_use]
    pub fn nearest(&self, method: &str, path: &str, count: usize) -> Vec<usize> {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let path = path
            .split_once("://")
            .map_or(path, |(_, rest)| rest.split_once('/').map_or("", |it| it.1));
        let mut wanted: Vec<_> = path.split('/').filter(|it| !it.is_empty()).take(32).collect();
        for base in self.base_paths() {
            let base: Vec<_> = base.split('/').filter(|it| !it.is_empty()).collect();
            if wanted.starts_with(&base) {
                wanted.drain(..base.len());
                break;
            }
        }
        let method = Method::parse(method);
        let mut ranked: Vec<_> = self
            .summaries
            .iter()
            .enumerate()
            .map(|(index, summary)| {
                let other = u32::from(Some(summary.method) != method);
                (distance(&wanted, &summary.path) + other * OTHER_METHOD, other, index)
            })
            .collect();
        let count = count.min(ranked.len());
        if count > 0 && count < ranked.len() {
            ranked.select_nth_unstable(count - 1);
        }
        ranked.truncate(count);
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, _, index)| index).collect()
    }

    /// The most specific template that fits, a slash at the end as given before any other.
    fn best(
        &self,
        method: Method,
        segments: &[String],
        slash: bool,
        allowed: &mut Vec<Method>,
    ) -> Option<RouteMatch> {
        let mut best: Option<(bool, &StoredPath, usize, Vec<Vec<String>>)> = None;
        let length = u16::try_from(segments.len()).ok()?;
        for bucket in [length, ANY_LENGTH] {
            let start = self.order.templates.partition_point(|(count, _)| *count < bucket);
            let templates =
                self.order.templates.iter().skip(start).take_while(|(count, _)| *count == bucket);
            for &(_, index) in templates {
                let Some(path) = self.path_at(index) else { continue };
                let Some(values) = fit(path, segments) else { continue };
                let Some(operation) = self.exact_route(method, &path.template) else {
                    allowed.extend(
                        Method::ALL
                            .into_iter()
                            .filter(|it| self.exact_route(*it, &path.template).is_some()),
                    );
                    continue;
                };
                let other_slash = path.template.ends_with('/') != slash;
                let better = best.as_ref().is_none_or(|(other, rival, ..)| {
                    other_slash.cmp(other).then_with(|| specificity(path).cmp(specificity(rival)))
                        == Ordering::Less
                });
                if better {
                    best = Some((other_slash, path, operation, values));
                }
            }
        }
        let (_, path, operation, values) = best?;
        Some(built(path, operation, &values))
    }
}

/// Sorts paths for [`Document::route`]: by number of segments, then the more specific first.
pub(super) fn order(paths: &[StoredPath]) -> Vec<(u16, u32)> {
    let mut order: Vec<_> = paths
        .iter()
        .zip(0..)
        .map(|(path, index)| {
            let count = if path.multi_segment.is_empty() {
                u16::try_from(segments(&path.template).count()).unwrap_or(ANY_LENGTH - 1)
            } else {
                ANY_LENGTH
            };
            (count, index)
        })
        .collect();
    order.sort_unstable();
    order
}

fn list(methods: &[Method]) -> String {
    methods.iter().map(|method| method.as_str()).collect::<Vec<_>>().join(", ")
}

fn segments(path: &str) -> impl Iterator<Item = &str> + Clone {
    path.trim_matches('/').split('/').filter(|it| !it.is_empty())
}

/// The decoded segments of a path, and whether it ends in a slash.
fn taken_apart(path: &str) -> Result<(Vec<String>, bool), RouteError> {
    if path.len() > MAX_PATH {
        return Err(RouteError::TooLong);
    }
    if path.contains("://") {
        return Err(RouteError::Absolute);
    }
    if path.contains(['?', '#']) {
        return Err(RouteError::Query);
    }
    let inner = path.strip_prefix('/').unwrap_or(path);
    let slash = inner.is_empty() || inner.ends_with('/');
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    if inner.is_empty() {
        return Ok((Vec::new(), slash));
    }
    let segments = inner.split('/').map(decoded).collect::<Result<_, _>>()?;
    Ok((segments, slash))
}

fn decoded(segment: &str) -> Result<String, RouteError> {
    let Ok(text) = percent_decode_str(segment).decode_utf8() else {
        return Err(RouteError::NotText);
    };
    let bare = text.split(';').next().unwrap_or_default();
    if text.is_empty() {
        Err(RouteError::EmptySegment)
    } else if text.chars().any(char::is_control) {
        Err(RouteError::ControlCharacter)
    } else if text.contains('\\') {
        Err(RouteError::Backslash)
    } else if text.contains('/') {
        Err(RouteError::EncodedSlash)
    } else if matches!(bare, "." | "..") {
        Err(RouteError::DotSegment)
    } else {
        Ok(text.into_owned())
    }
}

/// The values of a template's parameters, one list for each of its segments, if it fits.
fn fit(path: &StoredPath, wanted: &[String]) -> Option<Vec<Vec<String>>> {
    let templates: Vec<_> = segments(&path.template).collect();
    let mut values = Vec::with_capacity(templates.len());
    let spare = wanted.len().checked_sub(templates.len())?;
    if path.multi_segment.is_empty() && spare > 0 {
        return None;
    }
    fit_from(path, &templates, wanted, &mut values, 2).then_some(values)
}

/// `wide` bounds how many parameters of one template are tried with more than one segment.
fn fit_from(
    path: &StoredPath,
    templates: &[&str],
    wanted: &[String],
    values: &mut Vec<Vec<String>>,
    wide: usize,
) -> bool {
    let Some((template, templates)) = templates.split_first() else { return wanted.is_empty() };
    let Some(spare) = wanted.len().checked_sub(templates.len() + 1) else { return false };
    let is_wide = wide > 0 && multi_name(path, template).is_some();
    for taken in 1..=(if is_wide { spare + 1 } else { 1 }) {
        let Some((own, rest)) = wanted.split_at_checked(taken) else { return false };
        let found = match own {
            [one] => fit_segment(template, one),
            several => Some(vec![several.join("/")]),
        };
        let Some(found) = found else { return false };
        values.push(found);
        if fit_from(path, templates, rest, values, if is_wide { wide - 1 } else { wide }) {
            return true;
        }
        values.pop();
    }
    false
}

/// The name of a parameter that is the whole segment and may hold slashes.
fn multi_name<'t>(path: &StoredPath, template: &'t str) -> Option<&'t str> {
    let name = template.strip_prefix('{')?.strip_suffix('}')?;
    path.multi_segment.iter().any(|it| it == name).then_some(name)
}

/// The values in one segment: `{id}:cancel` takes `7` out of `7:cancel`.
fn fit_segment(template: &str, value: &str) -> Option<Vec<String>> {
    if !template.contains('{') {
        return (fixed(template) == value).then(Vec::new);
    }
    let pieces = pieces(template);
    let mut values = Vec::new();
    let mut rest = value;
    let mut pieces = pieces.as_slice();
    // What is fixed at the end binds first, so that a value may hold the same characters.
    if let [before @ .., Piece::Fixed(end)] = pieces {
        rest = rest.strip_suffix(fixed(end).as_ref())?;
        pieces = before;
    }
    while let Some((piece, after)) = pieces.split_first() {
        match piece {
            Piece::Fixed(text) => rest = rest.strip_prefix(fixed(text).as_ref())?,
            Piece::Parameter(_) => {
                let first = rest.chars().next()?.len_utf8();
                let end = match after.first() {
                    Some(Piece::Fixed(text)) => {
                        first + rest.get(first..)?.find(fixed(text).as_ref())?
                    }
                    Some(Piece::Parameter(_)) => first,
                    None => rest.len(),
                };
                let (taken, left) = rest.split_at_checked(end)?;
                if taken.is_empty() {
                    return None;
                }
                values.push(taken.to_owned());
                rest = left;
            }
        }
        pieces = after;
    }
    rest.is_empty().then_some(values)
}

/// A part of a template's segment.
#[derive(Clone, Copy, Debug)]
enum Piece<'t> {
    Fixed(&'t str),
    Parameter(&'t str),
}

fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        if !before.is_empty() {
            pieces.push(Piece::Fixed(before));
        }
        pieces.push(Piece::Parameter(name));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Fixed(rest));
    }
    pieces
}

fn fixed(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// How general each segment is: fixed text, text with parameters (the more text the less general),
/// a parameter, several segments. The end counts as most general: of two templates that begin
/// alike the longer one says more.
fn specificity(path: &StoredPath) -> impl Iterator<Item = usize> {
    let of = |segment: &str| match segment.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
        _ if !segment.contains('{') => 0,
        Some(name) if !name.contains('{') => {
            MAX_PATH + usize::from(multi_name(path, segment).is_some())
        }
        _ => MAX_PATH.saturating_sub(segment.len()).max(1),
    };
    segments(&path.template).map(of).chain([usize::MAX])
}

/// The path anew, from its template and the values found.
fn built(path: &StoredPath, operation: usize, found: &[Vec<String>]) -> RouteMatch {
    let mut text = String::with_capacity(path.template.len() + 32);
    let mut values = Vec::new();
    for (segment, found) in segments(&path.template).zip(found) {
        text.push('/');
        let mut found = found.iter();
        for piece in pieces(segment) {
            match piece {
                Piece::Fixed(fixed) => text.extend(utf8_percent_encode(fixed, FIXED)),
                Piece::Parameter(name) => {
                    let Some(value) = found.next() else { continue };
                    for (index, part) in value.split('/').enumerate() {
                        if index > 0 {
                            text.push('/');
                        }
                        text.extend(utf8_percent_encode(part, SEGMENT));
                    }
                    values.push((name.to_owned(), value.clone()));
                }
            }
        }
    }
    if text.is_empty() || path.template.ends_with('/') {
        text.push('/');
    }
    RouteMatch { operation, template: path.template.clone(), values, path: text }
}

/// What another method costs beside one segment that is missing.
const OTHER_METHOD: u32 = 70;
const MISSING: u32 = 100;
const PARAMETER: u32 = 25;

/// The edit distance between the segments of a path and those of a template.
fn distance(wanted: &[&str], template: &str) -> u32 {
    let mut costs: Vec<u32> =
        (0..=wanted.len()).map(|it| u32::try_from(it).unwrap_or(u32::MAX) * MISSING).collect();
    for segment in segments(template).take(32) {
        let mut diagonal = costs[0];
        costs[0] += MISSING;
        for (index, word) in wanted.iter().enumerate() {
            let replaced = diagonal + difference(word, segment);
            diagonal = costs[index + 1];
            costs[index + 1] = replaced.min(diagonal + MISSING).min(costs[index] + MISSING);
        }
    }
    costs.last().copied().unwrap_or_default()
}

/// 0 for equal segments, up to 2 × 100 for ones that share nothing.
fn difference(word: &str, segment: &str) -> u32 {
    if word == segment {
        return 0;
    }
    if segment.starts_with('{') {
        return if word.starts_with('{') { 0 } else { PARAMETER };
    }
    let (a, b) = (word.as_bytes(), segment.as_bytes());
    let shorter = a.len().min(b.len());
    let start = a.iter().zip(b).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
    let end = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take(shorter - start)
        .take_while(|(a, b)| a.eq_ignore_ascii_case(b))
        .count();
    let shared = u32::try_from(start + end).unwrap_or(u32::MAX);
    let longer = u32::try_from(a.len().max(b.len()).max(1)).unwrap_or(u32::MAX);
    180 - 180 * shared.min(longer) / longer
}
