//! Names as values: the one name that a subject has, and the one that has a role.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::opposites::side_of;
use super::value::{self, ClaimValue, NumberBound};
use super::vocabulary::{
    BEING_VERBS, DENIALS, ENVIRONMENTS, LABEL_NOUNS, NEUTRAL_WORDS, ROLE_VERBS, TARGET_VERBS, VERBS,
};
use super::word::ClauseWord;
use crate::terms;
use crate::word_list::rows;

/// Maximum words of a name.
const NAME_WORDS_MAX: usize = 4;

/// Maximum words of a link.
const LINK_WORDS_MAX: usize = 2;

/// Links between a subject and its name, and whether their words are part of the subject.
static NAME_LINKS: LazyLock<FxHashMap<&'static str, bool>> = LazyLock::new(|| {
    let links = rows(include_str!("vocabulary/name_links.tsv"));
    links.map(|[link, part]| (link, part == "attribute")).collect()
});

/// A name as the value of a clause.
#[derive(Debug)]
pub(super) struct NameValue {
    /// The value.
    pub(super) value: ClaimValue,
    /// The number of its words.
    pub(super) length: usize,
    /// The number of words before it that say only that it is there.
    pub(super) place_words: usize,
}

/// Parses the name that begins a clause and has a role in it: "Ann leads the team", "Kafka is the
/// broker".
pub(super) fn role_name(tokens: &[ClauseWord<'_>]) -> Option<NameValue> {
    let begins = |word: &ClauseWord<'_>| {
        let lower = word.lower.as_str();
        word.is_name()
            && !terms::is_function_word(lower)
            && !NEUTRAL_WORDS.contains(lower)
            && !ENVIRONMENTS.contains(lower)
            && !DENIALS.contains(&lower)
            && !VERBS.contains(lower)
            && !LABEL_NOUNS.contains(lower)
            && !word.is_code
    };
    let length = tokens.iter().take(NAME_WORDS_MAX).take_while(|word| begins(word)).count();
    let lower = |index: usize| tokens.get(index).map(|word| word.lower.as_str());
    if length == 0 || lower(length + 1).is_none() {
        return None;
    }
    let mut verb = length;
    let is = |lower: Option<&str>| matches!(lower, Some("is" | "isn't" | "now"));
    let role = lower(verb).is_some_and(|lower| ROLE_VERBS.contains(lower));
    while is(lower(verb)) || (verb > length && lower(verb) == Some("not")) {
        verb += 1;
    }
    let titled = verb > length && matches!(lower(verb), Some("the" | "our"));
    if !role && !titled {
        return None;
    }
    Some(NameValue { value: name_of(&tokens[..length], true), length, place_words: 0 })
}

/// Parses the name at an index if the words before it say that the subject has this one: "is
/// hosted on Vercel", "Package manager: pnpm".
pub(super) fn linked_name(tokens: &[ClauseWord<'_>], index: usize) -> Option<NameValue> {
    let before = tokens.get(index.checked_sub(1)?)?.lower.as_str();
    let is_last = index + 1 == tokens.len();
    let is_pair = matches!(before, ":" | "=");
    let link = (1..=LINK_WORDS_MAX.min(index)).rev().find_map(|length| {
        let words: Vec<&str> =
            tokens[index - length..index].iter().map(|word| word.lower.as_str()).collect();
        let is_attribute = *NAME_LINKS.get(words.join(" ").as_str())?;
        Some(if is_attribute { 0 } else { length })
    });
    let being = BEING_VERBS.contains(before).then_some(0);
    let target = || {
        let has_verb = tokens[..index].iter().any(|word| TARGET_VERBS.contains(&word.lower));
        (has_verb && matches!(before, "to" | "on" | "in")).then_some(0)
    };
    let place_words = link.or(being).or_else(target)?;
    let value_here = |at: usize| value::parse_value(tokens, at, NumberBound::Exact).is_some();
    let is_word = |word: &ClauseWord<'_>| word.raw.contains(char::is_alphanumeric);
    let length = (index..tokens.len())
        .take(NAME_WORDS_MAX)
        .take_while(|at| tokens[*at].is_name() && !value_here(*at))
        .count();
    let length = match length {
        0 if is_pair && is_last && is_word(&tokens[index]) && !value_here(index) => 1,
        0 => return None,
        length => length,
    };
    let value = name_of(&tokens[index..index + length], true);
    Some(NameValue { value, length, place_words })
}

/// A name in a form that can be compared: of spellings of one thing the same.
pub(super) fn name_of(tokens: &[ClauseWord<'_>], is_only: bool) -> ClaimValue {
    let words: Vec<&str> = tokens.iter().map(|word| word.lower.trim_end_matches("'s")).collect();
    let name = words.join(" ");
    match side_of(&name).filter(|side| side.is_name()) {
        Some(side) => {
            let name = side.first_word().to_owned();
            ClaimValue::Name { name, kind: Some(side.pair), is_only }
        }
        None => ClaimValue::Name { name, kind: None, is_only },
    }
}
