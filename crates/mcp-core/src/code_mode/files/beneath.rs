//! A directory whose names cannot lead out of it, whatever links it holds.

use std::{
    fs::File,
    io,
    path::{Component, Path},
};

/// Path components of a name: plain ones alone.
fn components(name: &str) -> io::Result<Vec<&str>> {
    let outside =
        || io::Error::new(io::ErrorKind::PermissionDenied, "it leads out of its directory");
    let mut parts = Vec::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str().ok_or_else(outside)?),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(outside());
            }
        }
    }
    if parts.is_empty() || name.contains('\0') { Err(outside()) } else { Ok(parts) }
}

#[cfg(unix)]
mod unix {
    use std::os::fd::{AsFd, OwnedFd};

    use rustix::{
        fs::{Dir, FileType, Mode, OFlags},
        io::Errno,
    };

    use super::*;

    /// An open directory: what its path comes to mean later makes no difference.
    #[derive(Debug)]
    pub(in super::super) struct Directory {
        handle: OwnedFd,
    }

    impl Directory {
        pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            Ok(Self { handle: rustix::fs::open(path, flags, Mode::empty())? })
        }

        /// Opens a regular file for reading.
        pub(in super::super) fn read(&self, name: &str) -> io::Result<File> {
            // Non-blocking, so that a pipe in a file's place is refused and not waited for.
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
            let file = File::from(self.at(name, flags, Mode::empty())?);
            if !file.metadata()?.is_file() {
                return Err(io::Error::other("it is not a file"));
            }
            Ok(file)
        }

        /// Makes a file that was not there.
        pub(in super::super) fn create(&self, name: &str) -> io::Result<File> {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            Ok(File::from(self.at(name, flags, Mode::RUSR | Mode::WUSR)?))
        }

        /// Names of the regular files at its top, sorted.
        pub(in super::super) fn list(&self, most: usize) -> io::Result<Vec<String>> {
            let mut names = Vec::new();
            for entry in Dir::read_from(&self.handle)? {
                let entry = entry?;
                if entry.file_type() == FileType::RegularFile
                    && let Ok(name) = entry.file_name().to_str()
                {
                    names.push(name.to_owned());
                }
            }
            names.sort();
            names.truncate(most);
            Ok(names)
        }

        fn at(&self, name: &str, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
            let parts = components(name)?;
            #[cfg(target_os = "linux")]
            {
                use rustix::fs::ResolveFlags;

                let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
                match rustix::fs::openat2(&self.handle, parts.join("/"), flags, mode, beneath) {
                    // Old kernels, and sandboxes that forbid the call.
                    Err(Errno::NOSYS | Errno::PERM) => {}
                    Err(Errno::XDEV) => {
                        return Err(io::Error::new(
                            io::ErrorKind::PermissionDenied,
                            "it leads out of its directory",
                        ));
                    }
                    other => return Ok(other?),
                }
            }
            step_by_step(self.handle.as_fd(), &parts, flags, mode)
        }
    }

    /// Opens one component after the other, following no link at all.
    pub(in super::super) fn step_by_step(
        root: impl AsFd,
        parts: &[&str],
        flags: OFlags,
        mode: Mode,
    ) -> io::Result<OwnedFd> {
        let through = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let link = |error| match error {
            Errno::LOOP | Errno::NOTDIR => io::Error::new(
                io::ErrorKind::PermissionDenied,
                "a part of it is a link or no directory",
            ),
            other => io::Error::from(other),
        };
        let Some((last, folders)) = parts.split_last() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let mut at = root.as_fd().try_clone_to_owned()?;
        for folder in folders {
            at = rustix::fs::openat(&at, *folder, through, Mode::empty()).map_err(link)?;
        }
        rustix::fs::openat(&at, *last, flags | OFlags::NOFOLLOW, mode).map_err(link)
    }
}

#[cfg(unix)]
pub(super) use unix::Directory;
#[cfg(all(test, unix))]
pub(super) use unix::step_by_step;

/// A directory by its resolved path.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct Directory {
    root: std::path::PathBuf,
}

#[cfg(not(unix))]
impl Directory {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let root = path.canonicalize()?;
        if root.is_dir() { Ok(Self { root }) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub(super) fn read(&self, name: &str) -> io::Result<File> {
        let path = self.resolved(&components(name)?)?;
        if !path.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        File::open(path)
    }

    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let parts = components(name)?;
        let Some((last, folders)) = parts.split_last() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        File::create_new(self.resolved(folders)?.join(last))
    }

    pub(super) fn list(&self, most: usize) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.root)? {
            let entry = entry?;
            if entry.file_type()?.is_file()
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        names.sort();
        names.truncate(most);
        Ok(names)
    }

    fn resolved(&self, parts: &[&str]) -> io::Result<std::path::PathBuf> {
        let path = self.root.join(parts.iter().collect::<std::path::PathBuf>()).canonicalize()?;
        let outside = "it leads out of its directory";
        match path.starts_with(&self.root) {
            true => Ok(path),
            false => Err(io::Error::new(io::ErrorKind::PermissionDenied, outside)),
        }
    }
}
