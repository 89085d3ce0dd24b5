//! The copies of what is forgotten that no call removes, and how a person does.

use std::path::Path;

use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::access::{self, Sight};
use crate::model::caller::Caller;
use crate::model::forgetting::{is_empty_now, redacted_memory};
use crate::model::workspace::Workspace;
use crate::verbs::Commonbook;

use super::ForgetPlan;

/// Memories of other workspaces that a line names.
const NAMED_MEMORIES_MAX: usize = 5;

/// A memory of another workspace that says nothing else.
struct CopyElsewhere {
    workspace: Workspace,
    memory: MemoryId,
}

impl Commonbook {
    /// The copies of what a plan forgets that stay: standing memory files of projects, and for a person
    /// the same text in other workspaces.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub(super) fn remaining_copies(
        &self,
        caller: &Caller,
        plan: &ForgetPlan,
    ) -> Result<Vec<String>> {
        let looks_around = access::is_person(caller) && access::may_roam(caller).is_ok();
        let mut projects: Vec<String> = match looks_around {
            true => self.store.read(|tx| tx.standing_projects())?,
            false => Vec::new(),
        };
        projects.extend(caller.project.as_ref().map(|project| project.display().to_string()));
        projects.sort_unstable();
        projects.dedup();
        let files = projects
            .iter()
            .flat_map(|project| self.files.quoting_files(Path::new(project), &plan.phrases));
        let file = |path| format!("{path} still has it: remove it there by hand");
        let mut lines: Vec<String> = files.map(file).collect();
        if looks_around {
            lines.extend(elsewhere_line(&self.copies_elsewhere(caller, plan)?));
        }
        Ok(lines)
    }

    /// The memories of other workspaces that say nothing else.
    fn copies_elsewhere(&self, caller: &Caller, plan: &ForgetPlan) -> Result<Vec<CopyElsewhere>> {
        let sight = Sight::writing(caller)?;
        self.store.read(|tx| {
            let mut copies = Vec::new();
            for workspace in tx.workspaces()? {
                if workspace == plan.workspace {
                    continue;
                }
                let there = Sight { workspaces: vec![workspace.clone()], ..sight.clone() };
                for memory in tx.quoting_memories(&workspace, &plan.phrases)? {
                    let rest = redacted_memory(&memory, &plan.phrases);
                    if there.sees(&memory) && rest.is_some_and(|rest| is_empty_now(&rest)) {
                        let (workspace, memory) = (workspace.clone(), memory.id);
                        copies.push(CopyElsewhere { workspace, memory });
                    }
                }
            }
            Ok(copies)
        })
    }
}

fn elsewhere_line(copies: &[CopyElsewhere]) -> Option<String> {
    let mut workspaces: Vec<&Workspace> = copies.iter().map(|copy| &copy.workspace).collect();
    workspaces.dedup();
    let named = copies.iter().take(NAMED_MEMORIES_MAX);
    let commands: Vec<String> = named
        .map(|CopyElsewhere { workspace, memory }| {
            format!("`commonbook forget {memory} --workspace {workspace}`")
        })
        .collect();
    let (count, noun) = match workspaces.len() {
        0 => return None,
        1 => (1, "workspace"),
        count => (count, "workspaces"),
    };
    let more = match copies.len().saturating_sub(NAMED_MEMORIES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let commands = commands.join(", ");
    Some(format!(
        "the same text stands in {count} other {noun}: forget it there with {commands}{more}"
    ))
}
