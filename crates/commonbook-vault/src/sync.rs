//! One pass of a vault: what people changed goes into the store, and what the store has into the files.
//!
//! A pass that is killed at any step loses nothing, and the next one goes on: a new file gets its id on disk
//! before the store has its memory, a change is in the store before its file is written again, and a text
//! that the store does not take stays in its file.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use commonbook::base::clock::Clock;
use commonbook::base::error::{Error, Result};
use commonbook::base::hash::sha256;
use commonbook::base::id::{IdSource, MemoryId};
use commonbook::model::agent::Agent;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::contradiction::{
    ContradictionFinding, ContradictionRecord, ordered_by_time,
};
use commonbook::model::export::{
    EditedChange, ExportRecord, FileDeletion, FileRestoration, MemoryEdit, Supersession,
};
use commonbook::model::memory::{
    Importance, Memory, MemoryType, SaveMemory, Sharing, TimeChange, Trust, UpdateMemory,
};
use commonbook::model::origin::{TextOrigin, author_elsewhere};
use serde_json::{Map, json};

use crate::arrival::{VaultRepository, arrival_since};
use crate::cache::PassCache;
use crate::export::{RecordLine, VaultExport, line_of};
use crate::files::{FoundFile, VaultFiles};
use crate::folder::VaultFolder;
use crate::git::{CommittedFile, files_of_others};
use crate::memory_file::{
    EditableFields, MemoryEnding, MemoryFile, MemoryNotes, memory_checksum, memory_file,
};
use crate::names::{MemoryArea, memory_path, stem};
use crate::page::is_sealed;
use crate::pages::{MemoryPaths, vault_pages};
use crate::plan::{HomeMemory, MemoryStep, plan_memory};
use crate::report::{SyncOptions, SyncReport};
use crate::settings::{VaultSettings, keep_unshared};
use crate::source::VaultSource;
use crate::state::{LocalState, PageSums, VaultState};
use crate::writer::{VaultWriter, WriterKey};

/// Files that a pass changes, creates or removes without asking: this many, or this part of all.
const UNASKED_FILES: usize = 100;
const UNASKED_SHARE: f64 = 0.1;

/// Files up to which the part of all does not count.
const FEW_FILES: usize = 10;

/// The key by which a person's version of a memory names that memory.
const EDIT_OF: &str = "edit_of";

/// A vault: its folder, what it is of, and who takes in its changes.
pub struct Vault<'v> {
    /// The folder.
    pub folder: VaultFolder,
    /// What it is of, as this home adopted it.
    pub settings: VaultSettings,
    /// What this home knows about it.
    pub state: VaultState,
    /// This home, which signs what it writes.
    pub writer: VaultWriter,
    /// The homes whose files are as good as this one's, since a person accepted their keys.
    pub writers: BTreeSet<WriterKey>,
    /// The Commonbook.
    pub source: &'v dyn VaultSource,
    /// The person whose files these are.
    pub person: Caller,
    /// The clock.
    pub clock: &'v dyn Clock,
    /// The source of ids.
    pub ids: &'v dyn IdSource,
}

/// What the files say that the store does not know yet.
#[derive(Debug, Default)]
struct StorePlan<'f> {
    changes: Vec<(&'f FoundFile, &'f HomeMemory, EditableFields)>,
    conflicts: Vec<(&'f FoundFile, &'f HomeMemory, EditableFields)>,
    /// What strangers say instead of a memory of the store.
    versions: Vec<(&'f FoundFile, &'f HomeMemory, EditableFields)>,
    /// Memories whose files say what is not believed, and are written again.
    refused: BTreeSet<MemoryId>,
    /// The contents of the files of strangers.
    arrived: Vec<&'f str>,
    /// Memories that were put away elsewhere.
    endings: Vec<(&'f FoundFile, &'f HomeMemory, MemoryEnding)>,
    /// Memories that were restored elsewhere.
    restorations: Vec<(&'f FoundFile, &'f HomeMemory, EditableFields)>,
    /// Second files of memories, whose versions are accepted or known.
    copies: Vec<&'f FoundFile>,
    /// Notes of the person.
    notes: Vec<&'f FoundFile>,
    /// Notes of the person that got their ids before an earlier pass was killed.
    claimed: Vec<&'f FoundFile>,
    /// Files that others wrote.
    foreign: Vec<(&'f FoundFile, TextOrigin)>,
    /// Memories whose files a person removed.
    missing: Vec<&'f Memory>,
    /// Files whose memories left the store, or are not for this reader any more.
    gone: usize,
}

impl<'f> StorePlan<'f> {
    /// Adds what the file of a memory says that the store does not know. What a stranger says becomes a
    /// memory of its own, and ends and restores nothing.
    fn add_known(
        &mut self,
        known: &'f HomeMemory,
        found: &'f FoundFile,
        origin_of: impl Fn(&FoundFile) -> TextOrigin,
    ) -> Result<()> {
        let step = plan_memory(known, &found.file)?;
        let says_nothing =
            matches!(step, MemoryStep::Nothing | MemoryStep::WriteFile | MemoryStep::LeaveFile);
        if !says_nothing && !origin_of(found).may_change_memories() {
            self.add_version(known, found, step);
            return Ok(());
        }
        match step {
            MemoryStep::Nothing | MemoryStep::WriteFile | MemoryStep::LeaveFile => {}
            MemoryStep::ChangeStore(fields) => self.changes.push((found, known, *fields)),
            MemoryStep::KeepBoth(fields) => self.conflicts.push((found, known, *fields)),
            MemoryStep::PutAway(ending) => self.endings.push((found, known, ending)),
            MemoryStep::Restore(fields) => self.restorations.push((found, known, *fields)),
        }
        Ok(())
    }

    fn add_version(&mut self, known: &'f HomeMemory, found: &'f FoundFile, step: MemoryStep) {
        if let MemoryStep::ChangeStore(fields)
        | MemoryStep::KeepBoth(fields)
        | MemoryStep::Restore(fields) = step
        {
            self.versions.push((found, known, *fields));
        }
        self.refused.insert(known.memory.id);
        self.arrived.push(&found.content);
    }

    /// Adds a second file of a memory. One that the program wrote came by git, where one side moved the file
    /// and the other changed it: what it says is accepted as a version of its own, and then it goes. A copy
    /// that a person changed is left alone.
    fn add_copy(
        &mut self,
        known: &'f HomeMemory,
        own: &FoundFile,
        copy: &'f FoundFile,
        origin: TextOrigin,
        report: &mut SyncReport,
    ) {
        let said = copy.file.editable_fields(&EditableFields::of(&known.memory));
        if !said.is_ok_and(|said| copy.file.is_unedited(&said)) {
            let reason = format!(
                "has the id of {}. Remove the key `id` to make it a memory of its own, or remove the file.",
                own.path
            );
            return report.note(&copy.path, reason);
        }
        match plan_memory(known, &copy.file) {
            Ok(MemoryStep::ChangeStore(fields) | MemoryStep::KeepBoth(fields)) => match origin {
                origin if origin.may_change_memories() => {
                    self.conflicts.push((copy, known, *fields));
                }
                _ => self.versions.push((copy, known, *fields)),
            },
            _ => report.note(&copy.path, format!("was a copy of {}, and was removed.", own.path)),
        }
        self.copies.push(copy);
    }

    fn count(&self) -> usize {
        self.changes.len()
            + self.conflicts.len()
            + self.versions.len()
            + self.endings.len()
            + self.restorations.len()
            + self.notes.len()
            + self.foreign.len()
            + self.missing.len()
            + self.gone
    }
}

/// The commits of a repository that this clone did not make, read once a file asks for them.
#[derive(Default)]
struct OthersCommits {
    files: OnceCell<Result<Vec<CommittedFile>>>,
    /// Whether one of them has an unsigned file.
    found: Cell<bool>,
}

impl OthersCommits {
    /// Whether an unsigned file says what stands in such a commit. If git cannot say it, it may.
    fn have(&self, vault: &Vault<'_>, found: &FoundFile, known: Option<&HomeMemory>) -> bool {
        let root = vault.folder.root();
        let files = self.files.get_or_init(|| match VaultRepository::of(root) {
            Some(repository) => files_of_others(root, repository),
            None => Ok(Vec::new()),
        });
        let have = files.as_ref().map_or(true, |files| {
            let mut files = files.iter().filter(|other| says_what(found, other, known));
            files.any(|other| {
                let file = MemoryFile::parse(&other.content).ok();
                let writer = file.and_then(|file| file.writer(&vault.settings.workspace));
                !writer.is_some_and(|key| vault.knows(key))
            })
        });
        self.found.set(self.found.get() || have);
        have
    }

    fn note(&self, report: &mut SyncReport) {
        match self.files.get() {
            Some(Err(error)) => {
                report.note_error("git", error);
                report.note(
                    "git",
                    "cannot say who wrote the files that have changed: what they say counts as others'.",
                );
            }
            _ if self.found.get() => report.note(
                "git",
                "has files in commits that were not made here: what they say counts as others', unless a home whose \
                 key you accepted has signed it.",
            ),
            _ => {}
        }
    }
}

/// Whether a file says what another one does: the same throughout, or nothing but what git took of it into the
/// file of this memory.
fn says_what(found: &FoundFile, other: &CommittedFile, known: Option<&HomeMemory>) -> bool {
    if spoken_lines(&found.content).eq(spoken_lines(&other.content)) {
        return true;
    }
    let Some(known) = known.filter(|_| other.path == found.path) else { return false };
    let before = EditableFields::of(&known.memory);
    let lines = |file: &MemoryFile| file.editable_fields(&before).map(|fields| fields.lines());
    let Ok(theirs) = MemoryFile::parse(&other.content) else { return false };
    let (Ok(said), Ok(their_lines)) = (lines(&found.file), lines(&theirs)) else { return false };
    let known_lines = before.lines();
    let mut new = said.difference(&known_lines).peekable();
    match new.peek() {
        Some(_) => new.all(|line| their_lines.contains(line)),
        None => found.file.ending().is_some_and(|ending| theirs.ending() == Some(ending)),
    }
}

/// The lines of a file that say something.
fn spoken_lines(content: &str) -> impl Iterator<Item = &str> {
    content.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// A line for the store, with the file that it comes from.
struct FileLine {
    path: String,
    line: RecordLine,
    kind: LineKind,
    /// The memory and the content of the file, which is written again if the store takes the line.
    taken: Option<(MemoryId, String)>,
}

impl FileLine {
    fn of(found: &FoundFile, line: RecordLine, kind: LineKind) -> Self {
        Self { path: found.path.clone(), line, kind, taken: None }
    }

    /// The line, after which the file of this memory is written again.
    fn taking(self, id: MemoryId, found: &FoundFile) -> Self {
        Self { taken: Some((id, found.content.clone())), ..self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Changed,
    /// What a file says beside the restoration of its memory.
    Edit,
    Created,
    Received,
    Conflict,
    /// The contradiction of a conflict.
    Mark,
    Deleted(MemoryId),
}

impl Vault<'_> {
    /// Runs one pass.
    ///
    /// # Errors
    /// `conflict` if more files would change memories than a pass changes unasked; `unavailable` if the
    /// store or the disk fails.
    pub fn sync(&self, options: SyncOptions) -> Result<SyncReport> {
        self.sync_again(&mut PassCache::default(), options)
    }

    /// Runs one pass, which reads only what has changed since the passes before with this cache.
    ///
    /// # Errors
    /// As [`Self::sync`].
    pub fn sync_again(&self, cache: &mut PassCache, options: SyncOptions) -> Result<SyncReport> {
        let lock = self.state.lock()?;
        let mut report = SyncReport::default();
        let mut state = LocalState::read(&self.state)?;
        cache.refresh(&self.folder, self.source)?;
        // After the files: what git brings meanwhile counts.
        let arrival = arrival_since(state.git.as_ref(), self.folder.root());
        for (path, error) in &cache.files.broken {
            report.note_error(path, error);
        }
        let mut plan = self.plan_store(cache, &state, arrival.brought_files, options, &mut report);
        self.check_extent(&plan, &cache.files, options)?;
        if options.dry_run {
            report_plan(&plan, &mut report);
            return Ok(report);
        }
        keep_unshared(&self.folder)?;
        state.note_arrived(&self.state, plan.arrived.iter().copied())?;
        state.note_git(&self.state, arrival.position)?;
        let taken = self.change_store(&plan, &mut state, &mut report)?;
        let refused = std::mem::take(&mut plan.refused);
        if report.changed_store() || !taken.is_empty() || !plan.copies.is_empty() {
            cache.refresh(&self.folder, self.source)?;
        }
        self.write_files(cache, &taken, &refused, &mut state, &mut report)?;
        drop(lock);
        Ok(report)
    }

    /// Whether the program writes a file of this memory. Those of private memories it writes if the person
    /// wants them; one that the person wrote stays.
    fn may_have_file(&self, memory: &Memory) -> bool {
        self.settings.private || memory.sharing == Sharing::Shared
    }

    /// Whether a writer is this home, or one whose key a person accepted.
    fn knows(&self, key: WriterKey) -> bool {
        key == self.writer.key() || self.writers.contains(&key)
    }

    /// Who wrote a file as it is. What it says of itself proves nothing but a signature.
    fn origin_of(
        &self,
        found: &FoundFile,
        writer: Option<WriterKey>,
        state: &LocalState,
        brought_files: bool,
    ) -> TextOrigin {
        match writer {
            Some(key) if self.knows(key) => TextOrigin::KnownHome,
            _ if brought_files || state.has_arrived(&found.content) => TextOrigin::Stranger,
            _ => TextOrigin::ThisHome,
        }
    }

    fn plan_store<'f>(
        &self,
        cache: &'f PassCache,
        state: &LocalState,
        brought_files: bool,
        options: SyncOptions,
        report: &mut SyncReport,
    ) -> StorePlan<'f> {
        let mut plan = StorePlan::default();
        let strangers = RefCell::new(BTreeSet::new());
        let (files, stored) = (&cache.files, by_id(&cache.export));
        let commits = OthersCommits::default();
        let origin_of = |found: &FoundFile| {
            let writer = found.file.writer(&self.settings.workspace);
            let mut origin = self.origin_of(found, writer, state, brought_files);
            let known = found.file.id.and_then(|id| stored.get(&id).copied());
            if origin == TextOrigin::ThisHome && commits.have(self, found, known) {
                origin = TextOrigin::Stranger;
            }
            if origin != TextOrigin::KnownHome {
                strangers.borrow_mut().extend(writer);
            }
            origin
        };
        for (id, found) in files.memories.iter().filter(|(id, _)| !cache.settled.contains(id)) {
            let Some(known) = stored.get(id) else {
                match found.first() {
                    Some(first) if state.claimed.contains(id) => plan.claimed.push(first),
                    Some(_) if state.written.contains(id) => plan.gone += found.len(),
                    Some(first) => plan.foreign.push((first, origin_of(first))),
                    None => {}
                }
                continue;
            };
            let Some(own) = own_file(known, found) else { continue };
            for copy in found.iter().filter(|copy| copy.path != own.path) {
                plan.add_copy(known, own, copy, origin_of(copy), report);
            }
            if state.claimed.contains(id) {
                continue;
            }
            if let Err(error) = plan.add_known(known, own, origin_of) {
                report.note_error(&own.path, &error);
            }
        }
        for found in &files.notes {
            match origin_of(found) {
                TextOrigin::ThisHome => plan.notes.push(found),
                origin => plan.foreign.push((found, origin)),
            }
        }
        let foreign = plan.foreign.iter().filter(|(_, origin)| *origin == TextOrigin::Stranger);
        plan.arrived.extend(foreign.map(|(found, _)| found.content.as_str()));
        if brought_files && !plan.arrived.is_empty() {
            report.note(
                "git",
                "has brought files since the last pass: what they say counts as others', unless a home whose key \
                 you accepted has signed it.",
            );
        }
        commits.note(report);
        report.strangers = strangers.into_inner();
        let missing = state.written.iter().filter(|id| !files.memories.contains_key(id));
        let missing = missing.filter_map(|id| stored.get(id)).map(|known| &known.memory);
        let missing = missing.filter(|memory| memory.deleted_at.is_none() && memory.case.is_none());
        let missing = missing.filter(|memory| self.may_have_file(memory));
        let missing = missing.filter(|memory| !files.broken_ids.contains(&memory.id));
        match options.prune {
            true if !files.broken.is_empty() => {
                report.note("--prune", "nothing was deleted, since some files cannot be read.");
            }
            true => plan.missing.extend(missing),
            false => report.returned = missing.count() as u64,
        }
        plan
    }

    /// Refuses a pass that changes very much at once: a folder that was moved away or checked out in an
    /// old state is no wish to delete.
    fn check_extent(
        &self,
        plan: &StorePlan<'_>,
        files: &VaultFiles,
        options: SyncOptions,
    ) -> Result<()> {
        let (count, all) = (plan.count(), files.memory_count() + plan.missing.len());
        let is_part = count > FEW_FILES && count as f64 > UNASKED_SHARE * all as f64;
        let is_first = files.memory_count() == 0 && count <= UNASKED_FILES;
        if options.many || options.dry_run || is_first || !(count > UNASKED_FILES || is_part) {
            return Ok(());
        }
        let (changed, new) =
            (plan.changes.len() + plan.conflicts.len(), plan.notes.len() + plan.foreign.len());
        let gone = plan.missing.len() + plan.gone;
        Err(Error::conflict(format!(
            "{count} of {all} files changed at once: {changed} were edited, {new} are new, {gone} are gone; expected \
             fewer than a tenth, and at most {UNASKED_FILES}"
        ))
        .hint(
            "Look at them with `commonbook vault sync --dry-run`. To take them all in, run `commonbook vault sync \
             --many`.",
        ))
    }

    /// Takes what the files say into the store. Returns the content of each file that was accepted: it is
    /// written again unless it changed meanwhile.
    fn change_store(
        &self,
        plan: &StorePlan<'_>,
        state: &mut LocalState,
        report: &mut SyncReport,
    ) -> Result<BTreeMap<MemoryId, String>> {
        let mut lines = self.known_lines(plan, report)?;
        lines.extend(self.new_lines(plan, state, report)?);
        for memory in &plan.missing {
            let (id, expected_revision) = (memory.id, Some(memory.revision));
            let deletion = FileDeletion { id, deleted_at: None, expected_revision };
            let line = self.record_of_edit(EditedChange::Delete(deletion))?;
            let kind = LineKind::Deleted(id);
            lines.push(FileLine { path: id.to_string(), line, kind, taken: None });
        }
        let taken = self.import(lines, report)?;
        for copy in &plan.copies {
            // Also what the store did not accept can be found again.
            self.folder.keep_copy(&copy.path, &copy.content)?;
            self.folder.remove(&copy.path)?;
        }
        Ok(taken)
    }

    /// The lines of files whose memories the store has.
    fn known_lines(&self, plan: &StorePlan<'_>, report: &mut SyncReport) -> Result<Vec<FileLine>> {
        let mut lines = Vec::new();
        for (found, stored, fields) in &plan.changes {
            let edit = self.edit_line(&stored.memory, fields)?;
            lines
                .push(FileLine::of(found, edit, LineKind::Changed).taking(stored.memory.id, found));
        }
        for (found, stored, fields) in &plan.conflicts {
            match self.conflict_lines(&stored.memory, fields) {
                Ok([version, mark]) => {
                    let version = FileLine::of(found, version, LineKind::Conflict);
                    lines.push(version.taking(stored.memory.id, found));
                    lines.push(FileLine::of(found, mark, LineKind::Mark));
                }
                Err(error) => report.note_error(&found.path, &error),
            }
        }
        for (found, stored, fields) in &plan.versions {
            let own =
                found.file.id == Some(stored.memory.id) && plan.refused.contains(&stored.memory.id);
            match self.version_of_stranger(&stored.memory, fields).and_then(|it| line_of(&it)) {
                Ok(version) => {
                    let line = FileLine::of(found, version, LineKind::Received);
                    lines.push(if own { line.taking(stored.memory.id, found) } else { line });
                }
                Err(error) => report.note_error(&found.path, &error),
            }
        }
        for (found, stored, ending) in &plan.endings {
            let (id, expected_revision) = (stored.memory.id, Some(stored.memory.revision));
            let change = match ending {
                MemoryEnding::Deleted(at) => EditedChange::Delete(FileDeletion {
                    id,
                    deleted_at: Some(*at),
                    expected_revision,
                }),
                MemoryEnding::Superseded(by) => {
                    EditedChange::Supersede(Supersession { id, by: *by, expected_revision })
                }
            };
            let edit = self.record_of_edit(change)?;
            lines.push(FileLine::of(found, edit, LineKind::Changed).taking(id, found));
        }
        for (found, stored, fields) in &plan.restorations {
            lines.extend(self.restoration_lines(found, stored, fields)?);
        }
        Ok(lines)
    }

    /// The lines that restore a memory and make it say what its file says. The file is written again only
    /// if the store accepts the last of them.
    fn restoration_lines(
        &self,
        found: &FoundFile,
        stored: &HomeMemory,
        fields: &EditableFields,
    ) -> Result<Vec<FileLine>> {
        let memory = &stored.memory;
        let (id, expected_revision) = (memory.id, Some(memory.revision));
        let restoration =
            self.record_of_edit(EditedChange::Restore(FileRestoration { id, expected_revision }))?;
        let restoration = FileLine::of(found, restoration, LineKind::Changed);
        if fields.says_same(&EditableFields::of(memory)) {
            return Ok(vec![restoration.taking(id, found)]);
        }
        let restored = Memory { revision: memory.revision + 1, ..memory.clone() };
        let edit = self.edit_line(&restored, fields)?;
        let edit = FileLine::of(found, edit, LineKind::Edit).taking(id, found);
        Ok(vec![restoration, edit])
    }

    /// The lines of files whose memories the store has not: a note gets its id on disk first.
    fn new_lines(
        &self,
        plan: &StorePlan<'_>,
        state: &mut LocalState,
        report: &mut SyncReport,
    ) -> Result<Vec<FileLine>> {
        let mut lines = Vec::new();
        for found in &plan.claimed {
            let memory = found.file.memory(&self.settings.workspace)?;
            let line = FileLine::of(found, line_of(&memory)?, LineKind::Created);
            lines.push(line.taking(memory.id, found));
        }
        for found in &plan.notes {
            match self.own_memory(found) {
                Ok(memory) => {
                    state.claim(&self.state, memory.id)?;
                    let content = found.file.with_memory(&memory, &MemoryNotes::default());
                    self.folder.write(&found.path, &content)?;
                    let line = FileLine::of(found, line_of(&memory)?, LineKind::Created);
                    lines.push(FileLine { taken: Some((memory.id, content)), ..line });
                }
                Err(error) => report.note_error(&found.path, &error),
            }
        }
        for (found, origin) in &plan.foreign {
            match self.foreign_memory(found, *origin) {
                Ok(memory) => {
                    lines.push(FileLine::of(found, line_of(&memory)?, LineKind::Received));
                    if found.file.id.is_none() {
                        let content = found.file.with_memory(&memory, &MemoryNotes::default());
                        self.folder.write(&found.path, &content)?;
                    }
                }
                Err(error) => report.note_error(&found.path, &error),
            }
        }
        Ok(lines)
    }

    /// Imports these lines; returns the memories and contents of the files that the store took.
    fn import(
        &self,
        lines: Vec<FileLine>,
        report: &mut SyncReport,
    ) -> Result<BTreeMap<MemoryId, String>> {
        let mut taken = BTreeMap::new();
        if lines.is_empty() {
            return Ok(taken);
        }
        let sent = lines.iter().map(|line| line.line.clone()).collect();
        let results = self.source.import_lines(sent)?;
        for (FileLine { path, kind, taken: file, .. }, result) in lines.into_iter().zip(results) {
            if let Some(error) = result.error {
                // The mark of a conflict whose version is there already.
                if kind != LineKind::Mark {
                    let reason = error.message.trim_end_matches('.');
                    report.note(&path, format!("was not accepted: {reason}."));
                }
                continue;
            }
            taken.extend(file);
            if let Some(at) = result.forgotten_at {
                let day = at.strftime("%Y-%m-%d");
                report.note(&path, format!("says what was forgotten on {day}; it was left out."));
                continue;
            }
            if let Some(notice) = result.quarantined {
                report.note(&path, format!("is quarantined: {}", notice.hint));
            }
            match kind {
                LineKind::Changed => report.changed.push(path),
                LineKind::Created => report.created.push(path),
                LineKind::Received => report.received.push(path),
                LineKind::Conflict => report.conflicts.push(path),
                LineKind::Edit | LineKind::Mark => {}
                LineKind::Deleted(id) => report.deleted.push(id),
            }
        }
        Ok(taken)
    }

    fn record_of_edit(&self, change: EditedChange) -> Result<RecordLine> {
        let workspace = self.settings.workspace.clone();
        line_of(&ExportRecord::Edit(Box::new(MemoryEdit { workspace, change })))
    }

    fn edit_line(&self, memory: &Memory, fields: &EditableFields) -> Result<RecordLine> {
        let now = EditableFields::of(memory);
        let line = |text: &Option<String>| text.clone().unwrap_or_default();
        let update = UpdateMemory {
            expected_revision: Some(memory.revision),
            text: differing(&fields.text, &now.text),
            memory_type: differing(&fields.memory_type, &now.memory_type),
            title: differing(&fields.title, &now.title).map(|title| line(&title)),
            summary: differing(&fields.summary, &now.summary).map(|summary| line(&summary)),
            topics: differing(&fields.topics, &now.topics),
            entities: differing(&fields.entities, &now.entities),
            importance: differing(&fields.importance, &now.importance),
            sharing: differing(&fields.sharing, &now.sharing),
            metadata: differing(&fields.metadata, &now.metadata),
            valid_from: differing(&fields.valid_from, &now.valid_from).map(TimeChange::to),
            valid_until: differing(&fields.valid_until, &now.valid_until).map(TimeChange::to),
            ..UpdateMemory::empty_update(memory.id)
        };
        self.record_of_edit(EditedChange::Update(Box::new(update)))
    }

    /// The person's version as a memory, and the contradiction between it and the store's. A repeated call
    /// makes the same memory again, which the store recognises.
    fn conflict_lines(&self, memory: &Memory, fields: &EditableFields) -> Result<[RecordLine; 2]> {
        let mut version = self.memory_of_fields(fields)?;
        version.metadata.insert(EDIT_OF.to_owned(), json!(memory.id));
        version.user_id.clone_from(&memory.user_id);
        version.source.how = EntryPoint::Import;
        version.source.sha256 =
            sha256(&format!("{EDIT_OF}\n{}\n{}", memory.id, memory_text(&version)));
        self.with_mark(memory, &version)
    }

    /// What a stranger's file says instead of a memory, as a memory of nobody.
    fn version_of_stranger(&self, memory: &Memory, fields: &EditableFields) -> Result<Memory> {
        let mut version = nobodys(self.memory_of_fields(fields)?);
        version.metadata.insert(EDIT_OF.to_owned(), json!(memory.id));
        version.source.sha256 =
            sha256(&format!("{EDIT_OF}\nvault\n{}\n{}", memory.id, memory_text(&version)));
        Ok(version)
    }

    fn with_mark(&self, memory: &Memory, version: &Memory) -> Result<[RecordLine; 2]> {
        let (older, newer) = ordered_by_time(memory, version);
        let finding = ContradictionFinding::of_edit(older, newer);
        let record = ContradictionRecord::new(older, newer, finding, self.clock.now());
        let mark = line_of(&ExportRecord::Contradiction(Box::new(record)))?;
        Ok([line_of(version)?, mark])
    }

    /// The memory of a note that the person wrote.
    fn own_memory(&self, found: &FoundFile) -> Result<Memory> {
        let sharing = match MemoryArea::of_path(&found.path) {
            Some(MemoryArea::Private) => Sharing::Private,
            _ => Sharing::Shared,
        };
        let default = new_fields(sharing);
        self.memory_of_fields(&found.file.editable_fields(&default)?)
    }

    fn memory_of_fields(&self, fields: &EditableFields) -> Result<Memory> {
        let now = self.clock.now();
        let request = SaveMemory {
            text: fields.text.clone(),
            title: fields.title.clone(),
            summary: fields.summary.clone(),
            topics: fields.topics.clone(),
            entities: fields.entities.clone(),
            importance: Some(fields.importance),
            memory_type: Some(fields.memory_type.clone())
                .filter(|kind| kind.check_choice().is_ok()),
            sharing: Some(fields.sharing),
            valid_from: fields.valid_from,
            valid_until: fields.valid_until,
            metadata: fields.metadata.clone(),
            ..SaveMemory::default()
        };
        request.memory(&self.person, fields.sharing, MemoryId::new(self.ids, now), now)
    }

    /// The memory of a file that somebody else wrote: nobody's. It keeps its id. Of a file that a known home
    /// has signed it keeps what the file says of its author and its trust; a stranger's is not trusted.
    fn foreign_memory(&self, found: &FoundFile, origin: TextOrigin) -> Result<Memory> {
        let fields = found.file.editable_fields(&new_fields(Sharing::Shared))?;
        let mut memory = match origin {
            TextOrigin::KnownHome => {
                let written = found.file.memory(&self.settings.workspace)?;
                // What leads every context is a matter of one's own home.
                let trust = match written.memory_type.leads_contexts() && !origin.may_lead() {
                    true => Trust::Untrusted,
                    false => written.trust,
                };
                let mut memory =
                    Memory { trust, owner: Agent::legacy(), sharing: Sharing::Shared, ..written };
                memory.revised_by = author_elsewhere(memory.revised_by);
                memory.source.agent = author_elsewhere(memory.source.agent);
                memory
            }
            _ => {
                let memory = nobodys(self.memory_of_fields(&fields)?);
                Memory { id: found.file.id.unwrap_or(memory.id), ..memory }
            }
        };
        (memory.case, memory.position, memory.review) = (None, None, None);
        (memory.revision, memory.usage) = (1, None);
        memory.source.how = EntryPoint::Import;
        memory.source.sha256 = sha256(&format!("vault\n{}", memory.id));
        Ok(memory)
    }

    /// Writes what the store has into the files, and removes what it has not.
    fn write_files(
        &self,
        cache: &mut PassCache,
        taken: &BTreeMap<MemoryId, String>,
        refused: &BTreeSet<MemoryId>,
        state: &mut LocalState,
        report: &mut SyncReport,
    ) -> Result<()> {
        let PassCache { files, export, settled, .. } = cache;
        let (files, export) = (&*files, &*export);
        let mut paths = MemoryPaths::new();
        let mut writes: Vec<(&HomeMemory, Option<&FoundFile>)> = Vec::new();
        let with_files = export.memories.iter().filter(|stored| {
            let memory = &stored.memory;
            let is_here = files.memories.contains_key(&memory.id);
            memory.case.is_none()
                && !files.broken_ids.contains(&memory.id)
                && (is_here || self.may_have_file(memory))
        });
        for stored in with_files {
            let memory = &stored.memory;
            let all_found = files.memories.get(&memory.id).map_or(&[][..], Vec::as_slice);
            if let [found] = all_found
                && settled.contains(&memory.id)
            {
                paths.insert(memory.id, found.path.clone());
                continue;
            }
            let found = own_file(stored, all_found);
            let (path, is_due) = match found {
                None => (new_path(memory, &paths), true),
                Some(found) => {
                    let is_taken = taken.get(&memory.id) == Some(&found.content)
                        || refused.contains(&memory.id);
                    let step = plan_memory(stored, &found.file);
                    let is_due = is_taken || matches!(step, Ok(MemoryStep::WriteFile));
                    let is_same = is_due || matches!(step, Ok(MemoryStep::Nothing));
                    let path =
                        if is_same { area_path(memory, &found.path) } else { found.path.clone() };
                    if path != found.path {
                        self.folder.rename(&found.path, &path)?;
                        report.moved += 1;
                    } else if is_same && !is_due && all_found.len() == 1 {
                        settled.insert(memory.id);
                    }
                    (path, is_due)
                }
            };
            paths.insert(memory.id, path);
            if is_due {
                writes.push((stored, found));
            }
        }
        self.write_memories(export, &paths, &writes, report)?;
        self.remove_files(files, &paths, state, report)?;
        self.write_pages(export, &paths, files, report)?;
        let mut written: BTreeSet<MemoryId> = paths.into_keys().collect();
        // What the store did not take keeps its id, and is still the person's.
        let waiting = state.claimed.iter().filter(|id| !written.contains(id));
        let waiting = waiting.filter(|id| files.memories.contains_key(id)).copied().collect();
        written.extend(state.written.iter().filter(|id| files.memories.contains_key(id)));
        state.note_written(&self.state, written, waiting)
    }

    /// Writes the files of these memories, each over the file that was found.
    fn write_memories(
        &self,
        export: &VaultExport,
        paths: &MemoryPaths,
        writes: &[(&HomeMemory, Option<&FoundFile>)],
        report: &mut SyncReport,
    ) -> Result<()> {
        let mut superseded: BTreeMap<MemoryId, Vec<String>> = BTreeMap::new();
        for HomeMemory { memory, .. } in &export.memories {
            if let (Some(heir), Some(path)) = (memory.superseded_by, paths.get(&memory.id)) {
                superseded.entry(heir).or_default().push(stem(path).to_owned());
            }
        }
        for (stored, found) in writes {
            let Some(path) = paths.get(&stored.memory.id) else { continue };
            let notes = MemoryNotes {
                earlier: stored.earlier.iter().map(memory_checksum).collect(),
                undone_deletions: stored.undone_deletions().collect(),
                supersedes: superseded.remove(&stored.memory.id).unwrap_or_default(),
            };
            let content = match found {
                Some(found) => found.file.with_memory(&stored.memory, &notes),
                None => memory_file(&stored.memory, &notes),
            };
            let content =
                MemoryFile::parse(&content)?.signed(&self.settings.workspace, &self.writer);
            let before = self.folder.read(path)?;
            // A person saved it since it was read: the next pass takes that in.
            let is_unread = before.as_deref() != found.map(|found| found.content.as_str());
            if is_unread || before.as_ref() == Some(&content) {
                continue;
            }
            self.folder.write(path, &content)?;
            report.written += 1;
        }
        Ok(())
    }

    /// Removes the files whose memories are gone, or are not for others any more.
    fn remove_files(
        &self,
        files: &VaultFiles,
        paths: &MemoryPaths,
        state: &mut LocalState,
        report: &mut SyncReport,
    ) -> Result<()> {
        for (id, found) in &files.memories {
            if paths.contains_key(id) || !state.written.contains(id) {
                continue;
            }
            for found in found {
                let said = found.file.editable_fields(&new_fields(Sharing::Shared));
                if said.is_ok_and(|said| !found.file.is_unedited(&said)) {
                    let copy = self.folder.keep_copy(&found.path, &found.content)?;
                    report.note(
                        &found.path,
                        format!("was edited, and its memory is gone. Your version is in {copy}."),
                    );
                }
                self.folder.remove(&found.path)?;
                report.removed += 1;
            }
            state.written.remove(id);
        }
        Ok(())
    }

    fn write_pages(
        &self,
        export: &VaultExport,
        paths: &MemoryPaths,
        files: &VaultFiles,
        report: &mut SyncReport,
    ) -> Result<()> {
        let pages = vault_pages(export, paths, self.settings.history)?;
        let (earlier, sums) = (PageSums::read(&self.state)?, PageSums::of(&pages));
        for (path, content) in &pages {
            let before = self.folder.read(path)?;
            if before.as_ref() == Some(content) {
                continue;
            }
            let is_whole = |page: &String| !path.ends_with(".md") || is_sealed(page);
            if earlier.has(path, content) && before.as_ref().is_some_and(is_whole) {
                continue;
            }
            if let Some(before) =
                before.filter(|before| path.ends_with(".md") && !is_sealed(before))
            {
                let copy = self.folder.keep_copy(path, &before)?;
                report.note(
                    path,
                    format!(
                        "was edited, and is written by the program: it was restored. Your version is in {copy}; \
                         append an entry or edit a memory instead."
                    ),
                );
            }
            self.folder.write(path, content)?;
            report.pages += 1;
        }
        for path in files.pages.iter().filter(|path| !pages.contains_key(*path)) {
            let content = self.folder.read(path)?.unwrap_or_default();
            match path.ends_with(".md") && !is_sealed(&content) {
                true => report.note(
                    path,
                    "is no page of this workspace; it was left alone. Move it to `memories/` to make it a memory.",
                ),
                false if earlier.has_path(path) => self.folder.remove(path)?,
                false => {}
            }
        }
        if sums != earlier { sums.write(&self.state) } else { Ok(()) }
    }
}

/// A memory that is nobody's, and not trusted.
fn nobodys(mut memory: Memory) -> Memory {
    (memory.owner, memory.revised_by) = (Agent::legacy(), Agent::legacy());
    (memory.sharing, memory.trust) = (Sharing::Shared, Trust::Untrusted);
    (memory.source.agent, memory.source.device) = (Agent::legacy(), None);
    (memory.source.client, memory.source.session) = (None, None);
    (memory.source.how, memory.source.asserted) = (EntryPoint::Import, false);
    memory
}

fn by_id(export: &VaultExport) -> BTreeMap<MemoryId, &HomeMemory> {
    export.memories.iter().map(|stored| (stored.memory.id, stored)).collect()
}

/// The file of a memory among those with its id: one that nobody edited, else the first.
fn own_file<'f>(stored: &HomeMemory, found: &'f [FoundFile]) -> Option<&'f FoundFile> {
    let is_same =
        |found: &&FoundFile| matches!(plan_memory(stored, &found.file), Ok(MemoryStep::Nothing));
    match found {
        [] => None,
        [one] => Some(one),
        [first, ..] => found.iter().find(is_same).or(Some(first)),
    }
}

/// The path of the file of a memory that has none: beside the memory whose edit it is.
fn new_path(memory: &Memory, paths: &MemoryPaths) -> String {
    let of = memory.metadata.get(EDIT_OF).and_then(|id| MemoryId::parse(id.as_str()?));
    let beside = of.and_then(|id| paths.get(&id)).filter(|_| memory.is_current());
    let path = memory_path(memory);
    match beside.and_then(|path| path.strip_suffix(".md")) {
        Some(beside) => {
            let ending = path.rsplit('_').next().unwrap_or_default();
            area_path(memory, &format!("{beside}.conflict_{ending}"))
        }
        None => path,
    }
}

/// The path of a file in the folder where its memory belongs now: below it a person orders files freely.
fn area_path(memory: &Memory, path: &str) -> String {
    let area = MemoryArea::of(memory);
    match MemoryArea::of_path(path) {
        Some(now) if now == area => path.to_owned(),
        Some(_) => {
            let rest = path.split_once('/').map_or(path, |(_, rest)| rest);
            format!("{}/{rest}", area.folder())
        }
        // A note of the first level stays there as long as it holds.
        None if area == MemoryArea::Shared => path.to_owned(),
        None => format!("{}/{path}", area.folder()),
    }
}

/// What a note is without frontmatter.
fn new_fields(sharing: Sharing) -> EditableFields {
    EditableFields {
        text: String::new(),
        title: None,
        summary: None,
        topics: Vec::new(),
        entities: Vec::new(),
        importance: Importance::Normal,
        memory_type: MemoryType::semantic(),
        sharing,
        valid_from: None,
        valid_until: None,
        metadata: Map::new(),
    }
}

/// The new value, if it is another one.
fn differing<T: PartialEq + Clone>(new: &T, old: &T) -> Option<T> {
    (new != old).then(|| new.clone())
}

/// What a version says: by it a repeated conflict is recognised.
fn memory_text(memory: &Memory) -> String {
    json!([memory.text, memory.title, memory.summary, memory.topics]).to_string()
}

fn report_plan(plan: &StorePlan<'_>, report: &mut SyncReport) {
    let path = |found: &FoundFile| found.path.clone();
    report.changed.extend(plan.changes.iter().map(|(found, ..)| path(found)));
    report.changed.extend(plan.endings.iter().map(|(found, ..)| path(found)));
    report.changed.extend(plan.restorations.iter().map(|(found, ..)| path(found)));
    report.conflicts.extend(plan.conflicts.iter().map(|(found, ..)| path(found)));
    report.created.extend(plan.notes.iter().chain(&plan.claimed).map(|found| path(found)));
    report.received.extend(plan.foreign.iter().map(|(found, _)| path(found)));
    report.received.extend(plan.versions.iter().map(|(found, ..)| path(found)));
    report.deleted.extend(plan.missing.iter().map(|memory| memory.id));
    report.removed = plan.gone as u64;
}
