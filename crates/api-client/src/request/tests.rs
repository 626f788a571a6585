//! Every parameter style and body kind, by table.

use serde_json::json;

use super::*;

fn parameter(name: &str, location: Location, style: Style, explode: bool) -> Parameter {
    Parameter { style, explode, ..Parameter::new(name, location) }
}

fn get(template: &str) -> RequestBuilder {
    RequestBuilder::new(Method::GET, template)
}

fn query_of(parameter: &Parameter, value: &Value) -> String {
    get("/").parameter(parameter, value).build().unwrap().query
}

/// P49.
#[test]
fn every_query_style_is_written_as_declared() {
    use Style::{DeepObject, Form, PipeDelimited, SpaceDelimited};
    let array = json!(["a b", "c&d,e", 3]);
    let object = json!({ "R": 100, "g h": "x/y" });
    let table = [
        (Form, true, json!("a b+c"), "n=a%20b%2Bc"),
        (Form, false, json!(true), "n=true"),
        (Form, true, json!(""), "n="),
        (Form, true, array.clone(), "n=a%20b&n=c%26d%2Ce&n=3"),
        (Form, false, array.clone(), "n=a%20b,c%26d%2Ce,3"),
        (Form, true, object.clone(), "R=100&g%20h=x%2Fy"),
        (Form, false, object.clone(), "n=R,100,g%20h,x%2Fy"),
        (SpaceDelimited, false, array, "n=a%20b%20c%26d%2Ce%203"),
        (SpaceDelimited, false, object.clone(), "n=R%20100%20g%20h%20x%2Fy"),
        (SpaceDelimited, true, json!([1, 2]), "n=1&n=2"),
        (PipeDelimited, false, json!(["a|b", "c"]), "n=a%7Cb%7Cc"),
        (PipeDelimited, false, object.clone(), "n=R%7C100%7Cg%20h%7Cx%2Fy"),
        (PipeDelimited, true, json!([1, 2]), "n=1&n=2"),
        (DeepObject, true, object, "n%5BR%5D=100&n%5Bg%20h%5D=x%2Fy"),
        (
            DeepObject,
            true,
            json!({ "a": { "b": [1, { "c": "d" }] }, "e": null }),
            "n%5Ba%5D%5Bb%5D%5B0%5D=1&n%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=d",
        ),
        (DeepObject, true, json!(["x", "y"]), "n%5B0%5D=x&n%5B1%5D=y"),
        (DeepObject, true, json!(7), "n=7"),
        (Form, true, json!([{ "a": 1 }]), "n=%7B%22a%22%3A1%7D"),
        (Form, true, json!(null), ""),
        (Form, true, json!([]), ""),
        (Form, false, json!([]), ""),
        (Form, false, json!({}), ""),
        (DeepObject, true, json!({}), ""),
        (Form, false, json!([null, 1]), "n=1"),
    ];
    for (style, explode, value, expected) in table {
        let declared = parameter("n", Location::Query, style, explode);
        assert_eq!(query_of(&declared, &value), expected, "{style:?} {explode} {value}");
    }
}

#[test]
fn every_path_style_is_written_as_declared() {
    use Style::{Label, Matrix, Simple};
    let array = json!(["mon", "a/b"]);
    let object = json!({ "R": 1, "G": "x y" });
    let table = [
        (Simple, false, json!(7), "/x/7"),
        (Simple, false, array.clone(), "/x/mon,a%2Fb"),
        (Simple, true, array.clone(), "/x/mon,a%2Fb"),
        (Simple, false, object.clone(), "/x/R,1,G,x%20y"),
        (Simple, true, object.clone(), "/x/R=1,G=x%20y"),
        (Label, false, json!("a"), "/x/.a"),
        (Label, false, array.clone(), "/x/.mon,a%2Fb"),
        (Label, true, array.clone(), "/x/.mon.a%2Fb"),
        (Label, false, object.clone(), "/x/.R,1,G,x%20y"),
        (Label, true, object.clone(), "/x/.R=1.G=x%20y"),
        (Matrix, false, json!("a"), "/x/;n=a"),
        (Matrix, false, array.clone(), "/x/;n=mon,a%2Fb"),
        (Matrix, true, array, "/x/;n=mon;n=a%2Fb"),
        (Matrix, false, object.clone(), "/x/;n=R,1,G,x%20y"),
        (Matrix, true, object, "/x/;R=1;G=x%20y"),
    ];
    for (style, explode, value, expected) in table {
        let declared = parameter("n", Location::Path, style, explode);
        let request = get("/x/{n}").parameter(&declared, &value).build().unwrap();
        assert_eq!(request.path, expected, "{style:?} {explode} {value}");
    }
}

#[test]
fn headers_are_simple_and_not_encoded() {
    let table = [
        (false, json!("a b, c"), "a b, c"),
        (false, json!(["a", 1]), "a,1"),
        (false, json!({ "a": 1, "b": 2 }), "a,1,b,2"),
        (true, json!({ "a": 1, "b": 2 }), "a=1,b=2"),
    ];
    for (explode, value, expected) in table {
        let declared = parameter("X-N", Location::Header, Style::Simple, explode);
        let request = get("/").parameter(&declared, &value).build().unwrap();
        assert_eq!(request.headers, [("X-N".to_owned(), expected.to_owned())]);
    }
}

#[test]
fn undeclared_query_parameters_repeat_arrays_and_nest_objects() {
    let request = get("/")
        .query("a", &json!("x"))
        .query("b", &json!([1, 2]))
        .query("c", &json!({ "d": { "e": true } }))
        .query("f", &json!([{ "g": 1 }]))
        .query("h", &json!(null))
        .build()
        .unwrap();
    let expected = "a=x&b=1&b=2&c%5Bd%5D%5Be%5D=true&f%5B0%5D%5Bg%5D=1";
    assert_eq!(request.query, expected);
}

#[test]
fn json_parameters_are_sent_as_json_text() {
    let query = Parameter { json: true, ..Parameter::new("filter", Location::Query) };
    let header = Parameter { json: true, ..Parameter::new("X-F", Location::Header) };
    let path = Parameter { json: true, ..Parameter::new("p", Location::Path) };
    let value = json!({ "a": ["b c"] });
    let request = get("/{p}")
        .parameter(&query, &value)
        .parameter(&header, &value)
        .parameter(&path, &value)
        .build()
        .unwrap();
    assert_eq!(request.query, "filter=%7B%22a%22%3A%5B%22b%20c%22%5D%7D");
    assert_eq!(request.headers, [("X-F".to_owned(), r#"{"a":["b c"]}"#.to_owned())]);
    assert_eq!(request.path, "/%7B%22a%22%3A%5B%22b%20c%22%5D%7D");
}

#[test]
fn allow_reserved_keeps_what_cannot_end_a_value() {
    let declared = Parameter { allow_reserved: true, ..Parameter::new("q", Location::Query) };
    assert_eq!(
        query_of(&declared, &json!("a:/?@!$'()*,=b&x=1#y+z;[w]%2F")),
        "q=a:/?@!$'()*,=b%26x=1%23y%2Bz%3B%5Bw%5D%252F"
    );
}

#[test]
fn numbers_keep_their_digits() {
    let declared = Parameter::new("n", Location::Query);
    for (text, expected) in [
        ("18446744073709551615", "n=18446744073709551615"),
        ("-9223372036854775808", "n=-9223372036854775808"),
        ("1.0", "n=1"),
        ("1e3", "n=1000"),
        ("0.25", "n=0.25"),
    ] {
        assert_eq!(query_of(&declared, &serde_json::from_str(text).unwrap()), expected);
    }
}

/// P55.
#[test]
fn path_values_are_encoded_and_never_looked_at_for_placeholders() {
    let path = |template: &str, values: &[(&str, Value)]| {
        let builder = values.iter().fold(get(template), |builder, (name, value)| {
            builder.parameter(&Parameter::new(*name, Location::Path), value)
        });
        builder.build().map(|request| (request.path, request.query))
    };
    let ok = |path: &str, query: &str| Ok((path.to_owned(), query.to_owned()));
    let two = [("first", json!("{second}")), ("second", json!("X"))];
    assert_eq!(path("/a/{first}/{second}", &two), ok("/a/%7Bsecond%7D/X", ""));
    let seg = [("seg", json!("a/b?x=1#f"))];
    assert_eq!(path("/echo/{seg}", &seg), ok("/echo/a%2Fb%3Fx%3D1%23f", ""));
    let role = [("role", json!("o'w"))];
    assert_eq!(path("/f(role='{role}')", &role), ok("/f(role='o%27w')", ""));
    let same = [("a", json!("%2e%2e"))];
    assert_eq!(path("/x/{a}/{a}", &same), ok("/x/%252e%252e/%252e%252e", ""));
    assert_eq!(path("/a b/ä?fixed=1#part", &[]), ok("/a%20b/%C3%A4", "fixed=1"));
    assert_eq!(path("plain", &[]), ok("/plain", ""));
    let missing = RequestError::MissingPath("b".to_owned());
    assert_eq!(path("/a/{b}", &[("b", json!(null))]), Err(missing));
    for value in [json!(""), json!([]), json!({}), json!([""])] {
        let empty = RequestError::EmptyPath("b".to_owned());
        assert_eq!(path("/a/{b}", &[("b", value)]), Err(empty));
    }
    for value in [".", "..", "../x", "a/../b", "..\\x"] {
        let dots = RequestError::DotSegment("/a/{b}/c".to_owned());
        assert_eq!(path("/a/{b}/c", &[("b", json!(value))]), Err(dots));
    }
    let split = [("a", json!(".")), ("b", json!("."))];
    assert_eq!(path("/{a}{b}", &split), Err(RequestError::DotSegment("/{a}{b}".to_owned())));
    assert!(path("/a/%2E./b", &[]).is_err());
    for value in ["a\nb", "a\0", "\u{7f}", "\u{85}"] {
        let error = path("/{b}", &[("b", json!(value))]).unwrap_err();
        assert!(matches!(error, RequestError::ControlCharacter { .. }), "{error}");
    }
}

#[test]
fn multi_segment_values_keep_their_slashes() {
    let declared = Parameter { multi_segment: true, ..Parameter::new("path", Location::Path) };
    let path = |value: &str| {
        let request = get("/c/{path}").parameter(&declared, &json!(value)).build();
        request.map(|request| request.path)
    };
    assert_eq!(path("src/a b?.rs").as_deref(), Ok("/c/src/a%20b%3F.rs"));
    assert_eq!(path("one").as_deref(), Ok("/c/one"));
    for value in ["", "/a", "a//b", "a/"] {
        assert_eq!(path(value), Err(RequestError::EmptyPath("path".to_owned())), "{value}");
    }
    for value in ["../x", "a/./b", "a/.."] {
        assert_eq!(path(value), Err(RequestError::DotSegment("/c/{path}".to_owned())), "{value}");
    }
}

#[test]
fn headers_that_would_change_the_message_are_refused() {
    for name in ["Host", "content-length", "Transfer-Encoding", "Cookie", "X Y", "a:b", ""] {
        let error = get("/").header(name, "x").build().unwrap_err();
        assert_eq!(error, RequestError::Header(name.to_owned()));
    }
    for value in ["a\r\nX-Evil: 1", "a\0b"] {
        let error = get("/").header("X-A", value).build().unwrap_err();
        assert!(matches!(error, RequestError::ControlCharacter { place: "header", .. }));
        assert!(!error.to_string().contains("Evil"));
    }
    let cookie = Parameter::new("session", Location::Cookie);
    let error = get("/").parameter(&cookie, &json!("x")).build().unwrap_err();
    assert_eq!(error, RequestError::Cookie("session".to_owned()));
    assert!(get("/").parameter(&cookie, &json!(null)).build().is_ok());
}

#[test]
fn the_content_type_of_the_body_wins() {
    let request = RequestBuilder::new(Method::POST, "/")
        .header("Content-Type", "text/evil")
        .json_body("application/json; version=2", "{\"n\": 1e2}".to_owned())
        .build()
        .unwrap();
    assert_eq!(request.headers, []);
    let body = request.body.unwrap();
    assert_eq!(body.content_type, "application/json; version=2");
    assert_eq!(&body.bytes[..], b"{\"n\": 1e2}");
    let broken = get("/").json_body("a/b\r\nX: y", String::new()).build();
    assert!(matches!(broken, Err(RequestError::Body { .. })));
}

fn body(spec: &BodySpec, value: &Value) -> Result<(String, String), String> {
    let built = RequestBuilder::new(Method::POST, "/").body(spec, value).build();
    let body = built.map_err(|error| error.to_string())?.body.unwrap();
    Ok((body.content_type, String::from_utf8_lossy(&body.bytes).into_owned()))
}

fn spec(content_type: &str) -> BodySpec {
    BodySpec { content_type: content_type.to_owned(), ..BodySpec::default() }
}

/// P52.
#[test]
fn bodies_follow_their_content_type() {
    let bytes = json!({ "base64": "aGk_", "type": "image/png" });
    let table = [
        ("application/json", json!({ "b": 1, "a": 2 }), "application/json", r#"{"b":1,"a":2}"#),
        ("application/merge-patch+json", json!([1]), "application/merge-patch+json", "[1]"),
        ("application/json;version=2", json!("x"), "application/json;version=2", "\"x\""),
        ("application/x-ndjson", json!([1, { "a": 2 }]), "application/x-ndjson", "1\n{\"a\":2}\n"),
        ("text/plain", json!("hi"), "text/plain", "hi"),
        ("text/x-markdown", json!(5), "text/x-markdown", "5"),
        ("application/octet-stream", bytes.clone(), "application/octet-stream", "hi?"),
        ("application/octet-stream", json!("raw"), "application/octet-stream", "raw"),
        ("image/*", bytes.clone(), "image/png", "hi?"),
        ("*/*", json!({ "a": 1 }), "application/json", r#"{"a":1}"#),
        ("*/*", json!("t"), "text/plain", "t"),
        ("*/*", bytes, "image/png", "hi?"),
        ("application/xml", json!("<a/>"), "application/xml", "<a/>"),
        (
            "application/vnd.api+json",
            json!({ "data": [] }),
            "application/vnd.api+json",
            r#"{"data":[]}"#,
        ),
        ("text/csv; charset=utf-8", json!("a,b"), "text/csv; charset=utf-8", "a,b"),
    ];
    for (declared, value, content_type, text) in table {
        let expected = Ok((content_type.to_owned(), text.to_owned()));
        assert_eq!(body(&spec(declared), &value), expected, "{declared} {value}");
    }
    for (declared, value) in [
        ("application/octet-stream", json!({ "a": 1 })),
        ("application/octet-stream", json!({ "base64": "%%" })),
        ("text/plain", json!(null)),
        ("application/x-www-form-urlencoded", json!([1])),
        ("multipart/form-data", json!("x")),
    ] {
        assert!(body(&spec(declared), &value).is_err(), "{declared} {value}");
    }
}

#[test]
fn urlencoded_forms_nest_and_follow_their_encoding() {
    let form = "application/x-www-form-urlencoded";
    let text = |spec: &BodySpec, value: Value| body(spec, &value).unwrap().1;
    assert_eq!(
        text(&spec(form), json!({ "a": 1, "b": "x y", "ä": "&=+" })),
        "a=1&b=x+y&%C3%A4=%26%3D%2B"
    );
    assert_eq!(
        text(&spec(form), json!({ "tags": ["a", "b"], "n": null, "e": [] })),
        "tags=a&tags=b&n="
    );
    assert_eq!(
        text(&spec(form), json!({ "a": { "b": { "c": 1 } }, "items": [{ "price": "p", "q": 2 }] })),
        "a%5Bb%5D%5Bc%5D=1&items%5B0%5D%5Bprice%5D=p&items%5B0%5D%5Bq%5D=2"
    );
    assert_eq!(text(&spec(form), json!("a=1&b=2")), "a=1&b=2");

    let encoding = |style, explode, content_type: Option<&str>| FieldEncoding {
        style,
        explode,
        content_type: content_type.map(str::to_owned),
    };
    let encodings = [
        ("expand", encoding(Some(Style::DeepObject), Some(true), None)),
        ("csv", encoding(Some(Style::Form), Some(false), None)),
        ("pipe", encoding(Some(Style::PipeDelimited), None, None)),
        ("meta", encoding(None, None, Some("application/json"))),
    ];
    let encoding = encodings.into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
    let stripe = BodySpec { encoding, ..spec(form) };
    let value =
        json!({ "expand": ["x", "y"], "csv": [1, 2], "pipe": ["a", "b"], "meta": { "k": 1 } });
    assert_eq!(
        text(&stripe, value),
        "expand%5B0%5D=x&expand%5B1%5D=y&csv=1,2&pipe=a%7Cb&meta=%7B%22k%22%3A1%7D"
    );
}

#[test]
fn multipart_forms_carry_fields_json_and_files() {
    let mut declared = spec("multipart/form-data");
    declared.binary_fields.insert("raw".to_owned());
    let thumb =
        FieldEncoding { content_type: Some("image/png".to_owned()), ..FieldEncoding::default() };
    declared.encoding.insert("thumb".to_owned(), thumb);
    let value = json!({
        "note": "é",
        "n": 5,
        "tags": ["a", "b"],
        "meta": { "k": 1 },
        "file": { "base64": "AAEC", "type": "text/csv", "filename": "a\"b\r\n.csv" },
        "thumb": { "base64": "AA" },
        "raw": "text as file",
        "na\"me": "x",
    });
    let (content_type, text) = body(&declared, &value).unwrap();
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    let parts: Vec<&str> = text.split(&format!("--{boundary}")).collect();
    let expected = [
        "",
        "\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\né\r\n",
        "\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n5\r\n",
        "\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\na\r\n",
        "\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\nb\r\n",
        "\r\nContent-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"k\":1}\r\n",
        "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a%22b%0D%0A.csv\"\r\nContent-Type: text/csv\r\n\r\n\0\u{1}\u{2}\r\n",
        "\r\nContent-Disposition: form-data; name=\"thumb\"; filename=\"thumb\"\r\nContent-Type: image/png\r\n\r\n\0\r\n",
        "\r\nContent-Disposition: form-data; name=\"raw\"; filename=\"raw\"\r\nContent-Type: application/octet-stream\r\n\r\ntext as file\r\n",
        "\r\nContent-Disposition: form-data; name=\"na%22me\"\r\n\r\nx\r\n",
        "--\r\n",
    ];
    assert_eq!(parts, expected);
    let other = body(&declared, &json!({ "note": "other" })).unwrap();
    assert!(!other.0.contains(boundary));
    assert_eq!(body(&declared, &value).unwrap(), (content_type, text), "the same bytes again");

    let evil = json!({ "f": { "base64": "AA", "type": "a/b\r\nX: y" } });
    assert!(body(&declared, &evil).unwrap_err().contains("control characters"));
}

#[test]
fn parts_carry_any_bytes_beside_the_fields_of_a_value() {
    let declared = spec("multipart/form-data");
    let mut parts = Part::of_fields(&declared, &json!({ "title": "t", "n": 1 })).unwrap();
    parts.push(Part::text("note", "hello"));
    parts.push(Part::bytes("file", "a b.bin", "application/x-thing", vec![0, 159, 255]));
    let build = |parts: &[Part]| {
        RequestBuilder::new(Method::POST, "/").parts("multipart/form-data", parts).build()
    };
    let body = build(&parts).unwrap().body.unwrap();
    let boundary = body.content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    let field = |name: &str, text: &str| {
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
    };
    let mut expected =
        [field("title", "t"), field("n", "1"), field("note", "hello")].concat().into_bytes();
    expected.extend_from_slice(
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a b.bin\"\r\nContent-Type: application/x-thing\r\n\r\n").as_bytes(),
    );
    expected.extend_from_slice(&[0, 159, 255]);
    expected.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    assert_eq!(body.bytes, expected);
    let evil = Part::bytes("file", "a", "a/b\r\nX: y", "x");
    assert!(build(&[evil]).unwrap_err().to_string().contains("control characters"));
    assert!(Part::of_fields(&declared, &json!([1])).is_err());
}

#[test]
fn multipart_fields_follow_a_declared_style() {
    let mut declared = spec("multipart/form-data");
    for (name, style, explode) in [
        ("csv", Style::Form, false),
        ("each", Style::Form, true),
        ("pipe", Style::PipeDelimited, false),
        ("deep", Style::DeepObject, true),
    ] {
        let encoding =
            FieldEncoding { style: Some(style), explode: Some(explode), content_type: None };
        declared.encoding.insert(name.to_owned(), encoding);
    }
    let value = json!({ "csv": ["a b", "c"], "each": { "k": "v" }, "pipe": [1, 2], "deep": { "a": ["x"] } });
    let (_, text) = body(&declared, &value).unwrap();
    for part in [
        "name=\"csv\"\r\n\r\na b,c\r\n",
        "name=\"k\"\r\n\r\nv\r\n",
        "name=\"pipe\"\r\n\r\n1|2\r\n",
        "name=\"deep[a][0]\"\r\n\r\nx\r\n",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}
