//! Records of the texts of projects' files that wait for a person, as their last reader found them. The
//! pages agree by these records alone: the server of the pages may read no project.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::agreement::{AGREEMENTS, agreed_sum};
use super::files::stage;
use crate::base::file_system::private_folder;
use crate::base::hash::sha256;
use crate::model::forgetting::ForgottenPhrases;
use crate::model::standing::{AgreedFile, StandingLocation};
use crate::model::workspace::Workspace;

/// The ending of a record, behind the name of the agreement that its text waits for.
const ENDING: &str = ".waiting";

/// Records at most; a further one takes the place of the oldest.
const RECORDS_MAX: usize = 100;

/// A text that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct WaitingRecord {
    /// The workspace of the project.
    pub(super) workspace: Workspace,
    /// The text and its file.
    #[serde(flatten)]
    pub(super) file: AgreedFile,
}

impl WaitingRecord {
    /// The record of the text that waits for the agreement of this name, if there is one.
    pub(super) fn read(home: &Path, name: &str) -> Option<Self> {
        let text = fs::read_to_string(path_of(home, name)).ok()?;
        let record: Self = serde_json::from_str(&text).ok()?;
        Some(record).filter(|record| record.file.sha256 == sha256(&record.file.text))
    }

    /// The records of a workspace whose texts still wait, with the names of their agreements, by path.
    ///
    /// # Errors
    /// Those of reading the folder.
    pub(super) fn all(home: &Path, workspace: &Workspace) -> io::Result<Vec<(String, AgreedFile)>> {
        let mut waiting = Vec::new();
        for (name, _) in names(home)? {
            let Some(record) = Self::read(home, &name) else { continue };
            let is_agreed = agreed_sum(home, &name).is_some_and(|sum| sum == record.file.sha256);
            if record.workspace == *workspace && !is_agreed {
                waiting.push((name, record.file));
            }
        }
        waiting.sort_by(|(_, one), (_, other)| one.file.cmp(&other.file));
        Ok(waiting)
    }

    /// Keeps this record under the name of the agreement.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn keep(&self, home: &Path, name: &str) -> io::Result<()> {
        let path = path_of(home, name);
        private_folder(path.parent().unwrap_or(home))?;
        let mut others = names(home)?;
        others.retain(|(other, _)| other != name);
        others.sort_by_key(|(_, at)| *at);
        let spare = (others.len() + 1).saturating_sub(RECORDS_MAX);
        others.iter().take(spare).for_each(|(other, _)| Self::remove(home, other));
        let text = serde_json::to_string(self)?;
        fs::rename(stage(&path, StandingLocation::Home, &text)?, path)
    }

    /// Removes the record of this name, if there is one.
    pub(super) fn remove(home: &Path, name: &str) {
        drop(fs::remove_file(path_of(home, name)));
    }

    /// Removes the records that say what was forgotten, or only counts them.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn forget(home: &Path, phrases: &ForgottenPhrases, apply: bool) -> io::Result<u64> {
        let mut found = 0;
        for (name, _) in names(home)? {
            let path = path_of(home, &name);
            let record = Self::read(home, &name);
            let lines = record.iter().flat_map(|record| {
                let changes = record.file.removed.iter().map(String::as_str);
                changes.chain([record.file.text.as_str()])
            });
            if lines.into_iter().any(|text| phrases.are_said_in(text)) {
                found += 1;
                if apply {
                    fs::remove_file(path)?;
                }
            }
        }
        Ok(found)
    }
}

/// The names of all records, with the times when they were written.
fn names(home: &Path) -> io::Result<Vec<(String, SystemTime)>> {
    let entries = match fs::read_dir(home.join(AGREEMENTS)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let names = entries.flatten().filter_map(|entry| {
        let file = entry.file_name().into_string().ok()?;
        let at = entry.metadata().and_then(|found| found.modified()).ok()?;
        Some((file.strip_suffix(ENDING)?.to_owned(), at)).filter(|(name, _)| !name.starts_with('.'))
    });
    Ok(names.collect())
}

fn path_of(home: &Path, name: &str) -> PathBuf {
    home.join(AGREEMENTS).join(format!("{name}{ENDING}"))
}
