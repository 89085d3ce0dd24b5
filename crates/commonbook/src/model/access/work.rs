//! Work: who sees what an agent received, and which items of it.

use super::{EventSubject, Sight, Visibility};
use crate::base::id::{HandoffId, MemoryId};
use crate::model::agent::Agent;
use crate::model::workspace::Workspace;

impl Sight {
    /// Whether the caller sees that this agent received something for this user: it is that agent,
    /// an agent above it, or the person. The rule for users is that of memories.
    #[must_use]
    pub fn sees_work(&self, agent: &Agent, user: Option<&str>) -> bool {
        let own = *agent == self.agent;
        self.is_for_subject(user, own) && (own || self.is_person || agent.is_child_of(&self.agent))
    }

    /// Whether the caller may see an item that an agent received.
    #[must_use]
    pub fn sees_item(&self, visibility: &ItemVisibility) -> bool {
        match visibility {
            ItemVisibility::File => true,
            ItemVisibility::Memories(memories) => {
                memories.iter().any(|visibility| self.can_see(visibility))
            }
            ItemVisibility::Handoff(visibility) => {
                let party = self.agent == visibility.from || self.agent == visibility.to;
                self.workspaces.contains(&visibility.workspace)
                    && self.is_for_subject(visibility.user_id.as_deref(), party)
            }
            ItemVisibility::Gone => false,
        }
    }
}

/// What decides who sees the event of something that an agent received.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkVisibility {
    /// The items, in order.
    pub items: Vec<WorkItem>,
}

/// An item that an agent received, with its present visibility.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkItem {
    /// Its id.
    pub id: String,
    /// Who sees it now.
    pub visibility: ItemVisibility,
}

/// Who sees an item that an agent received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemVisibility {
    /// A standing memory file: everyone who sees that its agent received it.
    File,
    /// A memory, in each workspace that has it.
    Memories(Vec<Visibility>),
    /// A handoff.
    Handoff(HandoffVisibility),
    /// Something that was removed permanently.
    Gone,
}

/// What decides who sees a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffVisibility {
    /// The workspace.
    pub workspace: Workspace,
    /// The agent that handed over.
    pub from: Agent,
    /// The agent that it is for.
    pub to: Agent,
    /// The user it is about.
    pub user_id: Option<String>,
}

impl WorkVisibility {
    /// Updates the visibility of one memory, by the subject of a later event.
    pub(super) fn take_in(&mut self, memory: &str, now: &EventSubject) {
        for item in self.items.iter_mut().filter(|item| item.id == memory) {
            match (&mut item.visibility, now) {
                (ItemVisibility::Memories(known), EventSubject::Memory(visibility)) => {
                    known.retain(|known| known.workspace != visibility.workspace);
                    known.push(visibility.clone());
                }
                (known, EventSubject::Gone) => *known = ItemVisibility::Gone,
                _ => {}
            }
        }
    }
}

/// The kind of an item, by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// A memory.
    Memory(MemoryId),
    /// A handoff.
    Handoff(HandoffId),
    /// A part of a standing memory file.
    File,
}

impl ItemKind {
    /// The kind of the item with this id.
    pub(crate) fn of(id: &str) -> Self {
        match (MemoryId::parse(id), HandoffId::parse(id)) {
            (Some(id), _) => Self::Memory(id),
            (_, Some(id)) => Self::Handoff(id),
            _ => Self::File,
        }
    }
}
