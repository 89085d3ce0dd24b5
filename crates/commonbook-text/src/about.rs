//! Whom a text is about: the user that its author works for, or the project.
//!
//! An agent that works for a user learns both. What is about the user is the user's; what is about
//! the project is for all. The rule is cautious: a text is about the project only if nothing in it
//! speaks of a person and each of its sentences states something of a technical subject. In doubt
//! it is about the user. `tests/tables/about.md` has the examples. The time is linear in the text.

mod sentence;

use crate::sentences::sentences;
use crate::word_list::WordList;
use sentence::{Sentence, SentenceSubject};

const TYPES_OF_USERS: [&str; 4] = ["profile", "task_context", "conversation", "handoff"];

/// Parts of the name of a memory type that is about a person.
const USER_TYPE_PARTS: [&str; 7] =
    ["user", "profile", "personal", "persona", "preference", "contact", "people"];

static CONTINUING_WORDS: WordList = WordList::new(include_str!("about/continuing_words.txt"));

/// What the rule reads.
#[derive(Debug, Clone, Copy, Default)]
pub struct SubjectInput<'a> {
    /// The text.
    pub text: &'a str,
    /// Further words of the author about it: title, summary, topics. They can only show that the
    /// text is about the user.
    pub labels: &'a [&'a str],
    /// The type of the memory.
    pub memory_type: &'a str,
    /// The id of the user that the author works for. A text that names the user is about the user.
    pub user: Option<&'a str>,
}

/// Whether a text is about the project. In doubt it is not: then it is about the user.
#[must_use]
pub fn is_about_project(input: &SubjectInput<'_>) -> bool {
    let memory_type = input.memory_type;
    if TYPES_OF_USERS.contains(&memory_type)
        || USER_TYPE_PARTS.iter().any(|part| memory_type.contains(part))
    {
        return false;
    }
    let user_names = user_names(input.user);
    let names_person = |text: &str| Sentence::of(text).names_person(&user_names);
    if input.labels.iter().any(|label| names_person(label)) {
        return false;
    }
    let mut count = 0;
    for text in sentences(input.text) {
        let sentence = Sentence::of(text);
        if sentence.is_empty() {
            continue;
        }
        let continues = count > 0
            && (sentence.begins_with(&CONTINUING_WORDS) || sentence.technical_weight() > 1);
        if sentence.names_person(&user_names)
            || !(continues || states_of_project(&sentence, memory_type))
        {
            return false;
        }
        count += 1;
    }
    count > 0
}

/// Whether a sentence states something of the project. A decision may have no subject: "GraphQL
/// instead of REST".
fn states_of_project(sentence: &Sentence<'_>, memory_type: &str) -> bool {
    let is_technical = match sentence.subject() {
        SentenceSubject::Team { acts } => sentence.technical_weight() > if acts { 1 } else { 2 },
        SentenceSubject::Thing { terms } => {
            terms > 1 || terms == 1 && sentence.technical_weight() > 2
        }
        SentenceSubject::Imperative { weight } => weight > 1,
        SentenceSubject::Unclear => false,
    };
    is_technical || memory_type == "decision" && sentence.technical_weight() > 1
}

/// The names in a user's id, in lower case: the whole id, and its parts of three letters or more.
fn user_names(user: Option<&str>) -> Vec<String> {
    let Some(user) = user.map(str::to_lowercase) else { return Vec::new() };
    let local = user.split('@').next().unwrap_or_default().to_owned();
    let parts = local.split(|c: char| !c.is_alphabetic()).filter(|part| part.chars().count() > 2);
    let mut names: Vec<String> = parts.map(str::to_owned).collect();
    names.push(user);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_names_the_user_is_about_the_user() {
        let judged =
            |text, user| is_about_project(&SubjectInput { text, user, ..SubjectInput::default() });
        let text = "The deploy key of the API belongs to zed";
        assert!(judged(text, None) && judged(text, Some("ann")));
        for user in ["zed", "Zed", "zed@example.com", "zed.miller"] {
            assert!(!judged(text, Some(user)), "{user}");
        }
    }

    #[test]
    fn a_label_can_show_that_a_text_is_about_the_user() {
        let text = "The API listens on port 8080";
        let judged =
            |labels| is_about_project(&SubjectInput { text, labels, ..SubjectInput::default() });
        assert!(judged(&["ports", "Deployment"]));
        assert!(!judged(&["ports", "the user's laptop"]));
    }

    #[test]
    fn a_type_for_persons_is_never_about_the_project() {
        let text = "The API listens on port 8080";
        let judged = |memory_type| {
            is_about_project(&SubjectInput { text, memory_type, ..SubjectInput::default() })
        };
        assert!(judged("semantic") && judged("learning") && judged("architecture"));
        let types =
            ["profile", "conversation", "task_context", "handoff", "user_fact", "preferences"];
        assert!(!types.into_iter().any(judged));
    }

    #[test]
    fn every_sentence_counts() {
        let judged = |text| is_about_project(&SubjectInput { text, ..SubjectInput::default() });
        assert!(judged("The API is versioned in the URL. It returns 404 for unknown versions."));
        assert!(!judged("The API is versioned in the URL. Berlin since May."));
        assert!(!judged("The API is versioned in the URL. I like that."));
        assert!(!judged(""));
    }
}
