//! Compiled documents on disk: private files that are trusted only when everything about them fits.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Increased with every change of what is stored; the release number is part of the header too.
const FORMAT: u32 = 2;
const MAGIC: &[u8; 8] = b"mcpdoc\r\n";
const CHECKSUM: usize = 32;
const HEADER: usize = MAGIC.len() + size_of::<u32>() + CHECKSUM;
/// A larger file is not one of ours: the largest known document compiles to a tenth of it.
const MAX_FILE: u64 = 256 << 20;

/// A directory of compiled documents, one file for each place a document comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheDir {
    path: PathBuf,
}

/// Which document a cached one was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// URL or path of the document.
    pub source: String,
    /// SHA-256 of its bytes, in hex.
    pub sha256: String,
    /// The `ETag` it came with; for a file, what stands for one.
    pub etag: Option<String>,
    /// The `Last-Modified` it came with.
    pub last_modified: Option<String>,
    /// When it was stored, in seconds since 1970.
    pub stored: u64,
    release: String,
}

impl Stamp {
    /// Describes bytes just read from `source`.
    pub fn new(source: &str, bytes: &[u8], etag: Option<String>, modified: Option<String>) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self {
            source: source.to_owned(),
            sha256: sha256(bytes),
            etag,
            last_modified: modified,
            stored: now.map_or(0, |since| since.as_secs()),
            release: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// What was stored, and what it was made from.
#[derive(Debug)]
pub struct Cached {
    /// What it was made from.
    pub stamp: Stamp,
    bytes: Vec<u8>,
    start: usize,
}

impl Cached {
    /// The stored bytes.
    pub fn content(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

impl CacheDir {
    /// Uses `path`, which is made when something is first stored.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Reads what was stored for `source`, if a file of ours holds it intact.
    ///
    /// # Errors
    ///
    /// Why there is nothing to use; `NotFound` when nothing was stored.
    pub fn read(&self, source: &str) -> io::Result<Cached> {
        let bytes = read_own(&self.file(source))?;
        let (stamp, content) = unseal(&bytes).ok_or_else(unusable)?;
        if stamp.source != source || stamp.release != env!("CARGO_PKG_VERSION") {
            return Err(unusable());
        }
        let start = bytes.len() - content.len();
        Ok(Cached { stamp, bytes, start })
    }

    /// Stores `content`; other processes see the old file or the new one, never a part.
    ///
    /// # Errors
    ///
    /// When the directory is not private to this user or cannot be written.
    pub fn write(&self, stamp: &Stamp, content: &[u8]) -> io::Result<()> {
        let mut sealed = vec![0; HEADER];
        sealed = postcard::to_extend(stamp, sealed).map_err(io::Error::other)?;
        sealed.extend_from_slice(content);
        let (header, body) = sealed.split_at_mut(HEADER);
        let parts = [MAGIC.as_slice(), &FORMAT.to_le_bytes(), &Sha256::digest(&*body)];
        header.copy_from_slice(&parts.concat());

        private_directory(&self.path)?;
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let temporary = self.path.join(format!(".{}.tmp", hex(&random)));
        let stored = create_private(&temporary)
            .and_then(|mut file| file.write_all(&sealed))
            .and_then(|()| fs::rename(&temporary, self.file(&stamp.source)));
        if stored.is_err() {
            drop(fs::remove_file(&temporary));
        }
        stored
    }

    fn file(&self, source: &str) -> PathBuf {
        let mut name = sha256(source.as_bytes());
        name.truncate(32);
        self.path.join(name + ".doc")
    }
}

/// SHA-256 in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let written = write!(text, "{byte:02x}");
        debug_assert!(written.is_ok(), "a String takes all that is written to it");
        text
    })
}

/// Checks marks and checksum, and splits the stamp from the content.
fn unseal(bytes: &[u8]) -> Option<(Stamp, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?.strip_prefix(&FORMAT.to_le_bytes())?;
    let (checksum, body) = rest.split_at_checked(CHECKSUM)?;
    if Sha256::digest(body).as_slice() != checksum {
        return None;
    }
    postcard::take_from_bytes(body).ok()
}

fn unusable() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the cached document is damaged or of another release",
    )
}

fn not_private(path: &Path) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("`{}` belongs to, or can be changed by, somebody else", path.display()),
    )
}

fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    let file = open_own(path)?;
    let size = file.metadata()?.len();
    if size > MAX_FILE {
        return Err(unusable());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(unix)]
fn open_own(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};

    // Non-blocking, so that a pipe in a file's place is refused and not waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if metadata.is_file() && is_private(&metadata) { Ok(file) } else { Err(not_private(path)) }
}

#[cfg(unix)]
fn private_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;

    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() && is_private(&metadata) { Ok(()) } else { Err(not_private(path)) }
}

/// Tells whether only this user could have written it.
#[cfg(unix)]
fn is_private(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

#[cfg(unix)]
fn create_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn open_own(path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(not_private(path));
    }
    File::open(path)
}

#[cfg(not(unix))]
fn private_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

#[cfg(not(unix))]
fn create_private(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().write(true).create_new(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "https://api.test/openapi.json";

    fn stored() -> (tempfile::TempDir, CacheDir) {
        let root = tempfile::tempdir().unwrap();
        let cache = CacheDir::new(root.path().join("a/b"));
        let stamp = Stamp::new(SOURCE, b"{}", Some("\"v1\"".to_owned()), None);
        cache.write(&stamp, b"content").unwrap();
        (root, cache)
    }

    fn read(cache: &CacheDir) -> Result<Vec<u8>, io::ErrorKind> {
        cache.read(SOURCE).map(|it| it.content().to_vec()).map_err(|error| error.kind())
    }

    #[test]
    fn what_was_stored_is_read_back_with_its_stamp() {
        let (_root, cache) = stored();
        let cached = cache.read(SOURCE).unwrap();
        assert_eq!(cached.content(), b"content");
        assert_eq!(cached.stamp.etag.as_deref(), Some("\"v1\""));
        assert_eq!(cached.stamp.sha256, sha256(b"{}"));
        assert!(cached.stamp.stored > 1_700_000_000);
        let other = cache.read("https://other.test/").unwrap_err();
        assert_eq!(other.kind(), io::ErrorKind::NotFound);
        assert_eq!(fs::read_dir(&cache.path).unwrap().count(), 1);
    }

    #[test]
    fn a_damaged_file_is_not_used_and_can_be_written_again() {
        let (_root, cache) = stored();
        let path = cache.file(SOURCE);
        let good = fs::read(&path).unwrap();
        for position in [0, 9, HEADER, good.len() - 1] {
            let mut bad = good.clone();
            bad[position] ^= 1;
            fs::write(&path, &bad).unwrap();
            assert_eq!(read(&cache), Err(io::ErrorKind::InvalidData), "byte {position}");
        }
        for length in [0, 3, HEADER, good.len() - 1] {
            fs::write(&path, &good[..length]).unwrap();
            assert_eq!(read(&cache), Err(io::ErrorKind::InvalidData), "{length} bytes");
        }
        cache.write(&Stamp::new(SOURCE, b"", None, None), b"new").unwrap();
        assert_eq!(read(&cache).unwrap(), b"new");
    }

    #[test]
    fn another_release_reads_nothing() {
        let (_root, cache) = stored();
        let mut stamp = Stamp::new(SOURCE, b"{}", None, None);
        stamp.release = "0.0.0".to_owned();
        cache.write(&stamp, b"old").unwrap();
        assert_eq!(read(&cache), Err(io::ErrorKind::InvalidData));
    }

    #[cfg(unix)]
    mod unix {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        use super::*;

        fn set_mode(path: &Path, mode: u32) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }

        #[test]
        fn directory_and_files_are_private() {
            let (_root, cache) = stored();
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&cache.path), 0o700);
            assert_eq!(mode(&cache.file(SOURCE)), 0o600);
        }

        #[test]
        fn what_others_could_have_written_is_not_used() {
            let (_root, cache) = stored();
            set_mode(&cache.file(SOURCE), 0o666);
            assert_eq!(read(&cache), Err(io::ErrorKind::PermissionDenied));
            set_mode(&cache.path, 0o777);
            let error = cache.write(&Stamp::new(SOURCE, b"", None, None), b"").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        }

        #[test]
        fn links_and_pipes_are_not_followed() {
            let (root, cache) = stored();
            let path = cache.file(SOURCE);
            let elsewhere = root.path().join("elsewhere");
            fs::rename(&path, &elsewhere).unwrap();
            symlink(&elsewhere, &path).unwrap();
            assert!(read(&cache).is_err());
            fs::remove_file(&path).unwrap();
            let status = std::process::Command::new("mkfifo").arg(&path).status();
            if status.is_ok_and(|status| status.success()) {
                assert_eq!(read(&cache), Err(io::ErrorKind::PermissionDenied));
            }
        }
    }
}
