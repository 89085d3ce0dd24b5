//! The standing memory in a context: a person's items as rules, all others as data with their
//! authors, as much as the budget holds.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use jiff::Timestamp;

use super::BUDGET_SHARE_DIVISOR;
use crate::base::clock::{Clock as _, SystemClock};
use crate::base::error::{Error, Result};
use crate::base::hash::sha256;
use crate::base::home_key::HomeKey;
use crate::base::limits;
use crate::model::access::Sight;
use crate::model::agent::{Agent, AgentName};
use crate::model::caller::Caller;
use crate::model::memory::ListOrder;
use crate::model::search::MemoryFilter;
use crate::model::standing::{
    AuthorEvidence, AuthorSeal, ItemAuthor, PreviewStanding, ReadStanding, StandingDocument,
    StandingExcerpt, StandingLocation, StandingPart, StandingPreview, section_of,
};
use crate::prompt::context::choose::{
    ContextCandidate, ContextQuery, ContextSelection, ContextSettings, ContextSource,
    OmissionReason, choose_for_context,
};
use crate::prompt::context::tell::TemplateSet;
use crate::prompt::context::{CandidateBuilder, ContextPreferences, StandingSnapshot};
use crate::verbs::Commonbook;
use crate::verbs::ops::fence::fence_for;
use crate::verbs::ops::handles::longer_handles;
use crate::verbs::standing::{
    ProjectParts, StandingFile, StandingFileCache, StandingTarget, file_signer, project_parts,
};
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

/// Standing memory in parts, one for each author of each file.
#[derive(Default)]
struct StandingMaterial<'s> {
    /// The file of each part.
    files: Vec<&'s StandingFile>,
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

impl<'s> StandingMaterial<'s> {
    fn add(&mut self, file: &'s StandingFile, parts: Vec<StandingPart>) {
        self.files.extend(parts.iter().map(|_| file));
        self.parts.extend(parts);
    }

    fn candidate(
        &self,
        gathering: CandidateBuilder<'_>,
        part: usize,
        text: &str,
        is_further: bool,
    ) -> ContextCandidate {
        let author = &self.parts[part].author;
        standing_candidate(gathering, self.files[part], author, text.to_owned(), is_further)
    }

    fn excerpt(
        &self,
        query: &ContextQuery<'_>,
        gathering: CandidateBuilder<'_>,
        share: usize,
        settings: &ContextSettings,
    ) -> StandingCandidates {
        let count = |part: usize, text: &str| {
            candidate_tokens(&self.candidate(gathering, part, text, false), query.now)
        };
        let excerpt = StandingExcerpt::of(&self.parts, query.query, share, count);
        let tokens = excerpt.texts.iter().map(|(part, text)| count(*part, text)).sum();
        let candidates = (excerpt.texts.iter().enumerate())
            .map(|(index, (part, text))| self.candidate(gathering, *part, text, index > 0));
        let left_out = excerpt.left_out;
        let file = self.files.first().filter(|_| left_out > 0);
        let note = file.map(|file| left_out_note(file, gathering.agent, left_out, settings));
        let note = note.unwrap_or_default();
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
    /// Chooses a context of the standing memory and these other candidates. The standing memory has tokens of
    /// its own; of a budget that somebody set it has its share, and what the others leave.
    pub(super) fn choose_with_standing(
        &self,
        caller: &Caller,
        query: &ContextQuery<'_>,
        others: Vec<ContextCandidate>,
        frame: ContextFrame<'_>,
        files: &[StandingFile],
    ) -> Result<ContextSelection> {
        let mut standing = StandingMaterial::default();
        for file in files {
            standing.add(file, self.standing_parts(caller, file)?);
        }
        if standing.parts.is_empty() {
            return self.choose(caller, query, others, frame);
        }
        if let Some(share) = frame.settings.standing {
            let excerpt = standing.excerpt(query, frame.gathering, share, frame.settings);
            let beside = excerpt.tokens + tokens::count(&excerpt.note) + SHARE_SLACK_TOKENS;
            let budget = frame.settings.budget + beside;
            let settings = ContextSettings { budget, ..*frame.settings };
            let inner = ContextFrame { settings: &settings, ..frame };
            let chosen = self.choose_with_excerpt(caller, query, others, inner, excerpt)?;
            let mut selection = chosen.selection;
            selection.receipt.budget = frame.settings.budget;
            selection.receipt.standing_budget = share as u64;
            return Ok(selection);
        }
        let budget = frame.settings.budget;
        let mut share = standing_share(budget);
        let mut best: Option<SharedSelection> = None;
        for _ in 0..SHARE_ATTEMPTS_MAX {
            let excerpt = standing.excerpt(query, frame.gathering, share, frame.settings);
            let chosen = self.choose_with_excerpt(caller, query, others.clone(), frame, excerpt)?;
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

    fn choose_with_excerpt(
        &self,
        caller: &Caller,
        query: &ContextQuery<'_>,
        others: Vec<ContextCandidate>,
        frame: ContextFrame<'_>,
        excerpt: StandingCandidates,
    ) -> Result<SharedSelection> {
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

    /// The parts of a file that its readers receive, one for each author.
    pub(in crate::verbs) fn standing_parts(
        &self,
        caller: &Caller,
        file: &StandingFile,
    ) -> Result<Vec<StandingPart>> {
        if let (false, Some(home)) = (file.target.is_in_home(), self.files.home()) {
            return Ok(project_parts(home, caller, file).parts);
        }
        let learned = self.learned_items(caller)?;
        let evidence = AuthorEvidence { in_home: true, signer: None, learned: &learned };
        Ok(StandingDocument::parse(&file.text).parts_by_author(evidence))
    }

    /// What a person should know of the files of a project: which wait for an agreement, and what is
    /// left out.
    pub(super) fn standing_notices(&self, caller: &Caller, files: &[StandingFile]) -> Vec<String> {
        let Some(home) = self.files.home() else { return Vec::new() };
        let of_project = files.iter().filter(|file| !file.target.is_in_home());
        let notice = |file: &StandingFile| {
            let ProjectParts { notice, waiting, .. } = project_parts(home, caller, file);
            if let Err(error) = self.note_waiting(caller, file, waiting) {
                tracing::debug!(%error, "what waits for a person is not noted for the pages");
            }
            notice
        };
        of_project.filter_map(notice).collect()
    }

    /// What a receipt says of the files that a context has read; of two files the project's, with the
    /// bytes and the hash of both texts.
    pub(super) fn standing_snapshot(
        &self,
        caller: &Caller,
        files: &[StandingFile],
    ) -> Result<Option<StandingSnapshot>> {
        let mut read: Option<StandingSnapshot> = None;
        for file in files {
            if !file.target.is_in_home() && self.standing_parts(caller, file)?.is_empty() {
                continue;
            }
            read = Some(match read {
                None => file.read.clone(),
                Some(home) => StandingSnapshot {
                    bytes: home.bytes + file.read.bytes,
                    sha256: sha256(&format!("{} {}", home.sha256, file.read.sha256)),
                    ..file.read.clone()
                },
            });
        }
        Ok(read)
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
        let signer = key.map(|key| file_signer(key, caller, &target.key));
        Ok(Some(AuthorSeal::new(&caller.agent, now.strftime("%F").to_string(), signer)))
    }
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
    let files = StandingFileCache::of(home.to_owned()).read(caller, SystemClock.now());
    let Some(file) = files.iter().find(|file| !file.target.is_in_home()) else { return Ok(None) };
    let ProjectParts { parts, notice, .. } = project_parts(home, caller, file);
    let notice = file.damage.clone().or(notice);
    let text = context_of_file(caller, home, task, preferences, file, parts)?;
    let texts: Vec<String> =
        [Some(text), notice].into_iter().flatten().filter(|text| !text.is_empty()).collect();
    Ok((!texts.is_empty()).then(|| texts.join("\n\n")))
}

/// The rules that the person of this home wrote for the caller's role as a context of their own, for a
/// caller in a project that switches Commonbook off; `None` if there are none. Opens no store and writes
/// nothing: an item without a mark is the person's.
///
/// # Errors
/// `unavailable` if the key of the home is damaged.
pub fn person_rules(
    caller: &Caller,
    home: &Path,
    task: &str,
    preferences: &ContextPreferences,
) -> Result<Option<String>> {
    let caller = Caller { project: None, ..caller.clone() };
    let files = StandingFileCache::of(home.to_owned()).read(&caller, SystemClock.now());
    match files.iter().find(|file| file.target.is_in_home()) {
        Some(file) => rules_of_file(&caller, home, task, preferences, file),
        None => Ok(None),
    }
}

/// The person's rules in the text of the caller's role in the home of a server elsewhere, as
/// [`person_rules`]. `home` is the one of this process, whose key makes the marks.
///
/// # Errors
/// As [`person_rules`].
pub fn person_rules_elsewhere(
    caller: &Caller,
    home: &Path,
    task: &str,
    preferences: &ContextPreferences,
    text: String,
) -> Result<Option<String>> {
    let caller = Caller { project: None, ..caller.clone() };
    let file = StandingFile::elsewhere(caller.agent.role(), text, SystemClock.now());
    rules_of_file(&caller, home, task, preferences, &file)
}

/// The person's items of a file of a home as a context of their own; `None` if it has none.
fn rules_of_file(
    caller: &Caller,
    home: &Path,
    task: &str,
    preferences: &ContextPreferences,
    file: &StandingFile,
) -> Result<Option<String>> {
    let evidence = AuthorEvidence { in_home: true, signer: None, learned: &HashMap::new() };
    let mut parts = StandingDocument::parse(&file.text).parts_by_author(evidence);
    parts.retain(|part| part.author == ItemAuthor::Person);
    let text = context_of_file(caller, home, task, preferences, file, parts)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// A context of these parts of one file alone, made without a store.
fn context_of_file(
    caller: &Caller,
    home: &Path,
    task: &str,
    preferences: &ContextPreferences,
    file: &StandingFile,
    parts: Vec<StandingPart>,
) -> Result<String> {
    let mut material = StandingMaterial::default();
    material.add(file, parts);
    let key = HomeKey::read(home)?;
    let (settings, templates) = (preferences.settings(&caller.agent), TemplateSet::default());
    let gathering = CandidateBuilder {
        agent: &caller.agent,
        templates: &templates,
        contradictions: &[],
        marks: &[],
    };
    let now = SystemClock.now();
    let query = ContextQuery { query: task, user_id: None, now, note: "", memories: 0 };
    let share = settings.standing.unwrap_or_else(|| standing_share(settings.budget));
    let settings = alone(settings);
    let fence = fence_for(&key.map_or_else(HomeKey::random, Ok)?, caller);
    let chosen = choose_alone(&material, query, gathering, share, &settings, &fence)?;
    Ok(chosen.selection.text)
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
    let excerpt = material.excerpt(&query, gathering, share, settings);
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
        let mut file = self.files.read(&reader, now).into_iter().next().ok_or_else(none)?;
        if let Some(item) = &request.added {
            let mut document = StandingDocument::parse(&file.text);
            let seal = self.author_seal(caller, &file.target, now)?;
            let limits = self.preferences.limits(reader.agent.role());
            document.add(section_of(""), item, seal, &limits)?;
            file.text = document.render().into();
        }
        let mut material = StandingMaterial::default();
        material.add(&file, self.standing_parts(&reader, &file)?);
        let settings = alone(self.preferences.settings(&reader.agent));
        let gathering = CandidateBuilder {
            agent: &reader.agent,
            templates: &self.templates,
            contradictions: &[],
            marks: &[],
        };
        let query = ContextQuery { query: "", user_id: None, now, note: "", memories: 0 };
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

/// The share that the standing memory has of a budget that somebody set, while others need the rest: half,
/// and more where that leaves them what they have by default.
fn standing_share(budget: usize) -> usize {
    let beyond = budget.saturating_sub(limits::CONTEXT_TOKENS);
    (budget / BUDGET_SHARE_DIVISOR).max(beyond.min(limits::STANDING_TOKENS))
}

/// The settings of a text that holds the standing memory alone.
fn alone(settings: ContextSettings) -> ContextSettings {
    ContextSettings { budget: settings.standing.unwrap_or(settings.budget), ..settings }
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
    let place = if file.target.is_in_home() { "" } else { "project:" };
    let id = match (is_further, author) {
        (false, _) => name,
        (true, ItemAuthor::Agent { name: agent, day }) => format!("{name}:{place}{agent}:{day}"),
        (true, ItemAuthor::Person) => format!("{name}:{place}human"),
        (true, ItemAuthor::File) => format!("{name}:{place}file"),
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

/// Says how much of a file has no room.
fn left_out_note(
    file: &StandingFile,
    agent: &Agent,
    left_out: usize,
    settings: &ContextSettings,
) -> String {
    // Where nobody set a budget, a smaller one would hold less.
    let above = settings.standing.map(|own| format!(", above {}", settings.budget + own));
    let above = above.unwrap_or_default();
    let name = file.target.path.file_name().unwrap_or_default().to_string_lossy();
    let items = if left_out == 1 { "item" } else { "items" };
    format!(
        "{left_out} {items} of {name} left out: raise the `budget` of get_context, or \
         context.agents.{}.budget in config.json{above}.",
        agent.role()
    )
}

/// The beginning of a day in UTC.
fn day_start(day: &str) -> Option<Timestamp> {
    let date: jiff::civil::Date = day.parse().ok()?;
    date.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}
