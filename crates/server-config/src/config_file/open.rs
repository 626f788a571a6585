//! Files that settle what the server may do: opened without following links, and only one's own.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::Path,
};

use crate::given::SetupError;

/// A larger file is no configuration.
const MAX_FILE: u64 = 1 << 20;

/// Reads the text of a file that nobody else can change; whether others can read it.
pub(super) fn read(path: &Path) -> Result<(String, bool), SetupError> {
    let file = open(path)?;
    let readable = is_readable_by_others(&file).map_err(|error| unreadable(path, &error))?;
    let mut text = String::new();
    file.take(MAX_FILE + 1).read_to_string(&mut text).map_err(|error| unreadable(path, &error))?;
    if text.len() as u64 > MAX_FILE {
        return Err(SetupError::new(
            format!("the configuration file `{}` is larger than 1 MB", path.display()),
            "name a TOML file",
        ));
    }
    Ok((text, readable))
}

/// Checks that nobody else can decide what a file with a secret holds; whether others can read it.
///
/// A link counts as the one who made it: secrets are often mounted as links.
pub fn check_secret(path: &Path, from: &str) -> Result<bool, SetupError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;

        let me = rustix::process::geteuid().as_raw();
        // A file that is not there is reported by the one who reads it.
        let (Ok(link), Ok(file)) = (path.symlink_metadata(), path.metadata()) else {
            return Ok(false);
        };
        let is_mine = [&link, &file].iter().all(|it| [0, me].contains(&it.uid()));
        if !is_mine || file.mode() & 0o022 != 0 {
            return Err(SetupError::new(
                format!(
                    "{from}: `{}` belongs to, or can be changed by, somebody else",
                    path.display()
                ),
                format!("make it your own: chown and chmod 600 {}", path.display()),
            ));
        }
        Ok(file.uid() == me && file.mode() & 0o044 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = (path, from);
        Ok(false)
    }
}

/// Writes a new file that only this user can read, in a directory made for it.
///
/// # Errors
///
/// `AlreadyExists` when there is something of that name, whatever it is.
pub fn create_private(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        create_directory(directory)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn unreadable(path: &Path, error: &io::Error) -> SetupError {
    SetupError::new(
        format!("the configuration file `{}` cannot be read: {error}", path.display()),
        "check the path; a relative one starts at the directory the client runs in",
    )
}

#[cfg(unix)]
fn open(path: &Path) -> Result<File, SetupError> {
    use std::os::unix::fs::MetadataExt as _;

    use rustix::fs::{Mode, OFlags};

    // Non-blocking, so that a pipe in a file's place is refused and not waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::LOOP) => {
            return Err(SetupError::new(
                format!("the configuration file `{}` is a link", path.display()),
                "name the file it leads to",
            ));
        }
        Err(error) => return Err(unreadable(path, &error.into())),
    };
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    let me = rustix::process::geteuid().as_raw();
    if !metadata.is_file() {
        return Err(SetupError::new(
            format!("`{}` is not a file", path.display()),
            "name a TOML file",
        ));
    }
    if ![0, me].contains(&metadata.uid()) || metadata.mode() & 0o022 != 0 {
        return Err(SetupError::new(
            format!(
                "the configuration file `{}` belongs to, or can be changed by, somebody else",
                path.display()
            ),
            format!("make it your own: chown and chmod 600 {}", path.display()),
        ));
    }
    Ok(file)
}

#[cfg(unix)]
fn is_readable_by_others(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;

    Ok(file.metadata()?.mode() & 0o044 != 0)
}

#[cfg(not(unix))]
fn open(path: &Path) -> Result<File, SetupError> {
    let metadata = fs::symlink_metadata(path).map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(SetupError::new(
            format!("`{}` is not a file", path.display()),
            "name a TOML file itself, not a link to one",
        ));
    }
    File::open(path).map_err(|error| unreadable(path, &error))
}

/// Profiles are private to their user by default there.
#[cfg(not(unix))]
fn is_readable_by_others(_: &File) -> io::Result<bool> {
    Ok(false)
}
