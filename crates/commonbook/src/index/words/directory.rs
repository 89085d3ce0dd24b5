//! The folder of the words: that of tantivy, without a sync where a later check finds what a loss of power
//! has left in pieces.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

use crate::base::error::Result;
use crate::index::boot;
use crate::index::damage::index_damage;

/// The folder of the words.
#[derive(Debug, Clone)]
pub(super) struct WordsDirectory {
    files: MmapDirectory,
    folder: PathBuf,
}

impl WordsDirectory {
    /// Opens a folder that exists.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let files =
            MmapDirectory::open(folder).map_err(|error| index_damage().with_cause(error))?;
        Ok(Self { files, folder: folder.to_owned() })
    }
}

/// A file that its kernel writes when it likes.
struct UnsyncedFile(File);

impl Write for UnsyncedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for UnsyncedFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}

impl Directory for WordsDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        if boot::must_sync() {
            return self.files.open_write(path);
        }
        let file =
            File::create_new(self.folder.join(path)).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
                _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
            })?;
        Ok(BufWriter::new(Box::new(UnsyncedFile(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if boot::must_sync() {
            return self.files.atomic_write(path, bytes);
        }
        // One writer has the lease.
        let (path, mut unfinished) = (self.folder.join(path), path.as_os_str().to_owned());
        unfinished.push(".unfinished");
        let unfinished = self.folder.join(unfinished);
        fs::write(&unfinished, bytes)?;
        fs::rename(unfinished, path)
    }

    fn sync_directory(&self) -> io::Result<()> {
        if boot::must_sync() { self.files.sync_directory() } else { Ok(()) }
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.files.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(callback)
    }
}
