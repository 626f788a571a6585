//! How pages of real APIs lead to the next one.

use serde_json::json;

use super::*;

struct Case<'a> {
    url: &'a str,
    headers: &'a [(&'a str, &'a str)],
    body: Value,
    declared: &'a [&'a str],
}

fn next(case: &Case<'_>) -> Next {
    let own = |text: &&str| (*text).to_owned();
    let headers: Vec<_> =
        case.headers.iter().map(|(name, value)| (own(name), own(value))).collect();
    let declared: Vec<String> = case.declared.iter().map(own).collect();
    next_page(&Page {
        url: &Url::parse(case.url).unwrap(),
        headers: &headers,
        body: &case.body,
        declared: &declared,
        first_page: 1,
    })
}

fn from_body(body: Value, declared: &[&str]) -> Next {
    next(&Case { url: "https://h/api/items?limit=2", headers: &[], body, declared })
}

fn from_link(header: &str) -> Next {
    let headers = [("link", header)];
    next(&Case {
        url: "https://h/api/items?a=1",
        headers: &headers,
        body: json!([1]),
        declared: &["page"],
    })
}

fn url(text: &str) -> Next {
    Next::Url(text.to_owned())
}

fn query(name: &str, value: &str) -> Next {
    Next::Query(vec![(name.to_owned(), value.to_owned())])
}

#[test]
fn link_headers_lead_on_or_end() {
    let table = [
        (
            r#"<https://h/api/items?page=2>; rel="next", <https://h/x>; rel="last""#,
            url("https://h/api/items?page=2"),
        ),
        (r#"<https://h/x>; rel="prev", <https://h/y>; rel="first""#, Next::End),
        (
            r#"<https://h/p>; rel="previous"; results="false"; cursor="0:0:1", <https://h/n?cursor=0:100:0>; rel="next"; results="true"; cursor="0:100:0""#,
            url("https://h/n?cursor=0:100:0"),
        ),
        (
            r#"<https://h/p>; rel="previous"; results="true"; cursor="0:0:1", <https://h/n?cursor=0:100:0>; rel="next"; results="false"; cursor="0:100:0""#,
            Next::End,
        ),
        (
            r#"</api/items?cursor=a,b;c>; title="a, \"b\"; c" ; rel=next"#,
            url("https://h/api/items?cursor=a,b;c"),
        ),
        (r"<?page=3>;rel='x';REL=NEXT", query("page", "2")),
        (r#"<?page=3>; rel="start next""#, url("https://h/api/items?page=3")),
        (r#"<https://h/api/items?a=1>; rel="next""#, Next::End),
        (r#"<https://docs>; rel="describedby""#, query("page", "2")),
        ("<<;;\"=>;,", query("page", "2")),
    ];
    for (header, expected) in table {
        assert_eq!(from_link(header), expected, "{header}");
    }
}

#[test]
fn gitlab_names_the_next_page_in_a_header() {
    let case =
        |value| Case { url: "https://h/p", headers: value, body: json!([]), declared: &["page"] };
    assert_eq!(next(&case(&[("x-next-page", "4")])), query("page", "4"));
    assert_eq!(next(&case(&[("x-next-page", "")])), Next::End);
}

#[test]
fn bodies_lead_on_or_end() {
    let table = [
        // authentik
        (
            json!({ "pagination": { "next": 2, "count": 30 }, "results": [1] }),
            &["page"][..],
            query("page", "2"),
        ),
        (json!({ "pagination": { "next": 0, "count": 30 }, "results": [1] }), &["page"], Next::End),
        // Django REST framework
        (
            json!({ "count": 3, "next": "https://h/api/items?page=2", "results": [1] }),
            &["page"],
            url("https://h/api/items?page=2"),
        ),
        (json!({ "count": 3, "next": null, "results": [1] }), &["page"], Next::End),
        // Graph, JSON:API, HAL, DigitalOcean, Salesforce
        (
            json!({ "@odata.context": "c", "@odata.nextLink": "https://h/n", "value": [1] }),
            &["$skip"],
            url("https://h/n"),
        ),
        (json!({ "@odata.context": "c", "value": [1] }), &["$skip"], Next::End),
        (
            json!({ "links": { "next": "/api/items?page[number]=2" }, "data": [1] }),
            &[],
            url("https://h/api/items?page[number]=2"),
        ),
        (json!({ "links": { "prev": "/x" }, "data": [1] }), &["page[number]"], Next::End),
        (
            json!({ "_links": { "next": { "href": "?p=2" } }, "items": [1] }),
            &[],
            url("https://h/api/items?p=2"),
        ),
        (
            json!({ "links": { "pages": { "next": "https://h/n?page=2" } }, "droplets": [1] }),
            &["page"],
            url("https://h/n?page=2"),
        ),
        // Slack, Google, Notion, Box, Kubernetes, Asana, HubSpot, GraphQL-like
        (
            json!({ "response_metadata": { "next_cursor": "abc=" }, "members": [1] }),
            &["cursor", "limit"],
            query("cursor", "abc="),
        ),
        (
            json!({ "response_metadata": { "next_cursor": "" }, "members": [1] }),
            &["cursor"],
            Next::End,
        ),
        (json!({ "nextPageToken": "t", "items": [1] }), &["pageToken"], query("pageToken", "t")),
        (json!({ "nextPageToken": "t", "items": [1] }), &[], query("pageToken", "t")),
        (json!({ "items": [1] }), &["pageToken", "pageSize"], Next::End),
        (
            json!({ "next_cursor": "n", "has_more": true, "results": [1] }),
            &["start_cursor"],
            query("start_cursor", "n"),
        ),
        (
            json!({ "next_cursor": "n", "has_more": false, "results": [1] }),
            &["start_cursor"],
            Next::End,
        ),
        (json!({ "next_marker": "m", "entries": [1] }), &["marker"], query("marker", "m")),
        (
            json!({ "metadata": { "continue": "c", "resourceVersion": "1" }, "items": [1] }),
            &["continue"],
            query("continue", "c"),
        ),
        (json!({ "metadata": { "resourceVersion": "1" }, "items": [1] }), &["limit"], Next::End),
        (
            json!({ "next_page": { "offset": "o", "uri": "https://h/api/t?offset=o" }, "data": [1] }),
            &["offset"],
            url("https://h/api/t?offset=o"),
        ),
        (json!({ "next_page": null, "data": [1] }), &["offset"], Next::End),
        (
            json!({ "paging": { "next": { "after": "5" } }, "results": [1] }),
            &["after"],
            query("after", "5"),
        ),
        (
            json!({ "pageInfo": { "endCursor": "e", "hasNextPage": false }, "items": [1] }),
            &["after"],
            Next::End,
        ),
        // Stripe
        (
            json!({ "has_more": true, "data": [{ "id": "a" }, { "id": "b" }] }),
            &["starting_after"],
            query("starting_after", "b"),
        ),
        (json!({ "has_more": false, "data": [{ "id": "a" }] }), &["starting_after"], Next::End),
        // PagerDuty, Jira
        (
            json!({ "more": true, "offset": 4, "limit": 2, "users": [1, 2] }),
            &["offset", "limit"],
            query("offset", "6"),
        ),
        (
            json!({ "more": false, "offset": 4, "limit": 2, "users": [1, 2] }),
            &["offset"],
            Next::End,
        ),
        (
            json!({ "startAt": 0, "maxResults": 2, "total": 5, "values": [1, 2] }),
            &["startAt"],
            query("startAt", "2"),
        ),
        (
            json!({ "startAt": 4, "maxResults": 2, "total": 5, "values": [1] }),
            &["startAt"],
            Next::End,
        ),
        (json!({ "isLast": true, "values": [1, 2] }), &["startAt"], Next::End),
        // Page numbers
        (json!({ "total_pages": 3, "items": [1, 2] }), &["page"], query("page", "2")),
        (json!({ "total_pages": 1, "items": [1, 2] }), &["page"], Next::End),
        (json!([1, 2]), &["page", "per_page"], query("page", "2")),
        (json!([1]), &["page", "per_page"], query("page", "2")),
        (json!([]), &["page", "per_page"], Next::End),
        // Nothing to page with, and nothing known
        (json!([1, 2, 3]), &["name"], Next::End),
        (json!([1, 2]), &["limit"], Next::Unknown),
        (json!({ "total": 2, "items": [1, 2] }), &["limit"], Next::End),
        (json!("text"), &["page"], Next::Unknown),
    ];
    for (body, declared, expected) in table {
        assert_eq!(from_body(body.clone(), declared), expected, "{body} {declared:?}");
    }
}

#[test]
fn a_short_page_is_not_the_last_when_the_server_may_have_capped_it() {
    let url = "https://h/api/items?per_page=1000&page=1";
    let case = |body| Case { url, headers: &[], body, declared: &["page", "per_page"] };
    assert_eq!(next(&case(json!([1, 2]))), query("page", "2"));
    let headers = [("x-total-count", "2")];
    assert_eq!(next(&Case { headers: &headers, ..case(json!([1, 2])) }), Next::End);
}

#[test]
fn pages_may_be_counted_from_zero() {
    let first = Url::parse("https://h/items").unwrap();
    let second = Url::parse("https://h/items?page=1").unwrap();
    let declared = ["page".to_owned()];
    let body = json!({ "totalPages": 2, "content": [1, 2] });
    let page = Page { url: &first, headers: &[], body: &body, declared: &declared, first_page: 0 };
    assert_eq!(next_page(&page), query("page", "1"));
    assert_eq!(next_page(&Page { url: &second, ..page }), Next::End);
}

#[test]
fn a_cursor_that_does_not_move_is_the_end() {
    let case = Case {
        url: "https://h/items?cursor=abc",
        headers: &[],
        body: json!({ "next_cursor": "abc", "items": [1] }),
        declared: &["cursor"],
    };
    assert_eq!(next(&case), Next::End);
}

#[test]
fn visited_pages_are_recognised_by_address_or_content() {
    let mut visited = Visited::default();
    assert!(visited.is_new("/a?page=1", &json!({ "items": [1, 2], "page": 1 })));
    assert!(visited.is_new("/a?page=2", &json!({ "items": [3] })));
    assert!(!visited.is_new("/a?page=1", &json!({ "items": [4] })));
    assert!(!visited.is_new("/a?page=3", &json!({ "items": [1, 2], "page": 3 })));
    assert!(visited.is_new("/a?page=4", &json!({ "items": [] })));
    assert!(visited.is_new("/a?page=5", &json!({ "items": [] })));
}

#[test]
fn items_are_found_where_apis_keep_them() {
    let table = [
        (json!([1, 2]), Some((vec![], 2))),
        (json!({ "results": [1], "errors": [1, 2] }), Some((vec!["results"], 1))),
        (json!({ "result": [], "errors": [], "messages": [] }), Some((vec!["result"], 0))),
        (json!({ "total": 1, "incidents": [1] }), Some((vec!["incidents"], 1))),
        (json!({ "warnings": ["w"], "issues": [{ "id": 1 }] }), Some((vec!["issues"], 1))),
        (json!({ "data": { "items": [1, 2, 3] } }), Some((vec!["data", "items"], 3))),
        (json!({ "_embedded": { "users": [1] } }), Some((vec!["_embedded", "users"], 1))),
        (json!({ "a": [1], "b": [2] }), None),
        (json!({ "id": 1 }), None),
        (json!("text"), None),
    ];
    for (body, expected) in table {
        let found = items_of(&body).map(|it| (it.path, it.items.len()));
        assert_eq!(found, expected, "{body}");
    }
}

#[test]
fn totals_are_found_where_apis_keep_them() {
    let header = |name: &str| vec![(name.to_owned(), "42".to_owned())];
    assert_eq!(total_of(&header("x-hits"), &json!([])), Some(42));
    assert_eq!(total_of(&header("x-total-count"), &json!([])), Some(42));
    let table = [
        (json!({ "pagination": { "count": 7 } }), Some(7)),
        (json!({ "total_count": 7 }), Some(7)),
        (json!({ "total": "7" }), Some(7)),
        (json!({ "count": 7, "next": null, "results": [] }), Some(7)),
        (json!({ "count": 7, "items": [] }), None),
        (json!({ "total": -1 }), None),
        (json!([1]), None),
    ];
    for (body, expected) in table {
        assert_eq!(total_of(&[], &body), expected, "{body}");
    }
}

#[test]
fn only_addresses_below_the_base_are_relative_to_it() {
    let base = Url::parse("https://h/api/v3").unwrap();
    let relative = |text: &str| relative_to_base(&Url::parse(text).unwrap(), &base);
    assert_eq!(relative("https://h/api/v3/users/?page=2").as_deref(), Some("/users/?page=2"));
    assert_eq!(relative("https://h:443/api/v3/users").as_deref(), Some("/users"));
    for other in [
        "https://h/api/v33/users",
        "https://h/api/v3",
        "https://h/other",
        "http://h/api/v3/users",
        "https://h:8443/api/v3/users",
        "https://evil/api/v3/users",
        "https://h@evil/api/v3/users",
        "https://user@h/api/v3/users",
        "https://h/api/v3/../../admin",
    ] {
        assert_eq!(relative(other), None, "{other}");
    }
}
