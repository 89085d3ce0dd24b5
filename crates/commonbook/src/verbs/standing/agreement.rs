//! A person's agreement to the standing memory files of a project, which anybody may have written:
//! agents receive what this home has not signed of a file only after it, as the project's data.

use std::collections::HashMap;
use std::path::Path;
use std::{fs, io};

use super::files::{StandingFile, StandingFileCache, stage};
use super::no_folder;
use crate::base::clock::{Clock as _, SystemClock};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::hash::sha256;
use crate::base::home_key::HomeKey;
use crate::base::limits;
use crate::base::private_folder::private_folder;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::standing::{
    AgreeStanding, AgreedFile, AuthorEvidence, FileSigner, ItemAuthor, StandingAgreement,
    StandingDocument, StandingKey, StandingLocation, StandingPart,
};
use crate::verbs::Commonbook;

/// The folder of the home with one file for each file that a person agreed to.
const AGREEMENTS: &str = "agreements";

/// The parts of a project's file that agents receive, and what a person should know of the others.
pub(in crate::verbs) struct ProjectParts {
    pub(in crate::verbs) parts: Vec<StandingPart>,
    pub(in crate::verbs) notice: Option<String>,
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

/// The text of a project's file that this home has not signed, unless a person agreed to it.
fn waiting_text(home: &Path, parts: &[StandingPart], file: &StandingFile) -> Option<String> {
    let part = parts.iter().find(|part| part.author == ItemAuthor::File)?;
    let text = part.document.render();
    let agreed = fs::read_to_string(home.join(AGREEMENTS).join(agreement_name(file)));
    let is_agreed = agreed.is_ok_and(|agreed| agreed.trim() == sha256(&text));
    (!is_agreed).then_some(text)
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
    if waiting_text(home, &parts, file).is_some() {
        notice = Some(format!(
            "{path} came with the project and waits for a person: read it, then run `commonbook memory agree` at a terminal"
        ));
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
    ProjectParts { parts, notice }
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

impl Commonbook {
    /// Agrees to what the files of the caller's project have that this home has not signed.
    ///
    /// # Errors
    /// `forbidden` unless a person at a terminal or at the dashboard calls; `not_found` without a
    /// project; `unavailable` if a file cannot be read, or the agreement cannot be written.
    pub fn agree_standing(
        &self,
        caller: &Caller,
        request: &AgreeStanding,
    ) -> Result<StandingAgreement> {
        if caller.agent != Agent::human() {
            let message = "only a person agrees to the files of a project";
            return Err(Error::new(ErrorKind::Forbidden, message)
                .hint("Run `commonbook memory agree` at a terminal, without an agent's name."));
        }
        let (Some(project), Some(home)) = (caller.project.as_deref(), self.files.home()) else {
            return Err(Error::not_found("there is no project here")
                .hint("Run `commonbook memory agree` in the folder of the project."));
        };
        let mut agreement = StandingAgreement::default();
        for file in self.files.of_project(project, self.clock.now()).map_err(no_folder)? {
            let parts = all_parts(home, caller, &file);
            let Some(text) = waiting_text(home, &parts, &file) else { continue };
            if !request.dry_run {
                keep(home, &file, &text).map_err(|error| file.target.unusable(error))?;
            }
            let role = file.target.key.role.clone();
            agreement.items.push(AgreedFile { role, file: file.read.file, text });
        }
        Ok(agreement)
    }
}

/// Keeps that a person agreed to this text of a file.
fn keep(home: &Path, file: &StandingFile, text: &str) -> io::Result<()> {
    let folder = home.join(AGREEMENTS);
    private_folder(&folder)?;
    let path = folder.join(agreement_name(file));
    fs::rename(stage(&path, StandingLocation::Home, &sha256(text))?, path)
}
