//! The process that holds the store's write lock, according to the kernel.

use std::path::Path;

use crate::base::error::{Error, ErrorKind};

/// The offset of the write lock in the log's shared-memory file (WAL format, section 2.3.1).
#[cfg(target_os = "linux")]
const WRITE_LOCK_OFFSET: u64 = 120;

/// The error of a store in which other processes write all the time: it names the one that does now.
pub(super) fn busy_store(store: &Path) -> Error {
    let holder = of_write_lock(store).unwrap_or_else(|| "another process".to_owned());
    Error::new(ErrorKind::Unavailable, format!("{holder} keeps the store busy"))
        .hint("Nothing was written. Try again in a moment.")
}

/// The process that holds the write lock of this store: `commonbook serve (process 4711)`.
#[cfg(target_os = "linux")]
fn of_write_lock(store: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let inode = std::fs::metadata(super::file::sibling_path(store, "-shm")).ok()?.ino();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let process = locks.lines().find_map(|line| lock_writer(line, inode))?;
    let command = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let mut words = command.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    // The first argument names the command; the others may hold private text.
    let verb = words.next().filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
    let name = [program, &verb.unwrap_or_default()].join(" ");
    Some(match name.trim() {
        "" => format!("process {process}"),
        name => format!("{name} (process {process})"),
    })
}

/// The process in a line of `/proc/locks`, if the line is the write lock of this file: `3: POSIX
/// ADVISORY  WRITE 21030 fe:00:10332851 120 120`.
#[cfg(target_os = "linux")]
fn lock_writer(line: &str, inode: u64) -> Option<u32> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [_, "POSIX", _, "WRITE", process, file, first, last] = *fields else { return None };
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let same = file.rsplit(':').next()?.parse() == Ok(inode);
    (same && (first..=last).contains(&WRITE_LOCK_OFFSET)).then(|| process.parse().ok())?
}

/// Other systems do not show it.
#[cfg(not(target_os = "linux"))]
fn of_write_lock(_: &Path) -> Option<String> {
    None
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::store::sqlite::{connection, open};

    #[test]
    fn who_holds_the_lock_is_named_while_it_is_held() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commonbook.db");
        open::open_prepared(&path).unwrap();
        let connection = connection::writing_connection(&path).unwrap();
        assert_eq!(of_write_lock(&path), None);
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let holder = of_write_lock(&path).unwrap();
        assert!(holder.contains(&format!("process {}", std::process::id())), "{holder}");
        connection.execute_batch("ROLLBACK").unwrap();
        assert_eq!(of_write_lock(&path), None);
    }
}
