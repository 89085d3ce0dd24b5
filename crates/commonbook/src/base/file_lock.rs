//! Locks between processes: a file that one of them holds at a time.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use crate::base::file_system::private_options;

/// A locked file. The lock ends with the value, and with its process if that is killed.
///
/// It is released by name, not by closing the file: a child process that another thread starts at that
/// moment has the file open until its program begins, and would hold the lock for as long.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Locks a file, and waits for the process that has it. Creates the file, on Unix with mode 0600.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn wait(path: &Path) -> io::Result<Self> {
        Self::wait_for(open(path)?)
    }

    /// Locks a folder, and waits for the process that has it.
    ///
    /// # Errors
    /// Those of the file system; some cannot lock a folder.
    pub fn wait_for_folder(folder: &Path) -> io::Result<Self> {
        Self::wait_for(File::open(folder)?)
    }

    /// Locks a file; `None` if another process has it. Creates the file, on Unix with mode 0600.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn wait_for(file: File) -> io::Result<Self> {
        file.lock()?;
        Ok(Self(file))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // If this fails, the lock ends with the file.
        drop(self.0.unlock());
    }
}

fn open(path: &Path) -> io::Result<File> {
    private_options().write(true).create(true).truncate(false).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_value_though_a_child_has_the_file_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = FileLock::take(&path).unwrap().unwrap();
        assert!(FileLock::take(&path).unwrap().is_none());
        // What a child process has between its start and its program: the same open file.
        let of_child = lock.0.try_clone().unwrap();
        drop(lock);
        assert!(FileLock::take(&path).unwrap().is_some());
        drop(of_child);
    }
}
