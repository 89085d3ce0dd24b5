//! A memory between the store and its reader.

use std::ops::{Deref, DerefMut};

use serde::Deserialize;

use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::memory::{Memory, PendingReview};

/// A memory as the store holds it. It may name memories that its reader must not know of: its successor,
/// and those that it waits to supersede. [`Self::show`] alone makes an answer of it.
///
/// Answers hold a [`Memory`]; a verb that returns what it read without showing it does not compile:
/// ```compile_fail,E0308
/// # use commonbook::model::{access::StoredMemory, memory::Memory};
/// fn answer(stored: StoredMemory) -> Memory {
///     stored
/// }
/// ```
/// This does:
/// ```
/// # use commonbook::base::error::Result;
/// # use commonbook::model::{access::StoredMemory, memory::Memory};
/// fn answer(stored: StoredMemory) -> Result<Memory> {
///     stored.show(|_| Ok(false))
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct StoredMemory(Memory);

impl StoredMemory {
    /// A memory with everything that it names.
    #[must_use]
    pub fn of(memory: Memory) -> Self {
        Self(memory)
    }

    /// A copy with this change.
    #[must_use]
    pub(crate) fn with(&self, change: impl FnOnce(&mut Memory)) -> Self {
        let mut after = self.clone();
        change(&mut after);
        after
    }

    /// The memory as its reader may know it: of the memories that it names, those that `may_know` admits.
    ///
    /// # Errors
    /// Those of `may_know`.
    pub fn show(self, may_know: impl Fn(MemoryId) -> Result<bool>) -> Result<Memory> {
        let Self(mut memory) = self;
        hide_links(&mut memory, may_know)?;
        Ok(memory)
    }
}

/// The memories that a memory names: its successor, and those that it waits to supersede.
pub(crate) fn links_of(memory: &Memory) -> impl Iterator<Item = MemoryId> {
    let waiting = memory.review.iter().flat_map(|review| review.supersedes.iter().copied());
    memory.superseded_by.into_iter().chain(waiting)
}

/// Leaves of the memories that an answer's memory names those that `may_know` admits: the answer may be
/// older than the sight of its reader.
pub(crate) fn hide_links(
    memory: &mut Memory,
    may_know: impl Fn(MemoryId) -> Result<bool>,
) -> Result<()> {
    if let Some(heir) = memory.superseded_by
        && !may_know(heir)?
    {
        memory.superseded_by = None;
    }
    let Some(mut review) = memory.review.take() else { return Ok(()) };
    let mut known = Vec::new();
    for id in review.supersedes {
        if may_know(id)? {
            known.push(id);
        }
    }
    review.supersedes = known;
    memory.review = (review != PendingReview::default()).then_some(review);
    Ok(())
}

impl PartialEq<Memory> for StoredMemory {
    fn eq(&self, other: &Memory) -> bool {
        self.0 == *other
    }
}

impl Deref for StoredMemory {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        &self.0
    }
}

impl DerefMut for StoredMemory {
    fn deref_mut(&mut self) -> &mut Memory {
        &mut self.0
    }
}
