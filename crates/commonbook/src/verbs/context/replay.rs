//! Building a context again, of what its receipt says was considered.

use crate::base::error::Result;
use crate::base::hash::sha256;
use crate::base::id::{HandoffId, MemoryId};
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::case::Case;
use crate::model::memory::Memory;
use crate::prompt::context::choose::{Asked, Candidate, Considered, Settings, Source, choose};
use crate::prompt::context::{Gathering, KeptContext, Receipt, Replay, Wanted};
use crate::prompt::fence;
use crate::store::Transaction;
use crate::verbs::Commonbook;
use commonbook_text::tokens;

use super::{handoff_chars, standing_told};

impl Commonbook {
    /// Builds a context again: of the same candidates with their scores, each as it was then, in
    /// the same marks and at the same time.
    pub(super) fn replay(&self, caller: &Caller, kept: &KeptContext) -> Result<Replay> {
        let user = kept.receipt.diagnostics.resolved_user_id.as_deref();
        let caller = caller.clone().for_user(user)?;
        let sight = Sight::reading(&caller)?;
        let wanted = Wanted { task: kept.receipt.query.clone(), settings: settings(&kept.receipt) };
        let mut differences = Vec::new();
        // What was told as one is again, whatever was found or resolved since.
        let pairs = kept.receipt.candidates.iter().filter_map(|one| {
            one.id.parse().ok().zip(one.with.as_ref().and_then(|with| with.parse().ok()))
        });
        let contradictions: Vec<(MemoryId, MemoryId)> = pairs.collect();
        let gathering = Gathering {
            agent: &caller.agent,
            templates: &self.templates,
            contradictions: &contradictions,
        };
        let standing = self.files.read(&caller, self.clock.now());
        let as_it_was = standing.as_ref().map(|file| &file.read) == kept.standing.as_ref();
        if !as_it_was {
            differences.push("the standing memory file is no longer as it was".to_owned());
        }
        let mut candidates: Vec<Candidate> = Vec::new();
        candidates.extend(standing.and_then(|file| standing_told(gathering, &file, &wanted)));
        let waited = |one: &&Considered| one.source == Source::Handoff;
        let mut left = kept.receipt.handoffs_left;
        let handoffs = kept.receipt.candidates.iter().filter(waited).count().max(1);
        let chars = handoff_chars(&wanted.settings, handoffs);
        self.store.read(|tx| {
            for one in &kept.receipt.candidates {
                if let (Source::Handoff, Ok(id)) = (one.source, one.id.parse::<HandoffId>()) {
                    // The first of them tells how many waited besides.
                    let left = std::mem::take(&mut left);
                    match tx.handoff(&sight, id)? {
                        Some(handoff) => candidates.push(gathering.handoff(&handoff, chars, left)),
                        None => differences.push(gone(one)),
                    }
                    continue;
                }
                match again(tx, &sight, (gathering, &caller), one)? {
                    Some(candidate) => candidates.push(candidate),
                    None if one.source == Source::Standing => {}
                    None => differences.push(gone(one)),
                }
            }
            Ok(())
        })?;
        let asked = Asked { query: &wanted.task, user_id: user, now: kept.at };
        let fence = fence(&kept.nonce)?;
        let chosen = choose(&asked, candidates, &wanted.settings, &fence, tokens::count);
        let same = sha256(&chosen.text) == kept.sha256;
        if !same && differences.is_empty() {
            differences.push(
                "it is told in other words: by other templates, or by another version".to_owned(),
            );
        }
        Ok(Replay { same, differences })
    }
}

fn gone(one: &Considered) -> String {
    format!("{} is gone, or hidden by now", one.id)
}

/// How much was told.
fn settings(receipt: &Receipt) -> Settings {
    Settings {
        auto_inject: receipt.diagnostics.auto_inject_enabled,
        threshold: receipt.threshold,
        maximum: receipt.maximum,
        budget: receipt.budget,
        ..Settings::default()
    }
}

/// What was considered, as it was then; nothing where that is gone.
fn again(
    tx: &dyn Transaction,
    sight: &Sight,
    (gathering, caller): (Gathering<'_>, &Caller),
    one: &Considered,
) -> Result<Option<Candidate>> {
    let Some((id, revision)) = MemoryId::read(&one.id).zip(one.revision) else {
        return Ok(None);
    };
    let Some(memory) = then(tx, sight, id, revision)? else { return Ok(None) };
    let case: Option<Case> = match (&memory.case, one.source) {
        (Some(key), Source::Entry) => tx.case(&caller.workspace, key)?,
        _ => None,
    };
    Ok(Some(match case {
        Some(case) => gathering.entry(&case, &memory),
        None => gathering.memory(one.source, &memory, one.score),
    }))
}

/// A memory at one of its revisions.
fn then(
    tx: &dyn Transaction,
    sight: &Sight,
    id: MemoryId,
    revision: u64,
) -> Result<Option<Memory>> {
    match tx.memory(sight, id)? {
        Some(memory) if memory.revision == revision => Ok(Some(memory)),
        Some(_) => Ok(tx.earlier(sight, id)?.into_iter().find(|it| it.revision == revision)),
        None => Ok(None),
    }
}
