//! Importing memories line by line, each once.

use super::Commonbook;
use super::case::file_in_case;
use crate::base::error::{ErrorKind, Result};
use crate::model::access::{self, require_scope};
use crate::model::agent::AgentName;
use crate::model::caller::{Caller, CallerProof, EntryPoint};
use crate::model::import::{
    ImportLine, ImportLineResult, ImportMemories, ImportMemoriesResult, ImportRecord,
};
use crate::model::memory::{Memory, QuarantineNotice, SaveOutcome};
use crate::model::token::TokenScope;
use crate::model::workspace::Workspace;

impl Commonbook {
    /// Imports lines of another program, as [`Self::import_lines`] does, if the caller may speak for
    /// their authors.
    ///
    /// # Errors
    /// `too_large` for too many lines; else as [`Self::import_lines`].
    pub fn import_memories(
        &self,
        caller: &Caller,
        request: &ImportMemories,
    ) -> Result<ImportMemoriesResult> {
        let into = (!request.by_line).then_some(&caller.workspace);
        let results = self.import_each(caller, into, request.parse_lines()?, admit)?;
        Ok(ImportMemoriesResult { results: results.into_iter().map(ImportRecord::from).collect() })
    }

    /// Imports the memories of these lines in one transaction, each under its own author's name, in
    /// the given workspace or the one that the line names. A line that was imported before is
    /// skipped. A bad line does not hold up the others, nor does a line that names a workspace
    /// outside the caller's token.
    ///
    /// # Errors
    /// `unavailable` if the store cannot write; then nothing is imported.
    pub fn import_lines(
        &self,
        caller: &Caller,
        into: Option<&Workspace>,
        lines: Vec<ImportLine>,
    ) -> Result<Vec<Result<ImportLineResult>>> {
        self.import_each(caller, into, lines.into_iter().map(Ok).collect(), |_, _| Ok(()))
    }

    fn import_each(
        &self,
        caller: &Caller,
        into: Option<&Workspace>,
        lines: Vec<Result<ImportLine>>,
        admit: impl Fn(&Caller, &mut Memory) -> Result<()>,
    ) -> Result<Vec<Result<ImportLineResult>>> {
        self.policy.may_write(caller)?;
        let now = self.clock.now();
        let memory_of = |line: Result<ImportLine>| {
            let line = line?;
            let workspace = line.workspace(into, caller)?;
            access::may_write_in(caller, &workspace)?;
            let mut memory =
                line.memory(&workspace, caller, self.policy.sharing, &*self.ids, now)?;
            admit(caller, &mut memory)?;
            access::may_keep(&memory.owner, memory.sharing).map(|()| memory)
        };
        let memories: Vec<Result<Memory>> = lines.into_iter().map(memory_of).collect();
        self.store.write(move |tx| {
            let mut outcomes = Vec::with_capacity(memories.len());
            for memory in &memories {
                outcomes.push(match memory {
                    Err(error) => Err(error.clone()),
                    Ok(memory) if tx.was_imported(memory)? => {
                        Ok(ImportLineResult { outcome: SaveOutcome::Repeated, quarantined: None })
                    }
                    Ok(memory) => {
                        let name = AgentName { agent: memory.owner.clone(), device: None };
                        let author =
                            Caller::new(Some(name), memory.workspace.clone(), EntryPoint::Import);
                        tx.note_agent_seen(&author, now)?;
                        match file_in_case(tx, &author, memory, now) {
                            // The case takes no more entries; nothing of this line was written.
                            Err(error) if error.kind == ErrorKind::Conflict => Err(error),
                            filed => filed.map(|()| {
                                let quarantined = QuarantineNotice::of(memory, &author);
                                Ok(ImportLineResult { outcome: SaveOutcome::Created, quarantined })
                            })?,
                        }
                    }
                });
            }
            Ok(outcomes)
        })
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
    Ok(())
}
