//! Sentry: offset pagination by the Link header, vector by vector, over the 107 repositories.

use serde_json::{Value, json};

use crate::client::{Client, Response};

const REPOS: &str = "/organizations/harbor-lantern/repos/";

/// Rows, then cursor and `results` of previous and next.
fn page(client: &Client, query: &str) -> (usize, String, bool, String, bool) {
    let response = client.get(&format!("{REPOS}{query}"));
    let rows = response.rows().len();
    let links: Vec<(String, bool)> = links(&response);
    let [previous, next] = links.try_into().unwrap();
    (rows, previous.0, previous.1, next.0, next.1)
}

/// Takes the header apart and checks what all links have in common.
fn links(response: &Response) -> Vec<(String, bool)> {
    let header = response.header("link").unwrap();
    let links: Vec<&str> = header.split(", <").collect();
    assert_eq!(links.len(), 2, "both links are always there");
    assert!(links[0].contains("; rel=\"previous\"; ") && links[1].contains("; rel=\"next\"; "));
    links
        .iter()
        .map(|link| {
            let (target, parameters) = link.trim_start_matches('<').split_once('>').unwrap();
            let cursor = parameters.split("cursor=\"").nth(1).unwrap().trim_end_matches('"');
            assert!(target.ends_with(&format!("&cursor={cursor}")), "{link}");
            (cursor.to_owned(), parameters.contains("results=\"true\""))
        })
        .collect()
}

#[test]
fn the_header_is_one_line_with_absolute_links() {
    let client = Client::sentry();
    let base = format!("{}/api/0{REPOS}", client.mock.base_url);
    assert_eq!(
        client.get(&format!("{REPOS}?per_page=50")).header("link").unwrap(),
        format!(
            "<{base}?per_page=50&cursor=50:-1:1>; rel=\"previous\"; results=\"false\"; \
             cursor=\"50:-1:1\", <{base}?per_page=50&cursor=50:1:0>; rel=\"next\"; \
             results=\"true\"; cursor=\"50:1:0\""
        )
    );
    let plain = client.get(REPOS);
    assert!(plain.header("link").unwrap().starts_with(&format!("<{base}?&cursor=100:-1:1>; ")));
    let filtered = client.get(&format!("{REPOS}?query=a%20b&cursor=100:0:0&status=active"));
    let link = filtered.header("link").unwrap();
    assert!(
        link.starts_with(&format!("<{base}?query=a+b&status=active&cursor=100:-1:1>")),
        "{link}"
    );
}

#[test]
fn cursors_walk_the_pages_as_the_real_ones_do() {
    let client = Client::sentry();
    let expected = |rows, previous: &str, has_previous, next: &str, has_next| {
        (rows, previous.to_owned(), has_previous, next.to_owned(), has_next)
    };
    for (query, page_seen) in [
        ("", expected(100, "100:-1:1", false, "100:1:0", true)),
        ("?cursor=100:1:0", expected(7, "100:0:1", true, "100:2:0", false)),
        ("?cursor=100:2:0", expected(0, "100:1:1", true, "100:3:0", false)),
        ("?cursor=100:0:1", expected(100, "100:-1:1", false, "100:1:0", true)),
        ("?per_page=50", expected(50, "50:-1:1", false, "50:1:0", true)),
        ("?per_page=50&cursor=50:1:0", expected(50, "50:0:1", true, "50:2:0", true)),
        ("?per_page=50&cursor=50:2:0", expected(7, "50:1:1", true, "50:3:0", false)),
        ("?cursor=", expected(100, "100:-1:1", false, "100:1:0", true)),
        ("?per_page=1", expected(1, "1:-1:1", false, "1:1:0", true)),
    ] {
        assert_eq!(page(&client, query), page_seen, "{query}");
    }
}

#[test]
fn wrong_sizes_and_cursors_are_refused() {
    let client = Client::sentry();
    let refused = |query: &str| {
        let (status, body) = client.get(&format!("{REPOS}?{query}")).pair();
        assert_eq!(status, 400);
        body["detail"].as_str().unwrap().to_owned()
    };
    let range = "Invalid per_page value. Must be between 1 and 100.";
    for query in ["per_page=0", "per_page=101", "per_page=-5"] {
        assert_eq!(refused(query), range);
    }
    assert_eq!(refused("per_page=ten"), "Invalid per_page parameter.");
    let beyond = "cursor=1:-9223372036854775808:0";
    for query in ["cursor=abc", "cursor=1:2", "cursor=1:2:3:4", "cursor=a:b:c", beyond] {
        assert_eq!(refused(query), "Invalid cursor parameter.", "{query}");
    }
    assert_eq!(refused("cursor=100:-1:1"), "Pagination offset cannot be negative");
}

#[test]
fn a_cursor_of_another_size_keeps_the_tail_of_its_window() {
    let client = Client::sentry();
    let all: Vec<Value> =
        [client.get(REPOS).rows(), client.get(&format!("{REPOS}?cursor=100:1:0")).rows()].concat();
    let response = client.get(&format!("{REPOS}?per_page=10&cursor=50:1:0"));
    assert_eq!(response.rows(), all[90..100], "rows 50 to 100, of which the last eleven count");
    assert_eq!(links(&response), [("10:0:1".to_owned(), true), ("10:2:0".to_owned(), true)]);
}

#[test]
fn following_next_while_it_has_results_finds_everything_once() {
    let client = Client::sentry();
    let mut ids = std::collections::BTreeSet::new();
    let mut cursor = "20:0:0".to_owned();
    loop {
        let response = client.get(&format!("{REPOS}?per_page=20&cursor={cursor}"));
        for repository in response.rows() {
            assert!(ids.insert(repository["id"].to_string()));
        }
        let (next, more) = links(&response)[1].clone();
        cursor = next;
        if !more {
            break;
        }
    }
    assert_eq!(ids.len(), 107);
}

#[test]
fn repositories_hold_the_right_answer_and_its_decoys() {
    let client = Client::sentry();
    let first = client.get(REPOS).rows();
    let second = client.get(&format!("{REPOS}?cursor=100:1:0")).rows();
    let tide = |rows: &[Value]| {
        let wanted = rows.iter().filter(|row| {
            let name = row["name"].as_str().unwrap().split('/').nth(1).unwrap();
            row["provider"]["id"] == "integrations:github" && name.starts_with("tide-")
        });
        wanted.map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(tide(&first), ["harbor-lantern/tide-tables"]);
    let three =
        ["tide-almanac", "tide-gate", "tide-mill"].map(|name| format!("zephyr-freight/{name}"));
    assert_eq!(tide(&second), three);
    let names: Vec<String> =
        [first, second.clone()].concat().iter().map(|row| row["name"].to_string()).collect();
    assert!(names.is_sorted());
    let gate = second.iter().find(|row| row["name"] == "zephyr-freight/tide-gate").unwrap();
    assert_eq!(gate["url"], "https://github.com/zephyr-freight/tide-gate");
    assert_eq!(gate["provider"], json!({ "id": "integrations:github", "name": "GitHub" }));

    let count = |query: &str| client.get(&format!("{REPOS}{query}")).rows().len();
    assert_eq!(count("?status=deleted"), 9);
    assert_eq!(count("?status=disabled"), 0);
    assert_eq!(count("?query=TIDE-"), 8, "seven beginning with it, and riptide");
    assert_eq!(count("?query=tide-archive"), 0);
    assert_eq!(count("?integration_id=513"), 1);
    assert_eq!(client.get(&format!("{REPOS}?expand=settings")).rows()[0]["settings"], Value::Null);
}
