//! The queue of near pairs: listing those of which nobody has said what they are, and answering them.
//!
//! Nothing is kept of a pair before it is answered: a page searches for what is near to some memories, newest
//! first, so that a save, an import and a vault pay nothing.

use super::state::{incomparable, put_statement, read_sight};
use crate::base::error::{Error, Result};
use crate::base::limits;
use crate::base::page::{Page, PageCursor, page_size};
use crate::model::access::{self, Sight};
use crate::model::caller::Caller;
use crate::model::contradiction::{
    AnswerOutcome, AnswerPair, AnswerPairs, AnswerPairsResult, AnsweredPair, ContradictionFinding,
    ListPairs, NearPair, PairRelation, RepeatedPair, id_of, may_contradict, ordered_by_time,
};
use crate::model::memory::{ListOrder, Memory};
use crate::model::search::{MemoryFilter, MemoryRef};
use crate::prompt::near::near_pair;
use crate::store::Tx;
use crate::verbs::Commonbook;
use crate::verbs::memory::{live_memory, replace, visible_memory};
use crate::verbs::near::{is_of_talk, nearest_places};
use crate::verbs::ops::write_once::WriteScope;

impl Commonbook {
    /// Pairs of near memories in sight of which nobody has said what they are to each other. Each stands at
    /// its newer memory; a page ends with [`limits::NEAR_PAIRS`] pairs, or when it has searched what is near
    /// to [`limits::NEAR_PAIRS_MEMORIES`] memories.
    ///
    /// # Errors
    /// `invalid` if limit or cursor are malformed or out of range; `unavailable` as a search.
    pub fn list_pairs(&self, caller: &Caller, request: &ListPairs) -> Result<Page<NearPair>> {
        let most = limits::NEAR_PAIRS;
        let limit = page_size("limit", request.limit, most, most)? as usize;
        let mut from = request.cursor.as_ref().map(PageCursor::position).transpose()?;
        let sight = Sight::reading_at_home(caller)?;
        let count = limits::NEAR_PAIRS_MEMORIES;
        let rows = self.store.read(|tx| {
            tx.memories(&sight, &MemoryFilter::default(), ListOrder::Newest, from, count)
        })?;
        let mut is_last = rows.len() < count as usize;
        let mut items = Vec::new();
        for (position, memory) in rows {
            let mut found = self.pairs_of(caller, &sight, &memory)?;
            if items.len() + found.len() > limit {
                if items.is_empty() {
                    found.truncate(limit);
                    items = found;
                }
                is_last = false;
                break;
            }
            items.append(&mut found);
            from = Some(position);
        }
        let next = from.filter(|_| !is_last).map(|position| PageCursor::of(&[position]));
        Ok(Page { items, next })
    }

    /// The pairs of this memory with the nearest older ones.
    fn pairs_of(&self, caller: &Caller, sight: &Sight, memory: &Memory) -> Result<Vec<NearPair>> {
        if !memory.is_usable() || is_of_talk(memory) {
            return Ok(Vec::new());
        }
        let found = self.search_visible(caller, sight, &self.nearest_query(memory))?;
        let places: Vec<MemoryRef> = nearest_places(found, memory);
        if places.is_empty() {
            return Ok(Vec::new());
        }
        self.store.read(|tx| {
            let mut pairs = Vec::new();
            for other in tx.memories_of(sight, &places)? {
                let is_pair = may_contradict(memory, &other)
                    && !is_of_talk(&other)
                    && other.id < memory.id
                    && other.text != memory.text;
                if is_pair && !is_answered(tx, memory, &other)? {
                    let (older, newer) = ordered_by_time(memory, &other);
                    pairs.push(near_pair(newer, older));
                }
                if pairs.len() == limits::NEAR_NOTES {
                    break;
                }
            }
            Ok(pairs)
        })
    }

    /// Answers one pair.
    ///
    /// # Errors
    /// As [`Self::answer_pairs`].
    pub fn answer_pair(&self, caller: &Caller, request: &AnswerPair) -> Result<AnswerPairsResult> {
        let answers = AnswerPairs { answers: vec![request.clone()] };
        self.answer_pairs(caller, &answers).map_err(|error| match &error.field {
            Some(field) => {
                let path = field.clone();
                let name = path.trim_start_matches("answers[0].");
                let message = error.message.replace(&format!("{path}: "), "");
                Error { message, ..error }.with_field(name)
            }
            None => error,
        })
    }

    /// Records what the caller says of pairs: all of it, or nothing. A pair that has an answer keeps it.
    ///
    /// # Errors
    /// With the field: `invalid` and `too_large` for the number of answers, `not_found` if a memory is not in
    /// sight, `invalid` if the two cannot be compared, `rate_limited` if too many statements of this agent
    /// are unanswered.
    pub fn answer_pairs(
        &self,
        caller: &Caller,
        request: &AnswerPairs,
    ) -> Result<AnswerPairsResult> {
        request.check()?;
        let (answers, now) = (request.answers.clone(), self.clock.now());
        let once = self.write_once(caller, now, request, move |tx, scope| {
            let answer = |(place, answer): (usize, &AnswerPair)| {
                record_answer(tx, scope, answer).map_err(|error| {
                    let field = error.field.as_deref().unwrap_or("older");
                    let path = format!("answers[{place}].{field}");
                    Error { message: format!("{path}: {}", error.message), ..error }
                        .with_field(&path)
                })
            };
            let pairs = answers.iter().enumerate().map(answer).collect::<Result<_>>()?;
            Ok(AnswerPairsResult { pairs })
        })?;
        Ok(once.answer)
    }
}

/// Whether something was said or found of this pair.
fn is_answered(tx: &Tx<'_>, a: &Memory, b: &Memory) -> Result<bool> {
    let id = id_of(a.id, b.id);
    let is_known = tx.contradictions_of(a)?.iter().any(|(kept, _)| kept.id == id);
    Ok(is_known || tx.is_judged(a, b)?)
}

/// Records one answer; returns what it did.
fn record_answer(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    answer: &AnswerPair,
) -> Result<AnsweredPair> {
    let AnswerPair { newer: newer_id, older: older_id, answer } = *answer;
    let done = |outcome| Ok(AnsweredPair { newer: newer_id, older: older_id, outcome });
    let sight = read_sight(scope)?;
    let newer = live_memory(tx, &sight, newer_id).map_err(|error| error.with_field("newer"))?;
    let older = visible_memory(tx, &sight, older_id).map_err(|error| error.with_field("older"))?;
    access::may_write_in(scope.caller, &newer.workspace)?;
    if older.superseded_by == Some(newer.id) || is_answered(tx, &newer, &older)? {
        return done(AnswerOutcome::AnsweredBefore);
    }
    if !may_contradict(&newer, &older) {
        return Err(incomparable(older_id).with_field("older"));
    }
    let WriteScope { caller, now, .. } = scope;
    let (by, may_replace) = (&caller.agent, |memory: &Memory| access::may_replace(caller, memory));
    match answer {
        PairRelation::Neither => tx.put_answered(&newer, &older, answer, by)?,
        PairRelation::Repeats if may_replace(&newer).is_ok() || may_replace(&older).is_ok() => {
            tx.put_repeated(&newer.workspace, &RepeatedPair::of(&newer, &older, by))?;
        }
        PairRelation::Repeats => {
            tx.put_answered(&newer, &older, answer, by)?;
            return done(AnswerOutcome::Noted);
        }
        // All who read the older one read its successor.
        PairRelation::Replaces if may_replace(&older).is_ok() && access::covers(&newer, &older) => {
            replace(tx, caller, &older, &newer, now)?;
            return done(AnswerOutcome::Superseded);
        }
        PairRelation::Replaces => {
            let found = ContradictionFinding::of_replacement(by, &older, &newer);
            state(tx, scope, &older, &newer, found)?;
        }
        PairRelation::Contradicts => {
            let found = ContradictionFinding::of_statement(by, &older, &newer);
            state(tx, scope, &older, &newer, found)?;
        }
    }
    done(AnswerOutcome::Recorded)
}

/// Records a statement about two memories, whichever of them is older.
fn state(
    tx: &mut Tx<'_>,
    scope: WriteScope<'_>,
    a: &Memory,
    b: &Memory,
    found: ContradictionFinding,
) -> Result<()> {
    let (older, newer) = ordered_by_time(a, b);
    put_statement(tx, scope, older, newer, found)
        .map_err(|error| error.with_field("answer"))
        .map(drop)
}
