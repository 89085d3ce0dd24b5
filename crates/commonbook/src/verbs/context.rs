//! Giving an agent what it needs to know before it works, and telling why it was given that.
//!
//! One read gathers, outside of it is chosen, and one write keeps the receipt with its events: the
//! choice counts tokens, and no other writer waits for that.

mod replay;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::memory::hide_heirs;
use super::standing::StandingFile;
use super::{Commonbook, case};
use crate::base::error::{Error, Result};
use crate::base::hash::sha256;
use crate::base::id::{ContextId, Id, MemoryId, RequestKind, SessionId};
use crate::base::limits;
use crate::model::access::{self, Sight};
use crate::model::caller::Caller;
use crate::model::case::{Case, CaseKey};
use crate::model::event::{EventKind, NewEvent};
use crate::model::handoff::{Handoff, HandoffFilter, HandoffStatus, Side};
use crate::model::memory::{Memory, Sharing};
use crate::model::search::{Place, Question, Within};
use crate::model::standing::Standing;
use crate::prompt::context::choose::{Asked, Candidate, Chosen, Settings, Source, choose};
use crate::prompt::context::{
    Context, ExplainContext, Explained, Gathering, GetContext, Given, KeptContext, Receipt, Wanted,
    relevance,
};
use crate::prompt::fence;
use crate::store::Transaction;
use commonbook_text::tokens;

/// Waiting handoffs that are considered: the newest of each sender in turn.
const HANDOFFS: u32 = 3;

/// Memories about the user, and about the task, that are considered, each: the newest of the owners
/// that count most. Of more, what is relevant would find no room.
const KNOWN: u32 = 2;

/// Cases whose new entries are considered.
const CASES: u32 = 8;

/// New entries of one case that are considered, the newest.
const NEW_ENTRIES: u64 = 12;

/// The part of a budget that the standing memory takes at the most.
const OF_BUDGET: usize = 2;

/// Characters of a token, about.
const CHARS_A_TOKEN: usize = 4;

/// Receipts that one transaction of a sweep removes at the most.
const AT_ONCE: u32 = 100;

impl Commonbook {
    /// Gives the caller what it needs to know before a task.
    ///
    /// # Errors
    /// `invalid` with the field; `not_found` for a case that there is not.
    pub fn get_context(&self, caller: &Caller, request: &GetContext) -> Result<Context> {
        let begun = self.clock.now();
        let caller = access::in_a_hook(caller).for_user(request.user_id.as_deref())?;
        let sight = Sight::reading(&caller)?;
        let wanted = request.check(self.preferences.settings(&caller.agent))?;
        let standing = self.files.read(&caller, begun);
        let nonce = Id::<RequestKind>::new(&*self.ids, begun).to_string();
        let nonce = nonce.trim_start_matches("req_").to_owned();
        let material = self.material(&caller, &sight, (request.case.as_ref(), &wanted), begun)?;
        let chosen =
            self.chosen(&caller, &wanted, (&material, standing.as_ref()), (&nonce, begun))?;
        let kept = KeptContext {
            id: ContextId::new(&*self.ids, begun),
            workspace: caller.workspace.clone(),
            agent: caller.agent.clone(),
            at: begun,
            sequence: material.sequence,
            milliseconds: millis(self.clock.now().duration_since(begun)),
            sha256: sha256(&chosen.text),
            nonce,
            standing: standing.as_ref().map(|file| file.read.clone()),
            receipt: Receipt { handoffs_left: material.handoffs_left, ..chosen.receipt },
        };
        self.keep_context(&caller, &kept)?;
        let over = standing.map(|file| {
            let limits = self.preferences.limits(caller.agent.role());
            Standing::parse(&file.text).over(&limits)
        });
        let KeptContext { id, agent, receipt, .. } = kept;
        Ok(Context {
            id,
            agent,
            text: chosen.text,
            tokens: u32::try_from(receipt.tokens).unwrap_or(u32::MAX),
            items: Given::of(&receipt),
            diagnostics: receipt.diagnostics,
            warnings: over.into_iter().flatten().map(|warning| warning.to_string()).collect(),
        })
    }

    /// Tells why a context is as it is.
    ///
    /// # Errors
    /// `not_found` for a context that there is not, or that was made for another agent.
    pub fn explain_context(&self, caller: &Caller, request: &ExplainContext) -> Result<Explained> {
        Sight::reading(caller)?;
        let id = request.context;
        let kept = self.store.read(|tx| tx.context(&caller.workspace, &caller.agent, id))?;
        let kept = kept.ok_or_else(|| {
            Error::not_found(format!("there is no context {id} of yours"))
                .hint("The agent that it was made for is told, in the same workspace, for 30 days.")
        })?;
        let replay = request.replay.then(|| self.replay(caller, &kept)).transpose()?;
        Ok(Explained { replay, ..kept.into() })
    }

    /// All that could be told, of what the caller sees.
    fn material(
        &self,
        caller: &Caller,
        sight: &Sight,
        (case, wanted): (Option<&CaseKey>, &Wanted),
        now: Timestamp,
    ) -> Result<Material> {
        // Nothing answers a task better than perfectly: then nothing is searched for.
        let searches = wanted.settings.auto_inject && wanted.settings.threshold < 1.0;
        let hits = match searches {
            true => self.hits(caller, sight, &wanted.task, now)?,
            false => BTreeMap::new(),
        };
        self.store.read(|tx| {
            let places: Vec<Place> = hits.keys().cloned().collect();
            let mut memories = tx.memories_of(sight, &places)?;
            hide_heirs(tx, sight, &mut memories)?;
            let scored = memories.into_iter().map(|memory| {
                let score = hits.get(&(memory.workspace.clone(), memory.id)).copied();
                (memory, score.unwrap_or_default())
            });
            let owners = self.preferences.profile_owners(&caller.agent);
            let about = |kind| tx.known_about(sight, kind, caller.user.as_deref(), &owners, KNOWN);
            let (handoffs, handoffs_left) = waiting(tx, caller, sight)?;
            let mut material = Material {
                handoffs,
                handoffs_left,
                profile: about("profile")?,
                task_context: about("task_context")?,
                entries: unread(tx, caller, sight, case)?,
                relevant: scored.collect(),
                contradictions: Vec::new(),
                sequence: tx.journal_end(&caller.workspace)?,
            };
            material.contradictions = tx.contradicting(sight, &material.places())?;
            Ok(material)
        })
    }

    /// The memories that answer a task, with how well each does.
    fn hits(
        &self,
        caller: &Caller,
        sight: &Sight,
        task: &str,
        now: Timestamp,
    ) -> Result<BTreeMap<Place, f64>> {
        // A task is no query: what looks like a filter in it is part of what is said.
        let within = Within { of_user: true, ..Within::default() };
        let question = Question::plain(task.to_owned(), within, now);
        let question = Question { most: limits::CONTEXT_CANDIDATES, ..question };
        let found = self.look_up(caller, sight, question)?.ranked.into_iter();
        Ok(found.map(|hit| ((hit.workspace, hit.id), relevance(&hit.parts))).collect())
    }

    /// What is told of the material.
    fn chosen(
        &self,
        caller: &Caller,
        wanted: &Wanted,
        (material, standing): (&Material, Option<&StandingFile>),
        (nonce, now): (&str, Timestamp),
    ) -> Result<Chosen> {
        let gathering = Gathering {
            agent: &caller.agent,
            templates: &self.templates,
            contradictions: &material.contradictions,
        };
        let Wanted { task, settings } = wanted;
        let mut candidates = Vec::new();
        candidates.extend(handoffs_told(gathering, material, settings));
        candidates.extend(standing.and_then(|file| standing_told(gathering, file, wanted)));
        let known =
            [(Source::Profile, &material.profile), (Source::TaskContext, &material.task_context)];
        for (source, memories) in known {
            candidates.extend(memories.iter().map(|it| gathering.memory(source, it, None)));
        }
        candidates.extend(material.entries.iter().map(|(case, it)| gathering.entry(case, it)));
        candidates.extend(
            material
                .relevant
                .iter()
                .map(|(memory, score)| gathering.memory(Source::Relevant, memory, Some(*score))),
        );
        let asked = Asked { query: task, user_id: caller.user.as_deref(), now };
        Ok(choose(&asked, candidates, settings, &fence(nonce)?, tokens::count))
    }

    /// Keeps a receipt, with the events that tell its agent, and nobody else, of the context.
    fn keep_context(&self, caller: &Caller, kept: &KeptContext) -> Result<()> {
        let (caller, kept) = (caller.clone(), kept.clone());
        self.store.write(move |tx| {
            tx.put_context(&kept)?;
            // All who have no name would be told of each other's.
            if caller.agent.is_anonymous() {
                return Ok(());
            }
            tx.see_agent(&caller, kept.at)?;
            for event in events(&kept) {
                tx.append_event(&event)?;
            }
            Ok(())
        })
    }

    /// Removes the receipts whose 30 days are over, and those beyond the newest 1,000 of an agent.
    pub(super) fn drop_old_contexts(&self, now: Timestamp) -> Result<()> {
        let days = SignedDuration::from_hours(24 * limits::CONTEXT_DAYS);
        let before = now.checked_sub(days).unwrap_or(Timestamp::MIN);
        loop {
            let dropped =
                self.store.write(move |tx| tx.drop_contexts(before, limits::CONTEXTS, AT_ONCE))?;
            if dropped == 0 {
                return Ok(());
            }
        }
    }
}

/// What a context can be made of, as it stood at one place of the journal.
struct Material {
    handoffs: Vec<Handoff>,
    /// How many more wait.
    handoffs_left: u64,
    profile: Vec<Memory>,
    task_context: Vec<Memory>,
    entries: Vec<(Case, Memory)>,
    relevant: Vec<(Memory, f64)>,
    /// Which of these memories are in an open contradiction with which others.
    contradictions: Vec<(MemoryId, MemoryId)>,
    sequence: u64,
}

impl Material {
    /// Where its memories are.
    fn places(&self) -> Vec<Place> {
        let known = self.profile.iter().chain(&self.task_context);
        let entries = self.entries.iter().map(|(_, memory)| memory);
        let relevant = self.relevant.iter().map(|(memory, _)| memory);
        let all = known.chain(entries).chain(relevant);
        all.map(|memory| (memory.workspace.clone(), memory.id)).collect()
    }
}

/// The handoffs that wait for the caller to accept them, the newest of each sender in turn, and how
/// many wait besides.
fn waiting(tx: &dyn Transaction, caller: &Caller, sight: &Sight) -> Result<(Vec<Handoff>, u64)> {
    if caller.agent.is_anonymous() {
        return Ok((Vec::new(), 0));
    }
    let status = vec![HandoffStatus::Pending];
    let filter = HandoffFilter { side: Side::Received, status, ..HandoffFilter::default() };
    let in_turn = HandoffFilter { in_turn: true, ..filter.clone() };
    let found = tx.handoffs(sight, &in_turn, None, HANDOFFS)?;
    let left = tx.handoff_count(sight, &filter)?.saturating_sub(found.len() as u64);
    Ok((found.into_iter().map(|(_, handoff)| handoff).collect(), left))
}

/// The waiting handoffs as candidates: together they take half of the budget at the most, so that
/// no sender writes so much that the rest of the context has no room.
fn handoffs_told(
    gathering: Gathering<'_>,
    material: &Material,
    settings: &Settings,
) -> Vec<Candidate> {
    let count = material.handoffs.len().max(1);
    let told = material.handoffs.iter().enumerate().map(|(index, handoff)| {
        let left = if index == 0 { material.handoffs_left } else { 0 };
        gathering.handoff(handoff, handoff_chars(settings, count), left)
    });
    told.collect()
}

/// Characters that each of so many handoffs takes at the most.
fn handoff_chars(settings: &Settings, count: usize) -> usize {
    settings.budget / OF_BUDGET * CHARS_A_TOKEN / count
}

/// The new entries of the cases that concern the caller: of the one it names, of that of its
/// session, and of those it has read in; of each the newest first.
fn unread(
    tx: &dyn Transaction,
    caller: &Caller,
    sight: &Sight,
    named: Option<&CaseKey>,
) -> Result<Vec<(Case, Memory)>> {
    let mut cases = Vec::new();
    let session = caller.session.as_deref().and_then(|it| it.parse::<SessionId>().ok());
    let session = session.map(|id| tx.session(sight, id)).transpose()?.flatten();
    let of_session = session.and_then(|session| session.case);
    if let Some(key) = named {
        cases.push(case::known(tx, caller, key)?);
    } else if let Some(key) = &of_session {
        cases.extend(tx.case(&caller.workspace, key)?);
    }
    let mut read = Vec::new();
    for case in cases {
        // Who has no name has read nothing: all of them would share one mark.
        let anonymous = caller.agent.is_anonymous();
        let place = if anonymous { 0 } else { mark(tx, caller, &case.key)? };
        read.push((case, place));
    }
    if named.is_none() && !caller.agent.is_anonymous() {
        for (case, place) in tx.unread_cases(&caller.workspace, &caller.agent, CASES)? {
            if read.iter().all(|(known, _)| known.key != case.key) {
                read.push((case, place));
            }
        }
    }
    let mut unread = Vec::new();
    for (case, place) in read {
        let after = place.max(case.version.saturating_sub(NEW_ENTRIES));
        let entries = tx.entries(sight, (&case.workspace, &case.key), (after, case.version))?;
        let others = entries.into_iter().filter(|entry| entry.owner != caller.agent);
        unread.extend(others.rev().map(|entry| (case.clone(), entry)));
    }
    Ok(unread)
}

fn mark(tx: &dyn Transaction, caller: &Caller, key: &CaseKey) -> Result<u64> {
    tx.cursor(&caller.workspace, &caller.agent, Some(key))
}

/// A standing memory file as a candidate, within its share of the budget.
fn standing_told(
    gathering: Gathering<'_>,
    file: &StandingFile,
    Wanted { task, settings }: &Wanted,
) -> Option<Candidate> {
    let told = Standing::parse(&file.text).told(task, share(settings), tokens::count);
    let name = file.path.file_name()?.to_string_lossy().into_owned();
    (!told.text.is_empty()).then(|| gathering.standing(&name, told.text, file.at))
}

/// Tokens that the standing memory takes at the most.
fn share(settings: &Settings) -> usize {
    (settings.budget / OF_BUDGET).min(limits::CONTEXT_ITEM_CHARS / CHARS_A_TOKEN)
}

/// The events that a context leaves.
fn events(kept: &KeptContext) -> Vec<NewEvent> {
    let (agent, at) = (&kept.agent, kept.at);
    let event = |kind, subject: String| {
        NewEvent::about(kind, (&kept.workspace, subject), (agent, at), Sharing::Private)
    };
    let figures = &kept.receipt.diagnostics;
    let built = event(EventKind::ContextBuilt, kept.id.to_string()).saying(&[
        ("candidate_count", json!(figures.candidate_count)),
        ("injected_count", json!(figures.injected_count)),
        ("tokens", json!(kept.receipt.tokens)),
    ]);
    let told = |one: &crate::prompt::context::choose::Considered| {
        one.source == Source::Standing && one.taken
    };
    let loaded = kept.standing.as_ref().filter(|_| kept.receipt.candidates.iter().any(told));
    let loaded = loaded.map(|file| {
        event(EventKind::AgentMemoryLoaded, agent.to_string()).saying(&[
            ("agent_id", json!(agent)),
            ("memory_source", json!(file.source)),
            ("memory_size", json!(file.bytes)),
            ("timestamp", json!(at)),
        ])
    });
    [Some(built), loaded].into_iter().flatten().collect()
}

fn millis(passed: SignedDuration) -> u64 {
    u64::try_from(passed.as_millis()).unwrap_or(0)
}
