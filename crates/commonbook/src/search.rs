//! Searching: the question, the words that carry it, and how much a hit is worth.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::memory::{Importance, Memory, MemoryType};
use crate::page::Cursor;
use crate::workspace::Workspace;
use crate::{input, limits};

/// Finds memories that answer a question: your own and those that others share. Ask in plain
/// words; search before you start work and before you ask the user what may already be known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchMemory {
    /// The question, or words that the memory would contain.
    #[serde(alias = "q")]
    pub query: String,
    /// How many hits at once, 1 to 100; 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<u32>,
    /// Only those of this agent; `*`, the default, for everybody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Only those of this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// Only those about this topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only those that matter at least so much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// Only those of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// About this user or about nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Which workspaces are read.
    #[serde(default)]
    pub scope: Scope,
    /// The `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
}

/// Which workspaces a search reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The caller's own and `global`.
    #[default]
    Workspace,
    /// Every workspace of this home.
    Home,
    /// The caller's own and `global`; every workspace of this home when nothing was ever kept in
    /// the caller's own.
    Nearest,
}

/// A memory that answers the question, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// The memory.
    pub memory: Memory,
    /// How well it answers; to compare hits of one search with each other.
    pub score: f64,
    /// What about it matched.
    pub matched: Vec<Match>,
}

/// What about a memory matched a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// Words of the question stand in it.
    Words,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchAnswer {
    /// The hits of this page, best first.
    pub hits: Vec<Hit>,
    /// How many memories match, of those that the caller may see.
    pub total: u64,
    /// Where the next page begins; `null` on the last one.
    pub next: Option<Cursor>,
    /// The workspaces that were read.
    pub workspaces: Vec<Workspace>,
}

/// Words that say how a question is put and not what it is about: the closed classes of English
/// (articles, pronouns, prepositions, conjunctions, auxiliaries) and the question words. On real
/// questions, leaving them out raises recall by six points (`docs/decisions/0004-word-search.md`).
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "after", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been",
    "before", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "for", "from",
    "had", "has", "have", "having", "he", "her", "hers", "him", "his", "how", "i", "if", "in",
    "into", "is", "it", "its", "may", "me", "might", "mine", "must", "my", "no", "nor", "not",
    "of", "on", "or", "our", "ours", "shall", "she", "should", "so", "some", "such", "than",
    "that", "the", "their", "theirs", "them", "then", "there", "these", "they", "this", "those",
    "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "whom", "whose",
    "why", "will", "with", "would", "you", "your", "yours",
];

/// The words that carry a query, each once, in lower case: its words without the function words,
/// or all of them when there are no others. At most [`limits::QUERY_WORDS`].
#[must_use]
pub fn content_words(query: &str) -> Vec<String> {
    let lower = query.to_lowercase();
    // An accent that is written as a character of its own (NFD) belongs to its letter.
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}');
    let mut all: Vec<&str> = Vec::new();
    for word in lower.split(|c| !inside(c)).filter(|word| !word.is_empty()) {
        // "didn't" and "Caroline's" leave a letter behind that says nothing.
        let stray =
            matches!(word, "s" | "t" | "d" | "m" | "ll" | "re" | "ve") && all.last().is_some();
        if !stray && !all.contains(&word) {
            all.push(word);
        }
        if all.len() > 2 * limits::QUERY_WORDS {
            break;
        }
    }
    let mut words: Vec<&str> =
        all.iter().copied().filter(|word| !FUNCTION_WORDS.contains(word)).collect();
    if words.is_empty() {
        words = all;
    }
    words.truncate(limits::QUERY_WORDS);
    words.into_iter().map(str::to_owned).collect()
}

/// A memory's worth for a question: how well its words match, raised a little when it matters
/// more than usual and when it is fresh. `words` is a positive BM25.
///
/// The factors are mild on purpose: a critical memory of today stands at most a quarter above an
/// old ordinary one that matches as well, and never above one that matches clearly better.
#[must_use]
pub fn score(words: f64, importance: Importance, age_days: f64) -> f64 {
    let weight = match importance {
        Importance::Low => 0.95,
        Importance::Normal => 1.0,
        Importance::High => 1.05,
        Importance::Critical => 1.1,
    };
    // Half of the bonus is gone after 30 days.
    let freshness = (-age_days.max(0.0) * std::f64::consts::LN_2 / 30.0).exp();
    words * weight * (1.0 + 0.1 * freshness)
}

/// A search as a store carries it out.
#[derive(Debug, Clone)]
pub struct WordSearch {
    /// The words, any of which may match.
    pub words: Vec<String>,
    /// What else must hold.
    pub filter: Filter,
    /// The time against which age is measured: that of the first page, for every page.
    pub now: Timestamp,
    /// How many hits to leave out from the best one on.
    pub offset: u64,
    /// How many hits to give.
    pub limit: u32,
}

/// What must hold of the memories that a list or a search gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Owned by this agent.
    pub owner: Option<String>,
    /// Of this type.
    pub memory_type: Option<String>,
    /// About this topic, whatever its case.
    pub topic: Option<String>,
    /// Of at least this importance.
    pub importance: Option<Importance>,
    /// Of this session.
    pub session: Option<String>,
    /// Deleted, instead of standing.
    pub deleted: bool,
}

impl Filter {
    /// The filter by owner, where `*` means everybody.
    ///
    /// # Errors
    /// `invalid` for what cannot be an agent's name.
    pub fn owner(given: Option<&str>) -> Result<Option<String>> {
        match given {
            None | Some("*") => Ok(None),
            Some(name) => crate::agent::Agent::named(name)
                .map(|agent| Some(agent.into()))
                .map_err(|error| error.at("owner")),
        }
    }
}

impl SearchMemory {
    /// The words to search for.
    ///
    /// # Errors
    /// `invalid` for an empty query or one with control characters, `too_large` for a long one.
    pub fn words(&self) -> Result<Vec<String>> {
        if self.query.trim().is_empty() {
            return Err(Error::invalid("query", "there is nothing to search for")
                .hint("Put the question, or words that the memory would contain, into query."));
        }
        if self.query.len() > limits::QUERY_BYTES {
            let found = self.query.len();
            return Err(Error::too_large("query", found, limits::QUERY_BYTES, "bytes"));
        }
        input::no_control("query", &self.query)?;
        Ok(content_words(&self.query))
    }

    /// What must hold of the hits.
    ///
    /// # Errors
    /// `invalid` for what cannot be an agent's name.
    pub fn filter(&self) -> Result<Filter> {
        Ok(Filter {
            owner: Filter::owner(self.owner.as_deref())?,
            memory_type: self.memory_type.clone().map(Into::into),
            topic: self.topic.clone(),
            importance: self.importance,
            session: self.session.clone(),
            deleted: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_searched_by_their_content_words() {
        let table: [(&str, &[&str]); 7] = [
            (
                "When did Caroline go to the LGBTQ support group?",
                &["caroline", "go", "lgbtq", "support", "group"],
            ),
            ("Caroline's group didn't meet", &["caroline", "group", "didn", "meet"]),
            ("who is it", &["who", "is", "it"]),
            ("foo::bar<T> src/lib.rs:42", &["foo", "bar", "src", "lib", "rs", "42"]),
            ("x AND y OR NOT \"z\" NEAR(*)", &["x", "y", "z", "near"]),
            ("🙂 !!", &[]),
            ("Tee tee TEE", &["tee"]),
        ];
        for (query, words) in table {
            assert_eq!(content_words(query), words, "{query:?}");
        }
    }

    #[test]
    fn a_long_query_is_cut_to_its_first_words() {
        let query: String = (0..10_000).map(|n| format!("word{n} ")).collect();
        assert_eq!(content_words(&query).len(), limits::QUERY_WORDS);
    }

    #[test]
    fn importance_and_freshness_raise_a_score_mildly() {
        let plain = score(10.0, Importance::Normal, 365.0);
        assert!(score(10.0, Importance::High, 365.0) > plain);
        assert!(score(10.0, Importance::Normal, 0.0) > plain);
        assert!(score(10.0, Importance::Low, 365.0) < plain);
        assert!(score(10.0, Importance::Critical, 0.0) < plain * 1.25);
        assert!(score(10.0, Importance::Normal, -5.0).is_finite());
    }
}
