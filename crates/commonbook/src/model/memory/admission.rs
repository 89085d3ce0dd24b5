//! Admission: what may be written.

use std::ops::Deref;

use super::{Memory, PendingReview};

/// A memory as it may be written: its words passed the gate, which refuses or cuts what was forgotten and
/// quarantines what completes an order that its author began before. The store takes no other:
/// ```compile_fail,E0308
/// # use commonbook::{base::error::Result, model::memory::Memory, store::Tx};
/// fn keep(tx: &mut Tx<'_>, memory: &Memory) -> Result<()> {
///     tx.insert_memory(memory, 1)
/// }
/// ```
/// This compiles, and says why it passes no gate:
/// ```
/// # use commonbook::{base::error::Result, model::memory::{AdmittedMemory, Memory}, store::Tx};
/// fn keep(tx: &mut Tx<'_>, memory: Memory) -> Result<()> {
///     tx.insert_memory(&AdmittedMemory::unjudged(memory, "it was judged in the home it is from"), 1)
/// }
/// ```
#[derive(Debug, Clone)]
pub struct AdmittedMemory(Memory);

impl AdmittedMemory {
    /// A memory that passed the gate. The gate alone makes one.
    pub(crate) fn judged(memory: Memory) -> Self {
        Self(memory)
    }

    /// A memory that passes no gate, with the reason why it needs none.
    #[must_use]
    pub fn unjudged(memory: Memory, _reason: &'static str) -> Self {
        Self(memory)
    }

    /// The same memory, with what waits for its review.
    #[must_use]
    pub(crate) fn with_review(self, review: PendingReview) -> Self {
        Self(Memory { review: Some(review), ..self.0 })
    }

    /// The memory alone, which has to pass the gate again to be written.
    #[must_use]
    pub fn into_memory(self) -> Memory {
        self.0
    }
}

impl Deref for AdmittedMemory {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        &self.0
    }
}

impl Memory {
    /// Whether a reader finds the same words in both, in whichever field.
    #[must_use]
    pub fn has_words_of(&self, other: &Self) -> bool {
        self.text == other.text
            && self.title == other.title
            && self.summary == other.summary
            && self.topics == other.topics
            && self.entities == other.entities
            && self.metadata == other.metadata
            && self.path == other.path
            && self.memory_type == other.memory_type
    }
}
