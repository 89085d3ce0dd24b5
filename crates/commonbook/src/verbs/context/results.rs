//! Results of handoffs, for their sources at the next call of any kind.

use super::{ended_handoffs, note_results_told};
use crate::base::error::Result;
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::handoff::Handoff;
use crate::prompt::block::{PromptBlock, PromptSection};
use crate::prompt::briefing::BriefingItem;
use crate::prompt::context::CandidateBuilder;
use crate::prompt::context::choose::ContextCandidate;
use crate::verbs::Commonbook;

/// Tokens of the results that one call tells.
const RESULTS_TOKENS_MAX: usize = 300;

impl Commonbook {
    /// The ends of the caller's handoffs of which it has not heard, as a text that notes them as told; empty
    /// if there are none. A context and a briefing tell them too.
    ///
    /// # Errors
    /// `forbidden` if the caller may not read; `unavailable` if the store cannot note them.
    pub fn take_results(&self, caller: &Caller) -> Result<String> {
        let (fence, now) = (self.fence(caller)?, self.clock.now());
        let items = self.take_ended(caller)?.into_iter().map(|(_, told)| told.item.into());
        let mut block = PromptBlock {
            sections: vec![PromptSection::new("", items.collect())],
            ..PromptBlock::default()
        };
        Ok(block.render_within(RESULTS_TOKENS_MAX, &fence, now).text)
    }

    /// The same handoffs as they are, for a door that a person reads. They are noted as told.
    ///
    /// # Errors
    /// As [`Self::take_results`].
    pub fn take_ended_handoffs(&self, caller: &Caller) -> Result<Vec<Handoff>> {
        Ok(self.take_ended(caller)?.into_iter().map(|(handoff, _)| handoff).collect())
    }

    /// The handoffs of the caller of whose end no session of its has heard, each with what a text tells of it.
    /// Notes them as told.
    fn take_ended(&self, caller: &Caller) -> Result<Vec<(Handoff, ContextCandidate)>> {
        if caller.agent.is_anonymous() {
            return Ok(Vec::new());
        }
        let (sight, now) = (Sight::reading(caller)?, self.clock.now());
        // What any session has heard is no news.
        let ended = self.store.read(|tx| ended_handoffs(tx, caller, &sight, None, now))?;
        if ended.is_empty() {
            return Ok(Vec::new());
        }
        let builder = CandidateBuilder {
            agent: &caller.agent,
            templates: &self.templates,
            contradictions: &[],
            marks: &[],
        };
        let told: Vec<ContextCandidate> =
            ended.iter().map(|handoff| builder.result(handoff)).collect();
        let shown: Vec<BriefingItem> = told.iter().map(BriefingItem::of).collect();
        self.write_as(caller, now, move |tx, caller| {
            Self::note_context_items(tx, caller, &sight, &shown, now)?;
            note_results_told(tx, caller, &shown, now)
        })?;
        Ok(ended.into_iter().zip(told).collect())
    }
}
