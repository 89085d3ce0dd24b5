//! The files of the home beside the store that may quote what was forgotten.

use std::fs;
use std::io;
use std::path::Path;

use crate::base::error::{Error, ErrorKind, Result};
use crate::model::forgetting::{ForgetPlace, ForgetReach, ForgottenPhrases};
use crate::verbs::Commonbook;
use crate::verbs::standing::forget_waiting;

/// The logs of hooks.
const HOOK_LOGS: [&str; 2] = ["hook.log", "hook.log.1"];

impl Commonbook {
    /// Takes forgotten phrases out of the files of the home, as far as a forgetting reaches, or only counts the
    /// files that hold them. A log says nothing by whom a line is: an agent's forgetting leaves it.
    ///
    /// # Errors
    /// `unavailable` if a file cannot be read or written.
    pub(super) fn redact_files(
        &self,
        phrases: &ForgottenPhrases,
        reach: &ForgetReach,
        apply: bool,
    ) -> Result<Vec<ForgetPlace>> {
        let (standing, logs) = match self.files.home() {
            None => (0, 0),
            Some(home) => {
                let items = self.files.redact_home(phrases, reach, apply).map_err(unusable_file)?;
                match reach {
                    ForgetReach::Agent { .. } => (items, 0),
                    ForgetReach::Everybody => {
                        let waiting =
                            forget_waiting(home, phrases, apply).map_err(unusable_file)?;
                        let logs = redact_logs(home, phrases, apply).map_err(unusable_file)?;
                        (items + waiting, logs)
                    }
                }
            }
        };
        Ok(vec![
            ForgetPlace::of("standing memory files of the home, and their backups", standing),
            ForgetPlace::of("logs of hooks", logs),
            ForgetPlace::of("write-ahead log and free pages of the store", 0),
        ])
    }
}

fn redact_logs(home: &Path, phrases: &ForgottenPhrases, apply: bool) -> io::Result<u64> {
    let mut found = 0;
    for name in HOOK_LOGS {
        let path = home.join(name);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            bytes => bytes?,
        };
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let is_kept = |line: &&&str| !phrases.are_said_in(line);
        let kept: String = lines.iter().filter(is_kept).copied().collect();
        if kept.len() < text.len() {
            found += 1;
            if apply {
                fs::write(&path, kept)?;
            }
        }
    }
    Ok(found)
}

fn unusable_file(error: io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("a file of the home cannot be used: {error}"))
        .hint("Check the permissions of the home folder and its disk; then call again.")
        .with_cause(error)
}
