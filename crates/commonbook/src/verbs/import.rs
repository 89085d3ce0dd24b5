//! Importing memories line by line, each once.

use super::Commonbook;
use super::case::file_in_case;
use crate::base::error::{ErrorKind, Result};
use crate::model::access;
use crate::model::agent::AgentName;
use crate::model::caller::{Caller, EntryPoint};
use crate::model::import::{ImportLine, ImportLineResult};
use crate::model::memory::{Memory, QuarantineNotice, SaveOutcome};
use crate::model::workspace::Workspace;

impl Commonbook {
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
        self.policy.may_write(caller)?;
        let now = self.clock.now();
        let memory_of = |line: ImportLine| {
            let workspace = line.workspace(into, caller)?;
            access::may_write_in(caller, &workspace)?;
            let memory = line.memory(&workspace, caller, self.policy.sharing, &*self.ids, now)?;
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
