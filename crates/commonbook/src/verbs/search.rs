//! Finding memories that answer a question.

pub(super) mod slots;

use std::collections::{BTreeSet, HashSet};

use jiff::Timestamp;

use super::Commonbook;
use super::case::unknown_case;
use super::ops::heirs::show_all;
use super::ops::past::in_words_of;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::base::page::{self, PageCursor};
use crate::index::{SearchBudget, SearchWork};
use crate::model::access::{self, Sight};
use crate::model::caller::Caller;
use crate::model::entity::{EntityRef, OwnTypes, query_name_ids};
use crate::model::lineage::MemoryReading;
use crate::model::memory::{Memory, UsageKind};
use crate::model::search::{
    IndexHit, IndexQuery, IndexResponse, MemoryRef, SearchHit, SearchMemory, SearchResponse,
    SearchScope,
};
use crate::model::session::SessionUse;
use crate::prompt::briefing::BriefingKey;
use crate::prompt::hits::hits_text;
use crate::store::Tx;
use crate::verbs::memory::live_memory;
use crate::verbs::ops::basis::read_set_key;
use crate::verbs::ops::find_visible::{no_such_entity, resolve_ref};
use crate::verbs::ops::handles::{find_memory_id, longer_handles};
use slots::SearchSlot;

impl Commonbook {
    /// Finds the memories in sight that answer a question, best first.
    ///
    /// # Errors
    /// `invalid` if the query is empty without a filter, `k` is out of range, or the cursor or the owner is
    /// malformed; `too_large` if the query is over its limit; `unavailable` if too many searches
    /// run at once, if the search would read more than [`limits::SEARCH_POSTINGS`], or if it takes
    /// longer than [`limits::SEARCH_MILLIS`].
    pub fn search_memory(&self, caller: &Caller, request: &SearchMemory) -> Result<SearchResponse> {
        self.search_measured(caller, request).map(|(answer, _)| answer)
    }

    /// [`Commonbook::search_memory`] with the work that it took: for tests and benches, not for the
    /// doors.
    ///
    /// # Errors
    /// As [`Commonbook::search_memory`].
    pub fn search_measured(
        &self,
        caller: &Caller,
        request: &SearchMemory,
    ) -> Result<(SearchResponse, SearchWork)> {
        let limit = page::page_size("k", request.k, limits::SEARCH_DEFAULT, limits::SEARCH_MAX)?;
        let (now, returned) = self.page_state(request)?;
        let question = request.to_index_query(now)?;
        let (caller, question) = self.in_named_session(caller, question)?;
        let caller = caller.for_user(request.user_id.as_deref())?;
        let caller = caller.for_user(question.user.as_deref())?;
        let sight = Sight::reading(&caller)?;
        if request.scope == SearchScope::Home {
            access::may_roam(&caller)?;
        }
        if asks_same_session(&question) && caller.session.is_none() {
            return Ok((nothing_in_session(sight), SearchWork::default()));
        }
        // Hits of earlier pages may be among the best again, and one more hit shows whether there
        // is a next page.
        let most = (returned.len() + limit as usize + 1).min(limits::SEARCH_DEPTH);
        let question = IndexQuery { most, ..question };
        let sight = sight.with_earlier(&caller);
        let settle = || self.settle_question(&caller, &sight, request.scope, &question);
        let (sight, question) = self.index.open_during(settle)?;
        let (found, work) = self.search_index(&caller, &sight, &question)?;
        let mut left = found.ranked.into_iter().filter(|hit| !returned.contains(&hit_mark(hit)));
        let page: Vec<IndexHit> = left.by_ref().take(limit as usize).collect();
        let marks = returned.iter().copied().chain(page.iter().map(hit_mark));
        let millis = u64::try_from(now.as_millisecond()).unwrap_or(0);
        let next = left
            .next()
            .map(|_| PageCursor::of(&[millis].into_iter().chain(marks).collect::<Vec<_>>()));
        let wanted: Vec<_> = page.iter().map(|hit| (hit.workspace.clone(), hit.id)).collect();
        let (memories, contradictions, sequence) = self.store.read(|tx| {
            let mut memories = tx.memories_of(&sight, &wanted)?;
            if let Some(at) = question.within.at {
                memories = in_words_of(tx, &sight, memories, at)?;
            }
            let memories = show_all(tx, &sight, memories)?;
            let sequence = tx.journal_end(&caller.workspace)?;
            Ok((memories, tx.contradiction_marks(&sight, &wanted)?, sequence))
        })?;
        let work = SearchWork { rows: wanted.len() as u64, ..work };
        // A memory that was purged or hidden just now is no hit any more.
        let mut memories = memories.into_iter().peekable();
        let hits: Vec<SearchHit> = page
            .iter()
            .filter_map(|hit| {
                let is_of = |m: &Memory| m.id == hit.id && m.workspace == hit.workspace;
                let memory = memories.next_if(is_of)?;
                let IndexHit { score, relevance, matched, parts, .. } = hit.clone();
                let own = contradictions.iter().filter(|mark| mark.memory == memory.id).cloned();
                let contradictions = own.collect();
                Some(SearchHit { memory, score, relevance, matched, parts, contradictions })
            })
            .collect();
        let found_memories = hits.iter().map(|hit| (&hit.memory.workspace, hit.memory.id));
        self.note_usage(&caller, UsageKind::Found, found_memories);
        if question.within.at.is_none() {
            self.note_opened(&caller, hits.iter().map(|hit| &hit.memory), sequence);
        }
        let vanished = (page.len() - hits.len()) as u64;
        let total = found.total - vanished;
        let (workspaces, model, notice) = (sight.workspaces, found.model, found.notice);
        Ok((SearchResponse { hits, total, next, workspaces, model, notice }, work))
    }

    /// The answer to a search as text for the caller.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn search_text(&self, caller: &Caller, found: SearchResponse) -> Result<String> {
        let ids: Vec<String> = found.hits.iter().map(|hit| hit.memory.id.to_string()).collect();
        let sight = Sight::reading(caller)?.with_earlier(caller);
        let longer = self.store.read(|tx| longer_handles(tx, &sight, &ids))?;
        let now = self.clock.now();
        let fence = self.fence(caller)?;
        Ok(hits_text(found, &caller.workspace, &longer, &fence, now))
    }

    /// The hits of the index in this sight, for a query without a case.
    pub(super) fn search_visible(
        &self,
        caller: &Caller,
        sight: &Sight,
        question: &IndexQuery,
    ) -> Result<IndexResponse> {
        let settle = || self.settle_question(caller, sight, SearchScope::Workspace, question);
        let (sight, question) = self.index.open_during(settle)?;
        self.search_index(caller, &sight, &question).map(|(found, _)| found)
    }

    /// As [`Self::search_visible`], if a search slot is free; `None` otherwise. Nothing is waited for.
    pub(super) fn search_if_free(
        &self,
        caller: &Caller,
        sight: &Sight,
        question: &IndexQuery,
    ) -> Result<Option<IndexResponse>> {
        let Some(slot) = self.searches.take_free(caller) else { return Ok(None) };
        let settle = || self.settle_question(caller, sight, SearchScope::Workspace, question);
        let (sight, question) = self.index.open_during(settle)?;
        self.search_in_slot(&slot, caller, &sight, &question).map(|(found, _)| Some(found))
    }

    /// Searches the index in a search slot. Every search of the index goes through here; its budget
    /// begins with the slot.
    ///
    /// # Errors
    /// `unavailable` if no slot is free in time, if the search is over its budget, or if the client
    /// cancelled it.
    pub(super) fn search_index(
        &self,
        caller: &Caller,
        sight: &Sight,
        question: &IndexQuery,
    ) -> Result<(IndexResponse, SearchWork)> {
        let slot = self.searches.take(caller)?;
        self.search_in_slot(&slot, caller, sight, question)
    }

    /// Searches the index in this slot, with which its budget begins.
    fn search_in_slot(
        &self,
        _slot: &SearchSlot<'_>,
        caller: &Caller,
        sight: &Sight,
        question: &IndexQuery,
    ) -> Result<(IndexResponse, SearchWork)> {
        let budget = SearchBudget::of(&self.clock, &caller.cancellation);
        self.index.search_within_budget(&*self.store, sight, question, &budget)
    }

    /// The caller in its session, and the question with the id of that session, if the question needs
    /// it. Without a session `unseen:` leaves out what the caller was given today outside of any.
    ///
    /// # Errors
    /// `invalid` with the field for `unseen:` of a caller without a name.
    fn in_named_session(
        &self,
        caller: &Caller,
        mut question: IndexQuery,
    ) -> Result<(Caller, IndexQuery)> {
        let is_same = asks_same_session(&question);
        if !is_same && !question.unseen {
            return Ok((caller.clone(), question));
        }
        // Strangers share the name of unnamed callers, so what these were given is not kept.
        if question.unseen && caller.agent.is_anonymous() {
            let message = "unseen: needs a named agent; this caller has no name";
            return Err(
                Error::invalid("query", message).hint("Name the agent, or leave `unseen:` out.")
            );
        }
        let caller = self.in_working_session(caller, SessionUse::Joins)?.into_owned();
        if is_same && caller.session.is_some() {
            question.within.session.clone_from(&caller.session);
        }
        Ok((caller, question))
    }

    /// Settles in one snapshot which workspaces are searched, that the case exists, which memory the
    /// filter `near` names, what the session was given, and which memories mention the filter's entity
    /// and the entities that the words name.
    ///
    /// # Errors
    /// `not_found` if no workspace in sight has the case, the entity or the memory.
    fn settle_question(
        &self,
        caller: &Caller,
        sight: &Sight,
        scope: SearchScope,
        question: &IndexQuery,
    ) -> Result<(Sight, IndexQuery)> {
        if question.entity.is_some() {
            // Otherwise the mentions read so far suffice: they only raise a score.
            self.follow_mentions(caller)?;
        }
        let roams = scope != SearchScope::Workspace && access::may_roam(caller).is_ok();
        let opened = if question.unseen { self.unwritten_readings(caller) } else { Vec::new() };
        self.store.read(|tx| {
            let own = &self.entity_rules.own_types;
            let (mut sight, mut question) = (sight.clone(), question.clone());
            let own_journal = || tx.journals_of(std::slice::from_ref(&caller.workspace));
            if roams && (scope == SearchScope::Home || own_journal()?.is_empty()) {
                let workspaces = tx.workspaces()?;
                let many = self.index.search_workspaces_max();
                match many.filter(|most| workspaces.len() > *most) {
                    None => sight.workspaces = workspaces,
                    Some(most) if scope == SearchScope::Home => return Err(too_wide(most)),
                    // A node does not read a database of many teams for a hint.
                    Some(_) => {}
                }
            }
            if let Some(case) = &question.within.case {
                let mut found = sight.workspaces.iter().map(|workspace| tx.case(workspace, case));
                if found.find_map(Result::transpose).transpose()?.is_none() {
                    return Err(unknown_case(case));
                }
            }
            if let Some(entity) = &question.entity {
                question.within.mentioning = Some(memories_mentioning(tx, &sight, own, entity)?);
            }
            if let Some(pattern) = &question.path {
                let at_path = tx.memories_matching_path(&sight, pattern)?;
                let within = question.within.mentioning.take();
                question.within.mentioning = Some(match within {
                    None => at_path,
                    Some(mentioning) => {
                        let at_path: HashSet<MemoryRef> = at_path.into_iter().collect();
                        mentioning.into_iter().filter(|memory| at_path.contains(memory)).collect()
                    }
                });
            }
            if let Some(near) = &question.near {
                question.within.near = Some(memory_named(tx, &sight, near)?);
            }
            if question.unseen {
                let home = Sight::reading(caller)?.with_earlier(caller);
                question.within.given = given_memories(tx, caller, &home, question.now, &opened)?;
            }
            if sight.workspaces.len() <= NAMED_WORKSPACES_MAX {
                question.about = named_entity_memories(tx, &sight, own, &question.text)?;
            }
            Ok((sight, question))
        })
    }

    /// The time of the first page, which all pages use, and the marks of the hits on earlier pages.
    /// A later page leaves those out, so that no hit is repeated or skipped, whatever was saved in
    /// between.
    fn page_state(&self, request: &SearchMemory) -> Result<(Timestamp, BTreeSet<u64>)> {
        let Some(cursor) = &request.cursor else {
            return Ok((self.clock.now(), BTreeSet::new()));
        };
        let [millis, marks @ ..] = cursor.as_slice() else {
            return Err(PageCursor::foreign_cursor());
        };
        let then = i64::try_from(*millis).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let then = then.filter(|_| !marks.is_empty()).ok_or_else(PageCursor::foreign_cursor)?;
        Ok((then, marks.iter().copied().collect()))
    }
}

/// The memories that the session of a caller was given, as they are now: in texts, as headlines, or
/// opened. One that has changed since is not among them.
fn given_memories(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    now: Timestamp,
    opened: &[MemoryReading],
) -> Result<Vec<MemoryRef>> {
    let Some(key) = read_set_key(tx, caller, sight, now)? else { return Ok(Vec::new()) };
    let told = tx.told_memories(&key)?.into_iter();
    let told = told.filter(|told| told.revision >= told.current);
    let mut given: Vec<MemoryRef> = told.map(|told| (told.origin, told.memory)).collect();
    // What was opened and is not written yet, and headlines.
    let opened = opened.iter().filter(|reading| key.sessions.contains(&reading.session));
    let opened = opened.flat_map(|reading| &reading.memories);
    let mut shown: Vec<(MemoryId, u64)> =
        opened.filter_map(|(id, revision)| Some((*id, (*revision)?))).collect();
    for session in key.sessions {
        let (workspace, agent) = (key.workspace.clone(), key.agent.clone());
        let heard = tx.briefing(&BriefingKey { workspace, agent, session })?;
        shown.extend(heard.memories());
    }
    let places = sight
        .workspaces
        .iter()
        .flat_map(|workspace| shown.iter().map(move |(id, _)| (workspace.clone(), *id)));
    let places: Vec<MemoryRef> = places.collect();
    let current = tx.memories_of(sight, &places)?.into_iter();
    let current = current.filter(|memory| {
        shown.iter().any(|(id, revision)| *id == memory.id && *revision >= memory.revision)
    });
    given.extend(current.map(|memory| (memory.workspace.clone(), memory.id)));
    Ok(given)
}

/// The error of a search in more workspaces than one search may read.
fn too_wide(most: usize) -> Error {
    let message = format!("the database has more than {most} workspaces, too many for one search");
    Error::new(ErrorKind::TooLarge, message)
        .hint("Leave the scope out, and search in the workspace that has it.")
}

/// Whether a question asks for the memories of the session that its caller works in.
fn asks_same_session(question: &IndexQuery) -> bool {
    question.within.session.as_deref() == Some(SAME_SESSION)
}

/// The response to a search in the session of a caller that works in none.
fn nothing_in_session(sight: Sight) -> SearchResponse {
    let notice = "session:same finds what was saved in your session, and you work in none yet";
    SearchResponse {
        hits: Vec::new(),
        total: 0,
        next: None,
        workspaces: sight.workspaces,
        model: None,
        notice: Some(notice.to_owned()),
    }
}

/// The memory in sight that the query names after `near:`.
fn memory_named(tx: &Tx<'_>, sight: &Sight, name: &str) -> Result<MemoryRef> {
    let found = find_memory_id(tx, sight, name).and_then(|id| live_memory(tx, sight, id));
    let found = found.map_err(|error| error.with_field("query"))?;
    Ok((found.workspace.clone(), found.id))
}

/// The session that the caller works in, as a query names it.
const SAME_SESSION: &str = "same";

/// A search in more workspaces does not look up the entities that the query names.
const NAMED_WORKSPACES_MAX: usize = 8;

/// Entities of a query that are looked up at most.
const QUESTION_ENTITIES_MAX: usize = 8;

/// An entity that more memories in sight mention distinguishes nothing and is ignored.
const TELLING_MEMORIES_MAX: usize = 50;

/// The memories in sight that mention this entity, in all workspaces that have it.
fn memories_mentioning(
    tx: &Tx<'_>,
    sight: &Sight,
    own: &OwnTypes,
    wanted: &EntityRef,
) -> Result<Vec<MemoryRef>> {
    let (mut places, mut missing) = (None::<Vec<MemoryRef>>, None);
    for workspace in &sight.workspaces {
        let there = Sight { workspaces: vec![workspace.clone()], ..sight.clone() };
        match resolve_ref(tx, &there, own, wanted) {
            Ok(id) => {
                let found = tx.mentioning_memories(sight, workspace, id, usize::MAX)?;
                let found = found.into_iter().map(|id| (workspace.clone(), id));
                places.get_or_insert_default().extend(found);
            }
            Err(error) if error.kind == ErrorKind::NotFound => missing = Some(error),
            Err(error) => return Err(error),
        }
    }
    places.map_or_else(|| Err(missing.unwrap_or_else(|| no_such_entity(&wanted.to_string()))), Ok)
}

/// For each distinguishing entity that the words name, the memories that mention it.
fn named_entity_memories(
    tx: &Tx<'_>,
    sight: &Sight,
    own: &OwnTypes,
    text: &str,
) -> Result<Vec<Vec<MemoryRef>>> {
    let mut about = Vec::new();
    for workspace in &sight.workspaces {
        let names = query_name_ids(workspace, text, own);
        for id in tx.roots(sight, workspace, &names)?.into_iter().take(QUESTION_ENTITIES_MAX) {
            let found = tx.mentioning_memories(sight, workspace, id, TELLING_MEMORIES_MAX + 1)?;
            if !found.is_empty() && found.len() <= TELLING_MEMORIES_MAX {
                about.push(found.into_iter().map(|id| (workspace.clone(), id)).collect());
            }
        }
    }
    Ok(about)
}

/// The mark of a hit in a cursor: 48 bits from the random part of its id and its workspace.
fn hit_mark(hit: &IndexHit) -> u64 {
    let name = hit.workspace.as_str().bytes();
    let workspace = name.fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let (_, random) = hit.id.uuid().as_u64_pair();
    (random ^ workspace) & 0xffff_ffff_ffff
}
