//! Trust: an unknown authority, an added one, another host name, a client certificate.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use api_client::error::{Error, ErrorKind};
use api_client::secret::Secret;
use api_client::transport::{Effect, Response, Transport, TransportOptions};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, Stream};
use url::Url;

use crate::server::{get, soon};

// Made for these tests with a hundred years to live; the keys open nothing else.
pub(crate) const AUTHORITY: &str = include_str!("fixtures/ca.pem");
pub(crate) const LOCALHOST: &str = include_str!("fixtures/localhost.pem");
pub(crate) const ELSEWHERE: &str = include_str!("fixtures/elsewhere.pem");
/// The host name of that certificate.
pub(crate) const ELSEWHERE_NAME: &str = "elsewhere.test";

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok";

/// What a server with this certificate is; `wants_client` makes it ask for one too.
pub(crate) fn server_config(identity: &str, wants_client: bool) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = if wants_client {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(AUTHORITY.as_bytes()).unwrap()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        builder.with_no_client_auth()
    };
    let chain = CertificateDer::pem_slice_iter(identity.as_bytes()).map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_slice(identity.as_bytes()).unwrap();
    builder.with_single_cert(chain, key).unwrap()
}

/// Serves `ok` to each connection that completes the handshake.
pub(crate) fn serve(identity: &str, wants_client: bool) -> SocketAddr {
    let config = Arc::new(server_config(identity, wants_client));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut tls = Stream::new(&mut connection, &mut stream);
            if tls.read(&mut [0; 4096]).is_ok() {
                tls.write_all(ANSWER).unwrap();
                tls.conn.send_close_notify();
                tls.flush().unwrap();
            }
        }
    });
    address
}

async fn ask(
    address: SocketAddr,
    set: impl FnOnce(&mut TransportOptions),
) -> Result<Response, Error> {
    let mut options = TransportOptions::new(Url::parse(&format!("https://{address}")).unwrap());
    options.retries = false;
    set(&mut options);
    Transport::new(options).unwrap().send(&get("/x"), Effect::Read, soon()).await
}

fn why(outcome: Result<Response, Error>) -> String {
    let error = outcome.unwrap_err();
    match error.kind() {
        ErrorKind::Tls { why } => why.clone(),
        other => panic!("{other:?} {error:?}"),
    }
}

/// P59.
#[tokio::test]
async fn an_unknown_authority_is_named_and_can_be_added() {
    let address = serve(LOCALHOST, false);
    let refused = why(ask(address, |_| {}).await);
    assert!(
        refused.contains("issued by `Example Test Authority`, which is not trusted"),
        "{refused}"
    );
    let added = ask(address, |it| it.tls.extra_ca_pem = vec![AUTHORITY.to_owned()]).await.unwrap();
    assert_eq!(&added.body[..], b"ok");
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused() {
    let address = serve(ELSEWHERE, false);
    let refused = why(ask(address, |it| it.tls.extra_ca_pem = vec![AUTHORITY.to_owned()]).await);
    assert_eq!(
        refused,
        "its certificate (issued by `Example Test Authority`) is for another host name"
    );
    let insecure = ask(address, |it| it.tls.insecure = true).await.unwrap();
    assert_eq!(insecure.status, 200);
}

#[tokio::test]
async fn a_client_certificate_is_shown_where_one_is_wanted() {
    let address = serve(LOCALHOST, true);
    let trust = |it: &mut TransportOptions| it.tls.extra_ca_pem = vec![AUTHORITY.to_owned()];
    assert!(ask(address, trust).await.is_err());
    let response = ask(address, |it| {
        trust(it);
        it.tls.client_identity_pem = Some(Secret::new(ELSEWHERE));
    })
    .await
    .unwrap();
    assert_eq!(response.status, 200);
}
