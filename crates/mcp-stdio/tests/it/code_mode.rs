//! Scripts end to end: what they reach, what is refused before the network, how failures read.

use serde_json::json;

use crate::support::Connected;

/// P15: the hint is true in fact.
#[tokio::test]
async fn a_write_in_execute_is_refused_before_any_network_call() {
    let mut connected = Connected::start().await;
    let before = connected.mock.state();
    for code in [
        "return await ak.request('POST', '/stages/captcha/', { body: { name: 'x', public_key: 'a', private_key: 'b' } })",
        "return await ak.call('core_users_destroy', { id: 1 })",
        "return await ak.request({ method: 'delete', path: '/core/users/1/' })",
        "return await Promise.all([1, 2].map((id) => ak.call('core_users_partial_update', { id, body: { name: 'x' } })))",
    ] {
        let failed = connected.fails("execute", json!({ "code": code })).await;
        let message = failed["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("`execute` only reads") && message.contains("`execute_write`"),
            "{failed}"
        );
        assert_eq!(
            (&failed["error"]["status"], &failed["error"]["refused"]),
            (&json!(403), &json!(true))
        );
        assert_eq!(failed["calls"][0]["outcome"], json!("refused"));
    }
    assert_eq!(connected.writes(), 0);
    assert_eq!(connected.mock.state(), before);
}

#[tokio::test]
async fn a_wrong_path_is_refused_with_the_nearest_operations() {
    let mut connected = Connected::start().await;
    let sent = connected.mock.log().len();
    let failed = connected
        .fails("execute", json!({ "code": "return await ak.request('GET', '/core/user/')" }))
        .await;
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("`GET /core/users/` (core_users_list)"), "{message}");
    let failed = connected
        .fails("execute", json!({ "code": "return await ak.call('core_user_list')" }))
        .await;
    assert!(failed["error"]["message"].as_str().unwrap().contains("core_users_list"), "{failed}");
    assert_eq!(connected.mock.log().len(), sent + 1, "only the document was fetched");
}

/// P22: the message names the argument.
#[tokio::test]
async fn wrong_options_and_parameters_are_named() {
    let mut connected = Connected::start().await;
    let table = [
        (
            "return await ak.request({ method: 'GET', pth: '/core/users/' })",
            "`pth` is not an option: write `path`",
        ),
        (
            "return await ak.call('core_users_retrieve')",
            "`core_users_retrieve` needs the path parameter `id`",
        ),
        (
            "return await ak.call('core_users_list', { nme: 'x' })",
            "`nme` is not a parameter of `core_users_list`",
        ),
        ("return await ak.get('/core/users/')", "request"),
    ];
    for (code, message) in table {
        let failed = connected.fails("execute", json!({ "code": code })).await;
        assert!(failed["error"]["message"].as_str().unwrap().contains(message), "{code}: {failed}");
    }
}

#[tokio::test]
async fn an_incomplete_body_is_not_sent() {
    let mut connected = Connected::start().await;
    let code = "return await ak.request('POST', '/stages/captcha/', { body: { name: 'x' } })";
    let failed = connected.fails("execute_write", json!({ "code": code })).await;
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("lacks the required fields") && message.contains("`public_key`"),
        "{message}"
    );
    assert_eq!(connected.writes(), 0);
}

/// P27: an error says what and where, and the logs come along.
#[tokio::test]
async fn a_script_error_names_its_line_and_keeps_the_logs() {
    let mut connected = Connected::start().await;
    let code = "console.log('step1');\nconst a = 1;\nfoo.bar();";
    let failed = connected.fails("execute", json!({ "code": code })).await;
    assert_eq!(failed["error"]["name"], json!("ReferenceError"), "{failed}");
    assert!(failed["error"]["message"].as_str().unwrap().contains("foo"));
    assert_eq!(failed["error"]["line"], json!(3));
    assert_eq!(failed["logs"], json!(["step1"]));

    let failed = connected.fails("execute", json!({ "code": "const a = 1;\nconst b = ;\n" })).await;
    assert_eq!(
        (&failed["error"]["name"], &failed["error"]["line"]),
        (&json!("SyntaxError"), &json!(2)),
        "{failed}"
    );
}

/// P21: a failed call cannot pass for a value.
#[tokio::test]
async fn data_of_a_failed_response_throws_unless_the_status_was_looked_at() {
    let mut connected = Connected::start().await;
    let failed = connected
        .fails("execute", json!({ "code": "const r = await ak.request('GET', '/core/users/999999/');\nreturn { name: r.data.name };" }))
        .await;
    assert_eq!(failed["error"]["name"], json!("ApiError"), "{failed}");
    assert_eq!(failed["error"]["status"], json!(404));
    assert_eq!(failed["error"]["line"], json!(2));
    assert!(
        failed["error"]["message"].as_str().unwrap().contains("no permission to see it"),
        "{failed}"
    );
    assert_eq!(failed["calls"][0]["status"], json!(404));

    for unlooked in ["return r", "return { r }", "return { ...r }", "return JSON.stringify(r)"] {
        let code = format!("const r = await ak.request('GET', '/core/users/999999/'); {unlooked}");
        let failed = connected.fails("execute", json!({ "code": code })).await;
        assert_eq!(failed["error"]["status"], json!(404), "{unlooked}: {failed}");
    }
    for looked in [
        "return r.status",
        "return r.ok ? 0 : r.status",
        "if (!r.ok) return r.status",
        "const { status, data } = r; return data.detail && status",
    ] {
        let code = format!("const r = await ak.request('GET', '/core/users/999999/'); {looked}");
        assert_eq!(connected.execute(&code).await, json!(404), "{looked}");
    }
    let caught = "try { (await ak.call('core_users_retrieve', { id: 999999 })).data } catch (e) { return [e.name, e.status, typeof e.data.detail, e.operation] }";
    assert_eq!(
        connected.execute(caught).await,
        json!(["ApiError", 404, "string", "core_users_retrieve"])
    );
}

#[tokio::test]
async fn both_call_forms_and_the_operation_form_agree() {
    let mut connected = Connected::start().await;
    let code = "
        const forms = [
            await ak.request('GET', '/core/users/', { query: { page_size: 3, ordering: 'pk' } }),
            await api.request({ method: 'GET', path: '/core/users/?page_size=3', query: { ordering: 'pk' } }),
            await ak.request('GET', '/api/v3/core/users', { query: { page_size: 3, ordering: 'pk' } }),
            await ak.call('core_users_list', { page_size: 3, ordering: 'pk' }),
            await ak.call('GET /core/users/', { query: { page_size: 3, ordering: 'pk' } }),
        ];
        return forms.map((r) => r.data.results.map((user) => user.pk).join());
    ";
    let result = connected.execute(code).await;
    let forms = result.as_array().unwrap();
    assert_eq!(forms.len(), 5);
    assert!(forms.iter().all(|it| *it == forms[0]), "{result}");
}

#[tokio::test]
async fn paginate_brings_everything_and_says_so() {
    let mut connected = Connected::start().await;
    let total = connected.mock.state()["events"].as_array().map(Vec::len);
    let code = "
        const all = await ak.paginate('/events/events/', { page_size: 50 });
        const ids = new Set(all.items.map((event) => event.pk));
        return { count: ids.size, total: all.total, complete: all.complete, pages: all.pages };
    ";
    let result = connected.execute(code).await;
    assert_eq!(result["complete"], json!(true), "{result}");
    assert_eq!(result["count"], result["total"]);
    if let Some(total) = total {
        assert_eq!(result["count"], json!(total));
    }

    let code = "
        const some = await ak.paginate('events_events_list', { query: { page_size: 20 }, maxItems: 30 });
        const more = await ak.paginate('events_events_list', { query: { page_size: 20 }, from: some.next, maxItems: 20 });
        const ids = new Set([...some.items, ...more.items].map((event) => event.pk));
        return [some.items.length, some.complete, more.items.length, ids.size >= 40];
    ";
    assert_eq!(connected.execute(code).await, json!([30, false, 20, true]));
}

#[tokio::test]
async fn a_path_cannot_leave_the_api() {
    let mut connected = Connected::start().await;
    let table = [
        ("/core/users/../../admin/", "`..`"),
        ("/core/users/%2e%2e/", "refused"),
        ("/core/users/a%2Fb/", "refused"),
        ("//evil.test/x", "is not on"),
        ("https://evil.test/core/users/", "is not on"),
        ("http://127.0.0.1:1/core/users/", "is not on"),
    ];
    for (path, message) in table {
        let code = format!("return await ak.request('GET', {path:?})");
        let failed = connected.fails("execute", json!({ "code": code })).await;
        assert!(failed["error"]["message"].as_str().unwrap().contains(message), "{path}: {failed}");
        assert_eq!(failed["error"]["refused"], json!(true), "{path}");
    }
    assert_eq!(connected.mock.log().len(), 1, "only the document was fetched");
}

/// P24: no secret is inside, and none can be brought along.
#[tokio::test]
async fn scripts_bring_no_credentials_and_see_none() {
    let mut connected = Connected::start().await;
    for options in [
        "{ headers: { Authorization: 'Bearer x' } }",
        "{ headers: { Cookie: 'a=b' } }",
        "{ headers: { 'X-HTTP-Method-Override': 'DELETE' } }",
        "{ query: { access_token: 'x' } }",
        "{ query: { _method: 'DELETE' } }",
    ] {
        let code = format!("return (await ak.request('GET', '/core/users/', {options})).data");
        let failed = connected.fails("execute", json!({ "code": code })).await;
        assert_eq!(failed["error"]["rule"], json!("credentials"), "{options}: {failed}");
    }
    let code = "return [typeof fetch, typeof process, typeof require, typeof Deno, Object.getOwnPropertyNames(globalThis).join()]";
    let result = connected.execute(code).await;
    assert_eq!(
        &result.as_array().unwrap()[..4],
        json!(["undefined", "undefined", "undefined", "undefined"]).as_array().unwrap()
    );
    assert!(!result.to_string().contains(&connected.mock.token));
    assert!(!connected.session.stderr().contains(&connected.mock.token), "the token is in the log");
}

/// P68: single operations can be allowed and barred, and search hides what is barred.
#[tokio::test]
async fn allow_and_deny_hold_for_search_and_for_calls() {
    let mut connected = Connected::with(|command| {
        command.args([
            "--allow",
            "core",
            "--allow",
            "GET /flows/*",
            "--deny",
            "core_users_destroy",
        ]);
    })
    .await;
    assert_eq!(
        connected.execute("return (await ak.call('core_users_list')).status").await,
        json!(200)
    );
    assert_eq!(
        connected.execute("return (await ak.request('GET', '/flows/instances/')).status").await,
        json!(200)
    );
    let failed = connected
        .fails(
            "execute",
            json!({ "code": "return (await ak.request('GET', '/events/events/')).status" }),
        )
        .await;
    assert_eq!(failed["error"]["rule"], json!("not-granted"), "{failed}");
    let found =
        connected.ok("search", json!({ "query": "delete user", "limit": 50 })).await.to_string();
    assert!(
        !found.contains("core_users_destroy") && !found.contains("events_events_list"),
        "{found}"
    );
}

#[tokio::test]
async fn results_outsiders_can_write_are_marked_first() {
    let mut connected = Connected::start().await;
    let events = connected
        .session
        .call(
            "execute",
            json!({ "code": "return (await ak.call('events_events_list')).data.results.length" }),
            crate::support::PATIENCE,
        )
        .await
        .unwrap();
    let text = events["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("{\"untrusted\":"), "{text}");
    let users = connected
        .ok("execute", json!({ "code": "return (await ak.call('core_users_list')).status" }))
        .await;
    assert!(users.get("untrusted").is_none());
}

/// P28, P29: a large result is cut, says so, and stays well-formed.
#[tokio::test]
async fn a_large_result_is_cut_and_stays_json() {
    let mut connected = Connected::start().await;
    let code = "return Array.from({ length: 5000 }, (_, id) => ({ id, blob: 'x'.repeat(100) }))";
    let answer = connected.ok("execute", json!({ "code": code })).await;
    let rows = answer["result"].as_array().unwrap();
    assert_eq!(rows.last().unwrap()["total"], json!(5000));
    assert!(rows.len() > 400 && answer.to_string().len() < 85_000);
    assert!(answer["cut"].as_str().unwrap().contains("filter"), "{}", answer["cut"]);
}

#[tokio::test]
async fn scripts_search_describe_and_walk_the_operations() {
    let mut connected = Connected::start().await;
    let code = "
        const [first] = await api.search('create captcha stage');
        const posts = [...ak.operations].filter((it) => it.method === 'POST').map((it) => it.id);
        return { id: first.id, shape: ak.describe(first.id).includes('private_key'), posts: posts.includes('stages_captcha_create'), tools: tools.search('list users')[0].method };
    ";
    let expected =
        json!({ "id": "stages_captcha_create", "shape": true, "posts": true, "tools": "GET" });
    assert_eq!(connected.execute(code).await, expected);
}

#[tokio::test]
async fn a_looping_script_ends_at_its_limit_and_harms_nobody() {
    let mut connected = Connected::with(|command| {
        command.args(["--cpu", "1", "--wall", "5"]);
    })
    .await;
    let failed =
        connected.fails("execute", json!({ "code": "console.log('before'); for (;;) {}" })).await;
    assert!(failed["error"]["message"].as_str().unwrap().contains("CPU"), "{failed}");
    assert_eq!(failed["logs"], json!(["before"]));
    assert_eq!(connected.execute("return 1").await, json!(1));
}
