//! Routing: the role to whose file a text belongs.

use std::collections::BTreeSet;

use super::StandingDocument;
use commonbook_text::terms;

/// Weight of a word of a role's field, relative to a word of the role's file.
const FIELD_WORD_WEIGHT: f64 = 1.5;

/// The field words of roles, for those without a file.
const ROLE_FIELDS: [(&str, &str); 9] = [
    (
        "engineer",
        "code implement function class api refactor bug compile library dependency error type",
    ),
    ("qa", "test tests testing assert coverage regression fixture flaky mock acceptance"),
    ("research", "research investigate analysis compare study paper benchmark survey alternative"),
    (
        "ops",
        "deploy docker kubernetes pipeline ci server monitoring terraform release rollback pod",
    ),
    ("documentation", "docs documentation readme tutorial guide changelog glossary wording"),
    ("security", "security vulnerability auth secret injection encryption permission exploit cve"),
    ("version-control", "git branch merge commit tag rebase conflict pull"),
    ("data-engineer", "database schema migration sql query table etl warehouse index"),
    ("pm", "plan milestone deadline stakeholder priority scope roadmap delegate"),
];

/// A role that matches a text, and the words that match.
#[derive(Debug, Clone, PartialEq)]
pub struct RoleMatch {
    /// The role.
    pub role: String,
    /// Its score.
    pub score: f64,
    /// The matching words, stemmed.
    pub words: Vec<String>,
}

/// The role whose file or field shares most words with a text; words that many files contain count
/// less. Returns `None` if no role matches.
pub fn route<'a>(
    text: &str,
    roles: impl IntoIterator<Item = (&'a str, &'a StandingDocument)>,
) -> Option<RoleMatch> {
    let wanted = terms::query_terms(text);
    let words_of = |standing: &StandingDocument| {
        standing.items().flat_map(|(_, item)| terms::terms(item)).collect()
    };
    let roles: Vec<(&str, BTreeSet<String>)> =
        roles.into_iter().map(|(role, standing)| (role, words_of(standing))).collect();
    let mut best: Option<RoleMatch> = None;
    for (role, own) in &roles {
        let field =
            ROLE_FIELDS.iter().find(|(name, _)| name == role).map_or("", |(_, field)| field);
        let field = terms::terms(field);
        let (mut score, mut found) = (0.0, Vec::new());
        for word in &wanted {
            let having = roles.iter().filter(|(_, words)| words.contains(word)).count();
            let by_file = if own.contains(word) { 1.0 / having.max(1) as f64 } else { 0.0 };
            let worth = if field.contains(word) { by_file + FIELD_WORD_WEIGHT } else { by_file };
            if worth > 0.0 {
                score += worth;
                found.push(word.clone());
            }
        }
        if score > best.as_ref().map_or(0.0, |best| best.score) {
            best = Some(RoleMatch { role: (*role).to_owned(), score, words: found });
        }
    }
    best
}
