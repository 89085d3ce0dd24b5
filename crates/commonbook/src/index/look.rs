//! Looking into the index: who is admitted, which words stand where, and what the ranking makes
//! of it. Sight and filters come before everything that is counted or compared.

use rustc_hash::FxHashMap;

use super::catalog::{Catalog, Class, Entry, Number, Sums};
use super::{Index, State, guarded};
use crate::access::Sight;
use crate::error::Result;
use crate::search::rank::{self, Statistics};
use crate::search::{Found, Match, Parts, Question, Ranked, Within};
use crate::store::Store;
use crate::words;

impl Index {
    /// The memories in sight that answer a question, best first, as of the end of the journals.
    ///
    /// # Errors
    /// `unavailable` when the store cannot be read.
    pub fn search(
        &self,
        store: &dyn Store,
        sight: &Sight,
        question: &Question,
    ) -> Result<Found> {
        let state = self.current(store)?;
        let found = guarded(|| state.look(sight, question));
        drop(state);
        if let Err(error) = &found {
            // The files are damaged: the journal is not.
            self.discard(Some(error));
            return guarded(|| self.current(store)?.look(sight, question));
        }
        found
    }
}

/// Decides which memories exist for a question: those in sight that pass its filters.
struct Admission<'s> {
    catalog: &'s Catalog,
    within: &'s Within,
    /// What is decided for all memories of a class.
    classes: Vec<bool>,
    /// The numbers that the wanted session has in the workspaces.
    sessions: Option<Vec<u32>>,
    /// The numbers of the wanted topics; none of a topic that no memory has.
    topics: Option<Vec<u32>>,
    sums: Sums,
}

impl<'s> Admission<'s> {
    fn of(catalog: &'s Catalog, sight: &Sight, within: &'s Within) -> Self {
        let mut sums = Sums::default();
        let admits = |class: &Class| {
            let wanted = |given: &Option<String>, found: &str| {
                given.as_deref().is_none_or(|given| given == found)
            };
            sight.reaches(&class.reach)
                && wanted(&within.owner, class.reach.owner.as_str())
                && wanted(&within.memory_type, &class.memory_type)
                && within.importance.is_none_or(|least| class.importance >= least)
                && (within.superseded || within.at.is_some() || !class.superseded)
                && (within.archived || !class.deleted)
        };
        let mut classes = Vec::new();
        for (class, of_class) in catalog.classes() {
            let admitted = admits(class);
            if admitted {
                sums.memories += of_class.memories;
                sums.head += of_class.head;
                sums.body += of_class.body;
            }
            classes.push(admitted);
        }
        let sessions = within.session.as_deref().map(|session| {
            let of = |workspace: &crate::workspace::Workspace| {
                catalog.session(workspace.as_str(), session)
            };
            sight.workspaces.iter().filter_map(of).collect()
        });
        let topics = within.topics.iter().map(|topic| catalog.topic(topic)).collect();
        Self { catalog, within, classes, sessions, topics, sums }
    }

    fn admits(&self, number: Number) -> bool {
        let entry = self.catalog.entry(number);
        if !self.classes[entry.class as usize] || entry.gone {
            return false;
        }
        let Some(topics) = &self.topics else { return false };
        let facts = &entry.facts;
        let millis = |time: Option<jiff::Timestamp>| time.map(jiff::Timestamp::as_millisecond);
        self.sessions.as_ref().is_none_or(|sessions| sessions.contains(&entry.session))
            && topics.iter().all(|topic| entry.topics.contains(topic))
            && millis(self.within.since).is_none_or(|since| facts.from >= since)
            && millis(self.within.until).is_none_or(|until| facts.from <= until)
            && millis(self.within.at).is_none_or(|at| self.holds(entry, at))
    }

    /// Whether a memory held at this time: it had begun, had not ended, and what replaced it had
    /// not begun.
    fn holds(&self, entry: &Entry, at: i64) -> bool {
        let workspace = self.catalog.class(entry).reach.workspace.as_str();
        let replaced = entry.facts.heir.is_some_and(|heir| {
            let heir = self.catalog.number(workspace, heir);
            heir.is_none_or(|heir| self.catalog.entry(heir).facts.from <= at)
        });
        entry.facts.from <= at && at < entry.facts.until && !replaced
    }
}

impl State {
    /// The memories that answer a question, as of this state.
    fn look(&self, sight: &Sight, question: &Question) -> Result<Found> {
        let admission = Admission::of(&self.catalog, sight, &question.within);
        let terms = words::query_terms(&question.text);
        let lists = self.lists(&admission, &terms)?;
        let statistics = Statistics {
            memories: admission.sums.memories as f64,
            length: rank::weight(admission.sums.head, admission.sums.body)
                / (admission.sums.memories.max(1) as f64),
        };
        let mut scores: FxHashMap<Number, f64> = FxHashMap::default();
        for list in &lists {
            let rarity = statistics.rarity(list.len() as f64);
            for (number, head, body) in list {
                let (head_words, body_words) = self.catalog.entry(*number).facts.lengths;
                let length = rank::weight(u64::from(head_words), u64::from(body_words));
                let occurrences = rank::weight(u64::from(*head), u64::from(*body));
                *scores.entry(*number).or_default() +=
                    rarity * statistics.strength(occurrences, length);
            }
        }
        let total = scores.len() as u64;
        let mut best: Vec<(Number, f64)> = scores.into_iter().collect();
        // The newer of two equals, in every process alike.
        let age = |number| {
            let facts = &self.catalog.entry(number).facts;
            (facts.from, facts.id)
        };
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| age(b.0).cmp(&age(a.0))));
        best.truncate(crate::limits::SEARCH_DEPTH);
        let ranked = best.into_iter().map(|(number, score)| {
            let entry = self.catalog.entry(number);
            Ranked {
                workspace: self.catalog.class(entry).reach.workspace.clone(),
                id: entry.facts.id,
                score,
                matched: vec![Match::Words],
                parts: Parts::default(),
            }
        });
        Ok(Found { ranked: ranked.collect(), total })
    }

    /// For each term, the admitted memories that have it, with how often it stands in head and
    /// body.
    fn lists(
        &self,
        admission: &Admission<'_>,
        terms: &[String],
    ) -> Result<Vec<Vec<(Number, u32, u32)>>> {
        let mut lists = Vec::with_capacity(terms.len());
        for term in terms {
            let mut list = Vec::new();
            if let Some(generation) = &self.generation {
                generation.having(term, |number, head, body| {
                    if !self.catalog.entry(number).in_tail && admission.admits(number) {
                        list.push((number, head, body));
                    }
                })?;
            }
            for (number, tail) in &self.tail {
                if let Some((head, body)) = tail.counts.get(term)
                    && admission.admits(*number)
                {
                    list.push((*number, *head, *body));
                }
            }
            lists.push(list);
        }
        Ok(lists)
    }
}
