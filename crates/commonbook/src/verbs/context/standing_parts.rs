//! The standing memory in a context: a person's items as rules, all others as data with their
//! authors, as much as the budget holds.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use jiff::Timestamp;

use super::BUDGET_SHARE_DIVISOR;
use crate::base::clock::{Clock as _, SystemClock};
use crate::base::error::{Error, Result};
use crate::base::home_key::HomeKey;
use crate::model::access::Sight;
use crate::model::agent::{Agent, AgentName};
use crate::model::caller::Caller;
use crate::model::memory::ListOrder;
use crate::model::search::MemoryFilter;
use crate::model::standing::{
    AuthorEvidence, AuthorSeal, FileSigner, ItemAuthor, PreviewStanding, ReadStanding,
    StandingDocument, StandingExcerpt, StandingKey, StandingLocation, StandingPart,
    StandingPreview, section_of,
};
use crate::prompt::context::choose::{
    ContextCandidate, ContextQuery, ContextSelection, ContextSettings, ContextSource,
    OmissionReason, choose_for_context,
};
use crate::prompt::context::tell::TemplateSet;
use crate::prompt::context::{CandidateBuilder, ContextPreferences};
use crate::verbs::Commonbook;
use crate::verbs::ops::fence::fence_for;
use crate::verbs::ops::handles::longer_handles;
use crate::verbs::standing::{StandingFile, StandingFileCache, StandingTarget};
use commonbook_text::fence::{Fence, RULES_NOTE};
use commonbook_text::{sanitize, tokens};

/// The newest learnings that the items of a file without marks are compared with.
const LEARNINGS_COMPARED_MAX: u32 = 200;

/// How often the share of the standing memory is adjusted to the room that other candidates leave.
const SHARE_ATTEMPTS_MAX: usize = 4;

/// Tokens of the room that stay free: the parts of a text need not add up to the whole.
const SHARE_SLACK_TOKENS: usize = 24;

/// How a context is made of its candidates.
#[derive(Clone, Copy)]
pub(super) struct ContextFrame<'f> {
    pub(super) gathering: CandidateBuilder<'f>,
    pub(super) settings: &'f ContextSettings,
    pub(super) fence: &'f Fence,
    /// Removes and marks candidates before the choice.
    pub(super) prepare: &'f dyn Fn(&mut Vec<ContextCandidate>),
}

/// A standing memory file in parts, one for each author.
struct StandingMaterial<'s> {
    file: &'s StandingFile,
    parts: Vec<StandingPart>,
}

/// The candidates that one share of the budget holds.
struct StandingCandidates {
    candidates: Vec<ContextCandidate>,
    tokens: usize,
    /// Items and lines without room, and what the context says about them.
    left_out: usize,
    note: String,
}

impl StandingMaterial<'_> {
    fn excerpt(
        &self,
        query: &ContextQuery<'_>,
        gathering: CandidateBuilder<'_>,
        share: usize,
    ) -> StandingCandidates {
        let count = |author: &ItemAuthor, text: &str| {
            let candidate =
                standing_candidate(gathering, self.file, author, text.to_owned(), false);
            candidate_tokens(&candidate, query.now)
        };
        let excerpt = StandingExcerpt::of(&self.parts, query.query, share, count);
        let tokens = excerpt.texts.iter().map(|(author, text)| count(author, text)).sum();
        let texts = excerpt.texts.into_iter().enumerate();
        let candidates = texts.map(|(index, (author, text))| {
            standing_candidate(gathering, self.file, &author, text, index > 0)
        });
        let left_out = excerpt.left_out;
        let note = left_out_note(self.file, gathering.agent, left_out);
        StandingCandidates { candidates: candidates.collect(), tokens, left_out, note }
    }
}

/// A context with one share of the budget for the standing memory.
struct SharedSelection {
    selection: ContextSelection,
    /// Tokens that the standing memory takes.
    standing_tokens: usize,
    /// Items and lines of the standing memory without room.
    left_out: usize,
}

impl SharedSelection {
    /// The other candidates that the context includes.
    fn others(&self) -> BTreeSet<&str> {
        let candidates = self.selection.receipt.candidates.iter();
        let others = candidates.filter(|found| found.source != ContextSource::Standing);
        others.filter(|found| found.taken).map(|found| found.id.as_str()).collect()
    }

    /// Whether a part of the standing memory did not fit.
    fn drops_standing(&self) -> bool {
        self.selection.receipt.candidates.iter().any(|found| {
            found.source == ContextSource::Standing
                && found.left_out == Some(OmissionReason::Budget)
        })
    }
}

impl Commonbook {
    /// Chooses a context of the standing memory and these other candidates. The standing memory has
    /// half of the budget, and what the others leave.
    pub(super) fn choose_with_standing(
        &self,
        caller: &Caller,
        query: &ContextQuery<'_>,
        others: Vec<ContextCandidate>,
        frame: ContextFrame<'_>,
        standing: Option<&StandingFile>,
    ) -> Result<ContextSelection> {
        let Some(file) = standing else {
            return self.choose(caller, query, others, frame);
        };
        let standing = StandingMaterial { file, parts: self.standing_parts(caller, file)? };
        let budget = frame.settings.budget;
        let mut share = budget / BUDGET_SHARE_DIVISOR;
        let mut best: Option<SharedSelection> = None;
        for _ in 0..SHARE_ATTEMPTS_MAX {
            let chosen =
                self.choose_with_share(caller, query, others.clone(), frame, &standing, share)?;
            let displaces = |best: &SharedSelection| !chosen.others().is_superset(&best.others());
            let is_worse = chosen.drops_standing() || best.as_ref().is_some_and(displaces);
            if is_worse {
                // Half of the way back to what fits.
                let fitting = best.as_ref().map_or(0, |best| best.standing_tokens);
                share = fitting + (share - fitting) / 2;
                best = best.or(Some(chosen));
                continue;
            }
            let used = chosen.selection.receipt.tokens + SHARE_SLACK_TOKENS;
            let room = budget.saturating_sub(used);
            let next = chosen.standing_tokens + room;
            let is_whole = chosen.left_out == 0;
            best = Some(chosen);
            if is_whole || next <= share {
                break;
            }
            share = next;
        }
        match best {
            Some(best) => Ok(best.selection),
            None => self.choose(caller, query, others, frame),
        }
    }

    fn choose_with_share(
        &self,
        caller: &Caller,
        query: &ContextQuery<'_>,
        others: Vec<ContextCandidate>,
        frame: ContextFrame<'_>,
        material: &StandingMaterial<'_>,
        share: usize,
    ) -> Result<SharedSelection> {
        let excerpt = material.excerpt(query, frame.gathering, share);
        let query = ContextQuery { note: &excerpt.note, ..*query };
        let candidates = excerpt.candidates.into_iter().chain(others).collect();
        let mut selection = self.choose(caller, &query, candidates, frame)?;
        let (left_out, standing_tokens) = (excerpt.left_out, excerpt.tokens);
        selection.receipt.standing_left_out = left_out as u64;
        selection.receipt.diagnostics.standing_left_out = left_out as u64;
        Ok(SharedSelection { selection, standing_tokens, left_out })
    }

    fn choose(
        &self,
        caller: &Caller,
        query: &ContextQuery<'_>,
        mut candidates: Vec<ContextCandidate>,
        frame: ContextFrame<'_>,
    ) -> Result<ContextSelection> {
        (frame.prepare)(&mut candidates);
        let sight = Sight::reading(caller)?;
        let handles = |ids: &[String]| self.store.read(|tx| longer_handles(tx, &sight, ids));
        choose_for_context(query, candidates, frame.settings, frame.fence, handles)
    }

    /// The parts of a file, one for each author.
    fn standing_parts(&self, caller: &Caller, file: &StandingFile) -> Result<Vec<StandingPart>> {
        let in_home = file.target.location == StandingLocation::Home;
        let home = self.files.home().filter(|_| !in_home);
        let key = home.and_then(|home| HomeKey::read(home).ok().flatten());
        let signer = key.map(|key| file_signer(key, caller, &file.target));
        let learned = if in_home { self.learned_items(caller)? } else { HashMap::new() };
        let evidence = AuthorEvidence { in_home, signer: signer.as_ref(), learned: &learned };
        Ok(StandingDocument::parse(&file.text).parts_by_author(evidence))
    }

    /// The warnings about a file that a context has read, of which the present text is stored as a
    /// version if an editor changed it.
    pub(super) fn standing_warnings(&self, caller: &Caller, file: &StandingFile) -> Vec<String> {
        if let Some(damage) = &file.damage {
            return vec![damage.clone()];
        }
        if let Err(error) = self.observe_standing(&file.target, &file.text) {
            tracing::warn!(%error, "a version of a standing memory file was not stored");
        }
        let limits = self.preferences.limits(caller.agent.role());
        let over = StandingDocument::parse(&file.text).limit_warnings(&limits);
        over.iter().map(|warning| format!("standing memory: {warning}")).collect()
    }

    /// What agents have learned, by text with single blanks, with the agent and the day.
    fn learned_items(&self, caller: &Caller) -> Result<HashMap<String, (String, String)>> {
        let sight = Sight::reading(caller)?;
        let filter =
            MemoryFilter { memory_type: Some("learning".to_owned()), ..MemoryFilter::default() };
        let most = LEARNINGS_COMPARED_MAX;
        let found =
            self.store.read(|tx| tx.memories(&sight, &filter, ListOrder::Newest, None, most))?;
        let item = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let learned = found.into_iter().map(|(_, memory)| {
            let day = memory.recorded_at.strftime("%F").to_string();
            (item(&memory.text), (memory.owner.to_string(), day))
        });
        Ok(learned.collect())
    }

    /// How this caller marks the items that it adds to a standing memory file; `None` for a person in
    /// the home.
    ///
    /// # Errors
    /// `unavailable` if the home's key can be neither read nor created.
    pub(in crate::verbs) fn author_seal(
        &self,
        caller: &Caller,
        target: &StandingTarget,
        now: Timestamp,
    ) -> Result<Option<AuthorSeal>> {
        let home = self.files.home().filter(|_| target.location == StandingLocation::Project);
        let key = home.map(HomeKey::open).transpose()?;
        if key.is_none() && caller.agent == Agent::human() {
            return Ok(None);
        }
        let signer = key.map(|key| file_signer(key, caller, target));
        Ok(Some(AuthorSeal::new(&caller.agent, now.strftime("%F").to_string(), signer)))
    }
}

/// The signer of a project's file. A project is its workspace; folders that are no repositories share
/// one, where the path tells them apart.
fn file_signer(key: HomeKey, caller: &Caller, target: &StandingTarget) -> FileSigner {
    let StandingKey { project, role } = &target.key;
    let is_repository = Path::new(project).join(".git").exists();
    let folder = if is_repository { "" } else { project };
    FileSigner::new(key, format!("{}\n{folder}", caller.workspace), role.clone())
}

/// The standing memory of the caller's project as a context of its own, for a caller whose memories
/// are on a server elsewhere; `None` if the project has no file for the caller's role.
///
/// # Errors
/// `unavailable` if the key of the home is damaged.
pub fn project_context(
    caller: &Caller,
    home: &Path,
    task: &str,
    preferences: &ContextPreferences,
) -> Result<Option<String>> {
    let now = SystemClock.now();
    let files = StandingFileCache::of(home.to_owned());
    let file = files.read(caller, now);
    let in_project = |file: &StandingFile| file.target.location == StandingLocation::Project;
    let Some(file) = file.filter(in_project) else { return Ok(None) };
    let key = HomeKey::read(home)?;
    let signer = key.clone().map(|key| file_signer(key, caller, &file.target));
    let learned = HashMap::new();
    let evidence = AuthorEvidence { in_home: false, signer: signer.as_ref(), learned: &learned };
    let parts = StandingDocument::parse(&file.text).parts_by_author(evidence);
    let material = StandingMaterial { file: &file, parts };
    let (settings, templates) = (preferences.settings(&caller.agent), TemplateSet::default());
    let gathering = CandidateBuilder {
        agent: &caller.agent,
        templates: &templates,
        contradictions: &[],
        marks: &[],
    };
    let query = ContextQuery { query: task, user_id: None, now, note: "" };
    let share = settings.budget / BUDGET_SHARE_DIVISOR;
    let fence = fence_for(&key.clone().map_or_else(HomeKey::random, Ok)?, caller);
    let chosen = choose_alone(&material, query, gathering, share, &settings, &fence)?;
    Ok(Some(chosen.selection.text).filter(|text| !text.is_empty()))
}

/// A context of the standing memory alone, which may take this share of the budget.
fn choose_alone(
    material: &StandingMaterial<'_>,
    query: ContextQuery<'_>,
    gathering: CandidateBuilder<'_>,
    share: usize,
    settings: &ContextSettings,
    fence: &Fence,
) -> Result<SharedSelection> {
    let excerpt = material.excerpt(&query, gathering, share);
    let query = ContextQuery { note: &excerpt.note, ..query };
    let selection =
        choose_for_context(&query, excerpt.candidates, settings, fence, |_| Ok(HashMap::new()))?;
    let (standing_tokens, left_out) = (excerpt.tokens, excerpt.left_out);
    Ok(SharedSelection { selection, standing_tokens, left_out })
}

impl Commonbook {
    /// What an agent of a role receives of its standing memory in the home if nothing else competes
    /// for the budget, and what it would receive with a further item.
    ///
    /// # Errors
    /// As [`Self::read_standing`]; `invalid` for an item that the file cannot hold.
    pub fn preview_standing(
        &self,
        caller: &Caller,
        request: &PreviewStanding,
    ) -> Result<StandingPreview> {
        let role = request.role.clone();
        let page =
            self.read_standing(caller, &ReadStanding { role, version: None, everywhere: true })?;
        let role: AgentName = page.info.role.parse()?;
        let reader = Caller::new(Some(role), caller.workspace.clone(), caller.door);
        let now = self.clock.now();
        let none = || Error::not_found(format!("the role {} has no file", page.info.role));
        let mut file = self.files.read(&reader, now).ok_or_else(none)?;
        if let Some(item) = &request.added {
            let mut document = StandingDocument::parse(&file.text);
            let seal = self.author_seal(caller, &file.target, now)?;
            let limits = self.preferences.limits(reader.agent.role());
            document.add(section_of(""), item, seal, &limits)?;
            file.text = document.render().into();
        }
        let material =
            StandingMaterial { file: &file, parts: self.standing_parts(&reader, &file)? };
        let settings = self.preferences.settings(&reader.agent);
        let gathering = CandidateBuilder {
            agent: &reader.agent,
            templates: &self.templates,
            contradictions: &[],
            marks: &[],
        };
        let query = ContextQuery { query: "", user_id: None, now, note: "" };
        let share = settings.budget.saturating_sub(SHARE_SLACK_TOKENS);
        let fence = self.fence(&reader)?;
        let chosen = choose_alone(&material, query, gathering, share, &settings, &fence)?;
        Ok(StandingPreview {
            role: page.info.role,
            text: chosen.selection.text,
            tokens: u32::try_from(chosen.selection.receipt.tokens).unwrap_or(u32::MAX),
            budget: u32::try_from(settings.budget).unwrap_or(u32::MAX),
            left_out: chosen.left_out as u64,
        })
    }
}

/// A part of a file as a candidate; `is_further` for all but the first part.
fn standing_candidate(
    gathering: CandidateBuilder<'_>,
    file: &StandingFile,
    author: &ItemAuthor,
    text: String,
    is_further: bool,
) -> ContextCandidate {
    let name = file.target.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let author_name = match author {
        ItemAuthor::Person => "human".to_owned(),
        ItemAuthor::Agent { name, .. } => name.clone(),
        ItemAuthor::File => format!("file:{name}"),
    };
    let day = match author {
        ItemAuthor::Agent { day, .. } => day_start(day),
        ItemAuthor::Person | ItemAuthor::File => None,
    };
    let id = match (is_further, author) {
        (false, _) => name,
        (true, ItemAuthor::Agent { name: agent, day }) => format!("{name}:{agent}:{day}"),
        (true, ItemAuthor::Person | ItemAuthor::File) => format!("{name}:file"),
    };
    let candidate = gathering.standing(&id, &author_name, text, day.unwrap_or(file.at));
    ContextCandidate { is_rule: *author == ItemAuthor::Person, ..candidate }
}

/// The tokens of a candidate as the context shows it.
fn candidate_tokens(candidate: &ContextCandidate, now: Timestamp) -> usize {
    match candidate.is_rule {
        false => candidate.item.tokens(now),
        true => {
            let text = sanitize::quote_lines(&candidate.item.text, usize::MAX);
            tokens::count(&format!("{RULES_NOTE}\n{text}\n"))
        }
    }
}

/// Says how much of a file has no room; empty if all has.
fn left_out_note(file: &StandingFile, agent: &Agent, left_out: usize) -> String {
    if left_out == 0 {
        return String::new();
    }
    let name = file.target.path.file_name().unwrap_or_default().to_string_lossy();
    let items = if left_out == 1 { "item" } else { "items" };
    format!(
        "{left_out} {items} of {name} left out: raise the `budget` of get_context, or \
         context.agents.{}.budget in config.json.",
        agent.role()
    )
}

/// The beginning of a day in UTC.
fn day_start(day: &str) -> Option<Timestamp> {
    let date: jiff::civil::Date = day.parse().ok()?;
    date.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}
