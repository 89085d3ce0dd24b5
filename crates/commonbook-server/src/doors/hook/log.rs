//! The log of hooks: a file in the home, rotated at one megabyte.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use commonbook::base::file_system::private_options;

use crate::settings::config::HOOK_LOG;

/// Size at which the log becomes `hook.log.1` and a new one starts.
const LOG_BYTES_MAX: u64 = 1 << 20;

/// A writer for the log of this home; writes nowhere if the home does not exist.
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
    private_options().append(true).create(true).open(path)
}
