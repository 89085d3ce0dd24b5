//! Asking the endpoint in the settings about pairs that the rules leave open.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::contradiction_event;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits;
use crate::base::page::{PageCursor, page_size};
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::contradiction::judging::{
    ContradictionJudge, ContradictionJudgeHandle, JudgeResult, Judgement,
};
use crate::model::contradiction::{
    Contradiction, ContradictionFinding, ContradictionRecord, JudgeContradictions,
    MemoryStatements, id_of, may_contradict, ordered_by_time,
};
use crate::model::event::EventKind;
use crate::model::memory::{ListOrder, Memory, Sharing};
use crate::model::search::{MemoryFilter, MemoryRef};
use crate::prompt::judgement::{JUDGE_INSTRUCTIONS, judge_question};
use crate::store::Tx;
use crate::verbs::Commonbook;
use crate::verbs::memory::live_memory;
use commonbook_text::fence::Fence;

/// Memories whose pairs one call looks for.
const MEMORIES_READ_MAX: usize = 2_000;

/// Pairs of one memory that one call asks about: the newest.
const MEMORY_PAIRS_MAX: usize = 5;

/// The notice of an endpoint that failed. It names neither the address nor the cause; the owner finds
/// both in the log.
const JUDGE_FAILURE_NOTICE: &str = "The endpoint in the settings failed, so the other pairs stay open. What it \
    answered before is recorded. The log says why.";

/// Two memories that may contradict each other: the rules cannot tell.
struct OpenPair {
    older: Memory,
    newer: Memory,
    /// The cursor of a call that begins with it.
    from: Option<u64>,
}

/// The open pairs of a call.
struct OpenPairs {
    pairs: Vec<OpenPair>,
    /// Where the next call goes on.
    next: Option<u64>,
}

impl Commonbook {
    /// The same Commonbook, with this judge for pairs that the rules leave open.
    #[must_use]
    pub fn with_contradiction_judge(self, judge: Option<ContradictionJudgeHandle>) -> Self {
        Self { judge, ..self }
    }

    /// Asks the endpoint in the settings about pairs of memories in sight that the rules leave open,
    /// outside of every transaction. Each judgement is recorded at once, so that a failure loses
    /// none.
    ///
    /// # Errors
    /// `invalid` if no endpoint is configured, or if limit or cursor are malformed or out of range;
    /// `not_found` if the memory is out of sight. A failing endpoint is no error: the notice says so.
    pub fn judge_contradictions(
        &self,
        caller: &Caller,
        request: &JudgeContradictions,
    ) -> Result<JudgeResult> {
        let (preset, most) = (limits::JUDGED_PAIRS_DEFAULT, limits::JUDGED_PAIRS);
        let limit = page_size("limit", request.limit, preset, most)? as usize;
        let from = request.cursor.as_ref().map(PageCursor::position).transpose()?;
        let judge = self.judge.clone().ok_or_else(no_judge)?;
        self.policy.may_write(caller)?;
        let sight = Sight::writing_at_home(caller)?;
        self.follow_contradictions(caller)?;
        let found = self.store.read(|tx| {
            let finder = PairFinder { tx, sight: &sight, agent: &caller.agent, limit };
            match request.memory {
                Some(id) => {
                    let memory = live_memory(tx, &sight, id);
                    let memory = memory.map_err(|error| error.with_field("memory"))?;
                    finder.pairs_of(&memory)
                }
                None => finder.newest_pairs(from),
            }
        })?;
        let fence = self.fence(caller)?;
        self.ask_about(&*judge, found, &fence)
    }

    /// Asks about these pairs, one after the other, until the endpoint fails or the time is over.
    fn ask_about(
        &self,
        judge: &dyn ContradictionJudge,
        found: OpenPairs,
        fence: &Fence,
    ) -> Result<JudgeResult> {
        const PAIR_TIMEOUT: Duration = Duration::from_secs(limits::JUDGED_PAIR_SECONDS);
        const CALL_TIMEOUT: Duration = Duration::from_secs(limits::JUDGED_SECONDS);
        let cursor = |position: Option<u64>| position.map(|position| PageCursor::of(&[position]));
        let mut result = JudgeResult {
            contradictions: Vec::new(),
            compatible: 0,
            unclear: 0,
            notice: None,
            next: cursor(found.next),
        };
        let begun = self.clock.now();
        for pair in found.pairs {
            let now = self.clock.now();
            let took = now.duration_since(begun).try_into().unwrap_or_default();
            let left = CALL_TIMEOUT.saturating_sub(took);
            let question = judge_question(&pair.older, &pair.newer, fence, now);
            let answer = match (left.is_zero(), question) {
                (true, _) => {
                    Err(Error::new(ErrorKind::Unavailable, "the time of the call is over"))
                }
                (_, None) => Ok(String::new()),
                (_, Some(question)) => {
                    judge.answer(JUDGE_INSTRUCTIONS, &question, left.min(PAIR_TIMEOUT))
                }
            };
            match answer.map(|answer| Judgement::read(&answer)) {
                Err(error) => {
                    tracing::warn!(%error, "the judge of contradictions is not asked again");
                    result.notice = Some(JUDGE_FAILURE_NOTICE.to_owned());
                    result.next = cursor(pair.from);
                    return Ok(result);
                }
                Ok(None) => result.unclear += 1,
                Ok(Some(judgement)) => match self.record_judgement(pair, judgement, now)? {
                    Some(contradiction) => result.contradictions.push(contradiction),
                    None => result.compatible += u64::from(judgement == Judgement::Compatible),
                },
            }
        }
        Ok(result)
    }

    /// Records a judgement; returns the contradiction if both memories are still as they were judged.
    fn record_judgement(
        &self,
        pair: OpenPair,
        judgement: Judgement,
        now: Timestamp,
    ) -> Result<Option<Contradiction>> {
        let OpenPair { older, newer, .. } = pair;
        let Judgement::Contradict(kind) = judgement else {
            return self.store.write(move |tx| tx.put_judged(&older, &newer).map(|()| None));
        };
        let found = ContradictionFinding::of_endpoint(kind, &older, &newer);
        let record = Arc::new(ContradictionRecord::new(&older, &newer, found, now));
        let pair = Arc::new([older, newer]);
        self.store.write(move |tx| {
            let [older, newer] = &*pair;
            let known = tx.contradictions_of(older)?;
            if known.iter().any(|(kept, _)| kept.id == record.id) {
                return Ok(None);
            }
            let place = tx.journal_end(&older.workspace)? + 1;
            if !tx.put_contradiction(&record, place)? {
                return Ok(None);
            }
            let kind = EventKind::ContradictionFound;
            tx.append_event(&contradiction_event(kind, older, newer, &Agent::system(), now))?;
            Ok(Some(ContradictionRecord::clone(&record).into_contradiction(older, newer)))
        })
    }
}

/// The search for open pairs.
struct PairFinder<'f> {
    tx: &'f Tx<'f>,
    sight: &'f Sight,
    agent: &'f Agent,
    limit: usize,
}

impl PairFinder<'_> {
    /// The open pairs of one memory.
    fn pairs_of(&self, memory: &Memory) -> Result<OpenPairs> {
        let mut pairs = self.open_with(memory, None, |_| true)?;
        pairs.truncate(self.limit);
        Ok(OpenPairs { pairs, next: None })
    }

    /// The open pairs of the newest memories beyond a position, each pair at its newer memory.
    fn newest_pairs(&self, beyond: Option<u64>) -> Result<OpenPairs> {
        let filter = MemoryFilter::default();
        let (mut pairs, mut place, mut read): (Vec<OpenPair>, _, _) = (Vec::new(), beyond, 0);
        loop {
            let order = ListOrder::Newest;
            let page = self.tx.memories(self.sight, &filter, order, place, limits::PAGE_MAX)?;
            let is_last = page.len() < limits::PAGE_MAX as usize;
            for (position, memory) in page {
                let from = Some(position + 1);
                if pairs.len() >= self.limit || read >= MEMORIES_READ_MAX {
                    return Ok(OpenPairs { pairs, next: from });
                }
                let mut more = self.open_with(&memory, from, |other| other.id < memory.id)?;
                more.truncate(MEMORY_PAIRS_MAX.min(self.limit - pairs.len()));
                pairs.append(&mut more);
                (place, read) = (Some(position), read + 1);
            }
            if is_last {
                return Ok(OpenPairs { pairs, next: None });
            }
        }
    }

    /// The memories in sight that may contradict this one, where the rules cannot tell and nobody was
    /// asked.
    fn open_with(
        &self,
        memory: &Memory,
        from: Option<u64>,
        wanted: impl Fn(&Memory) -> bool,
    ) -> Result<Vec<OpenPair>> {
        let tx = self.tx;
        if !self.may_leave(memory) {
            return Ok(Vec::new());
        }
        let keys = MemoryStatements::of(memory).keys();
        let most = limits::CONTRADICTION_CANDIDATES;
        let workspace = &memory.workspace;
        let mut others = tx.memories_claiming(self.sight, workspace, &keys, None, most)?;
        others.retain(|other| {
            wanted(other) && may_contradict(memory, other) && self.may_leave(other) && {
                let (older, newer) = ordered_by_time(memory, other);
                MemoryStatements::of(older).is_open_with(&MemoryStatements::of(newer))
            }
        });
        if others.is_empty() {
            return Ok(Vec::new());
        }
        // The permission rule once more, where every reader asks it.
        let places: Vec<MemoryRef> =
            others.iter().map(|other| (other.workspace.clone(), other.id)).collect();
        let known = tx.contradictions_of(memory)?;
        let mut pairs = Vec::new();
        for other in tx.memories_of(self.sight, &places)? {
            let id = id_of(memory.id, other.id);
            if known.iter().any(|(kept, _)| kept.id == id) || tx.is_judged(memory, &other)? {
                continue;
            }
            let (older, newer) = ordered_by_time(memory, &other);
            pairs.push(OpenPair { older: older.clone(), newer: newer.clone(), from });
        }
        Ok(pairs)
    }

    /// Whether the text of a memory may leave this machine at the caller's wish: the caller sees it,
    /// and a private one is its own.
    fn may_leave(&self, memory: &Memory) -> bool {
        let own = memory.sharing == Sharing::Shared || memory.owner == *self.agent;
        own && self.sight.sees(memory) && memory.is_usable()
    }
}

/// The error without an endpoint.
fn no_judge() -> Error {
    Error::new(ErrorKind::Invalid, "no endpoint judges contradictions")
        .hint("The owner of the home can name one in config.json, as docs/operating.md describes.")
}
