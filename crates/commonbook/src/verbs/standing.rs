//! Standing memory: listing, reading and changing the files, and their versions.
//!
//! A caller on this machine edits the files of its project, then those of the home, and receives both. A caller over
//! HTTP has no project here, and uses those of the home.

mod agreement;
mod files;
mod mirror;
pub(in crate::verbs) mod versions;
mod waiting;

use std::path::Path;

use jiff::Timestamp;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::{input, limits};
use crate::model::access::{self, Sight};
use crate::model::agent::Agent;
use crate::model::caller::{Caller, CallerProof};
use crate::model::export::StandingText;
use crate::model::forgetting::without_empty_items;
use crate::model::memory::{SaveOutcome, fit_text};
use crate::model::standing::{
    AddOutcome, AddStanding, CleanStanding, InitStanding, LineChanges, ListStanding,
    ListStandingVersions, OptimizeStanding, ReadStanding, RemoveStanding, RestoreStanding,
    RouteStanding, StandingAction, StandingDocument, StandingEdit, StandingEdits, StandingFileInfo,
    StandingHistory, StandingLimits, StandingList, StandingPage, StandingRoute, StandingSummary,
    StandingVersion, StandingVersionInfo, StandingWriter, route, section_of,
};
use crate::model::token::TokenScope;
use crate::store::Tx;
use crate::verbs::Commonbook;
use crate::verbs::names;
use crate::verbs::ops::forgotten::{refuse_forgotten, standing_without_forgotten};
use commonbook_text::secrets;

pub use agreement::project_notices;
pub(in crate::verbs) use agreement::{ProjectParts, file_signer, forget_waiting, project_parts};
pub(in crate::verbs) use files::{StandingFile, StandingFileCache, StandingTarget};
pub(in crate::verbs) use versions::{StandingCause, StandingResult};

/// Roles that a text can fit although they have no file.
const USUAL_ROLES: [&str; 7] =
    ["engineer", "qa", "research", "ops", "documentation", "security", "pm"];

impl Commonbook {
    /// Lists the standing memory files that the caller may use.
    ///
    /// # Errors
    /// `forbidden` if the caller may not read; `unavailable` if a folder cannot be read.
    pub fn list_standing(&self, caller: &Caller, request: &ListStanding) -> Result<StandingList> {
        Sight::reading(caller)?;
        let mut items = Vec::new();
        for target in self.standing_targets(caller, request.everywhere)? {
            let limits = self.preferences.limits(&target.key.role);
            let (info, over) = match target.text() {
                Ok(text) => {
                    let text = text.unwrap_or_default();
                    let version = self.observe_standing(&target, &text)?;
                    let over = StandingDocument::parse(&text).limit_warnings(&limits);
                    let over = over.iter().map(ToString::to_string).collect();
                    (info_of(&target, &text, version), over)
                }
                Err(error) => (info_of(&target, "", 0), vec![error.message]),
            };
            items.push(StandingSummary { info, limits, over });
        }
        Ok(StandingList { items })
    }

    /// Returns a standing memory file, or an earlier version of it. To an agent, a project's text that
    /// waits for a person is data with its source named.
    ///
    /// # Errors
    /// `not_found` if the role has no file, or no such version is stored; `forbidden` for the role of
    /// another agent; `unavailable` if the file cannot be read or is not UTF-8.
    pub fn read_standing(&self, caller: &Caller, request: &ReadStanding) -> Result<StandingPage> {
        Sight::reading(caller)?;
        let target = self.target_with_history(caller, &request.role, request.everywhere)?;
        if let Some(version) = request.version {
            let text = self.text_of_version(&target, version)?;
            let info = info_of(&target, &text, version);
            return Ok(StandingPage { info, text: self.text_for_reader(caller, &target, text)? });
        }
        let mut text = target.text()?.ok_or_else(|| no_file(&target))?;
        let version = self.observe_standing(&target, &text)?;
        // A person finds there what is still to be removed.
        if !access::is_person(caller) {
            let cut = self.store.read(|tx| standing_without_forgotten(tx, Some(caller), &text))?;
            text = cut.unwrap_or(text);
        }
        let info = info_of(&target, &text, version);
        Ok(StandingPage { info, text: self.text_for_reader(caller, &target, text)? })
    }

    /// Adds an item: a person's as a rule, an agent's with its mark.
    ///
    /// # Errors
    /// `invalid` or `too_large` for the text; `conflict` if it was forgotten, or the file is full of
    /// what an agent may not drop; `forbidden` for the role of another agent; `unavailable` if the file cannot be written.
    pub fn add_standing(&self, caller: &Caller, request: &AddStanding) -> Result<StandingEdit> {
        let target = self.target_to_write(caller, &request.role, request.everywhere)?;
        let role = target.key.role.clone();
        let sort = request.item_type.map_or("", |item_type| item_type.name());
        let section = request.section.as_deref().unwrap_or_else(|| section_of(sort));
        let text = match caller.agent == Agent::human() {
            true => secrets::redact(&request.text).text.into_owned(),
            false => fit_text("text", &request.text, usize::MAX)?,
        };
        let said = serde_json::json!({"section": section, "text": text});
        self.store
            .read(|tx| refuse_forgotten(tx, caller, names::ADD_STANDING, || Ok(said.clone())))?;
        let cause = self.cause(caller, StandingAction::Added);
        let seal = self.author_seal(caller, &target, cause.at)?;
        let limits = self.preferences.limits(&role);
        let changed = self.change_standing(&target, &cause, |before| {
            let mut document = before.unwrap_or_else(|| StandingDocument::new(&role));
            let added = document.add(section, &text, seal.clone(), &limits)?;
            Ok((document, added))
        })?;
        let (outcome, warnings) = &changed.answer;
        let repeats = match outcome {
            // The changed lines show a replaced item.
            AddOutcome::Added | AddOutcome::Replaced(_) => None,
            AddOutcome::Repeated(item) => Some(item.clone()),
            AddOutcome::Full => {
                let text = changed.before.as_deref().unwrap_or_default();
                return Err(full_file(&target, text, &limits, writer(caller)));
            }
        };
        let warnings = warnings.iter().map(ToString::to_string).collect();
        Ok(StandingEdit { repeats, warnings, ..edit_of(&target, &changed) })
    }

    /// Removes an item.
    ///
    /// # Errors
    /// `not_found` if the role has no file or no item has the text; `conflict` if several items
    /// contain it; `forbidden` if the item is not the caller's; `unavailable` if the file cannot be
    /// written.
    pub fn remove_standing(
        &self,
        caller: &Caller,
        request: &RemoveStanding,
    ) -> Result<StandingEdit> {
        let target = self.target_to_write(caller, &request.role, request.everywhere)?;
        let cause = self.cause(caller, StandingAction::Removed);
        let changed = self.change_standing(&target, &cause, |before| {
            let mut document = before.ok_or_else(|| no_file(&target))?;
            document.remove(&request.text, writer(caller))?;
            Ok((document, ()))
        })?;
        Ok(edit_of(&target, &changed))
    }

    /// Removes repeated items from one file, or from all.
    ///
    /// # Errors
    /// `not_found` if the role has no file; `unavailable` if a file cannot be written.
    pub fn clean_standing(
        &self,
        caller: &Caller,
        request: &CleanStanding,
    ) -> Result<StandingEdits> {
        self.edit_files(caller, request.role.as_deref(), request.everywhere, |_, document| {
            document.clean(writer(caller));
            Vec::new()
        })
    }

    /// Cleans one file, or all, and brings it within its limits.
    ///
    /// # Errors
    /// `forbidden` if the caller is neither a person nor an administrator; `not_found` if the role
    /// has no file; `unavailable` if a file cannot be written.
    pub fn optimize_standing(
        &self,
        caller: &Caller,
        request: &OptimizeStanding,
    ) -> Result<StandingEdits> {
        access::require_scope(caller, TokenScope::Admin)?;
        self.edit_files(caller, request.role.as_deref(), request.everywhere, |role, document| {
            let (_, warnings) = document.optimize(&self.preferences.limits(role));
            warnings.iter().map(ToString::to_string).collect()
        })
    }

    /// Lists the stored versions of a file, newest first.
    ///
    /// # Errors
    /// `not_found` if the role has neither a file nor versions; `forbidden` for the role of another
    /// agent; `invalid` if `limit` is out of range.
    pub fn standing_history(
        &self,
        caller: &Caller,
        request: &ListStandingVersions,
    ) -> Result<StandingHistory> {
        Sight::reading(caller)?;
        let limit = request.limit.unwrap_or(limits::PAGE_DEFAULT);
        input::in_range("limit", limit, 1..=limits::PAGE_MAX)?;
        let target = self.target_with_history(caller, &request.role, request.everywhere)?;
        if let Ok(Some(text)) = target.text() {
            self.observe_standing(&target, &text)?;
        }
        let key = &target.key;
        let items = self.store.read(|tx| {
            let versions = tx.standing_versions(key, limit + 1)?;
            let mut items = Vec::new();
            let mut newer: Option<(StandingVersion, String)> = None;
            for version in versions {
                let text = tx.standing_text(key, version.version)?.unwrap_or_default();
                if let Some((newer, later)) = newer.take() {
                    items.push(version_info(&newer, &later, Some(&text)));
                }
                newer = Some((version, text));
            }
            items.extend(newer.map(|(oldest, text)| version_info(&oldest, &text, None)));
            items.truncate(limit as usize);
            Ok(items)
        })?;
        if items.is_empty() {
            return Err(no_file(&target));
        }
        let file = target.path.display().to_string();
        Ok(StandingHistory { role: target.key.role, file, items })
    }

    /// Makes the text of an earlier version that of the file.
    ///
    /// # Errors
    /// `not_found` if no such version is stored; `forbidden` if more than the caller's own items
    /// would change; `unavailable` if the file cannot be written.
    pub fn restore_standing(
        &self,
        caller: &Caller,
        request: &RestoreStanding,
    ) -> Result<StandingEdit> {
        self.target_to_write(caller, &request.role, request.everywhere)?;
        let target = self.target_with_history(caller, &request.role, request.everywhere)?;
        if let Some(text) = target.text()? {
            self.observe_standing(&target, &text)?;
        }
        let text = self.text_of_version(&target, request.version)?;
        let document = StandingDocument::parse(&text);
        let cause = self.cause(caller, StandingAction::Restored);
        let changed = self.change_standing(&target, &cause, |before| {
            let before = before.unwrap_or_else(|| StandingDocument::parse(""));
            before.may_become(&document, writer(caller))?;
            Ok((document.clone(), ()))
        })?;
        Ok(edit_of(&target, &changed))
    }

    /// Creates a file for each role that has none.
    ///
    /// # Errors
    /// `invalid` for a role that is no name; `forbidden` for the role of another agent;
    /// `unavailable` if a file cannot be written.
    pub fn init_standing(&self, caller: &Caller, request: &InitStanding) -> Result<StandingEdits> {
        let targets = request.roles.iter().map(|role| {
            self.target_to_write(caller, role, request.everywhere)
                .map_err(|error| error.with_field("roles"))
        });
        let targets = targets.collect::<Result<Vec<_>>>()?;
        let cause = self.cause(caller, StandingAction::Created);
        let edits = targets.into_iter().map(|target| {
            let changed = self.change_standing(&target, &cause, |before| {
                let new = || StandingDocument::new(&target.key.role);
                Ok((before.unwrap_or_else(new), ()))
            })?;
            Ok(edit_of(&target, &changed))
        });
        Ok(StandingEdits { items: edits.collect::<Result<_>>()? })
    }

    /// Finds the role whose file fits a text.
    ///
    /// # Errors
    /// `unavailable` if a file cannot be read.
    pub fn route_standing(
        &self,
        caller: &Caller,
        request: &RouteStanding,
    ) -> Result<StandingRoute> {
        Sight::reading(caller)?;
        if request.text.trim().is_empty() {
            return Err(Error::invalid(
                "text",
                "the text is empty; expected a task in plain words",
            ));
        }
        let mut documents = Vec::new();
        for target in self.standing_targets(caller, request.everywhere)? {
            let text = target.text()?.unwrap_or_default();
            documents.push((target.key.role, StandingDocument::parse(&text)));
        }
        for role in USUAL_ROLES {
            if documents.iter().all(|(known, _)| known != role) {
                documents.push((role.to_owned(), StandingDocument::parse("")));
            }
        }
        let roles = documents.iter().map(|(role, document)| (role.as_str(), document));
        let found = route(&request.text, roles).map(|found| StandingRoute {
            role: Some(found.role),
            score: found.score,
            words: found.words,
        });
        Ok(found.unwrap_or_default())
    }

    /// Creates the standing memory file of the home that an export holds.
    ///
    /// # Errors
    /// `conflict` if the role has a file with another text; else as [`Self::add_standing`].
    pub(in crate::verbs) fn import_standing(
        &self,
        caller: &Caller,
        file: &StandingText,
    ) -> Result<SaveOutcome> {
        let target = self.target_to_write(caller, &file.role, true)?;
        let cut = self.store.read(|tx| standing_without_forgotten(tx, None, &file.text))?;
        let text = without_empty_items(cut.as_deref().unwrap_or(&file.text));
        let day = self.clock.now().strftime("%F").to_string();
        let document = StandingDocument::of_origin(&text, file.origin, &day);
        let cause = self.cause(caller, StandingAction::Restored);
        let changed = self.change_standing(&target, &cause, |before| match before {
            None => Ok((document.clone(), SaveOutcome::Created)),
            Some(before) if before.is_same_but_days(&document) => {
                Ok((before, SaveOutcome::Repeated))
            }
            Some(_) => {
                let message = format!("the role {} has a file with another text", file.role);
                Err(Error::conflict(message)
                    .with_field("role")
                    .hint("Compare both, and add what is missing with `add_standing`."))
            }
        })?;
        Ok(changed.answer)
    }

    /// The files for the caller's role, of the home and of its project, without what was forgotten.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub(in crate::verbs) fn own_standing(
        &self,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<Vec<StandingFile>> {
        self.follow_other_homes(Some(caller.agent.role()));
        let files = self.files.read(caller, now).into_iter();
        let cut = |file: StandingFile| {
            let cut = |tx: &Tx<'_>| standing_without_forgotten(tx, Some(caller), &file.text);
            Ok(match self.store.read(cut)? {
                None => file,
                Some(text) => StandingFile { text: text.into(), ..file },
            })
        };
        files.map(cut).collect()
    }

    /// The files that are in use, by role.
    fn standing_targets(&self, caller: &Caller, everywhere: bool) -> Result<Vec<StandingTarget>> {
        self.follow_other_homes(None);
        let roles = self.files.roles(project_of(caller, everywhere)).map_err(no_folder)?;
        let roles = roles.iter().filter(|role| may_use(caller, role).is_ok());
        let targets = roles.map(|role| self.target(caller, role, everywhere));
        targets.collect()
    }

    /// Every file of the home and of the caller's project, also one of which only versions are left.
    ///
    /// # Errors
    /// `unavailable` if a folder or the store cannot be read.
    pub(in crate::verbs) fn all_standing_targets(
        &self,
        caller: &Caller,
    ) -> Result<Vec<StandingTarget>> {
        if self.files.home().is_none() {
            return Ok(Vec::new());
        }
        let project = caller.project.as_deref();
        let mut roles = self.files.roles(project).map_err(no_folder)?;
        let folder = project.map(|path| path.display().to_string());
        for folder in folder.into_iter().chain([String::new()]) {
            let stored = self.store.read(|tx| tx.newest_standing_versions(&folder))?;
            roles.extend(stored.into_iter().map(|(role, _)| role));
        }
        roles.sort_unstable();
        roles.dedup();
        let mut targets = Vec::new();
        for role in roles {
            self.follow_other_homes(Some(&role));
            targets.extend(self.files.places(project, &role).map_err(no_folder)?);
        }
        Ok(targets)
    }

    /// The file of a role: the first that exists, else the one that would be created.
    fn target(&self, caller: &Caller, role: &str, everywhere: bool) -> Result<StandingTarget> {
        let role = Agent::with_any_name(role).map_err(|error| error.with_field("role"))?;
        may_use(caller, role.role())?;
        self.follow_other_homes(Some(role.role()));
        let places = self.files.places(project_of(caller, everywhere), role.role());
        let places = places.map_err(no_folder)?;
        let found = places.iter().find(|target| target.exists).or(places.first()).cloned();
        found.ok_or_else(|| no_folder(std::io::Error::other("there is no folder")))
    }

    /// Succeeds if the caller may write what holds in every workspace.
    pub(in crate::verbs) fn may_write_standing(&self, caller: &Caller) -> Result<()> {
        self.policy.may_write(caller)?;
        Sight::writing(caller)?;
        if !caller.proof.is_bound() {
            return Ok(());
        }
        let message = "the token opens one workspace, and standing memory holds in every one";
        Err(Error::new(ErrorKind::Forbidden, message)
            .hint("Save a memory, or use a token for all workspaces."))
    }

    /// The file of a role, for a caller that may write.
    fn target_to_write(
        &self,
        caller: &Caller,
        role: &str,
        everywhere: bool,
    ) -> Result<StandingTarget> {
        self.may_write_standing(caller)?;
        self.target(caller, role, everywhere)
    }

    /// The file of a role; of files that do not exist, the one that has versions.
    fn target_with_history(
        &self,
        caller: &Caller,
        role: &str,
        everywhere: bool,
    ) -> Result<StandingTarget> {
        let target = self.target(caller, role, everywhere)?;
        if target.exists {
            return Ok(target);
        }
        let places = self.files.places(project_of(caller, everywhere), &target.key.role);
        for place in places.map_err(no_folder)? {
            if self.newest_version(&place.key)?.is_some() {
                return Ok(place);
            }
        }
        Ok(target)
    }

    fn text_of_version(&self, target: &StandingTarget, version: u64) -> Result<String> {
        let text = self.store.read(|tx| tx.standing_text(&target.key, version))?;
        text.ok_or_else(|| {
            let role = &target.key.role;
            Error::not_found(format!("no version {version} of {role} is stored"))
                .with_field("version")
                .hint("List the versions with `standing_history`.")
        })
    }

    /// Changes the file of a role, or every file.
    fn edit_files(
        &self,
        caller: &Caller,
        role: Option<&str>,
        everywhere: bool,
        change: impl Fn(&str, &mut StandingDocument) -> Vec<String>,
    ) -> Result<StandingEdits> {
        self.may_write_standing(caller)?;
        let targets = match role {
            Some(role) => vec![self.target(caller, role, everywhere)?],
            None => self.standing_targets(caller, everywhere)?,
        };
        let cause = self.cause(caller, StandingAction::Cleaned);
        let edits = targets.into_iter().map(|target| {
            let changed = self.change_standing(&target, &cause, |before| {
                let mut document = before.ok_or_else(|| no_file(&target))?;
                let warnings = change(&target.key.role, &mut document);
                Ok((document, warnings))
            })?;
            Ok(StandingEdit { warnings: changed.answer.clone(), ..edit_of(&target, &changed) })
        });
        Ok(StandingEdits { items: edits.collect::<Result<_>>()? })
    }

    fn cause(&self, caller: &Caller, action: StandingAction) -> StandingCause {
        StandingCause { by: Some(caller.agent.clone()), action, at: self.clock.now() }
    }
}

/// The project whose files a request may use.
fn project_of(caller: &Caller, everywhere: bool) -> Option<&Path> {
    caller.project.as_deref().filter(|_| !everywhere)
}

/// Succeeds if the caller may use the file of this role. With a token, that is the role of the
/// token's agent, and no other without the scope `admin`: an agent could call itself by any role.
fn may_use(caller: &Caller, role: &str) -> Result<()> {
    let is_own = !caller.proof.is_asserted() && caller.agent.role() == role;
    let is_admin =
        !caller.proof.is_bound() && access::require_scope(caller, TokenScope::Admin).is_ok();
    if caller.proof == CallerProof::Word || is_own || is_admin {
        return Ok(());
    }
    let message = format!("the token does not open the standing memory of {role}");
    Err(Error::new(ErrorKind::Forbidden, message)
        .with_field("role")
        .hint("Use the role of the token's agent, or a token with the scope admin."))
}

/// A person at the command line and an administrator change everything, others their own items.
pub(in crate::verbs) fn writer(caller: &Caller) -> StandingWriter<'_> {
    match access::require_scope(caller, TokenScope::Admin) {
        Ok(()) => StandingWriter::Person,
        Err(_) => StandingWriter::Agent(&caller.agent),
    }
}

fn info_of(target: &StandingTarget, text: &str, version: u64) -> StandingFileInfo {
    StandingFileInfo {
        role: target.key.role.clone(),
        location: target.location,
        file: target.path.display().to_string(),
        version,
        at: target.changed_at(),
        bytes: text.len(),
        items: StandingDocument::parse(text).items().count(),
    }
}

fn edit_of<T>(target: &StandingTarget, changed: &StandingResult<T>) -> StandingEdit {
    let before = changed.before.as_deref();
    let LineChanges { added, removed } =
        LineChanges::between(before.unwrap_or_default(), &changed.after);
    StandingEdit {
        info: info_of(target, &changed.after, changed.version),
        changed: before != Some(&changed.after),
        added,
        removed,
        repeats: None,
        warnings: Vec::new(),
    }
}

/// A version with its changes since the text before.
fn version_info(
    version: &StandingVersion,
    text: &str,
    before: Option<&str>,
) -> StandingVersionInfo {
    let changes = before.map(|before| LineChanges::between(before, text)).unwrap_or_default();
    StandingVersionInfo {
        version: version.version,
        at: version.at,
        by: version.by.clone(),
        action: version.action,
        bytes: version.bytes,
        added: changes.added,
        removed: changes.removed,
        is_first: before.is_none(),
    }
}

fn no_folder(error: std::io::Error) -> Error {
    let message = format!("the folder of standing memory files cannot be read: {error}");
    Error::new(ErrorKind::Unavailable, message).hint("Check its permissions.").with_cause(error)
}

fn no_file(target: &StandingTarget) -> Error {
    let role = &target.key.role;
    Error::not_found(format!("the role {role} has no standing memory file"))
        .hint("Create it with `add_standing`.")
}

/// The refusal of an item of an agent, in a file that is full of what a person wrote.
fn full_file(
    target: &StandingTarget,
    text: &str,
    limits: &StandingLimits,
    writer: StandingWriter<'_>,
) -> Error {
    let status = StandingDocument::parse(text).status();
    let (found, limit, unit) = match status.items >= limits.items {
        true => (status.items, limits.items, "items"),
        false => (status.bytes, limits.bytes, "bytes"),
    };
    let message = format!(
        "{} has {found} of {limit} {unit}, and a person wrote them; expected room for one more",
        target.path.display()
    );
    Error::conflict(message).hint(match writer {
        StandingWriter::Person => {
            "Remove an item with `remove_standing` or in an editor, raise `standing` in the configuration, or save it with `save_memory`."
        }
        StandingWriter::Agent(_) => {
            "Ask a person to shorten the file, or save it with `save_memory`."
        }
    })
}
