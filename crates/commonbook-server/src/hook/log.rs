//! The log of hooks: a file in the home, of which the last megabyte or two are kept.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::config::HOOK_LOG;

/// Bytes after which the log is begun anew; the one before is kept beside it.
const LOG_BYTES_MAX: u64 = 1 << 20;

/// The log of this home, to be written to; nothing where there is no home yet.
pub(crate) fn log_writer(home: Option<&Path>) -> Box<dyn Write> {
    match home.map(open) {
        Some(Ok(file)) => Box::new(file),
        _ => Box::new(io::sink()),
    }
}

fn open(home: &Path) -> io::Result<File> {
    let path = home.join(HOOK_LOG);
    if fs::metadata(&path).is_ok_and(|log| log.len() > LOG_BYTES_MAX) {
        fs::rename(&path, path.with_extension("log.1"))?;
    }
    let mut options = File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
