//! What may say again what is forgotten, in other words: no rule can tell, so its reader is shown where to look.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::ForgetPlan;
use crate::base::error::Result;
use crate::base::id::MemoryId;
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::cursor::visible_beginning;
use crate::model::forgetting::AlikeMemory;
use crate::model::search::{IndexQuery, MemoryRef, SearchFilter};
use crate::verbs::Commonbook;

/// Forgotten memories by whose texts others are searched.
const SEARCHED_MEMORIES_MAX: usize = 3;

/// Memories that are shown for each. Of 239 notes by strangers' hands that said again, in any words, what was
/// forgotten, the rule of sentences finds 33; with the first five of a search 235 are found (docs/security.md).
const ALIKE_MEMORIES_MAX: usize = 5;

impl Commonbook {
    /// The memories in the caller's sight that are nearest to what a plan forgets, and that it leaves as they
    /// are. None if they cannot be searched now.
    pub(super) fn alike_memories(
        &self,
        caller: &Caller,
        plan: &ForgetPlan,
        now: Timestamp,
    ) -> Result<Vec<AlikeMemory>> {
        let sight = Sight::writing(caller)?;
        let mut known: BTreeSet<MemoryId> = plan.ids().into_iter().collect();
        known.extend(plan.quoting.iter().chain(&plan.left).map(|memory| memory.id));
        let mut places: Vec<MemoryRef> = Vec::new();
        for forgotten in plan.memories.iter().take(SEARCHED_MEMORIES_MAX) {
            let text = forgotten.memory.full_text();
            let question = IndexQuery::from_plain_text(text, SearchFilter::default(), now);
            let found = match self.search_visible(caller, &sight, &question) {
                Ok(found) => found.ranked,
                Err(error) => {
                    tracing::warn!(%error, "what is like the forgotten memory cannot be searched");
                    break;
                }
            };
            let new = found.into_iter().filter(|hit| known.insert(hit.id));
            let new = new.take(ALIKE_MEMORIES_MAX);
            places.extend(new.map(|hit| (hit.workspace, hit.id)));
        }
        let found = self.store.read(|tx| tx.memories_of(&sight, &places))?.into_iter();
        let alike = found.filter_map(|memory| {
            let says = visible_beginning(&memory)?;
            Some(AlikeMemory { memory: memory.id, owner: memory.owner.clone(), says })
        });
        Ok(alike.collect())
    }
}
