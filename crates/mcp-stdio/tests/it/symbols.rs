//! Symbolic values: a test for each row of `docs/symbolic-values.md`.

use serde_json::{Value, json};

use crate::support::Connected;

/// What a script does with `made`, the placeholder of a created user, before it writes once more.
struct Row {
    name: &'static str,
    /// Sets `out`, the body's name in the second write.
    code: &'static str,
    /// The name in the plan.
    shown: Value,
    /// A part of the warning that makes the plan incomplete.
    doubt: Option<&'static str>,
}

const fn row(
    name: &'static str,
    code: &'static str,
    shown: Value,
    doubt: Option<&'static str>,
) -> Row {
    Row { name, code, shown, doubt }
}

fn rows() -> Vec<Row> {
    vec![
        row("place", "out = made.uid", json!("«1.uid»"), None),
        row("print", "out = `a ${made.pk} b`", json!("a «1.pk» b"), None),
        row("print: String", "out = String(made.pk)", json!("«1.pk»"), None),
        row("print: +", "out = 'user ' + made.pk + ' made'", json!("user «1.pk» made"), None),
        row("print: join", "out = ['a', made.pk].join('/')", json!("a/«1.pk»"), None),
        row("print: log", "console.log(made.pk, made); out = 'x'", json!("x"), None),
        row(
            "serialize",
            "out = JSON.stringify({ id: made.pk })",
            json!("{\"id\":\"«1.pk»\"}"),
            None,
        ),
        row(
            "destructure",
            "const { uid, username } = made; out = uid + username",
            json!("«1.uid»new"),
            None,
        ),
        row("await", "out = await (async () => made.uid)()", json!("«1.uid»"), None),
        row("test", "out = made.pk ? 'yes' : 'no'", json!("yes"), None),
        row(
            "test that matters",
            "out = made.is_superuser ? 'yes' : 'no'",
            json!("yes"),
            Some("only the real responses have"),
        ),
        row("compare", "if (made.pk === 3) throw new Error('three'); out = 'x'", json!("x"), None),
        row(
            "compare with itself",
            "out = made.pk === made.pk ? 'same' : 'other'",
            json!("same"),
            None,
        ),
        row(
            "compare where it matters",
            "out = typeof made.pk === 'number' ? 'number' : 'other'",
            json!("other"),
            Some("only the real responses have"),
        ),
        row(
            "order",
            "out = made.pk > 5 ? 'big' : 'small'",
            json!("small"),
            Some("arithmetic on «1.pk» (line 3)"),
        ),
        row(
            "compute",
            "out = `${made.pk * 2}`",
            json!("NaN"),
            Some("arithmetic on «1.pk» (line 3)"),
        ),
        row(
            "compute: Number",
            "out = `${Number(made.pk)}`",
            json!("NaN"),
            Some("arithmetic on «1.pk» (line 3)"),
        ),
        row("compute: +", "out = `${made.pk + 1}`", json!("«1.pk»1"), Some("`+` on «1.pk»")),
        row(
            "iterate",
            "out = 'x'; for (const group of made.groups_obj) out = group.name",
            json!("x"),
            Some("iteration over «1.groups_obj» (line 3)"),
        ),
        row(
            "iterate: map",
            "out = made.groups_obj.map((it) => it.name).join() || 'none'",
            json!("none"),
            Some("`map` of «1.groups_obj» (line 3)"),
        ),
        row(
            "iterate: spread",
            "out = [...made.uid].join()",
            json!(null),
            Some("iteration over «1.uid» (line 3)"),
        ),
        row(
            "length",
            "out = made.groups_obj.length === 0 ? 'empty' : 'full'",
            json!("empty"),
            Some("`length` of «1.groups_obj» (line 3)"),
        ),
        row(
            "length of a text",
            "out = `${made.uid.length}`",
            json!("0"),
            Some("the length of «1.uid» (line 3)"),
        ),
        row("keys", "out = Object.keys(made)[0]", json!("pk"), Some("the keys of «1» (line 3)")),
        row(
            "keys: spread",
            "out = { ...made }.username",
            json!("new"),
            Some("the keys of «1» (line 3)"),
        ),
        row(
            "keys: in",
            "out = 'nickname' in made ? 'a' : 'b'",
            json!("b"),
            Some("`nickname` of «1»"),
        ),
        row(
            "an unknown field",
            "out = made.nickname ?? 'none'",
            json!("none"),
            Some("`nickname` of «1», which the document does not name (line 3)"),
        ),
        row("a method", "out = made.uid.trim()", json!(null), Some("`trim` of «1.uid» (line 3)")),
    ]
}

#[tokio::test]
async fn every_row_of_the_table_holds() {
    let mut connected = Connected::start().await;
    for Row { name, code, shown, doubt } in rows() {
        let script = format!(
            "const made = (await ak.request('POST', '/core/users/', {{ body: {{ username: 'new', name: 'New' }} }})).data;
let out;
{code};
await ak.request('POST', '/core/groups/', {{ body: {{ name: out }} }});
return made;"
        );
        let planned = connected.ok("execute_write", json!({ "code": script })).await;
        assert_eq!(planned["status"], json!("needs_confirmation"), "{name}: {planned}");
        assert_eq!(planned["plan"][1]["body"]["name"], shown, "{name}: {planned}");
        assert_eq!(planned["complete"], json!(doubt.is_none()), "{name}: {planned}");
        let warnings = planned["warnings"].to_string();
        assert!(warnings.contains(doubt.unwrap_or_default()), "{name}: {warnings}");
        assert!(!planned.to_string().contains('·'), "{name}: a nonce is shown: {planned}");
    }
    assert_eq!(connected.writes(), 0);
}

/// What the rehearsal promised is what the run sends, for every row that it calls complete.
#[tokio::test]
async fn complete_plans_are_applied_as_shown() {
    for Row { name, code, doubt, .. } in rows().into_iter().filter(|it| it.doubt.is_none()) {
        let mut connected = Connected::start().await;
        let script = format!(
            "const made = (await ak.request('POST', '/core/users/', {{ body: {{ username: 'new', name: 'New' }} }})).data;
let out;
{code};
await ak.request('POST', '/core/groups/', {{ body: {{ name: out }} }});"
        );
        assert_eq!(doubt, None);
        let planned = connected.ok("execute_write", json!({ "code": script })).await;
        let confirmed = json!({ "code": script, "confirm": planned["confirm"] });
        let done = connected.ok("execute_write", confirmed).await;
        assert_eq!(connected.writes(), 2, "{name}: {done}");
    }
}

/// The log of a rehearsal shows symbols as people know them.
#[tokio::test]
async fn symbols_are_logged_by_name() {
    let mut connected = Connected::start().await;
    let code = "const made = (await ak.request('POST', '/core/users/', { body: { username: 'new', name: 'New' } })).data;
console.log('made', made.pk, { id: made.pk });";
    let planned = connected.ok("execute_write", json!({ "code": code })).await;
    assert_eq!(planned["logs"], json!(["made «1.pk» {\"id\":\"«1.pk»\"}"]));
}
