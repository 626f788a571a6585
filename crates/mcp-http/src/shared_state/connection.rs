//! One connection to Redis or Valkey, made when it is needed and again when it is lost.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    sync::Mutex,
    time::timeout,
};
use url::Url;

/// How long one question may take, with connecting.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest value that is read.
const MAX_VALUE: usize = 16 << 20;
/// Values of an answer, at most; and how deep they may lie.
const MAX_ITEMS: usize = 10_000;
const MAX_DEPTH: u8 = 4;

/// Where the store is, and who we are there.
pub(super) struct Address {
    host: String,
    port: u16,
    user: Option<String>,
    password: Option<String>,
    database: Option<String>,
}

impl Address {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok().filter(|url| url.scheme() == "redis")?;
        let decoded = |text: &str| {
            percent_encoding::percent_decode_str(text).decode_utf8().ok().map(|it| it.into_owned())
        };
        let database = url.path().trim_matches('/');
        if !database.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Self {
            host: url.host_str()?.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(6379),
            user: decoded(url.username()).filter(|it| !it.is_empty()),
            password: url.password().and_then(decoded),
            database: (!database.is_empty()).then(|| database.to_owned()),
        })
    }
}

/// An answer of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    Nothing,
    Text(String),
    Integer(i64),
    Bytes(Vec<u8>),
    Array(Vec<Self>),
}

impl Reply {
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Nothing | Self::Text(_) | Self::Integer(_) | Self::Array(_) => None,
        }
    }
}

/// The connection; questions are asked one after the other.
pub(super) struct Connection {
    address: Address,
    stream: Mutex<Option<BufReader<TcpStream>>>,
}

impl Connection {
    pub(super) fn new(address: Address) -> Self {
        Self { address, stream: Mutex::new(None) }
    }

    /// Asks one question. A question that was sent and not answered is not asked again.
    pub(super) async fn ask(&self, words: &[&[u8]]) -> io::Result<Reply> {
        let asked = async {
            let mut held = self.stream.lock().await;
            // Whatever ends this halfway leaves no connection in an unknown state.
            let mut stream = match held.take() {
                Some(stream) if is_alive(&stream) => stream,
                Some(_) | None => self.connect().await?,
            };
            let reply = exchange(&mut stream, words).await?;
            *held = Some(stream);
            reply
        };
        let late = || io::Error::new(io::ErrorKind::TimedOut, "the store did not answer in time");
        timeout(PATIENCE, asked).await.map_err(|_| late())?
    }

    async fn connect(&self) -> io::Result<BufReader<TcpStream>> {
        let Address { host, port, user, password, database } = &self.address;
        let stream = TcpStream::connect((host.as_str(), *port)).await?;
        stream.set_nodelay(true)?;
        let mut stream = BufReader::new(stream);
        if let Some(password) = password {
            let mut words = vec![b"AUTH".as_slice()];
            words.extend(user.as_ref().map(String::as_bytes));
            words.push(password.as_bytes());
            exchange(&mut stream, &words).await??;
        }
        if let Some(database) = database {
            exchange(&mut stream, &[b"SELECT", database.as_bytes()]).await??;
        }
        Ok(stream)
    }
}

/// Whether nothing has come of itself, such as the end.
fn is_alive(stream: &BufReader<TcpStream>) -> bool {
    let nothing = stream.get_ref().try_read(&mut [0; 1]);
    stream.buffer().is_empty()
        && nothing.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// Sends a question and reads its answer; what the store refuses is the inner error.
async fn exchange(
    stream: &mut BufReader<TcpStream>,
    words: &[&[u8]],
) -> io::Result<io::Result<Reply>> {
    let mut question = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        question.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        question.extend_from_slice(word);
        question.extend_from_slice(b"\r\n");
    }
    stream.get_mut().write_all(&question).await?;
    Box::pin(read(stream, 0)).await
}

async fn read(stream: &mut BufReader<TcpStream>, depth: u8) -> io::Result<io::Result<Reply>> {
    let mut line = Vec::new();
    (&mut *stream).take(64 * 1024).read_until(b'\n', &mut line).await?;
    let line = line.strip_suffix(b"\r\n").ok_or_else(odd)?;
    let text = std::str::from_utf8(line).map_err(|_| odd())?;
    let (kind, rest) = text.split_at_checked(1).ok_or_else(odd)?;
    let number = || rest.parse::<i64>().map_err(|_| odd());
    Ok(Ok(match kind {
        "+" => Reply::Text(rest.to_owned()),
        "-" => {
            // The first word is the kind of fault; what follows could repeat what we sent.
            let fault = rest.split(' ').next().unwrap_or_default();
            return Ok(Err(io::Error::other(format!("the store answers {fault}"))));
        }
        ":" => Reply::Integer(number()?),
        "_" => Reply::Nothing,
        "$" => match usize::try_from(number()?) {
            Err(_) => Reply::Nothing,
            Ok(length) if length > MAX_VALUE => return Err(odd()),
            Ok(length) => {
                let mut bytes = vec![0; length + 2];
                stream.read_exact(&mut bytes).await?;
                bytes.truncate(length);
                Reply::Bytes(bytes)
            }
        },
        "*" => match usize::try_from(number()?) {
            Err(_) => Reply::Nothing,
            Ok(length) if length > MAX_ITEMS || depth >= MAX_DEPTH => return Err(odd()),
            Ok(length) => {
                let mut items = Vec::new();
                for _ in 0..length {
                    match Box::pin(read(stream, depth + 1)).await? {
                        Ok(item) => items.push(item),
                        Err(fault) => return Ok(Err(fault)),
                    }
                }
                Reply::Array(items)
            }
        },
        _ => return Err(odd()),
    }))
}

fn odd() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the store does not speak its protocol")
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn an_address_names_host_and_password_and_tls_is_refused() {
        let address = Address::parse("redis://:p%40ss@[::1]:7000/2").unwrap();
        assert_eq!((address.host.as_str(), address.port), ("::1", 7000));
        assert_eq!(address.password.as_deref(), Some("p@ss"));
        assert_eq!(address.database.as_deref(), Some("2"));
        assert_eq!(Address::parse("redis://cache").unwrap().port, 6379);
        for text in ["rediss://cache", "cache:6379", "redis://cache/x", "http://cache"] {
            assert!(Address::parse(text).is_none(), "{text}");
        }
    }

    #[tokio::test]
    async fn answers_of_every_kind_are_read_and_faults_repeat_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let answers =
            "+OK\r\n:3\r\n$3\r\nabc\r\n$-1\r\n*2\r\n$1\r\na\r\n:1\r\n-WRONGPASS secret\r\n";
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(answers.as_bytes()).await.unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).await.unwrap();
        });
        let mut stream = BufReader::new(TcpStream::connect(address).await.unwrap());
        let mut replies = Vec::new();
        for _ in 0..5 {
            replies.push(read(&mut stream, 0).await.unwrap().unwrap());
        }
        assert_eq!(
            replies,
            [
                Reply::Text("OK".to_owned()),
                Reply::Integer(3),
                Reply::Bytes(b"abc".to_vec()),
                Reply::Nothing,
                Reply::Array(vec![Reply::Bytes(b"a".to_vec()), Reply::Integer(1)]),
            ]
        );
        let fault = read(&mut stream, 0).await.unwrap().unwrap_err().to_string();
        assert_eq!(fault, "the store answers WRONGPASS");
    }
}
