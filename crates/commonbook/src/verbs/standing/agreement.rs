//! A person's agreement to the standing memory files of a project, which anybody may have written:
//! agents receive what this home has not signed of a file only after it, as the project's data.

use std::collections::HashMap;
use std::path::Path;
use std::{fs, io};

use super::files::{StandingFile, StandingFileCache, StandingTarget, stage};
use super::no_folder;
use super::waiting::WaitingRecord;
use crate::base::clock::{Clock as _, SystemClock};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::file_system::private_folder;
use crate::base::hash::sha256;
use crate::base::home_key::HomeKey;
use crate::base::limits;
use crate::model::access;
use crate::model::agent::Agent;
use crate::model::caller::{Caller, EntryPoint};
use crate::model::forgetting::ForgottenPhrases;
use crate::model::standing::{
    AgreeStanding, AgreedFile, AuthorEvidence, FileSigner, ItemAuthor, LineChanges,
    StandingAgreement, StandingDocument, StandingKey, StandingLocation, StandingPart, TOLD_ENDING,
};
use crate::prompt::consent;
use crate::verbs::Commonbook;

/// The name of the store in the home.
const STORE_FILE: &str = "commonbook.db";

/// The folder of the home with one file for each file that a person agreed to.
pub(super) const AGREEMENTS: &str = "agreements";

/// The parts of a project's file that agents receive, and what a person should know of the others.
pub(in crate::verbs) struct ProjectParts {
    pub(in crate::verbs) parts: Vec<StandingPart>,
    pub(in crate::verbs) notice: Option<String>,
    /// The text that waits for a person.
    pub(in crate::verbs) waiting: Option<String>,
}

/// The signer of a project's file. A project is its workspace; folders that are no repositories share
/// one, where the path tells them apart.
pub(in crate::verbs) fn file_signer(
    key: HomeKey,
    caller: &Caller,
    key_of_file: &StandingKey,
) -> FileSigner {
    let StandingKey { project, role } = key_of_file;
    let is_repository = Path::new(project).join(".git").exists();
    let folder = if is_repository { "" } else { project };
    FileSigner::new(key, format!("{}\n{folder}", caller.workspace), role.clone())
}

/// The parts of a project's file by author.
fn all_parts(home: &Path, caller: &Caller, file: &StandingFile) -> Vec<StandingPart> {
    let key = HomeKey::read(home).ok().flatten();
    let signer = key.map(|key| file_signer(key, caller, &file.target.key));
    let learned = HashMap::new();
    let evidence = AuthorEvidence { in_home: false, signer: signer.as_ref(), learned: &learned };
    StandingDocument::parse(&file.text).parts_by_author(evidence)
}

/// The text of a project's file that this home has not signed.
fn unsigned_text(parts: &[StandingPart]) -> Option<String> {
    let part = parts.iter().find(|part| part.author == ItemAuthor::File)?;
    Some(part.document.render())
}

/// The same, unless a person agreed to it.
fn waiting_text(home: &Path, parts: &[StandingPart], file: &StandingFile) -> Option<String> {
    let text = unsigned_text(parts)?;
    let agreed = agreed_sum(home, &agreement_name(file));
    let is_agreed = agreed.is_some_and(|agreed| agreed == sha256(&text)) || was_told(home, file);
    (!is_agreed).then_some(text)
}

/// Whether this very text stood in this file, and in the store, at the upgrade from a version without
/// agreements.
fn was_told(home: &Path, file: &StandingFile) -> bool {
    let list = fs::read(home.join(format!("{STORE_FILE}{TOLD_ENDING}")));
    let told: Vec<(String, String, String)> =
        list.ok().and_then(|list| serde_json::from_slice(&list).ok()).unwrap_or_default();
    let StandingKey { project, role } = &file.target.key;
    let sum = sha256(&file.text);
    told.iter().any(|found| (&found.0, &found.1, &found.2) == (project, role, &sum))
}

/// The SHA-256 of the text that a person agreed to last, under the name of its agreement.
pub(super) fn agreed_sum(home: &Path, name: &str) -> Option<String> {
    let record = fs::read_to_string(home.join(AGREEMENTS).join(name)).ok()?;
    Some(record.trim().to_owned())
}

/// The name of the record of a file: its path, whichever links lead to it.
fn agreement_name(file: &StandingFile) -> String {
    let path = fs::canonicalize(&file.target.path).unwrap_or_else(|_| file.target.path.clone());
    sha256(&path.to_string_lossy())
}

/// What agents receive of a project's file.
pub(in crate::verbs) fn project_parts(
    home: &Path,
    caller: &Caller,
    file: &StandingFile,
) -> ProjectParts {
    let mut parts = all_parts(home, caller, file);
    let name = file.target.path.file_name().unwrap_or_default().to_string_lossy();
    let path = format!(".commonbook/memories/{name}");
    let mut notice = None;
    let waiting = waiting_text(home, &parts, file);
    if waiting.is_some() {
        notice = Some(match HomeKey::read(home) {
            Err(damage) => format!("{path} is not told as yours: {}", damage.message),
            Ok(_) => format!(
                "{path} came with the project and waits for a person: read it, then run `commonbook memory agree` at a terminal"
            ),
        });
        parts.retain(|part| part.author != ItemAuthor::File);
    }
    for part in parts.iter_mut().filter(|part| part.author == ItemAuthor::File) {
        let empty = StandingDocument::parse("");
        let document = std::mem::replace(&mut part.document, empty);
        let bytes = document.render().len();
        if bytes > limits::STANDING_BYTES {
            let most = limits::STANDING_BYTES;
            notice = Some(format!("{path} is left out: {bytes} of {most} bytes"));
            continue;
        }
        let (document, left) = document.without_orders();
        if left > 0 {
            notice = Some(format!(
                "{left} lines or items of {path} are left out: they read like orders"
            ));
        }
        part.document = document;
    }
    ProjectParts { parts, notice, waiting }
}

/// What waits for a person in the files of the caller's project, or cannot be used of them, in
/// sentences.
///
/// # Errors
/// `unavailable` if a folder cannot be read.
pub fn project_notices(caller: &Caller, home: &Path) -> Result<Vec<String>> {
    let Some(project) = caller.project.as_deref() else { return Ok(Vec::new()) };
    let files = StandingFileCache::of(home.to_owned());
    let files = files.of_project(project, SystemClock.now()).map_err(no_folder)?;
    let notice = |file: &StandingFile| {
        file.damage.clone().or_else(|| project_parts(home, caller, file).notice)
    };
    Ok(files.iter().filter_map(notice).collect())
}

/// Removes what waits and says what was forgotten, or only counts it.
///
/// # Errors
/// Those of the file system.
pub(in crate::verbs) fn forget_waiting(
    home: &Path,
    phrases: &ForgottenPhrases,
    apply: bool,
) -> io::Result<u64> {
    WaitingRecord::forget(home, phrases, apply)
}

/// Whether the person calls, at a terminal or at the pages: a command without an agent's name may be an
/// agent's.
fn is_at_hand(caller: &Caller) -> bool {
    match caller.door {
        EntryPoint::Dashboard => access::is_person(caller),
        _ => caller.agent == Agent::human(),
    }
}

impl Commonbook {
    /// Agrees to what the files of the caller's project have that this home has not signed. At the
    /// dashboard these are the texts that the readers of the workspace's projects have found.
    ///
    /// # Errors
    /// `forbidden` unless a person at a terminal or at the dashboard calls; `not_found` without a
    /// project; `conflict` if no text that waits has the SHA-256 of the request; `unavailable` if a
    /// file cannot be read, or the agreement cannot be written.
    pub fn agree_standing(
        &self,
        caller: &Caller,
        request: &AgreeStanding,
    ) -> Result<StandingAgreement> {
        if !is_at_hand(caller) {
            let message = "only a person agrees to the files of a project";
            return Err(Error::new(ErrorKind::Forbidden, message)
                .hint("Run `commonbook memory agree` at a terminal, without an agent's name."));
        }
        let none = || {
            Error::not_found("there is no project here")
                .hint("Run `commonbook memory agree` in the folder of the project.")
        };
        let home = self.files.home().ok_or_else(none)?;
        let mut waiting = match caller.project.as_deref() {
            Some(project) => self.waiting_in(home, caller, project)?,
            None if caller.door == EntryPoint::Dashboard => {
                WaitingRecord::all(home, &caller.workspace).map_err(no_folder)?
            }
            None => return Err(none()),
        };
        waiting.retain(|(_, found)| {
            request.file.as_ref().is_none_or(|file| *file == found.file)
                && request.sha256.as_ref().is_none_or(|sum| *sum == found.sha256)
        });
        if let (Some(_), true) = (&request.sha256, waiting.is_empty()) {
            let message = "no text that waits has this SHA-256: the file changed after it was shown, or is agreed to";
            return Err(Error::conflict(message)
                .with_field("sha256")
                .hint("Read what waits now: `commonbook memory agree --dry-run`."));
        }
        for (name, found) in waiting.iter().filter(|_| !request.dry_run) {
            keep(home, name, &found.sha256).map_err(no_folder)?;
            WaitingRecord::remove(home, name);
        }
        Ok(StandingAgreement { items: waiting.into_iter().map(|(_, found)| found).collect() })
    }

    /// A text of a file as its reader receives it: to an agent, what waits for a person is data.
    ///
    /// # Errors
    /// `unavailable` if the machine has no random bits.
    pub(super) fn text_for_reader(
        &self,
        caller: &Caller,
        target: &StandingTarget,
        text: String,
    ) -> Result<String> {
        let home = self.files.home().filter(|_| !target.is_in_home() && !is_at_hand(caller));
        let Some(home) = home else { return Ok(text) };
        let now = self.clock.now();
        let file = StandingFile::of(target, text, None, now);
        match waiting_text(home, &all_parts(home, caller, &file), &file) {
            None => Ok(file.text.to_string()),
            Some(_) => {
                let fence = self.fence(caller)?;
                Ok(consent::waiting_text(&target.path, &file.text, &fence, now))
            }
        }
    }

    /// What waits in the files of a project, with the names of the agreements.
    fn waiting_in(
        &self,
        home: &Path,
        caller: &Caller,
        project: &Path,
    ) -> Result<Vec<(String, AgreedFile)>> {
        let mut waiting = Vec::new();
        for file in self.files.of_project(project, self.clock.now()).map_err(no_folder)? {
            let text = waiting_text(home, &all_parts(home, caller, &file), &file);
            if let Some(found) = self.note_waiting(caller, &file, text)? {
                waiting.push((agreement_name(&file), found));
            }
        }
        Ok(waiting)
    }

    /// Notes for the pages whether a text of a project's file waits, and which.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub(in crate::verbs) fn note_waiting(
        &self,
        caller: &Caller,
        file: &StandingFile,
        text: Option<String>,
    ) -> Result<Option<AgreedFile>> {
        let (Some(home), name) = (self.files.home(), agreement_name(file)) else { return Ok(None) };
        let Some(text) = text else {
            WaitingRecord::remove(home, &name);
            return Ok(None);
        };
        let sum = sha256(&text);
        let known = WaitingRecord::read(home, &name)
            .filter(|known| known.file.sha256 == sum && known.workspace == caller.workspace);
        if let Some(known) = known {
            return Ok(Some(known.file));
        }
        let LineChanges { added, removed } = self.changes_since_agreement(caller, file, &text)?;
        let role = file.target.key.role.clone();
        let path = file.read.file.clone();
        let found = AgreedFile { role, file: path, text, sha256: sum, added, removed };
        let record = WaitingRecord { workspace: caller.workspace.clone(), file: found };
        // Later texts are compared with this version. Neither it nor the record decides anything: a home
        // that cannot be written has no pages.
        let stored = self.observe_standing(&file.target, &file.text).map(drop);
        let kept = record.keep(home, &name);
        if let (Err(error), _) | (_, Err(error)) = (stored, kept.map_err(no_folder)) {
            tracing::debug!(%error, "what waits for a person is not noted for the pages");
        }
        Ok(Some(record.file))
    }

    /// The lines of a text that changed since the last agreement; none if no stored version has the text
    /// of that one.
    fn changes_since_agreement(
        &self,
        caller: &Caller,
        file: &StandingFile,
        text: &str,
    ) -> Result<LineChanges> {
        let home = self.files.home();
        let agreed = home.and_then(|home| Some((home, agreed_sum(home, &agreement_name(file))?)));
        let Some((home, agreed)) = agreed else { return Ok(LineChanges::default()) };
        let key = &file.target.key;
        self.store.read(|tx| {
            for version in tx.standing_versions(key, limits::STANDING_VERSIONS)? {
                let stored = tx.standing_text(key, version.version)?.unwrap_or_default();
                let then = StandingFile { text: stored.into(), ..file.clone() };
                let then = unsigned_text(&all_parts(home, caller, &then));
                if let Some(then) = then.filter(|then| sha256(then) == agreed) {
                    return Ok(LineChanges::between(&then, text));
                }
            }
            Ok(LineChanges::default())
        })
    }
}

/// Keeps that a person agreed to the text with this SHA-256, under the name of the agreement.
fn keep(home: &Path, name: &str, sum: &str) -> io::Result<()> {
    let folder = home.join(AGREEMENTS);
    private_folder(&folder)?;
    let path = folder.join(name);
    fs::rename(stage(&path, StandingLocation::Home, sum)?, path)
}
