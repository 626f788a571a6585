//! Swagger 2.0 rewritten piece by piece as OpenAPI 3: each operation and component on its own.

use serde_json::{Map, Value, json};

use super::server::Server;
use super::text::{Json, Object};
use super::upper::Source;

/// Keys of a 2.0 parameter or header that are not about its value's form.
const NOT_SCHEMA: [&str; 9] = [
    "name",
    "in",
    "description",
    "required",
    "collectionFormat",
    "allowEmptyValue",
    "deprecated",
    "example",
    "$ref",
];

/// Rewrites an operation, its path item's parameters merged in.
pub(super) fn operation<'s>(
    operation: Json<'s>,
    shared: Option<Json<'s>>,
    source: &Source<'s>,
) -> Result<String, String> {
    let Value::Object(mut object) = operation.parse() else {
        return Err("the operation is nested too deeply".to_owned());
    };
    let consumes = words(Some(operation), &source.root, "consumes");
    let own = operation.get("parameters");
    let mut inputs = Inputs::default();
    for parameter in shared.into_iter().chain(own).flat_map(Json::elements) {
        if let Some(Value::Object(parameter)) = source.follow(parameter).map(Json::parse) {
            inputs.add(parameter);
        }
    }
    let body = inputs.body(&consumes);
    object.insert("parameters".to_owned(), Value::Array(inputs.parameters));
    if let Some(body) = body {
        object.insert("requestBody".to_owned(), body);
    }
    let produces = words(Some(operation), &source.root, "produces");
    if let Some(Value::Object(responses)) = object.get_mut("responses") {
        for (_, response) in
            responses.iter_mut().filter(|(_, response)| response.get("$ref").is_none())
        {
            rewrite_response(response, &produces);
        }
    }
    Ok(Value::Object(object).to_string())
}

/// Rewrites a shared response.
pub(super) fn response(response: Json<'_>, root: &Object<'_>) -> String {
    let mut value = response.parse();
    if value.get("$ref").is_none() {
        rewrite_response(&mut value, &words(None, root, "produces"));
    }
    value.to_string()
}

/// Rewrites a security definition.
pub(super) fn security_scheme(scheme: Json<'_>) -> String {
    let text = |name| scheme.get_str(name).unwrap_or_default();
    match text("type").as_ref() {
        "basic" => json!({"type": "http", "scheme": "basic"}).to_string(),
        "oauth2" => {
            let flow = match text("flow").as_ref() {
                "application" => "clientCredentials".to_owned(),
                "accessCode" => "authorizationCode".to_owned(),
                flow => flow.to_owned(),
            };
            let mut described = Map::new();
            for key in ["authorizationUrl", "tokenUrl", "scopes"] {
                described.extend(scheme.get(key).map(|value| (key.to_owned(), value.parse())));
            }
            json!({"type": "oauth2", "flows": {flow: described}}).to_string()
        }
        _ => scheme.text().to_owned(),
    }
}

/// `schemes`, `host` and `basePath` as a server, `https` first. Each may be absent.
pub(super) fn servers(root: &Object<'_>) -> Vec<Server> {
    let host = root.get_str("host").filter(|host| !host.is_empty());
    let base = root.get_str("basePath").unwrap_or_default();
    let base = format!("/{}", base.trim_start_matches('/'));
    let Some(host) = host else { return vec![Server { url: base, variables: Vec::new() }] };
    let mut schemes: Vec<_> = root
        .get("schemes")
        .into_iter()
        .flat_map(|it| it.strings())
        .filter(|it| it.starts_with("http"))
        .collect();
    schemes.sort_by_key(|scheme| scheme != "https");
    let mut urls: Vec<_> =
        schemes.iter().map(|scheme| format!("{scheme}://{host}{base}")).collect();
    if urls.is_empty() {
        urls.push(format!("//{host}{base}"));
    }
    urls.into_iter().map(|url| Server { url, variables: Vec::new() }).collect()
}

/// The parameters of an operation, sorted by what OpenAPI 3 makes of them.
#[derive(Default)]
struct Inputs {
    parameters: Vec<Value>,
    body: Option<Map<String, Value>>,
    fields: Vec<Map<String, Value>>,
}

impl Inputs {
    /// Adds a parameter; it takes the place of an earlier one with its name and location.
    fn add(&mut self, mut parameter: Map<String, Value>) {
        match parameter.get("in").and_then(Value::as_str) {
            Some("body") => self.body = Some(parameter),
            Some("formData") => {
                self.fields.retain(|field| field.get("name") != parameter.get("name"));
                self.fields.push(parameter);
            }
            Some(_) => {
                let schema = take_schema(&mut parameter);
                if let Some(format) =
                    parameter.remove("collectionFormat").filter(|_| schema["type"] == "array")
                {
                    let (style, explode) = collection(format.as_str().unwrap_or_default());
                    if parameter["in"] == "query" {
                        parameter.insert("style".to_owned(), json!(style));
                    }
                    parameter.insert("explode".to_owned(), json!(explode));
                } else if schema["type"] == "array" {
                    parameter.insert("explode".to_owned(), json!(false));
                }
                parameter.insert("schema".to_owned(), schema);
                let same = |it: &&mut Value| {
                    ["name", "in"].iter().all(|key| it.get(key) == parameter.get(*key))
                };
                match self.parameters.iter_mut().find(same) {
                    Some(earlier) => *earlier = Value::Object(parameter),
                    None => self.parameters.push(Value::Object(parameter)),
                }
            }
            None => {}
        }
    }

    fn body(&mut self, consumes: &[String]) -> Option<Value> {
        if let Some(body) = self.body.take() {
            let media = json!({"schema": body.get("schema").cloned().unwrap_or(Value::Bool(true))});
            let types: &[String] =
                if consumes.is_empty() { &["application/json".to_owned()] } else { consumes };
            let content: Map<_, _> = types.iter().map(|it| (it.clone(), media.clone())).collect();
            return Some(json!({
                "required": body.get("required") == Some(&Value::Bool(true)),
                "description": body.get("description").cloned().unwrap_or_default(),
                "content": content,
            }));
        }
        self.form(consumes)
    }

    /// All form fields as one object.
    fn form(&mut self, consumes: &[String]) -> Option<Value> {
        if self.fields.is_empty() {
            return None;
        }
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut encoding = Map::new();
        let mut files = false;
        for mut field in self.fields.drain(..) {
            let Some(name) = field.get("name").and_then(Value::as_str).map(str::to_owned) else {
                continue;
            };
            if field.get("required") == Some(&Value::Bool(true)) {
                required.push(name.clone());
            }
            let description = field.get("description").cloned();
            let format = field.remove("collectionFormat");
            let mut schema = take_schema(&mut field);
            files |= schema["format"] == "binary";
            if schema["type"] == "array" {
                let (style, explode) =
                    collection(format.as_ref().and_then(Value::as_str).unwrap_or_default());
                encoding.insert(name.clone(), json!({"style": style, "explode": explode}));
            }
            if let (Some(description), Some(schema)) = (description, schema.as_object_mut()) {
                schema.insert("description".to_owned(), description);
            }
            properties.insert(name, schema);
        }
        let is_form = |it: &&String| {
            it.starts_with("multipart/") || it.starts_with("application/x-www-form-urlencoded")
        };
        let mut types: Vec<_> = consumes.iter().filter(is_form).map(String::as_str).collect();
        if files {
            types.retain(|it| it.starts_with("multipart/"));
        }
        if types.is_empty() {
            types.push(if files {
                "multipart/form-data"
            } else {
                "application/x-www-form-urlencoded"
            });
        }
        let media = json!({
            "schema": {"type": "object", "properties": properties, "required": required},
            "encoding": encoding,
        });
        let content: Map<_, _> =
            types.into_iter().map(|it| (it.to_owned(), media.clone())).collect();
        Some(json!({"required": !required.is_empty(), "content": content}))
    }
}

/// Moves what is said about a value's form out of a parameter into a schema.
fn take_schema(parameter: &mut Map<String, Value>) -> Value {
    // A document that mixes the versions may already have one.
    let mut schema = match parameter.remove("schema") {
        Some(Value::Object(schema)) => schema,
        _ => Map::new(),
    };
    let keys: Vec<_> =
        parameter.keys().filter(|key| !NOT_SCHEMA.contains(&key.as_str())).cloned().collect();
    for key in keys {
        if key.starts_with("x-") && key != "x-nullable" {
            continue;
        }
        schema.extend(parameter.remove(&key).map(|value| (key, value)));
    }
    if schema.get("type") == Some(&json!("file")) {
        schema.insert("type".to_owned(), json!("string"));
        schema.insert("format".to_owned(), json!("binary"));
    }
    Value::Object(schema)
}

/// The style for a `collectionFormat`. Tabs have none in OpenAPI 3; commas come nearest.
fn collection(format: &str) -> (&'static str, bool) {
    match format {
        "multi" => ("form", true),
        "ssv" => ("spaceDelimited", false),
        "pipes" => ("pipeDelimited", false),
        _ => ("form", false),
    }
}

fn rewrite_response(response: &mut Value, produces: &[String]) {
    let Some(object) = response.as_object_mut() else { return };
    let Some(mut schema) = object.remove("schema") else { return };
    let is_file = schema.get("type") == Some(&json!("file"));
    if is_file {
        schema = json!({"type": "string", "format": "binary"});
    }
    let usual = if is_file { "application/octet-stream" } else { "application/json" };
    let types = if produces.is_empty() { vec![usual.to_owned()] } else { produces.to_vec() };
    let content: Map<_, _> = types.into_iter().map(|it| (it, json!({"schema": schema}))).collect();
    object.insert("content".to_owned(), Value::Object(content));
}

/// `consumes` or `produces`: the operation's, else the document's.
fn words(operation: Option<Json<'_>>, root: &Object<'_>, name: &str) -> Vec<String> {
    let words = operation.and_then(|operation| operation.get(name)).or_else(|| root.get(name));
    words.into_iter().flat_map(|it| it.strings()).map(Into::into).collect()
}

#[cfg(test)]
mod tests {
    use api_client::request::{Location, Style};
    use serde_json::json;

    use super::super::{Document, LoadOptions, load};
    use super::*;

    fn document(value: &Value) -> Document {
        load(value.to_string().as_bytes(), &LoadOptions::default()).unwrap()
    }

    fn with_operation(operation: &Value) -> Document {
        document(&json!({
            "swagger": "2.0",
            "consumes": ["application/xml"],
            "parameters": {"Page": {"name": "page", "in": "query", "type": "integer"}},
            "definitions": {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "responses": {"Pets": {"description": "", "schema": {"type": "array", "items": {"$ref": "#/definitions/Pet"}}}},
            "paths": {"/pets/{id}": {"parameters": [{"name": "id", "in": "path", "required": true, "type": "string"}], "post": operation}},
        }))
    }

    #[test]
    fn collection_formats_become_styles() {
        let list = |name: &str, format: &str| json!({"name": name, "in": "query", "type": "array", "items": {"type": "string"}, "collectionFormat": format});
        let document = with_operation(&json!({"parameters": [
            list("csv", "csv"), list("ssv", "ssv"), list("pipes", "pipes"), list("multi", "multi"),
            {"name": "bare", "in": "query", "type": "array", "items": {"type": "string"}},
            {"name": "word", "in": "query", "type": "string", "collectionFormat": "csv"},
            {"name": "heads", "in": "header", "type": "array", "items": {"type": "string"}, "collectionFormat": "csv"},
            {"$ref": "#/parameters/Page"},
        ]}));
        let operation = document.operation(0).unwrap();
        let read: Vec<_> = operation
            .parameters
            .iter()
            .map(|it| (it.name.as_str(), it.location, it.style, it.explode))
            .collect();
        assert_eq!(
            read,
            [
                ("id", Location::Path, Style::Simple, false),
                ("csv", Location::Query, Style::Form, false),
                ("ssv", Location::Query, Style::SpaceDelimited, false),
                ("pipes", Location::Query, Style::PipeDelimited, false),
                ("multi", Location::Query, Style::Form, true),
                ("bare", Location::Query, Style::Form, false),
                ("word", Location::Query, Style::Form, true),
                ("heads", Location::Header, Style::Simple, false),
                ("page", Location::Query, Style::Form, true),
            ]
        );
        assert_eq!(operation.parameters[8].schema, json!({"type": "integer"}));
    }

    #[test]
    fn a_body_takes_what_the_document_consumes() {
        let body = json!({"name": "b", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Pet"}});
        let document = with_operation(
            &json!({"consumes": ["text/xml", "application/json"], "parameters": [body]}),
        );
        let found = document.operation(0).unwrap().body.unwrap();
        assert!(found.required);
        assert_eq!(found.preferred().unwrap().content_type, "application/json");
        assert_eq!(
            found.preferred().unwrap().schema["properties"],
            json!({"name": {"type": "string"}})
        );
        let document = with_operation(&json!({"parameters": [body]}));
        assert_eq!(
            document.operation(0).unwrap().body.unwrap().content[0].content_type,
            "application/xml"
        );
    }

    #[test]
    fn form_fields_become_one_body() {
        let document = with_operation(&json!({"parameters": [
            {"name": "file", "in": "formData", "type": "file", "required": true, "description": "d"},
            {"name": "tags", "in": "formData", "type": "array", "items": {"type": "string"}, "collectionFormat": "multi"},
        ]}));
        let body = document.operation(0).unwrap().body.unwrap();
        assert!(body.required);
        assert_eq!(body.content[0].content_type, "multipart/form-data");
        assert_eq!(
            body.content[0].schema,
            json!({"type": "object", "required": ["file"], "properties": {
                "file": {"type": "string", "format": "binary", "description": "d"},
                "tags": {"type": "array", "items": {"type": "string"}},
            }})
        );
        assert_eq!(body.content[0].encoding[0].1.explode, Some(true));
    }

    #[test]
    fn responses_are_rewritten_where_they_stand_and_where_they_are_shared() {
        let document = with_operation(&json!({"produces": ["application/json"], "responses": {
            "200": {"$ref": "#/responses/Pets"}, "201": {"schema": {"type": "file"}}, "204": {"description": "none"},
        }}));
        let responses = document.operation(0).unwrap().responses;
        assert_eq!(responses[0].content[0].schema["items"], json!({"$ref": "#/definitions/Pet"}));
        assert_eq!(responses[1].content[0].schema, json!({"type": "string", "format": "binary"}));
        assert!(responses[2].content.is_empty());
        assert_eq!(document.resolve("#/definitions/Pet").unwrap()["type"], "object");
    }

    #[test]
    fn an_address_is_made_of_what_is_there() {
        let server = |value: Value| servers(&Json::new(&value.to_string()).object())[0].url.clone();
        assert_eq!(
            server(
                json!({"host": "a.example", "basePath": "/v1", "schemes": ["http", "https", "ws"]})
            ),
            "https://a.example/v1"
        );
        assert_eq!(server(json!({"host": "a.example"})), "//a.example/");
        assert_eq!(server(json!({"basePath": "v2"})), "/v2");
        assert_eq!(server(json!({"schemes": ["https"]})), "/");
    }

    #[test]
    fn security_definitions_become_schemes() {
        let document = document(&json!({"swagger": "2.0", "paths": {}, "securityDefinitions": {
            "b": {"type": "basic"},
            "o": {"type": "oauth2", "flow": "accessCode", "tokenUrl": "https://a.example/t", "scopes": {"r": ""}},
        }}));
        let schemes = document.security_schemes();
        assert_eq!(schemes[0].scheme.as_deref(), Some("basic"));
        assert_eq!(
            (&schemes[1].token_urls[..], &schemes[1].scopes[..]),
            (&["https://a.example/t".to_owned()][..], &["r".to_owned()][..])
        );
    }
}
