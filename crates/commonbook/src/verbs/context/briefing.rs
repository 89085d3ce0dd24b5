//! Briefing an agent: at the beginning of a session and with each prompt, nothing twice.
//!
//! One read gathers the material, and one write records what the text shows. If another process briefed the
//! session in between, the briefing is made again.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use super::going_on::{earlier_work, news_since, session_to_resume, unfinished_handoffs};
use super::{
    ContextChoice, ContextMaterial, TaskHits, ended_handoffs, note_results_told, present_session,
};
use crate::base::error::{Error, Result, unless_unwritable};
use crate::base::id::SessionId;
use crate::base::limits;
use crate::model::access::{self, Sight};
use crate::model::caller::{Caller, session_id};
use crate::model::contradiction::ContradictionStatus;
use crate::model::lineage::{ReadSetKey, day_session};
use crate::model::memory::{Memory, QuarantineNotice};
use crate::model::search::{MemoryRef, SearchFilter};
use crate::prompt::briefing::{
    Briefing, BriefingItem, BriefingKey, BriefingRecord, EarlierCensus, GetBriefing, LastSession,
    MemoryCensus, belongs_to_beginning, belongs_to_prompt, quarantine_notices,
};
use crate::prompt::context::choose::{
    ContextCandidate, ContextSettings, ContextSource, HeadlineSettings,
};
use crate::prompt::context::{
    ContextOptions, ContextOrigin, ContextRecord, GetContext, ItemSummary,
};
use crate::store::{ContradictionFilter, Tx};
use crate::verbs::ops::heirs::show_all;
use crate::verbs::ops::working_session::begin_session;
use crate::verbs::outdated::{ReviewNotices, review_notices};
use crate::verbs::receipt::record_context;
use crate::verbs::{Commonbook, cursor};
use commonbook_text::fence::Fence;
use commonbook_text::tokens;

/// Attempts to brief a session that other processes brief at the same time.
const ATTEMPTS_MAX: usize = 4;

/// New contradictions that are considered.
const CONTRADICTIONS_MAX: u32 = 3;

/// Sessions that one transaction of a sweep forgets at most.
const BRIEFING_SWEEP_MAX: u32 = 100;

/// How a reader resumes a session: in words, as a hook does not know which tools its agent has, or by a command.
const RESUME_WORDS: &str = "resuming that session";
const RESUME_COMMAND: &str = "`commonbook resume`";

/// A checked request for a briefing.
struct BriefingOptions {
    settings: ContextSettings,
    session: Option<String>,
    /// The prompt, as a task.
    prompt: Option<ContextOptions>,
    restart: bool,
}

/// What the agent may read in each workspace that its project used before, the empty ones left out.
fn earlier_census(tx: &Tx<'_>, caller: &Caller, sight: &Sight) -> Result<Vec<EarlierCensus>> {
    let all = sight.clone().with_earlier(caller).workspaces;
    let earlier = all.into_iter().filter(|workspace| !sight.workspaces.contains(workspace));
    let census = earlier.map(|workspace| {
        let there = Sight { workspaces: vec![workspace.clone()], ..sight.clone() };
        let census = tx.memory_census(&there, limits::BRIEFING_COUNTED)?;
        Ok(EarlierCensus { workspace, memories: census.memories })
    });
    let census = census.collect::<Result<Vec<_>>>()?;
    Ok(census.into_iter().filter(|earlier| earlier.memories > 0).collect())
}

/// What a briefing can be made of, as it stood at one position of the journal.
struct BriefingMaterial {
    /// The session; `None` for anonymous callers, who all share one name.
    key: Option<BriefingKey>,
    /// Our own id of the session, if it was started.
    own_session: Option<String>,
    /// What the session has heard before.
    earlier: BriefingRecord,
    /// The position after which something is new.
    position: u64,
    material: ContextMaterial,
    census: Option<MemoryCensus>,
    /// What lies in the workspaces that the project used before.
    earlier_places: Vec<EarlierCensus>,
    /// The session that this one may go on with, when it begins.
    last: Option<LastSession>,
    quarantined: Vec<QuarantineNotice>,
    notices: ReviewNotices,
}

impl BriefingMaterial {
    /// Whether something happened that no later briefing must consider again.
    fn has_news(&self) -> bool {
        let ContextMaterial { contradicting, news, .. } = &self.material;
        let is_quiet = contradicting.is_empty() && news.is_empty() && self.quarantined.is_empty();
        !(is_quiet && self.notices.lines.is_empty())
    }
}

/// A briefing before it is kept.
#[derive(Default)]
struct BriefingDraft {
    parts: Vec<String>,
    records: Vec<ContextRecord>,
    items: Vec<ItemSummary>,
    headlines: Vec<ItemSummary>,
    shown: Vec<BriefingItem>,
}

impl Commonbook {
    /// Returns what the caller needs to know now: at the beginning of a session, and with a prompt.
    /// No text repeats an item in a session, unless the item has changed.
    ///
    /// # Errors
    /// `invalid` with the field.
    pub fn get_briefing(&self, caller: &Caller, request: &GetBriefing) -> Result<Briefing> {
        let caller = access::hook_caller(caller).for_user(request.user_id.as_deref())?;
        let sight = Sight::reading(&caller)?;
        let options = briefing_options(request, self.context_settings(&caller))?;
        if !options.settings.auto_inject {
            return Ok(Briefing::of(caller.agent, &[], Vec::new(), Vec::new(), Vec::new()));
        }
        self.follow_contradictions_once(&caller)?;
        for _ in 0..ATTEMPTS_MAX {
            let now = self.clock.now();
            let found = self.briefing_material(&caller, &sight, &options, now)?;
            let draft = self.draft_briefing(&caller, &options, &found, now)?;
            let kept = self.keep_briefing(&caller, &options, &found, &draft, now);
            let kept = unless_unwritable(kept)?;
            if kept != Some(false) {
                let records = draft.records.iter().filter(|_| kept.is_some());
                let contexts = records.map(|record| record.id).collect();
                let BriefingDraft { parts, items, headlines, .. } = draft;
                return Ok(Briefing::of(caller.agent, &parts, items, headlines, contexts));
            }
        }
        Err(Error::conflict("other processes brief this session at the same time"))
    }

    /// Everything in the caller's sight that the briefing could include.
    fn briefing_material(
        &self,
        caller: &Caller,
        sight: &Sight,
        options: &BriefingOptions,
        now: Timestamp,
    ) -> Result<BriefingMaterial> {
        let hits = match &options.prompt {
            Some(prompt) => self.task_hits(caller, sight, prompt, SearchFilter::default(), now)?,
            None => TaskHits::default(),
        };
        let home = Sight::reading_at_home(caller)?;
        self.store.read(|tx| {
            let key = briefing_key(tx, caller, sight, options.session.as_deref(), now)?;
            let recorded = key.as_ref().map(|key| tx.briefing(key)).transpose()?;
            let earlier = recorded.filter(|_| !options.restart).unwrap_or_default();
            let end = tx.journal_end(&caller.workspace)?;
            let position = earlier.position.map_or_else(|| first_position(tx, caller, end), Ok)?;
            let begins = earlier.position.is_none();
            let mut material =
                self.context_material(tx, caller, sight, None, &hits, &earlier.items)?;
            let session = key.as_ref().map(|key| key.session.as_str());
            material.results = ended_handoffs(tx, caller, sight, session, now)?;
            let found = material.handoffs.len();
            material
                .handoffs
                .retain(|waiting| !earlier.items.contains_key(&waiting.id.to_string()));
            material.handoffs_left += (found - material.handoffs.len()) as u64;
            if begins || options.prompt.is_none() {
                let important = tx.important_memories(sight, limits::BRIEFING_MEMORIES)?;
                material.important = show_all(tx, sight, important)?;
            }
            let present = present_session(tx, caller, sight, session)?.map(|session| session.id);
            material.unfinished = unfinished_handoffs(tx, caller, sight, present, &earlier.items)?;
            if let Some(prompt) = &options.prompt {
                material.earlier = earlier_work(tx, caller, present, &prompt.task)?;
            }
            let mut quarantined = Vec::new();
            let mut notices = ReviewNotices::default();
            if options.prompt.is_some() {
                notices = review_notices(tx, key.as_ref().map(read_set), sight, &earlier.items)?;
            }
            if end > position {
                material.news = news_since(tx, caller, &home, position)?;
            }
            if options.prompt.is_some() && end > position {
                material.contradicting = new_contradictions(tx, &home, position)?;
                quarantined = cursor::quarantine_notices(tx, caller, &home, position)?;
            }
            material.contradictions = tx.contradicting_pairs(sight, &material.memory_refs())?;
            let census = begins.then(|| tx.memory_census(sight, limits::BRIEFING_COUNTED));
            let earlier_places =
                if begins { earlier_census(tx, caller, sight)? } else { Vec::new() };
            let last = begins.then(|| session_to_resume(tx, caller, present)).transpose()?;
            let own_session = key.as_ref().map(|key| own_session(tx, caller, key)).transpose()?;
            Ok(BriefingMaterial {
                earlier_places,
                last: last.flatten(),
                own_session: own_session.flatten(),
                key,
                earlier,
                position,
                material,
                census: census.transpose()?,
                quarantined,
                notices,
            })
        })
    }

    /// Chooses the blocks: what has lasting use first, then what fits the prompt.
    fn draft_briefing(
        &self,
        caller: &Caller,
        options: &BriefingOptions,
        found: &BriefingMaterial,
        now: Timestamp,
    ) -> Result<BriefingDraft> {
        let session = found.key.as_ref().map(|key| key.session.clone());
        let fence = self.fence(&Caller { session, ..caller.clone() })?;
        let mut writer = BriefingWriter {
            book: self,
            caller,
            found,
            fence,
            now,
            draft: BriefingDraft::default(),
        };
        if found.census.is_some() || options.prompt.is_none() {
            let task = format!("Begin to work in {}", caller.workspace);
            let beginning = ContextOptions { task, settings: options.settings };
            writer.add_block(&beginning, belongs_to_beginning)?;
            writer.draft.parts.extend(found.census.map(MemoryCensus::line));
            writer.draft.parts.extend(found.earlier_places.iter().map(EarlierCensus::line));
            let resume = if caller.by_command { RESUME_COMMAND } else { RESUME_WORDS };
            writer.draft.parts.extend(found.last.iter().map(|last| last.line(resume)));
        }
        if let Some(prompt) = &options.prompt {
            let notices = [quarantine_notices(&found.quarantined), found.notices.text()];
            let notices = notices.into_iter().filter(|text| !text.is_empty());
            let notices = notices.collect::<Vec<_>>().join("\n\n");
            writer.draft.shown.extend(found.notices.items.iter().cloned());
            // Who goes on needs more than who asks on.
            let budget = match found.material.earlier.memories.is_empty() {
                true => limits::BRIEFING_TOKENS.min(options.settings.budget),
                false => options.settings.budget,
            };
            let budget = budget.saturating_sub(tokens::count(&notices));
            let settings = ContextSettings { budget, ..prompt.settings };
            writer.draft.parts.push(notices);
            let prompt = ContextOptions { settings, task: prompt.task.clone() };
            writer.add_block(&prompt, belongs_to_prompt)?;
        }
        Ok(writer.draft)
    }

    /// Records what the text shows, with its receipts. Returns false if another process has briefed
    /// the session since the material was read.
    fn keep_briefing(
        &self,
        caller: &Caller,
        options: &BriefingOptions,
        found: &BriefingMaterial,
        draft: &BriefingDraft,
        now: Timestamp,
    ) -> Result<bool> {
        let Some(key) = found.key.clone() else {
            return Ok(true);
        };
        let is_new = found.earlier.position.is_none();
        if draft.records.is_empty() && !is_new && !found.has_news() {
            return Ok(true);
        }
        let (earlier, items) = (found.earlier.clone(), draft.shown.clone());
        let (records, restart) = (draft.records.clone(), options.restart);
        let end = found.material.sequence;
        // News from before the first prompt come with the first prompt.
        let position = if options.prompt.is_some() { end } else { found.position };
        let reads_news = options.prompt.is_some();
        self.write_as(caller, now, move |tx, caller| {
            if restart {
                tx.forget_briefing(&key)?;
            }
            if tx.briefing(&key)? != earlier {
                return Ok(false);
            }
            begin_session(tx, caller, now)?;
            for record in &records {
                record_context(tx, record)?;
            }
            tx.record_briefing(&key, Some(position), &items, now)?;
            note_results_told(tx, caller, &items, now)?;
            if reads_news {
                tx.put_cursor(&caller.workspace, &caller.agent, None, end, now)?;
            }
            Ok(true)
        })
    }

    /// Records for the session of a caller that a context has shown these items.
    pub(in crate::verbs) fn note_context_items(
        tx: &mut Tx<'_>,
        caller: &Caller,
        sight: &Sight,
        items: &[BriefingItem],
        now: Timestamp,
    ) -> Result<()> {
        let Some(session) = caller.session.as_deref().filter(|_| !items.is_empty()) else {
            return Ok(());
        };
        match briefing_key(tx, caller, sight, Some(session), now)? {
            Some(key) => tx.record_briefing(&key, None, items, now),
            None => Ok(()),
        }
    }

    /// Forgets the sessions whose last briefing is more than 30 days old, and what sessions received
    /// before that.
    pub(in crate::verbs) fn drop_old_briefings(&self, now: Timestamp) -> Result<()> {
        let days = SignedDuration::from_hours(24 * limits::CONTEXT_DAYS);
        let before = now.checked_sub(days).unwrap_or(Timestamp::MIN);
        while self.store.write(move |tx| tx.drop_briefings(before, BRIEFING_SWEEP_MAX))? > 0 {}
        while self.store.write(move |tx| tx.drop_told(before, BRIEFING_SWEEP_MAX))? > 0 {}
        Ok(())
    }
}

/// Writes the blocks of one briefing.
struct BriefingWriter<'w> {
    book: &'w Commonbook,
    caller: &'w Caller,
    found: &'w BriefingMaterial,
    fence: Fence,
    now: Timestamp,
    draft: BriefingDraft,
}

impl BriefingWriter<'_> {
    /// Adds a block of what belongs to it and is new to the session.
    fn add_block(
        &mut self,
        options: &ContextOptions,
        belongs: fn(ContextSource) -> bool,
    ) -> Result<()> {
        let Self { book, caller, found, fence, now, .. } = &*self;
        let standing = match belongs(ContextSource::Standing) {
            true => book.own_standing(caller, *now)?,
            false => Vec::new(),
        };
        let notices = book.standing_notices(caller, &standing);
        let prepare = |candidates: &mut Vec<ContextCandidate>| {
            candidates.retain(|candidate| belongs(candidate.source));
            self.mark_repeated(candidates, options.settings.threshold);
        };
        let choice = ContextChoice {
            options,
            material: &found.material,
            standing: &standing,
            fence,
            now: *now,
            prepare: &prepare,
        };
        let chosen = book.choose_from_material(caller, choice)?;
        if chosen.text.is_empty() {
            self.draft.parts.extend(notices);
            return Ok(());
        }
        let items = BriefingItem::all_of(&chosen);
        let standing = book.standing_snapshot(caller, &standing)?;
        let mut record = book.context_record(caller, &found.material, &chosen, standing, *now);
        record.receipt.origin = ContextOrigin::Briefing;
        record.receipt.session = found.key.as_ref().map(|key| key.session.clone());
        self.draft.items.extend(ItemSummary::of(&record.receipt));
        self.draft.headlines.extend(ItemSummary::headlines_of(&record.receipt));
        self.draft.parts.push(chosen.text);
        self.draft.parts.extend(notices);
        self.draft.records.push(record);
        self.draft.shown.extend(items);
        Ok(())
    }

    /// Marks what the session has heard at its present revision, and what its agent saved in it. An
    /// item that is new stands beside the one that contradicts it, even if the session knows that.
    fn mark_repeated(&self, candidates: &mut [ContextCandidate], threshold: f64) {
        let shown = self.draft.shown.iter().map(|item| (item.id.as_str(), item.revision));
        let heard: HashMap<&str, u64> = (self.found.earlier.items.iter())
            .map(|(id, revision)| (id.as_str(), *revision))
            .chain(shown)
            .collect();
        let ContextMaterial { relevant, earlier, .. } = &self.found.material;
        let own = relevant.iter().map(|(memory, _)| memory).chain(&earlier.memories);
        let own = own.filter(|memory| self.is_of_session(memory));
        let own: Vec<String> = own.map(|memory| memory.id.to_string()).collect();
        for candidate in candidates.iter_mut() {
            let BriefingItem { id, revision } = BriefingItem::of(candidate);
            candidate.repeated = heard.get(id.as_str()) == Some(&revision) || own.contains(&id);
            let headline = BriefingItem::headline_of(candidate);
            candidate.headline_repeated =
                heard.get(headline.id.as_str()) == Some(&headline.revision);
        }
        let fresh = candidates.iter().filter(|candidate| {
            !candidate.repeated && candidate.score.is_none_or(|score| score >= threshold)
        });
        let beside: Vec<String> =
            fresh.flat_map(|candidate| candidate.contradicts.clone()).collect();
        for candidate in candidates.iter_mut() {
            candidate.repeated &= !beside.contains(&candidate.item.id);
        }
    }

    /// Whether the agent itself saved the memory in this session.
    fn is_of_session(&self, memory: &Memory) -> bool {
        memory.owner == self.caller.agent
            && memory.session.is_some()
            && memory.session == self.found.own_session
    }
}

fn briefing_options(request: &GetBriefing, settings: ContextSettings) -> Result<BriefingOptions> {
    let settings = ContextSettings { headlines: HeadlineSettings::PROMPT, ..settings };
    let prompt = request.prompt.as_deref().filter(|prompt| !prompt.trim().is_empty());
    let prompt = prompt.map(|prompt| {
        let task = GetContext { task: prompt.to_owned(), ..GetContext::default() };
        task.check(settings).map_err(|error| match error.field.as_deref() {
            Some("task") => {
                let message = error.message.replacen("task", "prompt", 1);
                Error { message, ..error }.with_field("prompt")
            }
            _ => error,
        })
    });
    let own = request.client_session.as_deref();
    Ok(BriefingOptions {
        settings,
        session: own.map(|own| session_id("client_session", own)).transpose()?,
        prompt: prompt.transpose()?,
        restart: request.restart,
    })
}

/// What the session of a caller has heard, by id; nothing if the caller names none.
pub(super) fn heard_in_session(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    now: Timestamp,
) -> Result<HashMap<String, u64>> {
    let Some(session) = caller.session.as_deref() else { return Ok(HashMap::new()) };
    let key = briefing_key(tx, caller, sight, Some(session), now)?;
    let record = key.map(|key| tx.briefing(&key)).transpose()?;
    Ok(record.unwrap_or_default().items)
}

/// The session of the caller; `None` for an anonymous one. A session of ours goes by the client's own
/// id of it, which hooks know; a caller without a session has one each day.
fn briefing_key(
    tx: &Tx<'_>,
    caller: &Caller,
    sight: &Sight,
    named: Option<&str>,
    now: Timestamp,
) -> Result<Option<BriefingKey>> {
    if caller.agent.is_anonymous() {
        return Ok(None);
    }
    let session = match named.or(caller.session.as_deref()) {
        None => day_session(now),
        Some(session) => {
            let id = SessionId::parse(session);
            let found = id.map(|id| tx.session(sight, id)).transpose()?.flatten();
            let own = found.filter(|found| found.agent == caller.agent);
            own.and_then(|own| own.client_session).unwrap_or_else(|| session.to_owned())
        }
    };
    let (workspace, agent) = (caller.workspace.clone(), caller.agent.clone());
    Ok(Some(BriefingKey { workspace, agent, session }))
}

/// The read set of the session of a briefing.
fn read_set(key: &BriefingKey) -> ReadSetKey {
    let BriefingKey { workspace, agent, session } = key.clone();
    ReadSetKey { workspace, agent, sessions: vec![session] }
}

/// Our own id of a session.
fn own_session(tx: &Tx<'_>, caller: &Caller, key: &BriefingKey) -> Result<Option<String>> {
    let found = tx.own_session(&caller.workspace, &caller.agent, &key.session)?;
    let id = || SessionId::parse(&key.session).map(|id| id.to_string());
    Ok(found.map(|found| found.id.to_string()).or_else(id))
}

/// The position from which a new session hears news: where another session of the agent heard them
/// last. To an agent that never did, the whole past would be news.
fn first_position(tx: &Tx<'_>, caller: &Caller, end: u64) -> Result<u64> {
    if caller.agent.is_anonymous() {
        return Ok(end);
    }
    let mark = tx.cursor(&caller.workspace, &caller.agent, None)?;
    Ok(if mark == 0 { end } else { mark.min(end) })
}

/// The memories of the contradictions that were found after this position, the newest first.
fn new_contradictions(tx: &Tx<'_>, sight: &Sight, position: u64) -> Result<Vec<Memory>> {
    let filter = ContradictionFilter {
        status: Some(ContradictionStatus::Open),
        ..ContradictionFilter::default()
    };
    let found = tx.contradictions(sight, &filter, CONTRADICTIONS_MAX)?;
    let found = found.into_iter().filter(|(sequence, _)| *sequence > position);
    let sides: Vec<MemoryRef> = found
        .flat_map(|(_, contradiction)| {
            contradiction.memories.map(|side| (contradiction.workspace.clone(), side.id))
        })
        .collect();
    show_all(tx, sight, tx.memories_of(sight, &sides)?)
}
