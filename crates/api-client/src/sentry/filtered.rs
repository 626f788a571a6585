//! Lists of which only some rows are wanted: pages are read until enough of them are found.

use serde::de::DeserializeOwned;

use super::Page;
use super::call::Call;
use super::error::Error;

/// The most pages that are read for one answer.
const MAX_PAGES: usize = 20;

/// Returns up to `limit` rows that are wanted. Its cursor may lie within one of Sentry's pages.
pub(super) async fn filtered<'c, T: DeserializeOwned>(
    limit: u32,
    cursor: Option<&str>,
    wanted: impl Fn(&T) -> bool,
    call: impl Fn() -> Call<'c>,
) -> Result<Page<T>, Error> {
    let mut place = match cursor {
        Some(cursor) => Place::parse(cursor, limit)?,
        None => Place { cursor: None, per_page: limit, skip: 0 },
    };
    let mut items = Vec::new();
    for _ in 0..MAX_PAGES {
        let Place { cursor, per_page, skip } = &place;
        let call = call().query("per_page", *per_page).query("cursor", cursor.as_deref());
        let page: Page<T> = call.page().await?;
        for (number, item) in page.items.into_iter().enumerate().skip(*skip) {
            if !wanted(&item) {
                continue;
            }
            if items.len() == usize::try_from(limit).unwrap_or(usize::MAX) {
                let next = Place { cursor: cursor.clone(), per_page: *per_page, skip: number };
                return Ok(Page { items, next_cursor: Some(next.to_string()) });
            }
            items.push(item);
        }
        let Some(next) = page.next_cursor else { return Ok(Page { items, next_cursor: None }) };
        place = Place { cursor: Some(next), per_page: place.per_page, skip: 0 };
    }
    Ok(Page { items, next_cursor: Some(place.to_string()) })
}

/// A row within a list: written as `skip.per_page.cursor`, which no cursor of Sentry looks like.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    cursor: Option<String>,
    per_page: u32,
    skip: usize,
}

impl Place {
    fn parse(text: &str, limit: u32) -> Result<Self, Error> {
        let Some((skip, rest)) = text.split_once('.') else {
            return Ok(Self { cursor: Some(text.to_owned()), per_page: limit, skip: 0 });
        };
        let read = || {
            let (per_page, cursor) = rest.split_once('.')?;
            let per_page = per_page.parse().ok().filter(|it| (1..=100).contains(it))?;
            let cursor = (!cursor.is_empty()).then(|| cursor.to_owned());
            Some(Self { cursor, per_page, skip: skip.parse().ok()? })
        };
        read().ok_or(Error::Cursor)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { cursor, per_page, skip } = self;
        write!(f, "{skip}.{per_page}.{}", cursor.as_deref().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, page};
    use super::*;

    async fn even(server: &Server, limit: u32, cursor: Option<&str>) -> Result<Page<u32>, Error> {
        let client = server.client();
        filtered(limit, cursor, |number| number % 2 == 0, || client.get("/api/0/numbers/")).await
    }

    #[tokio::test]
    async fn no_wanted_row_is_lost_or_repeated_between_answers() {
        let pages = || {
            vec![page("[1,2,4]", Some("3:1:0")), page("[6,8,9]", Some("3:2:0")), page("[10]", None)]
        };
        let server = Server::start(pages()).await;
        let first = even(&server, 3, None).await.unwrap();
        assert_eq!(first.items, [2, 4, 6]);
        assert_eq!(first.next_cursor.as_deref(), Some("1.3.3:1:0"));

        let server = Server::start(pages().split_off(1)).await;
        let second = even(&server, 2, first.next_cursor.as_deref()).await.unwrap();
        assert_eq!((second.items, second.next_cursor), (vec![8, 10], None));
        assert_eq!(
            server.lines(),
            [
                "GET /api/0/numbers/?per_page=3&cursor=3%3A1%3A0",
                "GET /api/0/numbers/?per_page=3&cursor=3%3A2%3A0",
            ]
        );
    }

    #[tokio::test]
    async fn a_long_search_ends_with_the_place_to_go_on() {
        let server = Server::start(vec![page("[1]", Some("1:1:0"))]).await;
        let nothing = even(&server, 1, None).await.unwrap();
        assert_eq!((nothing.items.len(), nothing.next_cursor.as_deref()), (0, Some("0.1.1:1:0")));
        assert_eq!(server.lines().len(), MAX_PAGES);
    }

    #[tokio::test]
    async fn a_cursor_of_another_kind_is_refused_or_left_to_sentry() {
        let server = Server::start(vec![page("[2]", None)]).await;
        for cursor in ["1.x.", "1.0.", "1.500.a", "x.1.a", "1.2"] {
            let error = even(&server, 3, Some(cursor)).await.unwrap_err();
            assert!(matches!(error, Error::Cursor), "{cursor}");
        }
        even(&server, 3, Some("3:1:0")).await.unwrap();
        assert_eq!(server.lines(), ["GET /api/0/numbers/?per_page=3&cursor=3%3A1%3A0"]);
    }
}
