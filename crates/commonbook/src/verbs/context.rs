//! Building the context that an agent needs before it works, and explaining its choice.
//!
//! One read gathers the material, the choice runs outside of any transaction, and one write keeps
//! the receipt with its events: the choice counts tokens, and no other writer waits for that.

mod briefing;
mod going_on;
mod past;
mod replay;
mod results;
mod standing_parts;

use std::collections::{BTreeSet, HashMap};

use jiff::{SignedDuration, Timestamp};

use super::ops::heirs::show_all;
use super::receipt::{UNUSED_NONCE, record_context};
use super::retraction::waiting_retractions;
use super::standing::StandingFile;
use super::{Commonbook, case};
use crate::base::error::{Error, Result, unless_unwritable};
use crate::base::hash::sha256;
use crate::base::id::{ContextId, HandoffId, MemoryId, SessionId};
use crate::base::limits;
use crate::base::page::{Page, PageCursor, PageSize};
use crate::model::access::{self, Sight};
use crate::model::caller::{Caller, EntryPoint};
use crate::model::case::{Case, CaseKey, CaseProposal};
use crate::model::contradiction::ContradictionMark;
use crate::model::handoff::{Handoff, HandoffFilter, HandoffSide, HandoffStatus};
use crate::model::memory::{Memory, RetractionNotice};
use crate::model::search::{IndexQuery, IndexResponse, MemoryRef, SearchFilter};
use crate::model::session::Session;
use crate::prompt::briefing::{BriefingItem, LastSession};
use crate::prompt::context::choose::{
    ContextCandidate, ContextQuery, ContextSelection, ContextSettings, ContextSource,
};
use crate::prompt::context::{
    AgentContext, CandidateBuilder, ContextExplanation, ContextOptions, ContextOrigin,
    ContextReceipt, ContextRecord, ContextSummary, ExplainContext, GetContext, HandoffQueue,
    ItemSummary, ListContexts, StandingSnapshot,
};
use crate::store::Tx;
use crate::verbs::ops::basis::read_set_key;
use crate::verbs::ops::forgotten::receipt_without_forgotten;
use crate::verbs::ops::working_session::begin_session;
use crate::verbs::outdated::{ReviewNotices, review_notices};
use commonbook_text::boilerplate::without_boilerplate;
use commonbook_text::fence::Fence;
pub(super) use going_on::news_since;
use going_on::{EarlierWork, earlier_work, session_to_resume, unfinished_handoffs};
use past::PastTime;
use standing_parts::ContextFrame;
pub use standing_parts::{person_rules, person_rules_elsewhere, project_context};

/// Waiting handoffs that are considered: the oldest that the session has not heard.
const WAITING_HANDOFFS_MAX: usize = 3;

/// Memories that are considered about the user, and as many about the task: the newest of the most
/// important owners. With more of them, relevant memories would find no room.
const PROFILE_MEMORIES_MAX: u32 = 2;

/// Cases whose new entries are considered.
const UNREAD_CASES_MAX: u32 = 8;

/// New entries of one case that are considered, newest first.
const NEW_ENTRIES_MAX: u64 = 12;

/// The handoffs take at most this fraction of a budget, and so does the standing memory while other
/// candidates need the rest.
const BUDGET_SHARE_DIVISOR: usize = 2;

/// Receipts that one transaction of a sweep removes at most.
const RECEIPT_SWEEP_MAX: u32 = 100;

/// The warning of a context from a store that can only be read.
const UNSTORED_RECEIPT: &str =
    "the store can only be read here: this context has no receipt, and no command explains it";

impl Commonbook {
    /// Returns what the caller needs to know before a task.
    ///
    /// # Errors
    /// `invalid` with the field; `not_found` if the case does not exist.
    pub fn get_context(&self, caller: &Caller, request: &GetContext) -> Result<AgentContext> {
        let begun = self.clock.now();
        let caller = access::hook_caller(caller).for_user(request.user_id.as_deref())?;
        let sight = Sight::reading(&caller)?;
        let wanted = request.check(self.context_settings(&caller))?;
        let (case, at) = (request.case.as_ref(), request.past_time(begun)?);
        let standing = self.own_standing(&caller, begun)?;
        let fence = self.fence(&caller)?;
        let (standing, material) = match at {
            None => (standing, self.gather_material(&caller, &sight, case, &wanted, begun)?),
            Some(at) => (
                self.standing_then(&caller, standing, at)?,
                self.past_material(&caller, &sight, case, &wanted, PastTime { at, now: begun })?,
            ),
        };
        let choice = ContextChoice {
            options: &wanted,
            material: &material,
            standing: &standing,
            fence: &fence,
            now: begun,
            prepare: &|_| (),
        };
        let chosen = self.choose_from_material(&caller, choice)?;
        let read = self.standing_snapshot(&caller, &standing)?;
        let kept = self.context_record(&caller, &material, &chosen, read, begun);
        let mut shown = BriefingItem::all_of(&chosen);
        shown.extend(material.notices.items);
        let stored = unless_unwritable(self.keep_context(&caller, &sight, &kept, shown))?;
        let mut warnings = material.notices.lines;
        warnings.extend(stored.is_none().then(|| UNSTORED_RECEIPT.to_owned()));
        warnings.extend(material.last.map(|last| last.line("`resume_session`")));
        // An earlier text of the file says nothing of the file of today.
        let files = if at.is_none() { standing } else { Vec::new() };
        warnings.extend(self.standing_notices(&caller, &files));
        warnings.extend(files.iter().flat_map(|file| self.standing_warnings(&caller, file)));
        let ContextRecord { id, agent, receipt, .. } = kept;
        Ok(AgentContext {
            id,
            agent,
            session: receipt.session.clone(),
            text: chosen.text,
            tokens: u32::try_from(receipt.tokens).unwrap_or(u32::MAX),
            items: ItemSummary::of(&receipt),
            headlines: ItemSummary::headlines_of(&receipt),
            diagnostics: receipt.diagnostics,
            warnings,
        })
    }

    /// Explains why a context holds what it holds: to its agent, to the agents above it and to the
    /// person, to these with the candidates alone that they may read.
    ///
    /// # Errors
    /// `not_found` if no such context is in sight; `forbidden` to replay another agent's, `invalid`
    /// to replay a text that was not chosen.
    pub fn explain_context(
        &self,
        caller: &Caller,
        request: &ExplainContext,
    ) -> Result<ContextExplanation> {
        let (sight, id) = (Sight::reading(caller)?, request.context);
        let kept = self.store.read(|tx| {
            let Some(kept) = tx.context(&sight, id)? else { return Ok(None) };
            if kept.agent == caller.agent {
                return Ok(Some(kept));
            }
            let seen = tx.items_in_sight(&sight, &kept.receipt.ids())?;
            Ok(Some(kept.narrowed_to(|id| seen.contains(id))))
        })?;
        let kept = kept.ok_or_else(|| {
            Error::not_found(format!("no context {id} exists that you may read"))
                .hint("Use the agent that it was made for, in the same workspace, within 30 days.")
        })?;
        let replay = request.replay.then(|| self.replay(caller, &kept)).transpose()?;
        Ok(ContextExplanation { replay, ..kept.into() })
    }

    /// Lists what the caller and the agents below it received, newest first; to the person, what
    /// all agents received. Each with the figures of the items alone that the caller may read.
    ///
    /// # Errors
    /// `invalid` if the limit is out of range, or if the cursor or the agent's name is malformed.
    pub fn list_contexts(
        &self,
        caller: &Caller,
        request: &ListContexts,
    ) -> Result<Page<ContextSummary>> {
        let (sight, filter) = (Sight::reading(caller)?, request.filter(self.clock.now())?);
        let size = PageSize::of(request.limit)?;
        let beyond = request.cursor.as_ref().map(PageCursor::id).transpose()?;
        // All anonymous callers share one name: none sees what another received.
        if caller.agent.is_anonymous() && !sight.is_person {
            return Ok(Page { items: Vec::new(), next: None });
        }
        self.store.read(|tx| {
            let found = tx.contexts(&sight, &filter, beyond, size.rows())?;
            let ids: BTreeSet<String> = (found.iter())
                .flat_map(|context| context.receipt.told())
                .map(|candidate| candidate.id.clone())
                .collect();
            let seen = tx.items_in_sight(&sight, &ids)?;
            let page = size.page(found, |context| PageCursor::after(context.id));
            Ok(page.map(|context| context.summary(|id| seen.contains(id))))
        })
    }

    /// How much a context of this caller may include.
    fn context_settings(&self, caller: &Caller) -> ContextSettings {
        let by_command = caller.by_command;
        ContextSettings { by_command, ..self.preferences.settings(&caller.agent) }
    }

    /// Everything in the caller's sight that the context could include.
    fn gather_material(
        &self,
        caller: &Caller,
        sight: &Sight,
        case: Option<&CaseKey>,
        options: &ContextOptions,
        now: Timestamp,
    ) -> Result<ContextMaterial> {
        let hits = self.task_hits(caller, sight, options, SearchFilter::default(), now)?;
        self.follow_contradictions_once(caller)?;
        self.store.read(|tx| {
            let heard = briefing::heard_in_session(tx, caller, sight, now)?;
            let mut material = self.context_material(tx, caller, sight, case, &hits, &heard)?;
            let present = present_session(tx, caller, sight, caller.session.as_deref())?;
            let present = present.map(|session| session.id);
            material.unfinished = unfinished_handoffs(tx, caller, sight, present, &heard)?;
            material.earlier = earlier_work(tx, caller, present, &options.task)?;
            let is_in_session = caller.session.is_some() || caller.connection.is_some();
            if is_in_session && heard.is_empty() && material.earlier.memories.is_empty() {
                material.last = session_to_resume(tx, caller, present)?;
            }
            // One's own notes of a task are found by the task; they lead no other.
            material.task_context.retain(|memory| memory.owner != caller.agent);
            // A context repeats what its task needs, but results are news.
            material.results = ended_handoffs(tx, caller, sight, caller.session.as_deref(), now)?;
            let is_known =
                |ended: &Handoff| heard.get(&ended.id.to_string()) == Some(&ended.version);
            material.results.retain(|ended| !is_known(ended));
            material.contradictions = tx.contradicting_pairs(sight, &material.memory_refs())?;
            let key = read_set_key(tx, caller, sight, now)?;
            material.notices = review_notices(tx, key, sight, &heard)?;
            material.marks = tx.contradiction_marks(sight, &material.memory_refs())?;
            Ok(material)
        })
    }

    /// What every context can include, with these hits of a search; without contradictions and results.
    /// Handoffs that the session has `heard` yield to others.
    fn context_material(
        &self,
        tx: &Tx<'_>,
        caller: &Caller,
        sight: &Sight,
        case: Option<&CaseKey>,
        hits: &TaskHits,
        heard: &HashMap<String, u64>,
    ) -> Result<ContextMaterial> {
        let relevant = show_all(tx, sight, tx.memories_of(sight, &hits.memory_refs())?)?;
        let owners = self.preferences.profile_owners(&caller.agent);
        let user = caller.user.as_deref();
        let about = |kind| {
            let found = tx.memories_about(sight, kind, user, &owners, PROFILE_MEMORIES_MAX)?;
            show_all(tx, sight, found)
        };
        let (handoffs, handoffs_left) = waiting_handoffs(tx, caller, sight, heard)?;
        Ok(ContextMaterial {
            retractions: waiting_retractions(tx, caller, sight, None)?,
            handoffs,
            handoffs_left,
            profile: about("profile")?,
            task_context: about("task_context")?,
            entries: unread_entries(tx, caller, sight, case)?,
            proposals: case::proposals_to(tx, caller, sight)?,
            relevant: hits.in_order(relevant),
            memories: hits.memories,
            sequence: tx.journal_end(&caller.workspace)?,
            ..ContextMaterial::default()
        })
    }

    /// The memories within this filter that answer a task.
    fn task_hits(
        &self,
        caller: &Caller,
        sight: &Sight,
        options: &ContextOptions,
        within: SearchFilter,
        now: Timestamp,
    ) -> Result<TaskHits> {
        let ContextOptions { task, settings } = options;
        // At this threshold no memory is relevant enough: the search is skipped.
        if !settings.auto_inject || settings.threshold >= 1.0 {
            return Ok(TaskHits::default());
        }
        let earlier = self
            .store
            .read(|tx| tx.latest_tasks(&caller.workspace, limits::CONTEXT_TASKS_COMPARED))?;
        let new_part = without_boilerplate(task, &earlier).into_owned();
        // A task is not a query: filter syntax in it is part of the text.
        let within = SearchFilter { of_user: true, ..within };
        let question = IndexQuery::from_plain_text(new_part, within, now);
        let question = IndexQuery { most: limits::CONTEXT_CANDIDATES, ..question };
        let IndexResponse { ranked, memories, .. } =
            self.search_visible(caller, sight, &question)?;
        let ranked = ranked.into_iter().map(|hit| ((hit.workspace, hit.id), hit.relevance));
        Ok(TaskHits { ranked: ranked.collect(), memories })
    }

    /// The part of the material that goes into a context.
    fn choose_from_material(
        &self,
        caller: &Caller,
        choice: ContextChoice<'_>,
    ) -> Result<ContextSelection> {
        let ContextChoice { options, material, standing, fence, now, prepare } = choice;
        let ContextOptions { task, settings } = options;
        let gathering = CandidateBuilder {
            agent: &caller.agent,
            templates: &self.templates,
            contradictions: &material.contradictions,
            marks: &material.marks,
        };
        let mut candidates = Vec::new();
        candidates.extend(
            (material.retractions.iter())
                .filter_map(|(notice, memory)| gathering.retraction(notice, memory)),
        );
        candidates.extend(handoff_candidates(gathering, material, settings));
        candidates.extend(material.results.iter().map(|handoff| gathering.result(handoff)));
        let sources = [
            (ContextSource::Profile, &material.profile),
            (ContextSource::TaskContext, &material.task_context),
            (ContextSource::Important, &material.important),
            (ContextSource::Contradiction, &material.contradicting),
            (ContextSource::Session, &material.earlier.memories),
            (ContextSource::News, &material.earlier.news),
            (ContextSource::News, &material.news),
        ];
        for (source, memories) in sources {
            candidates.extend(memories.iter().map(|memory| gathering.memory(source, memory, None)));
        }
        candidates
            .extend(material.entries.iter().map(|(case, entry)| gathering.entry(case, entry)));
        candidates.extend(material.proposals.iter().map(|proposal| gathering.proposal(proposal)));
        candidates.extend(material.relevant.iter().enumerate().map(|(place, (memory, score))| {
            let candidate = gathering.memory(ContextSource::Relevant, memory, Some(*score));
            ContextCandidate { place, ..candidate }
        }));
        let (user_id, memories) = (caller.user.as_deref(), material.memories);
        let query = ContextQuery { query: task, user_id, now, note: "", memories };
        let frame = ContextFrame { gathering, settings, fence, prepare };
        self.choose_with_standing(caller, &query, candidates, frame, standing)
    }

    /// The receipt of a context that was made of this material.
    fn context_record(
        &self,
        caller: &Caller,
        material: &ContextMaterial,
        chosen: &ContextSelection,
        standing: Option<StandingSnapshot>,
        begun: Timestamp,
    ) -> ContextRecord {
        let (handoffs_left, receipt) = (material.handoffs_left, chosen.receipt.clone());
        let origin = match caller.door {
            EntryPoint::Hook => ContextOrigin::Delegation,
            _ => ContextOrigin::Context,
        };
        let session = caller.session.clone();
        ContextRecord {
            id: ContextId::new(&*self.ids, begun),
            workspace: caller.workspace.clone(),
            agent: caller.agent.clone(),
            at: begun,
            sequence: material.sequence,
            milliseconds: milliseconds_of(self.clock.now().duration_since(begun)),
            sha256: sha256(&chosen.text),
            nonce: Fence::nonce_of_block(&chosen.text).unwrap_or(UNUSED_NONCE).to_owned(),
            standing,
            is_bound: caller.proof.is_bound(),
            receipt: ContextReceipt { handoffs_left, origin, session, ..receipt },
        }
    }

    /// Keeps a receipt with its events, and notes these items as told.
    fn keep_context(
        &self,
        caller: &Caller,
        sight: &Sight,
        kept: &ContextRecord,
        items: Vec<BriefingItem>,
    ) -> Result<()> {
        let (sight, kept) = (sight.clone(), kept.clone());
        self.write_as(caller, kept.at, move |tx, caller| {
            begin_session(tx, caller, kept.at)?;
            // All anonymous callers share one name, and would see each other's events.
            if caller.agent.is_anonymous() {
                let kept = receipt_without_forgotten(tx, &kept)?;
                return tx.put_context(&kept);
            }
            Self::note_context_items(tx, caller, &sight, &items, kept.at)?;
            note_results_told(tx, caller, &items, kept.at)?;
            record_context(tx, &kept)
        })
    }

    /// Removes the receipts that are older than 30 days, and those beyond the newest 1,000 of an
    /// agent.
    pub(super) fn drop_old_contexts(&self, now: Timestamp) -> Result<()> {
        let days = SignedDuration::from_hours(24 * limits::CONTEXT_DAYS);
        let before = now.checked_sub(days).unwrap_or(Timestamp::MIN);
        loop {
            let dropped = self
                .store
                .write(move |tx| tx.drop_contexts(before, limits::CONTEXTS, RECEIPT_SWEEP_MAX))?;
            if dropped == 0 {
                return Ok(());
            }
        }
    }
}

/// What a search found for a task.
#[derive(Default)]
struct TaskHits {
    /// The memories, each with its relevance, best first.
    ranked: Vec<(MemoryRef, f64)>,
    /// Number of the memories that were searched.
    memories: u64,
}

impl TaskHits {
    fn memory_refs(&self) -> Vec<MemoryRef> {
        self.ranked.iter().map(|(found, _)| found.clone()).collect()
    }

    /// These memories with their relevance, best first.
    fn in_order(&self, memories: Vec<Memory>) -> Vec<(Memory, f64)> {
        let mut found: HashMap<MemoryRef, Memory> = memories
            .into_iter()
            .map(|memory| ((memory.workspace.clone(), memory.id), memory))
            .collect();
        let ranked = self.ranked.iter();
        ranked.filter_map(|(place, score)| Some((found.remove(place)?, *score))).collect()
    }
}

/// What a context can be made of, as it stood at one position of the journal.
#[derive(Default)]
struct ContextMaterial {
    /// Retractions that the agent has not heard of.
    retractions: Vec<(RetractionNotice, Memory)>,
    /// Handoffs that the caller accepted in an earlier session and has not ended.
    unfinished: Vec<Handoff>,
    handoffs: Vec<Handoff>,
    /// Handoffs that wait besides these.
    handoffs_left: u64,
    /// Handoffs of the caller that ended lately.
    results: Vec<Handoff>,
    profile: Vec<Memory>,
    task_context: Vec<Memory>,
    entries: Vec<(Case, Memory)>,
    /// Proposals of entries for cases that the agent leads.
    proposals: Vec<CaseProposal>,
    /// What the task found, each with its relevance, best first.
    relevant: Vec<(Memory, f64)>,
    /// Number of the memories that were searched for the task.
    memories: u64,
    /// The most important memories, at the beginning of a session.
    important: Vec<Memory>,
    /// The memories of new contradictions.
    contradicting: Vec<Memory>,
    /// What other agents saved since the last briefing.
    news: Vec<Memory>,
    /// The work that the task goes on with.
    earlier: EarlierWork,
    /// The session that the task may go on with, where the session has heard nothing yet.
    last: Option<LastSession>,
    /// The pairs of these memories that are in an open contradiction.
    contradictions: Vec<(MemoryId, MemoryId)>,
    /// The marks of these memories.
    marks: Vec<ContradictionMark>,
    /// What has changed of what the agent received or derived.
    notices: ReviewNotices,
    sequence: u64,
}

/// A context to choose.
#[derive(Clone, Copy)]
struct ContextChoice<'c> {
    options: &'c ContextOptions,
    material: &'c ContextMaterial,
    standing: &'c [StandingFile],
    fence: &'c Fence,
    now: Timestamp,
    /// Removes and marks candidates before the choice.
    prepare: &'c dyn Fn(&mut Vec<ContextCandidate>),
}

impl ContextMaterial {
    /// The references of its memories.
    fn memory_refs(&self) -> Vec<MemoryRef> {
        let owned = self.profile.iter().chain(&self.task_context);
        let entries = self.entries.iter().map(|(_, memory)| memory);
        let relevant = self.relevant.iter().map(|(memory, _)| memory);
        let briefed = self.important.iter().chain(&self.contradicting).chain(&self.news);
        let earlier = self.earlier.memories.iter().chain(&self.earlier.news);
        let all = owned.chain(entries).chain(relevant).chain(briefed).chain(earlier);
        all.map(|memory| (memory.workspace.clone(), memory.id)).collect()
    }
}

/// The handoffs that wait for the caller to accept them, oldest first, those that it has heard after
/// the others, and the number of further ones. The order is that of the queue alone: with turns of the
/// senders, ever new senders could keep the second handoff of another waiting forever.
fn waiting_handoffs(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    heard: &HashMap<String, u64>,
) -> Result<(Vec<Handoff>, u64)> {
    if caller.agent.is_anonymous() {
        return Ok((Vec::new(), 0));
    }
    let status = vec![HandoffStatus::Pending];
    let filter = HandoffFilter {
        side: HandoffSide::Received,
        status,
        oldest_first: true,
        ..HandoffFilter::default()
    };
    let is_heard = |id: &HandoffId| heard.contains_key(&id.to_string());
    // This number holds as many fresh ones as one text shows.
    let most = u32::try_from(heard.len() + WAITING_HANDOFFS_MAX).unwrap_or(u32::MAX);
    let waiting = tx.tasks(sight, &filter, most)?.into_iter().map(|(_, handoff)| handoff.id);
    let (heard, fresh): (Vec<HandoffId>, Vec<HandoffId>) = waiting.partition(is_heard);
    let chosen = fresh.into_iter().chain(heard).take(WAITING_HANDOFFS_MAX);
    let found = chosen.map(|id| tx.handoff(sight, id)).collect::<Result<Vec<_>>>()?;
    let found: Vec<Handoff> = found.into_iter().flatten().collect();
    let left = tx.handoff_count(sight, &filter)?.saturating_sub(found.len() as u64);
    Ok((found, left))
}

/// The handoffs of the caller that were completed or rejected lately, without those of whose end it
/// heard before this session began.
fn ended_handoffs(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    session: Option<&str>,
    now: Timestamp,
) -> Result<Vec<Handoff>> {
    if caller.agent.is_anonymous() {
        return Ok(Vec::new());
    }
    let hours = SignedDuration::from_hours(limits::HANDOFF_RESULT_HOURS);
    let since = now.checked_sub(hours).unwrap_or(Timestamp::MIN);
    let start = present_session(tx, caller, sight, session)?.map(|session| session.started_at);
    tx.ended_handoffs(sight, &caller.agent, since, start, limits::HANDOFF_RESULTS)
}

/// The session of the caller that our id or the client's own names; `None` if it is not stored.
fn present_session(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    session: Option<&str>,
) -> Result<Option<Session>> {
    let Some(name) = session else { return Ok(None) };
    match SessionId::parse(name) {
        Some(id) => Ok(tx.session(sight, id)?.filter(|found| found.agent == caller.agent)),
        None => tx.own_session(&caller.workspace, &caller.agent, name),
    }
}

/// Notes the ends of handoffs among items that a text shows its agent.
fn note_results_told(
    tx: &mut Tx<'_>,
    caller: &Caller,
    items: &[BriefingItem],
    now: Timestamp,
) -> Result<()> {
    let ids: Vec<HandoffId> = items.iter().filter_map(|item| HandoffId::parse(&item.id)).collect();
    match ids.is_empty() {
        true => Ok(()),
        false => tx.note_results_told(&caller.workspace, &caller.agent, &ids, now),
    }
}

/// The unfinished and waiting handoffs as candidates. Together they take at most half of the budget, so that no
/// sender can crowd out the rest of the context.
fn handoff_candidates(
    gathering: CandidateBuilder<'_>,
    material: &ContextMaterial,
    settings: &ContextSettings,
) -> Vec<ContextCandidate> {
    let ContextMaterial { unfinished, handoffs, handoffs_left, .. } = material;
    let told = handoffs.len() as u64;
    let queue = HandoffQueue { told, waiting: told + handoffs_left };
    let tokens = handoff_tokens(settings, (told + unfinished.len() as u64).max(1));
    let waiting = handoffs.iter().enumerate().map(|(index, handoff)| {
        // The first one carries the length of the queue.
        gathering.handoff(handoff, tokens, (index == 0).then_some(queue))
    });
    let unfinished = unfinished.iter().map(|handoff| gathering.handoff(handoff, tokens, None));
    unfinished.chain(waiting).collect()
}

/// Tokens that each of `count` handoffs has at most.
fn handoff_tokens(settings: &ContextSettings, count: u64) -> usize {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    settings.budget / BUDGET_SHARE_DIVISOR / count
}

/// The new entries, newest first, of the cases that concern the caller: the case it names, the case
/// of its session, and those it has read in.
fn unread_entries(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    named: Option<&CaseKey>,
) -> Result<Vec<(Case, Memory)>> {
    let mut cases = Vec::new();
    let session = caller.session.as_deref().and_then(|id| id.parse::<SessionId>().ok());
    let session = session.map(|id| tx.session(sight, id)).transpose()?.flatten();
    let of_session = session.and_then(|session| session.case);
    if let Some(key) = named {
        cases.push(case::find_case(tx, caller, key)?);
    } else if let Some(key) = &of_session {
        cases.extend(tx.case(&caller.workspace, key)?);
    }
    let mut read = Vec::new();
    for case in cases {
        // Anonymous callers have read nothing: they would all share one mark.
        let anonymous = caller.agent.is_anonymous();
        let place = if anonymous { 0 } else { case_mark(tx, caller, &case.key)? };
        read.push((case, place));
    }
    if named.is_none() && !caller.agent.is_anonymous() {
        for (case, place) in tx.unread_cases(&caller.workspace, &caller.agent, UNREAD_CASES_MAX)? {
            if read.iter().all(|(earlier, _)| earlier.key != case.key) {
                read.push((case, place));
            }
        }
    }
    let mut unread = Vec::new();
    for (case, place) in read {
        let after = place.max(case.version.saturating_sub(NEW_ENTRIES_MAX));
        let entries = case::entries_of(tx, sight, &case, after, case.version)?;
        let others = entries
            .into_iter()
            .filter(|entry| entry.owner != caller.agent && entry.retraction.is_none());
        let others = show_all(tx, sight, others.rev().collect())?;
        unread.extend(others.into_iter().map(|entry| (case.clone(), entry)));
    }
    Ok(unread)
}

fn case_mark(tx: &Tx<'_>, caller: &Caller, key: &CaseKey) -> Result<u64> {
    tx.cursor(&caller.workspace, &caller.agent, Some(key))
}

fn milliseconds_of(passed: SignedDuration) -> u64 {
    u64::try_from(passed.as_millis()).unwrap_or(0)
}
