//! A document as it lies in the cache: written, read, and checked before it is believed.

use std::cmp::Ordering;

use thiserror::Error;

use super::document::{Document, Order};
use super::route;

impl Document {
    /// The document in a compact form for a cache on disk.
    ///
    /// # Errors
    /// None in practice; the serialiser's own are passed on.
    pub fn to_bytes(&self) -> Result<Vec<u8>, DocumentBytesError> {
        Ok(postcard::to_allocvec(self)?)
    }

    /// Reads what [`Document::to_bytes`] wrote.
    ///
    /// # Errors
    /// When the bytes are damaged or come from another version of this program.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DocumentBytesError> {
        let mut document: Self = postcard::from_bytes(bytes)?;
        if !document.is_sound() || !document.is_in_order() {
            return Err(DocumentBytesError::Unsound);
        }
        document.order.templates = route::order(&document.paths);
        Ok(document)
    }

    /// Every table points into the text and the other tables.
    fn is_sound(&self) -> bool {
        let spans = (self.operations.iter().map(|it| it.span))
            .chain(self.components.iter().map(|it| it.span))
            .chain(self.extras.iter().map(|(_, span)| *span))
            .chain(self.paths.iter().filter_map(|it| it.shared))
            .chain(self.security);
        self.summaries.len() == self.operations.len()
            && spans.map(|span| span.of(&self.text)).all(|text| text.is_some())
            && self.operations.iter().zip(&self.summaries).all(|(operation, summary)| {
                self.path_at(operation.path).is_some_and(|path| path.template == summary.path)
            })
    }

    /// Every operation is in its place in both orders, once.
    fn is_in_order(&self) -> bool {
        let Order { ids, routes, .. } = &self.order;
        let is_whole = |order: &[u32]| {
            order.len() == self.len() && order.iter().all(|&it| self.summary_at(it).is_some())
        };
        is_whole(ids)
            && is_whole(routes)
            && ids.is_sorted_by(|&a, &b| self.by_id(a, b).is_lt())
            && routes.is_sorted_by(|&a, &b| self.by_route(a, b).is_lt())
    }

    pub(super) fn ordered(mut self) -> Self {
        let count = u32::try_from(self.summaries.len()).unwrap_or(u32::MAX);
        let mut ids: Vec<u32> = (0..count).collect();
        let mut routes = ids.clone();
        ids.sort_unstable_by(|&a, &b| self.by_id(a, b));
        routes.sort_unstable_by(|&a, &b| self.by_route(a, b));
        let templates = route::order(&self.paths);
        self.order = Order { ids, routes, templates };
        self
    }

    fn by_id(&self, a: u32, b: u32) -> Ordering {
        self.id_at(a).cmp(self.id_at(b)).then(a.cmp(&b))
    }

    fn by_route(&self, a: u32, b: u32) -> Ordering {
        let route = |index| self.summary_at(index).map(|it| (it.path.as_str(), it.method));
        route(a).cmp(&route(b)).then(a.cmp(&b))
    }
}

/// Why bytes from a cache are not a document.
#[derive(Debug, Error)]
pub enum DocumentBytesError {
    /// They do not have the form this version writes.
    #[error("the cached document cannot be read")]
    Form(#[from] postcard::Error),
    /// Their parts do not fit together.
    #[error("the cached document is damaged")]
    Unsound,
}

#[cfg(test)]
mod tests {
    use super::super::{LoadOptions, load};
    use super::*;

    #[test]
    fn an_order_that_leaves_out_or_misplaces_an_operation_is_refused() {
        let text = r#"{"openapi":"3.0.0","paths":{"/b":{"get":{},"put":{}},"/a":{"get":{}}}}"#;
        let document = load(text.as_bytes(), &LoadOptions::default()).unwrap();
        let again = Document::from_bytes(&document.to_bytes().unwrap()).unwrap();
        assert_eq!(again.find_id("get_a"), Some(2));
        assert_eq!(again.find_route("PUT", "/b"), Some(1));
        let damages: [fn(&mut Order); 5] = [
            |order| order.ids.swap(0, 1),
            |order| order.routes.swap(1, 2),
            |order| order.ids[0] = order.ids[1],
            |order| order.routes[0] = 3,
            |order| order.ids.clear(),
        ];
        for (number, damage) in damages.into_iter().enumerate() {
            let mut damaged = document.clone();
            damage(&mut damaged.order);
            let read = Document::from_bytes(&damaged.to_bytes().unwrap());
            assert!(matches!(read, Err(DocumentBytesError::Unsound)), "{number}");
        }
    }
}
