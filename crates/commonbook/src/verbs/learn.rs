//! Saving the learnings in an agent's message, and its conversation with its user.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use super::Commonbook;
use super::memory::{find_earlier, keep_memory, replace};
use super::standing::{self, StandingCause, StandingFile};
use crate::base::error::{Error, Result};
use crate::base::id::MemoryId;
use crate::base::input::without_control_characters;
use crate::base::limits;
use crate::model::access::{self, Sight};
use crate::model::caller::Caller;
use crate::model::learning::{
    LEARNING_SORT_KEY, LearnRequest, LearnResult, Learning, LearningUpdate, StandingChange,
    extract_learnings, lessons_in_report,
};
use crate::model::memory::{Importance, ListOrder, Memory, MemorySubject, MemoryType, SaveMemory};
use crate::model::search::{MemoryFilter, MemoryRef};
use crate::model::standing::{
    AddOutcome, StandingAction, StandingDocument, StandingItem, section_of,
};
use crate::model::workspace::Workspace;
use crate::prompt::context::choose::ContextSource;
use crate::prompt::context::tell::TemplateSet;
use crate::prompt::context::{CandidateBuilder, ContextFilter};
use crate::store::Tx;
use crate::verbs::ops::forgotten::{MemoryRemainder, without_forgotten};
use crate::verbs::ops::write_once::{WriteScope, fit_key};
use commonbook_text::claims::compare::says_same;
use commonbook_text::echo::{repeats, without_contexts};

/// The latest contexts of an agent whose memories are not saved again as its own.
const RECENT_CONTEXTS_MAX: u32 = 8;

/// The newest learnings of an agent that a new one is compared with.
const KNOWN_LEARNINGS_MAX: u32 = 200;

impl Commonbook {
    /// Saves the learnings in a message as memories of the caller, and the message itself with the
    /// prompt that it answers, if that is configured.
    ///
    /// # Errors
    /// `invalid` with the field; `conflict` if the idempotency key was used for another request;
    /// `unavailable` if a standing memory file cannot be written: the learnings are saved
    /// nevertheless.
    pub fn learn(&self, caller: &Caller, request: &LearnRequest) -> Result<LearnResult> {
        let caller = access::hook_caller(caller).for_user(request.user_id.as_deref())?;
        if request.message.trim().is_empty() {
            return Err(Error::invalid(
                "message",
                "the message is empty; expected the text of an agent's answer",
            ));
        }
        let message = without_control_characters(&request.message);
        let LearningUpdate { replace, append, left_out } = extract_learnings(&message);
        let replaces = replace.is_some();
        let all: Vec<Learning> = replace.into_iter().flatten().chain(append).collect();
        let requests = all.iter().map(learning_request).collect::<Result<Vec<_>>>()?;
        let is_unlabelled = requests.is_empty() && request.report;
        let requests = if is_unlabelled { lesson_requests(&message)? } else { requests };
        let conversation =
            self.preferences.extracts(&caller.agent).then(|| conversation(request)).flatten();
        let conversation = conversation.map(conversation_request).transpose()?;
        let now = self.clock.now();
        let drafts = self.memories_of(&caller, &requests, now)?;
        let conversation = self.memories_of(&caller, conversation.as_slice(), now)?.pop();
        if drafts.is_empty() && conversation.is_none() {
            self.policy.may_write(&caller)?;
            fit_key(request.idempotency_key.as_deref())?;
            return Ok(LearnResult { left_out, ..LearnResult::default() });
        }
        self.follow_other_homes(Some(caller.agent.role()));
        let mut files = self.files.read(&caller, now);
        let mut items = Vec::new();
        for file in &files {
            for part in self.standing_parts(&caller, file)? {
                items.extend(part.document.items().map(|(_, item)| item.to_owned()));
            }
        }
        // The project's file is the last one.
        let of_project = files.pop_if(|file| !file.target.is_in_home() && file.damage.is_none());
        let file = of_project.or_else(|| files.into_iter().find(|file| file.target.is_in_home()));
        let (templates, wanted) = (self.templates.clone(), drafts.clone());
        let once = self.write_once(&caller, now, request, move |tx, scope| {
            let WriteScope { caller, now, .. } = scope;
            let mut known_texts = recent_context_texts(&*tx, caller, &templates)?;
            known_texts.extend(items.iter().cloned());
            let back = LearnResult { left_out: left_out.clone(), ..LearnResult::default() };
            keep_new(tx, caller, &wanted, conversation.as_ref(), &known_texts, back, now)
        })?;
        // The file belongs to the role, whichever user its agents work for.
        let is_shown = |memory: &&Memory| memory.subject() == MemorySubject::Project;
        let shown: Vec<Memory> = drafts.iter().filter(is_shown).cloned().collect();
        // What only reads like a lesson is no standing instruction.
        let is_standing = caller.project.is_some() && !shown.is_empty() && !is_unlabelled;
        let standing = file.filter(|_| is_standing);
        let written =
            standing.map(|file| self.write_standing(&caller, &file, &shown, replaces, now));
        Ok(LearnResult { standing: written.transpose()?, ..once.answer })
    }

    /// The memories that these requests create.
    fn memories_of(
        &self,
        caller: &Caller,
        requests: &[SaveMemory],
        now: Timestamp,
    ) -> Result<Vec<Memory>> {
        let drafts = self.drafts(caller, requests, now).map_err(|(_, error)| error)?;
        Ok(drafts.into_iter().map(|draft| draft.memory).collect())
    }

    /// Adds learnings about the project to the existing standing memory file, except for quarantined
    /// ones.
    fn write_standing(
        &self,
        caller: &Caller,
        file: &StandingFile,
        drafts: &[Memory],
        replaces: bool,
        now: Timestamp,
    ) -> Result<StandingChange> {
        let limits = self.preferences.limits(caller.agent.role());
        let fits = |memory: &&Memory| {
            !memory.is_quarantined() && memory.text.chars().count() <= limits::STANDING_ITEM_CHARS
        };
        let section = |memory: &Memory| {
            let sort = memory.metadata.get(LEARNING_SORT_KEY).and_then(Value::as_str);
            section_of(sort.unwrap_or_default()).to_owned()
        };
        let seal = self.author_seal(caller, &file.target, now)?;
        let item = |memory: &Memory| StandingItem {
            section: section(memory),
            text: memory.text.clone(),
            seal: seal.clone(),
        };
        let items: Vec<StandingItem> = drafts.iter().filter(fits).map(item).collect();
        let by = Some(caller.agent.clone());
        let cause = StandingCause { by, action: StandingAction::Learned, at: now };
        let changed = self.change_standing(&file.target, &cause, |before| {
            let mut standing =
                before.clone().unwrap_or_else(|| StandingDocument::new(caller.agent.role()));
            let mut change =
                StandingChange { file: file.read.file.clone(), ..StandingChange::default() };
            if replaces {
                let replaced = standing.replace(standing::writer(caller), &items, &limits)?;
                change.added = replaced.added;
                let gone = replaced.gone.iter().map(|item| format!("replaced: {item}"));
                let full = replaced.left_out.iter().map(|item| full_warning(item));
                change.warnings = gone.chain(full).collect();
                change.warnings.extend(replaced.warnings.iter().map(ToString::to_string));
                if let Some(before) = before.filter(|before| *before != standing) {
                    let copy = self.files.back_up(&file.target.path, &before.render(), now)?;
                    change.backup = Some(copy.display().to_string());
                }
                return Ok((standing, change));
            }
            for StandingItem { section, text, seal } in &items {
                let (added, warnings) = standing.add(section, text, seal.clone(), &limits)?;
                change.added +=
                    u32::from(matches!(added, AddOutcome::Added | AddOutcome::Replaced(_)));
                change.warnings.extend(warnings.iter().map(ToString::to_string));
                match added {
                    AddOutcome::Replaced(item) => {
                        change.warnings.push(format!("replaced: {item}"));
                    }
                    AddOutcome::Full => change.warnings.push(full_warning(text)),
                    AddOutcome::Added | AddOutcome::Repeated(_) => {}
                }
            }
            Ok((standing, change))
        })?;
        Ok(changed.answer)
    }
}

fn full_warning(item: &str) -> String {
    format!("the file is full; not added: {item}")
}

/// Saves what is new: neither in the agent's last contexts nor among its learnings.
fn keep_new(
    tx: &mut Tx<'_>,
    caller: &Caller,
    drafts: &[Memory],
    conversation: Option<&Memory>,
    known_texts: &[String],
    mut result: LearnResult,
    now: Timestamp,
) -> Result<LearnResult> {
    let mut learned = own_learnings(&*tx, caller)?;
    let is_known = |text: &str| repeats(text, known_texts.iter().map(String::as_str));
    for memory in drafts {
        if is_known(&memory.text) || learned.iter().any(|learned| says_same(learned, &memory.text))
        {
            result.repeated += 1;
            continue;
        }
        // What was forgotten is not learned again.
        let memory = match without_forgotten(&*tx, memory)? {
            MemoryRemainder::Memory(memory) => *memory,
            MemoryRemainder::Nothing(at) => {
                let day = at.strftime("%Y-%m-%d");
                result.left_out.push(format!("a learning that was forgotten on {day}"));
                continue;
            }
        };
        let earlier = find_earlier(&*tx, caller, &memory)?;
        let memory = keep_memory(tx, &memory, now)?;
        for old in earlier.corrected.iter().filter(|_| !memory.is_quarantined()) {
            replace(tx, caller, old, &memory, now)?;
            result.superseded.push(old.id);
        }
        learned.push(memory.text.clone());
        result.hints.extend(memory.quarantine_hint(caller.door));
        result.learnings.push(memory);
    }
    if let Some(memory) = conversation.filter(|memory| !is_known(&memory.text))
        && let MemoryRemainder::Memory(memory) = without_forgotten(&*tx, memory)?
    {
        keep_memory(tx, &memory, now)?;
        result.conversation = Some(memory.id);
    }
    Ok(result)
}

/// A learning as a request to save a memory.
fn learning_request(learning: &Learning) -> Result<SaveMemory> {
    let sort = learning.kind.name();
    Ok(SaveMemory {
        text: learning.content.clone(),
        memory_type: Some(MemoryType::try_from("learning".to_owned())?),
        topics: vec![sort.to_owned()],
        metadata: [(LEARNING_SORT_KEY.to_owned(), Value::from(sort))].into_iter().collect(),
        ..SaveMemory::default()
    })
}

/// The lessons of a report without labels as requests to save memories.
fn lesson_requests(report: &str) -> Result<Vec<SaveMemory>> {
    let lessons = lessons_in_report(report);
    let low = |lesson| {
        let importance = Some(Importance::Low);
        Ok(SaveMemory { importance, ..learning_request(lesson)? })
    };
    lessons.iter().map(low).collect()
}

/// The conversation without the contexts in it; `None` if nothing is left.
fn conversation(request: &LearnRequest) -> Option<String> {
    let bare = |text: &str| without_contexts(&without_control_characters(text)).trim().to_owned();
    let prompt = request.prompt.as_deref().map(bare).filter(|prompt| !prompt.is_empty());
    let message = bare(&request.message);
    let text = match prompt {
        Some(prompt) => format!("User: {prompt}\nAssistant: {message}"),
        None => format!("Assistant: {message}"),
    };
    let end = text.floor_char_boundary(limits::TEXT_BYTES);
    (!message.is_empty()).then(|| text[..end].to_owned())
}

/// A conversation as a request to save a memory: its type keeps it private.
fn conversation_request(text: String) -> Result<SaveMemory> {
    let memory_type = Some(MemoryType::try_from("conversation".to_owned())?);
    Ok(SaveMemory { text, memory_type, ..SaveMemory::default() })
}

/// The texts that the caller received in its last contexts, as they were worded there.
fn recent_context_texts(
    tx: &Tx<'_>,
    caller: &Caller,
    templates: &TemplateSet,
) -> Result<Vec<String>> {
    if caller.agent.is_anonymous() {
        return Ok(Vec::new());
    }
    let sight = Sight::consulting(caller)?;
    let own = ContextFilter { agent: Some(caller.agent.clone()), ..ContextFilter::default() };
    let contexts = tx.contexts(&sight, &own, None, RECENT_CONTEXTS_MAX)?;
    let candidates = contexts.iter().flat_map(|context| &context.receipt.candidates);
    let ids: BTreeSet<MemoryId> = candidates
        .filter(|candidate| candidate.taken)
        .filter_map(|candidate| candidate.id.parse().ok())
        .collect();
    let of = |workspace: &Workspace| {
        ids.iter().map(|id| (workspace.clone(), *id)).collect::<Vec<MemoryRef>>()
    };
    let places: Vec<MemoryRef> = sight.workspaces.iter().flat_map(of).collect();
    let gathering =
        CandidateBuilder { agent: &caller.agent, templates, contradictions: &[], marks: &[] };
    let memories = tx.memories_of(&sight, &places)?;
    let worded = memories
        .iter()
        .map(|memory| gathering.memory(ContextSource::Relevant, memory, None).item.text);
    Ok(worded.chain(memories.iter().map(|memory| memory.text.clone())).collect())
}

/// The earlier learnings of the caller.
fn own_learnings(tx: &Tx<'_>, caller: &Caller) -> Result<Vec<String>> {
    let sight = Sight::writing_at_home(caller)?;
    let filter = MemoryFilter {
        owner: Some(caller.agent.to_string()),
        memory_type: Some("learning".to_owned()),
        ..MemoryFilter::default()
    };
    let found = tx.memories(&sight, &filter, ListOrder::Newest, None, KNOWN_LEARNINGS_MAX)?;
    Ok(found.into_iter().map(|(_, memory)| memory.text.clone()).collect())
}
