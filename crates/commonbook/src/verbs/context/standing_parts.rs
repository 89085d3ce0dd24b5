//! The standing memory in a context: a person's items as rules, all others as data with their
//! authors.

use std::collections::HashMap;

use jiff::Timestamp;

use super::standing_share;
use crate::base::error::Result;
use crate::base::home_key::HomeKey;
use crate::model::access::Sight;
use crate::model::agent::Agent;
use crate::model::caller::Caller;
use crate::model::memory::ListOrder;
use crate::model::search::MemoryFilter;
use crate::model::standing::{AuthorEvidence, AuthorMark, ItemAuthor, StandingDocument};
use crate::prompt::context::choose::ContextCandidate;
use crate::prompt::context::{
    CandidateBuilder, ContextOptions, StandingLocation, StandingSnapshot,
};
use crate::verbs::Commonbook;
use crate::verbs::standing::StandingFile;
use commonbook_text::tokens::{self, TokenBudget};

/// The newest learnings that the items of a file without marks are compared with.
const LEARNINGS_COMPARED_MAX: u32 = 200;

impl Commonbook {
    /// The parts of a standing memory file as candidates, one for each author, within their share of
    /// the budget.
    pub(super) fn standing_candidates(
        &self,
        caller: &Caller,
        gathering: CandidateBuilder<'_>,
        file: &StandingFile,
        options: &ContextOptions,
    ) -> Result<Vec<ContextCandidate>> {
        let in_home = file.read.source == StandingLocation::Home;
        let home = self.files.home();
        let key = home.and_then(|home| HomeKey::read(home).ok().flatten());
        let learned = if in_home { self.learned_items(caller)? } else { HashMap::new() };
        let evidence = AuthorEvidence { in_home, key: key.as_ref(), learned: &learned };
        let parts = StandingDocument::parse(&file.text).parts_by_author(evidence);
        let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut room = TokenBudget::new(standing_share(&options.settings));
        let mut candidates = Vec::new();
        for (author, part) in parts {
            let text = part.excerpt_for(&options.task, room.left(), tokens::count).text;
            if text.is_empty() || !room.take(tokens::count(&text).min(room.left())) {
                continue;
            }
            let author_name = match &author {
                ItemAuthor::Person => "human".to_owned(),
                ItemAuthor::Agent { name, .. } => name.clone(),
                ItemAuthor::File => format!("file:{name}"),
            };
            let day = match &author {
                ItemAuthor::Agent { day, .. } => day_start(day),
                ItemAuthor::Person | ItemAuthor::File => None,
            };
            let id = match (candidates.is_empty(), &author) {
                (true, _) => name.clone(),
                (false, ItemAuthor::Agent { name: agent, day }) => format!("{name}:{agent}:{day}"),
                (false, ItemAuthor::Person | ItemAuthor::File) => format!("{name}:file"),
            };
            let candidate = gathering.standing(&id, &author_name, text, day.unwrap_or(file.at));
            candidates
                .push(ContextCandidate { is_rule: author == ItemAuthor::Person, ..candidate });
        }
        Ok(candidates)
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

    /// The author mark of an item that this caller adds to a standing memory file. A person who is
    /// signed in needs no mark in the home, and a signed mark in a project.
    ///
    /// # Errors
    /// `unavailable` if the home's key can be neither read nor created.
    pub(in crate::verbs) fn author_mark(
        &self,
        caller: &Caller,
        file: &StandingSnapshot,
        text: &str,
        now: Timestamp,
    ) -> Result<Option<AuthorMark>> {
        let day = now.strftime("%F").to_string();
        if caller.agent != Agent::human() {
            return Ok(Some(AuthorMark::of_agent(caller.agent.as_str(), day)));
        }
        let home = self.files.home().filter(|_| file.source == StandingLocation::Project);
        let key = home.map(HomeKey::open).transpose()?;
        Ok(key.map(|key| AuthorMark::of_person(text, day, &key)))
    }
}

/// The beginning of a day in UTC.
fn day_start(day: &str) -> Option<Timestamp> {
    let date: jiff::civil::Date = day.parse().ok()?;
    date.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}
