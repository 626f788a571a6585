//! An upstream that sends back what it was sent, in every form in which a server may repeat a secret.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    sync::{Arc, Mutex},
    thread,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use serde_json::{Value, json};

/// Made for tests, with a hundred years to live; its authority is [`authority`].
const LOCALHOST: &str = include_str!("../../../api-client/tests/it/fixtures/localhost.pem");

/// What `/token` gives out.
const ACCESS_TOKEN: &str = "ACCESS-uvw456RST";

/// The authority's certificate, as a file.
pub(crate) fn authority() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../api-client/tests/it/fixtures/ca.pem"))
}

/// What the upstream offers; `/limited` and `/denied` answer 429 and 401.
pub(crate) fn document() -> Value {
    let get = |id: &str| json!({ "get": { "operationId": id, "responses": { "200": { "description": "" } } } });
    let mut hidden = get("hidden");
    hidden["parameters"] =
        json!([{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }]);
    let mut forbidden = get("forbidden");
    forbidden["get"]["security"] = json!([{ "oauth": ["org:admin"] }]);
    json!({
        "openapi": "3.0.3",
        "info": { "title": "Echo", "version": "1" },
        "paths": {
            "/echo": get("echo"),
            "/limited": get("limited"),
            "/denied": get("denied"),
            "/forbidden": forbidden,
            "/orgs/{id}/": hidden,
        },
        "components": { "securitySchemes": { "oauth": { "type": "oauth2", "flows": {
            "clientCredentials": { "tokenUrl": "https://id.test/token", "scopes": { "org:admin": "" } },
        } } } },
    })
}

/// The upstream; ends with the test process.
pub(crate) struct Echo {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Echo {
    pub(crate) fn start() -> Self {
        Self::listen(answer)
    }

    /// The same over TLS, with a certificate of the private [`authority`].
    pub(crate) fn secure() -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let chain = CertificateDer::pem_slice_iter(LOCALHOST.as_bytes()).map(Result::unwrap);
        let key = PrivateKeyDer::from_pem_slice(LOCALHOST.as_bytes()).unwrap();
        let config = Arc::new(builder.with_single_cert(chain.collect(), key).unwrap());
        Self::listen(move |stream, heads| {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            answer(&mut stream, heads);
            stream.conn.send_close_notify();
            stream.flush().ok();
        })
    }

    fn listen(serve: impl Fn(TcpStream, &Mutex<Vec<String>>) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (seen, serve) = (Arc::clone(&heads), Arc::new(serve));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, serve) = (Arc::clone(&seen), Arc::clone(&serve));
                thread::spawn(move || serve(stream, &seen));
            }
        });
        Self { address, heads }
    }

    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The heads of all requests so far, as sent.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn answer(mut stream: impl Read + Write, heads: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1..) => head.extend_from_slice(&byte),
            Ok(0) | Err(_) => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    heads.lock().unwrap().push(head.clone());
    let target = head.split(' ').nth(1).unwrap_or_default();
    let (status, more, body) = match target.split('?').next().unwrap_or_default() {
        "/limited" => {
            ("429 Too Many Requests", "retry-after: 1\r\nx-ratelimit-limit: 5\r\n", json!("slow"))
        }
        "/token" => ("200 OK", "", json!({ "access_token": ACCESS_TOKEN, "token_type": "bearer" })),
        "/denied" => ("401 Unauthorized", "", json!({ "detail": "token expired" })),
        "/forbidden" => ("403 Forbidden", "", json!({ "detail": "needs org:admin" })),
        "/echo" => {
            let percent: String = head.bytes().map(|it| format!("%{it:02X}")).collect();
            let body =
                json!({ "plain": head, "base64": STANDARD.encode(&head), "percent": percent });
            ("200 OK", "x-echo: yes\r\nratelimit: \"all\";r=7;t=30\r\n", body)
        }
        _ => ("404 Not Found", "", json!({ "detail": "no such thing" })),
    };
    let body = body.to_string();
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{more}connection: close\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).ok();
}
