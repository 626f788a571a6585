//! Access tokens: of an issuer made for the test, which can do wrong, and of a real one from npm.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::{SystemTime, UNIX_EPOCH},
};

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use axum::{Json, Router, extract::State, routing::get};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    support::{PATIENCE, Server, client, list, names, report_skip, result},
    upstream::Upstream,
};

const PUBLIC: &str = "http://mcp.test";
const AUDIENCE: &str = "http://mcp.test/mcp";

/// A key with its public half as JWK.
struct Key {
    id: &'static str,
    private: EncodingKey,
    jwk: Value,
}

impl Key {
    fn new(id: &'static str) -> Self {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new()).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref()).unwrap();
        // Uncompressed: a mark, then both coordinates.
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let encoded = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let jwk = json!({
            "kty": "EC", "crv": "P-256", "kid": id, "alg": "ES256", "use": "sig",
            "x": encoded(x), "y": encoded(y),
        });
        Self { id, private: EncodingKey::from_ec_der(document.as_ref()), jwk }
    }

    fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some(self.id.to_owned()), ..Header::new(Algorithm::ES256) };
        encode(&header, claims, &self.private).unwrap()
    }
}

async fn served(State(keys): State<Arc<Mutex<Vec<Value>>>>) -> Json<Value> {
    let keys = keys.lock().unwrap().clone();
    Json(json!({ "keys": keys }))
}

/// An issuer whose keys can change.
struct Issuer {
    url: String,
    keys: Arc<Mutex<Vec<Value>>>,
}

impl Issuer {
    async fn start(keys: &[&Key]) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/o/app", listener.local_addr().unwrap());
        let keys = Arc::new(Mutex::new(keys.iter().map(|it| it.jwk.clone()).collect::<Vec<_>>()));
        let metadata = json!({ "issuer": url, "jwks_uri": format!("{url}/keys") });
        let router = Router::new()
            .route(
                "/o/app/.well-known/openid-configuration",
                get(move || async move { Json(metadata) }),
            )
            .route("/o/app/keys", get(served))
            .with_state(Arc::clone(&keys));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, keys }
    }

    fn claims(&self) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        json!({
            "iss": self.url, "sub": "ann", "aud": AUDIENCE, "exp": now + 300, "scope": "api-read",
        })
    }

    fn server(&self, upstream: &Upstream, more: &[&str]) -> Server {
        let mut command = upstream.binary();
        command.args(["--oauth-issuer", &self.url, "--public-url", PUBLIC]).args(more);
        command.args(["--access-token", "SECRET-of-the-server", "--shared-credential"]);
        Server::start(command)
    }
}

async fn ask(server: &Server, path: &str, token: &str) -> reqwest::Response {
    let request = server.post_to(path, &list()).header("authorization", format!("Bearer {token}"));
    request.send().await.unwrap()
}

#[tokio::test]
async fn a_token_of_the_issuer_for_this_server_lets_in_with_its_scopes_skills() {
    let (upstream, key) = (Upstream::start().await, Key::new("one"));
    let issuer = Issuer::start(&[&key]).await;
    let server = issuer.server(&upstream, &[]);
    let reading = result(ask(&server, "/mcp", &key.sign(&issuer.claims())).await).await;
    assert_eq!(names(&reading), ["search", "execute"]);
    let mut writing = issuer.claims();
    writing["scope"] = json!("openid api-write");
    let writing = result(ask(&server, "/mcp", &key.sign(&writing)).await).await;
    assert_eq!(names(&writing), ["search", "execute", "execute_write"]);
    let mut useless = issuer.claims();
    useless["scope"] = json!("openid");
    let refused = ask(&server, "/mcp", &key.sign(&useless)).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let challenge = refused.headers()["www-authenticate"].to_str().unwrap();
    assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
    assert!(challenge.contains("scope=\"inspect"), "{challenge}");
}

#[tokio::test]
async fn a_token_that_is_not_good_is_challenged_with_where_to_get_one() {
    let (upstream, key, stranger) = (Upstream::start().await, Key::new("one"), Key::new("one"));
    let issuer = Issuer::start(&[&key]).await;
    let server = issuer.server(&upstream, &[]);
    let with = |name: &str, value: Value| {
        let mut claims = issuer.claims();
        claims[name] = value;
        key.sign(&claims)
    };
    let without = |name: &str| {
        let mut claims = issuer.claims();
        claims.as_object_mut().unwrap().remove(name);
        key.sign(&claims)
    };
    let shared = EncodingKey::from_secret(b"a secret that everybody knows").unwrap();
    let header = Header { kid: Some("one".to_owned()), ..Header::new(Algorithm::HS256) };
    let symmetric = encode(&header, &issuer.claims(), &shared).unwrap();
    let own = Header {
        kid: Some("one".to_owned()),
        jku: Some("http://evil.test/keys".to_owned()),
        ..Header::new(Algorithm::ES256)
    };
    let own = encode(&own, &issuer.claims(), &key.private).unwrap();
    let unsigned = {
        let token = key.sign(&issuer.claims());
        let body = token.split('.').nth(1).unwrap();
        format!("{}.{body}.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#))
    };
    let cases = [
        (with("exp", json!(1_000_000)), "expired"),
        (with("nbf", json!(4_000_000_000_u64)), "not valid yet"),
        (with("iss", json!("http://evil.test")), "another issuer's"),
        (with("iss", json!(format!("{}/", issuer.url))), "another issuer's"),
        (with("aud", json!("http://mcp.test")), "another server"),
        (with("aud", json!("http://mcp.test/mcp/acme")), "another server"),
        (without("aud"), "lacks"),
        (without("exp"), "lacks"),
        (without("sub"), ""),
        (stranger.sign(&issuer.claims()), "signature"),
        (symmetric, "algorithm"),
        (own, "key of its own"),
        (unsigned, ""),
        ("a.b.c".to_owned(), "cannot be read"),
    ];
    for (token, why) in cases {
        let answer = ask(&server, "/mcp", &token).await;
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{why}");
        let challenges: Vec<_> = answer.headers().get_all("www-authenticate").iter().collect();
        let [challenge] = challenges.as_slice() else { panic!("{challenges:?}") };
        let challenge = challenge.to_str().unwrap();
        assert!(
            challenge.contains("error=\"invalid_token\"") && challenge.contains(why),
            "{challenge}"
        );
        let metadata =
            "resource_metadata=\"http://mcp.test/.well-known/oauth-protected-resource/mcp\"";
        assert_eq!(challenge.matches(metadata).count(), 1, "{challenge}");
    }
    assert!(upstream.seen().is_empty());
}

#[tokio::test]
async fn metadata_is_at_both_places_and_names_the_resource_it_is_about() {
    let (upstream, key) = (Upstream::start().await, Key::new("one"));
    let issuer = Issuer::start(&[&key]).await;
    let server = issuer.server(&upstream, &["--oauth-scope", "mcp:read=api-read"]);
    for (path, resource) in [
        ("/.well-known/oauth-protected-resource", AUDIENCE),
        ("/.well-known/oauth-protected-resource/mcp", AUDIENCE),
        ("/.well-known/oauth-protected-resource/mcp/acme", "http://mcp.test/mcp/acme"),
    ] {
        let answer = server.request(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.headers()["access-control-allow-origin"], "*");
        let metadata: Value = answer.json().await.unwrap();
        assert_eq!(metadata["resource"], resource);
        assert_eq!(metadata["authorization_servers"], json!([issuer.url]));
        assert_eq!(metadata["scopes_supported"], json!(["mcp:read"]));
        assert_eq!(metadata["bearer_methods_supported"], json!(["header"]));
    }
    let other = server.request(Method::GET, "/.well-known/oauth-protected-resource/x");
    assert_eq!(other.send().await.unwrap().status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn subjects_of_the_file_have_at_most_what_it_says_and_others_nothing() {
    let (upstream, key) = (Upstream::start().await, Key::new("one"));
    let issuer = Issuer::start(&[&key]).await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("callers");
    std::fs::write(&file, "subject ann skills=api-read\n").unwrap();
    let server = issuer.server(&upstream, &["--callers", file.to_str().unwrap()]);
    let mut claims = issuer.claims();
    claims["scope"] = json!("api-write");
    let ann = result(ask(&server, "/mcp", &key.sign(&claims)).await).await;
    assert_eq!(names(&ann), ["search", "execute"]);
    claims["sub"] = json!("bob");
    assert_eq!(ask(&server, "/mcp", &key.sign(&claims)).await.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_new_key_of_the_issuer_is_found_when_a_token_names_it() {
    let (upstream, old, new) = (Upstream::start().await, Key::new("old"), Key::new("new"));
    let issuer = Issuer::start(&[&old]).await;
    issuer.keys.lock().unwrap().push(new.jwk.clone());
    let server = issuer.server(&upstream, &[]);
    // The first token makes the server fetch; both keys are there by then.
    for key in [&new, &old] {
        let answer = ask(&server, "/mcp", &key.sign(&issuer.claims())).await;
        assert_eq!(answer.status(), StatusCode::OK, "{}", key.id);
    }
    let unknown = Key::new("unknown");
    let refused = ask(&server, "/mcp", &unknown.sign(&issuer.claims())).await;
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
}

/// Ended when dropped.
struct Provider(Child);

impl Drop for Provider {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Installs the provider once; `None` where npm cannot.
fn install(directory: &Path) -> Option<()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap();
    std::fs::create_dir_all(directory).unwrap();
    if directory.join("node_modules/oidc-provider").exists() {
        return Some(());
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]);
    npm.arg(directory).arg("oidc-provider@8");
    npm.stdout(Stdio::null()).stderr(Stdio::null());
    npm.status().ok().filter(|it| it.success()).map(drop)
}

/// The provider, running.
struct Real {
    _process: Provider,
    issuer: String,
    client: reqwest::Client,
}

impl Real {
    /// Starts it; `None` where it cannot be installed.
    fn start() -> Option<Self> {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oidc");
        if install(&directory).is_none() {
            report_skip("npm cannot install oidc-provider");
            return None;
        }
        let script = directory.join("provider.mjs");
        std::fs::write(&script, include_str!("provider.mjs")).unwrap();
        let mut node = Command::new("node");
        node.arg(&script).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = node.spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let process = Provider(child);
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
        let issuer = line.trim().to_owned();
        assert!(issuer.starts_with("http://127.0.0.1:"), "{issuer}");
        Some(Self { _process: process, issuer, client: client() })
    }

    /// A token for a resource, from the endpoint that the issuer's metadata names.
    async fn token(&self, resource: &str, scope: &str) -> String {
        let metadata = format!("{}/.well-known/openid-configuration", self.issuer);
        let metadata: Value = self.client.get(metadata).send().await.unwrap().json().await.unwrap();
        let form = format!(
            "grant_type=client_credentials&client_id=agent&client_secret=secret&scope={scope}\
             &resource={resource}"
        );
        let request = self.client.post(metadata["token_endpoint"].as_str().unwrap());
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let granted: Value = request.body(form).send().await.unwrap().json().await.unwrap();
        granted["access_token"].as_str().unwrap_or_else(|| panic!("{granted}")).to_owned()
    }

    /// Changes something about the provider.
    async fn tell(&self, what: &str) {
        let answer = self.client.post(format!("{}/test/{what}", self.issuer)).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NO_CONTENT, "{what}");
    }

    fn server(&self, upstream: &Upstream) -> Server {
        let mut command = upstream.binary();
        command.args(["--oauth-issuer", &self.issuer, "--public-url", PUBLIC]);
        Server::start(command)
    }
}

async fn challenge(server: &Server, token: &str) -> (u16, String) {
    let answer = ask(server, "/mcp", token).await;
    let challenge = answer.headers()["www-authenticate"].to_str().unwrap().to_owned();
    (answer.status().as_u16(), challenge)
}

#[tokio::test]
async fn a_client_of_a_real_provider_finds_its_way_from_the_challenge_to_a_call() {
    let Some(provider) = Real::start() else { return };
    let upstream = Upstream::start().await;
    let server = provider.server(&upstream);
    let stranger = server.post(&list()).send().await.unwrap();
    assert_eq!(stranger.status(), StatusCode::UNAUTHORIZED);
    let challenge = stranger.headers()["www-authenticate"].to_str().unwrap();
    let (_, rest) = challenge.split_once("resource_metadata=\"http://mcp.test").unwrap();
    let path = rest.split('"').next().unwrap();
    let metadata: Value =
        server.request(Method::GET, path).send().await.unwrap().json().await.unwrap();
    assert_eq!(metadata["authorization_servers"], json!([provider.issuer]));
    let token = provider.token(metadata["resource"].as_str().unwrap(), "api-read").await;
    let listed = result(ask(&server, "/mcp", &token).await).await;
    assert_eq!(names(&listed), ["search", "execute"]);
    assert!(!server.written().contains(&token));
}

#[tokio::test]
async fn what_is_wrong_with_a_real_providers_token_is_said() {
    let Some(provider) = Real::start() else { return };
    let upstream = Upstream::start().await;
    let server = provider.server(&upstream);
    let good = provider.token(AUDIENCE, "api-read").await;
    assert_eq!(ask(&server, "/mcp", &good).await.status(), StatusCode::OK);
    let other = provider.token("http://other.test/mcp", "api-read").await;
    let (status, said) = challenge(&server, &other).await;
    assert!(status == 401 && said.contains("another server"), "{said}");
    let (status, said) = challenge(&server, &format!("{}AAAA", &good[..good.len() - 4])).await;
    assert!(status == 401 && said.contains("signature"), "{said}");
    let useless = provider.token(AUDIENCE, "mail").await;
    let (status, said) = challenge(&server, &useless).await;
    assert!(status == 403 && said.contains("error=\"insufficient_scope\""), "{said}");
    provider.tell("yesterday").await;
    let old = provider.token(AUDIENCE, "api-read").await;
    let (status, said) = challenge(&server, &old).await;
    assert!(status == 401 && said.contains("expired"), "{said}");
}

#[tokio::test]
async fn when_a_real_provider_changes_its_key_new_tokens_pass_and_old_ones_do_not() {
    let Some(provider) = Real::start() else { return };
    let upstream = Upstream::start().await;
    let server = provider.server(&upstream);
    let before = provider.token(AUDIENCE, "api-read").await;
    assert_eq!(ask(&server, "/mcp", &before).await.status(), StatusCode::OK);
    provider.tell("rotate").await;
    let after = provider.token(AUDIENCE, "api-read").await;
    let deadline = std::time::Instant::now() + PATIENCE;
    // Keys are not asked for again within seconds.
    while ask(&server, "/mcp", &after).await.status() != StatusCode::OK {
        assert!(std::time::Instant::now() < deadline, "the new key is not found");
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    let (status, said) = challenge(&server, &before).await;
    assert!(status == 401 && said.contains("a key the issuer does not have"), "{said}");
}
