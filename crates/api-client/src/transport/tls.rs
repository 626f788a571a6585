//! Trust: which certificates count, and why one did not.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
};

use super::options::TlsOptions;
use crate::error::ConfigError;

/// Builds the TLS settings of the HTTP client. Reads the system's certificates: a few milliseconds.
pub(super) fn config(options: &TlsOptions) -> Result<ClientConfig, ConfigError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = if options.insecure {
        Arc::new(AcceptAny { provider: Arc::clone(&provider) })
    } else {
        let roots = Arc::new(roots(&extra_authorities(options)?));
        let inner = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
            .build()
            .map_err(|error| ConfigError::new(error.to_string(), "check the CA certificates"))?;
        Arc::new(Explaining { inner })
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ConfigError::new(error.to_string(), "this is a fault of the build"))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match identity(options)? {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(|error| {
            let message = format!("the client certificate cannot be used: {error}");
            ConfigError::new(message, "give a certificate chain and the key that belongs to it")
        })?,
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Parses what the operator gave, so that mistakes show at start.
pub(super) fn check(options: &TlsOptions) -> Result<(), ConfigError> {
    extra_authorities(options)?;
    identity(options).map(drop)
}

fn extra_authorities(options: &TlsOptions) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let mut certificates = Vec::new();
    for pem in &options.extra_ca_pem {
        let parsed: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|error| {
                let message = format!("a CA certificate cannot be read: {error}");
                ConfigError::new(message, "give certificates in PEM form")
            })?;
        if parsed.is_empty() {
            return Err(ConfigError::new(
                "the CA file holds no certificate",
                "it must hold `-----BEGIN CERTIFICATE-----`: convert DER files to PEM first",
            ));
        }
        certificates.extend(parsed);
    }
    Ok(certificates)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn identity(options: &TlsOptions) -> Result<Option<Identity>, ConfigError> {
    let Some(pem) = &options.client_identity_pem else { return Ok(None) };
    let pem = pem.expose().as_bytes();
    let hint = "give certificate chain and unencrypted private key, both PEM, in one text";
    let chain: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|_| ConfigError::new("the client certificate cannot be read", hint))?;
    let key = PrivateKeyDer::from_pem_slice(pem)
        .map_err(|_| ConfigError::new("the client key cannot be read", hint))?;
    if chain.is_empty() {
        return Err(ConfigError::new("the client certificate is missing", hint));
    }
    Ok(Some((chain, key)))
}

/// Adds up all roots. `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the system's store in
/// rustls-native-certs, so the usual bundles are read besides; a system may have none at all.
fn roots(extra: &[CertificateDer<'static>]) -> RootCertStore {
    let mut store = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let mut native = rustls_native_certs::load_native_certs();
    if let Some(bundle) = SYSTEM_BUNDLES.iter().map(Path::new).find(|path| path.is_file()) {
        let bundle = rustls_native_certs::load_certs_from_paths(Some(bundle), None);
        native.certs.extend(bundle.certs);
    }
    for error in native.errors {
        tracing::debug!(%error, "a system certificate cannot be read");
    }
    let mut seen = HashSet::new();
    native.certs.retain(|certificate| seen.insert(certificate.to_vec()));
    store.add_parsable_certificates(native.certs);
    store.add_parsable_certificates(extra.iter().cloned());
    store
}

const SYSTEM_BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Why a certificate was not accepted, with the issuer's name.
#[derive(Debug)]
pub(super) struct Untrusted {
    reason: CertificateError,
    issuer: String,
}

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, issuer } = self;
        match reason {
            CertificateError::UnknownIssuer => write!(
                f,
                "its certificate was issued by `{issuer}`, which is not trusted; if that is your \
                 own authority or a proxy's, add its certificate as an extra CA"
            ),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                write!(f, "its certificate (issued by `{issuer}`) has expired")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => write!(
                f,
                "its certificate (issued by `{issuer}`) is not valid yet; is the clock right?"
            ),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                write!(f, "its certificate (issued by `{issuer}`) is for another host name")
            }
            other => write!(f, "its certificate (issued by `{issuer}`) is not accepted: {other}"),
        }
    }
}

impl std::error::Error for Untrusted {}

/// The usual verification, with errors that name the issuer.
#[derive(Debug)]
struct Explaining {
    inner: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for Explaining {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.inner
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            .map_err(|error| match error {
                rustls::Error::InvalidCertificate(reason) => {
                    let issuer = issuer(end_entity).unwrap_or_else(|| "unknown".to_owned());
                    let explained = OtherError(Arc::new(Untrusted { reason, issuer }));
                    rustls::Error::InvalidCertificate(CertificateError::Other(explained))
                }
                other => other,
            })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// The insecure flag.
#[derive(Debug)]
struct AcceptAny {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let schemes = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, schemes)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let schemes = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, schemes)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Reads the issuer's common name, else its organization, out of a certificate.
fn issuer(certificate: &[u8]) -> Option<String> {
    const SEQUENCE: u8 = 0x30;
    const VERSION: u8 = 0xa0;
    const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
    const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];

    let (_, certificate, _) = element(certificate)?;
    let (_, signed, _) = element(certificate)?;
    let (tag, _, after_version) = element(signed)?;
    let fields = if tag == VERSION { after_version } else { signed };
    let (_, _serial, fields) = element(fields)?;
    let (_, _algorithm, fields) = element(fields)?;
    let (SEQUENCE, mut names, _) = element(fields)? else { return None };

    let mut organization = None;
    while let Some((_, set, rest)) = element(names) {
        names = rest;
        let (_, pair, _) = element(set)?;
        let (_, kind, value) = element(pair)?;
        let (_, text, _) = element(value)?;
        let text = || -> String {
            let text = String::from_utf8_lossy(text);
            text.chars().filter(|c| !c.is_control()).take(100).collect()
        };
        match kind {
            COMMON_NAME => return Some(text()),
            ORGANIZATION => organization = Some(text()),
            _ => {}
        }
    }
    organization
}

/// Splits one DER element off: its tag, its content, and what follows.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, bytes) = bytes.split_first()?;
    let (&first, bytes) = bytes.split_first()?;
    let (length, bytes) = if first < 0x80 {
        (usize::from(first), bytes)
    } else {
        let (digits, bytes) = bytes.split_at_checked(usize::from(first & 0x7f))?;
        if digits.len() > 4 {
            return None;
        }
        (digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit)), bytes)
    };
    let (content, rest) = bytes.split_at_checked(length)?;
    Some((tag, content, rest))
}
