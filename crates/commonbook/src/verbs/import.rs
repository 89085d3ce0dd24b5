//! Importing line by line, each line once.

mod edit;
mod restore;

use jiff::Timestamp;
use rustc_hash::FxHashMap;

use super::Commonbook;
use super::case::{file_in_case, restore_in_case};
use super::memory::refuse_taken_path;
use super::ops::forgotten::{
    MemoryRemainder, forgotten_phrases, record_without_forgotten, without_forgotten,
};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::MemoryId;
use crate::model::access::{self, require_scope};
use crate::model::agent::AgentName;
use crate::model::caller::{Caller, CallerProof, EntryPoint};
use crate::model::export::{ExportRecord, MemoryEdit};
use crate::model::import::{
    ImportLine, ImportLineResult, ImportMemories, ImportMemoriesResult, ImportRecord, SourceFate,
    SourceState, restored_memory,
};
use crate::model::memory::{Memory, QuarantineNotice, SaveOutcome};
use crate::model::token::TokenScope;
use crate::model::workspace::Workspace;
use crate::store::Tx;
use edit::write_edit;
use restore::{check_written_text, restore_record};

/// For whose lines an import may speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ImportAuthority {
    /// For everybody's: a person imports into a home on this machine.
    Home,
    /// For those of the authors for whom the caller may speak.
    Caller,
}

/// A line that is ready to be written.
enum PreparedLine {
    /// A memory of a conversation or of another program.
    Memory(Box<Memory>),
    /// An exported memory.
    Exported(Box<Memory>),
    /// Another line of an export.
    Record(Box<ExportRecord>),
    /// What a person changed in a file.
    Edit(Box<MemoryEdit>),
    /// A line that is written already: a file.
    Written(SaveOutcome),
    /// A line that is left out, for this reason.
    LeftOut(String),
}

/// What a line says of itself and of other lines of its source.
struct SourceLink {
    id: Option<String>,
    state: SourceState,
}

impl SourceLink {
    fn of(line: &Result<ImportLine>) -> Self {
        match line {
            Ok(ImportLine::Message(turn)) => {
                Self { id: turn.source_id.clone(), state: turn.state.clone() }
            }
            _ => Self { id: None, state: SourceState::default() },
        }
    }
}

impl Commonbook {
    /// Imports lines of an export or of another program, as [`Self::import_lines`] does, if the caller
    /// may speak for their authors.
    ///
    /// # Errors
    /// `too_large` for too many lines; else as [`Self::import_lines`].
    pub fn import_memories(
        &self,
        caller: &Caller,
        request: &ImportMemories,
    ) -> Result<ImportMemoriesResult> {
        let into = (!request.by_line).then_some(&caller.workspace);
        let lines = request.parse_lines(self.home_key().as_ref())?;
        let results = self.import_each(caller, into, lines, ImportAuthority::Caller)?;
        Ok(ImportMemoriesResult { results: results.into_iter().map(ImportRecord::from).collect() })
    }

    /// Imports these lines in one transaction, each memory under its own author's name, in the given
    /// workspace or the one that the line names. A line that was imported before is skipped. A bad
    /// line does not hold up the others, nor does a line that names a workspace outside the caller's
    /// token.
    ///
    /// # Errors
    /// `unavailable` if the store cannot write; then nothing is imported but standing memory files.
    pub fn import_lines(
        &self,
        caller: &Caller,
        into: Option<&Workspace>,
        lines: Vec<ImportLine>,
    ) -> Result<Vec<Result<ImportLineResult>>> {
        let lines = lines.into_iter().map(Ok).collect();
        self.import_each(caller, into, lines, ImportAuthority::Home)
    }

    fn import_each(
        &self,
        caller: &Caller,
        into: Option<&Workspace>,
        lines: Vec<Result<ImportLine>>,
        authority: ImportAuthority,
    ) -> Result<Vec<Result<ImportLineResult>>> {
        self.policy.may_write(caller)?;
        let now = self.clock.now();
        let prepare = |line: Result<ImportLine>| self.prepare(caller, into, line?, authority, now);
        let links: Vec<SourceLink> = lines.iter().map(SourceLink::of).collect();
        let mut lines: Vec<Result<PreparedLine>> = lines.into_iter().map(prepare).collect();
        relate_heirs(&mut lines, &links);
        let origin = Caller { door: EntryPoint::Import, ..caller.clone() };
        let caller = caller.clone();
        self.store.write_as(&origin, move |tx| {
            let results = lines.iter().zip(&links).map(|(line, link)| match line {
                Err(error) => Ok(Err(error.clone())),
                Ok(line) => {
                    let unknown_status = link.state.unknown_status.clone();
                    let result = write_line(tx, &caller, line, now)?;
                    Ok(result.map(|result| ImportLineResult { unknown_status, ..result }))
                }
            });
            results.collect()
        })
    }

    /// Checks a line, and builds what it stores.
    fn prepare(
        &self,
        caller: &Caller,
        into: Option<&Workspace>,
        line: ImportLine,
        authority: ImportAuthority,
        now: Timestamp,
    ) -> Result<PreparedLine> {
        let workspace = line.workspace(into, caller)?;
        access::may_write_in(caller, &workspace)?;
        if let Some(reason) = line.source_state().and_then(SourceState::left_out) {
            return Ok(PreparedLine::LeftOut(reason));
        }
        let is_exported = matches!(line, ImportLine::Exported(_));
        let mut memory = match line {
            ImportLine::Record(record) => {
                if authority == ImportAuthority::Caller {
                    admit_record(caller, &record)?;
                }
                check_written_text(&record)?;
                return match *record {
                    ExportRecord::Edit(edit) => Ok(PreparedLine::Edit(edit)),
                    ExportRecord::Standing(mut file) => {
                        let texts = [&*file.text];
                        let forgotten =
                            self.store.read(|tx| forgotten_phrases(tx, &workspace, None, texts))?;
                        if let Some(text) = forgotten.and_then(|it| it.phrases.redact(&file.text)) {
                            file.text = text;
                        }
                        self.import_standing(caller, &file).map(PreparedLine::Written)
                    }
                    ExportRecord::Handoff(mut state) if state.handoff.from.is_of_file() => {
                        // Who wrote the file knows the marks that it names.
                        let (fence, id) = (self.fence(caller)?, state.handoff.id.to_string());
                        state.package["nonce"] = fence.nonce_for(&id).into_owned().into();
                        Ok(PreparedLine::Record(Box::new(ExportRecord::Handoff(state))))
                    }
                    record => Ok(PreparedLine::Record(Box::new(record))),
                };
            }
            ImportLine::Exported(memory) => restored_memory(*memory, &workspace)?,
            ImportLine::Message(turn) => {
                let id = MemoryId::new(&*self.ids, now);
                turn.memory(&workspace, caller, self.policy.sharing, id, now)?
            }
        };
        if authority == ImportAuthority::Caller {
            admit(caller, &mut memory)?;
        }
        access::may_keep(&memory.owner, memory.sharing)?;
        let memory = Box::new(memory);
        Ok(if is_exported { PreparedLine::Exported(memory) } else { PreparedLine::Memory(memory) })
    }
}

/// Names the successor of each memory that another one of these lines replaced in their source.
fn relate_heirs(lines: &mut [Result<PreparedLine>], links: &[SourceLink]) {
    let mut ids: FxHashMap<(&Workspace, &str), MemoryId> = FxHashMap::default();
    for (line, link) in lines.iter().zip(links) {
        if let (Ok(PreparedLine::Memory(memory)), Some(id)) = (line, &link.id) {
            ids.entry((&memory.workspace, id)).or_insert(memory.id);
        }
    }
    let heir_of = |line: &Result<PreparedLine>, link: &SourceLink| match (line, &link.state.fate) {
        (Ok(PreparedLine::Memory(memory)), SourceFate::Superseded(Some(heir))) => {
            ids.get(&(&memory.workspace, heir.as_str())).copied().filter(|id| *id != memory.id)
        }
        _ => None,
    };
    let heirs: Vec<Option<MemoryId>> =
        lines.iter().zip(links).map(|(line, link)| heir_of(line, link)).collect();
    for (line, heir) in lines.iter_mut().zip(heirs) {
        if let (Ok(PreparedLine::Memory(memory)), Some(heir)) = (line, heir) {
            (memory.superseded_by, memory.archived_at) = (Some(heir), None);
        }
    }
}

/// Writes a line. An error of the line itself is found before anything of it is written; any other
/// error ends the transaction.
fn write_line(
    tx: &mut Tx<'_>,
    caller: &Caller,
    line: &PreparedLine,
    now: Timestamp,
) -> Result<Result<ImportLineResult>> {
    let result = match line {
        PreparedLine::Memory(memory) => return write_memory(tx, memory, false, now),
        PreparedLine::Exported(memory) => return write_memory(tx, memory, true, now),
        PreparedLine::Record(record) => match record_without_forgotten(&*tx, record)? {
            Some(record) => restore_record(tx, &record, now),
            None => Ok(SaveOutcome::Repeated),
        },
        PreparedLine::Edit(edit) => write_edit(tx, caller, edit, now),
        PreparedLine::Written(outcome) => Ok(*outcome),
        PreparedLine::LeftOut(reason) => {
            let left_out = Some(reason.clone());
            let result = ImportLineResult::of_memory(SaveOutcome::Repeated);
            return Ok(Ok(ImportLineResult { left_out, ..result }));
        }
    };
    match result {
        Ok(outcome) => {
            Ok(Ok(ImportLineResult { is_record: true, ..ImportLineResult::of_memory(outcome) }))
        }
        Err(error) if is_of_line(line, &error) => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

/// Whether an error is of this line alone: nothing of it was written.
fn is_of_line(line: &PreparedLine, error: &Error) -> bool {
    use ErrorKind::{Conflict, Forbidden, Invalid, NotFound, TooLarge};
    match line {
        PreparedLine::Edit(_) => {
            matches!(error.kind, Conflict | Forbidden | Invalid | NotFound | TooLarge)
        }
        _ => matches!(error.kind, Conflict | Invalid),
    }
}

fn write_memory(
    tx: &mut Tx<'_>,
    memory: &Memory,
    is_exported: bool,
    now: Timestamp,
) -> Result<Result<ImportLineResult>> {
    let result = |outcome, quarantined, forgotten_at| {
        let result = ImportLineResult::of_memory(outcome);
        Ok(Ok(ImportLineResult { quarantined, forgotten_at, ..result }))
    };
    if tx.was_imported(memory)? {
        return result(SaveOutcome::Repeated, None, None);
    }
    // What was forgotten does not come back.
    if let Some(certificate) = tx.certificate_of(&memory.workspace, memory.id)? {
        return result(SaveOutcome::Repeated, None, Some(certificate.made_at()));
    }
    let memory = &match without_forgotten(&*tx, memory)? {
        MemoryRemainder::Memory(memory) => memory,
        MemoryRemainder::Nothing(at) => return result(SaveOutcome::Repeated, None, Some(at)),
    };
    // What is here at its path stays.
    if let Err(taken) = refuse_taken_path(tx, memory) {
        return if taken.kind == ErrorKind::Conflict { Ok(Err(taken)) } else { Err(taken) };
    }
    let name = AgentName { agent: memory.owner.clone(), device: None };
    let author = Caller::new(Some(name), memory.workspace.clone(), EntryPoint::Import);
    let filed = match is_exported && memory.position.is_some() {
        true => restore_in_case(tx, &author, memory, now),
        false => file_in_case(tx, &author, memory, now),
    };
    match filed {
        // The case takes no such entry; nothing of this line was written.
        Err(error) if matches!(error.kind, ErrorKind::Conflict | ErrorKind::Invalid) => {
            return Ok(Err(error));
        }
        filed => filed?,
    }
    if !is_exported {
        tx.note_agent_seen(&author, now)?;
    } else if tx.last_seen(&memory.workspace, &memory.owner)?.is_none() {
        // The author of a line without its agent called when it wrote the memory, not now.
        tx.note_agent_seen(&author, memory.recorded_at)?;
    }
    result(SaveOutcome::Created, QuarantineNotice::of(memory, &author), None)
}

/// Checks that this caller may import this record.
fn admit_record(caller: &Caller, record: &ExportRecord) -> Result<()> {
    match (record, record.author()) {
        (ExportRecord::Export(_), _) => Ok(()),
        (_, Some(author)) => access::may_import(caller, &author.name_in_file()),
        (_, None) => require_scope(caller, TokenScope::Admin).map_err(|error| {
            let message = "only an administrator may import what others decided or handed over";
            Error { message: message.to_owned(), ..error }.hint(
                "A person imports it at the command line of the server's machine, without --agent; or \
                 use a token with the scope admin.",
            )
        }),
    }
}

/// Checks that this caller may import this memory. What only the caller's word says about the source
/// of the memory is not kept, unless the caller administers.
fn admit(caller: &Caller, memory: &mut Memory) -> Result<()> {
    access::may_import(caller, &memory.owner)?;
    caller.clone().for_user(memory.user_id.as_deref())?;
    if caller.proof != CallerProof::Word && require_scope(caller, TokenScope::Admin).is_err() {
        let source = &mut memory.source;
        source.agent = memory.owner.clone();
        source.how = EntryPoint::Import;
        source.asserted |= caller.proof.is_asserted() || memory.owner != caller.agent;
    }
    if require_scope(caller, TokenScope::Admin).is_err() {
        // What waits with a quarantined memory replaces memories of others after its release.
        memory.review = None;
    }
    Ok(())
}
