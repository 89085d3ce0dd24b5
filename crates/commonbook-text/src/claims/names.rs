//! Names as values: the one name that a subject has, and the one that has a role.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::opposites::side_of;
use super::value::{self, ClaimValue, NameSort, NumberBound};
use super::vocabulary::{
    BEING_VERBS, DENIALS, EMBEDDED_STORES, ENVIRONMENTS, LABEL_NOUNS, NEUTRAL_WORDS, ROLE_PHRASES,
    ROLE_VERBS, STORAGE_MEDIA, STORAGE_VERBS, TARGET_VERBS, VERBS,
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
    let pair = || Some(format!("{} {}", lower(verb)?, lower(verb + 1)?));
    let duty = verb > length && pair().is_some_and(|pair| ROLE_PHRASES.contains(&pair));
    if !role && !titled && !duty {
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
    if length == 0
        && let Some(medium) = link.and_then(|_| medium_name(tokens, index, place_words))
    {
        return Some(medium);
    }
    let length = match length {
        0 if is_pair && is_last && is_word(&tokens[index]) && !value_here(index) => 1,
        0 => return None,
        length => length,
    };
    let value = name_of(&tokens[index..index + length], true);
    Some(NameValue { value, length, place_words })
}

/// Maximum words of a medium, with its article.
const MEDIUM_WORDS_MAX: usize = 3;

/// Parses the medium that ends a clause, behind a verb of storage: "live in cookies", "are stored
/// on the local disk".
fn medium_name(tokens: &[ClauseWord<'_>], index: usize, place_words: usize) -> Option<NameValue> {
    let verb = tokens.get(index.checked_sub(2)?)?;
    let is_article = |word: &str| matches!(word, "a" | "an" | "the" | "our");
    let words: Vec<&str> = tokens[index..].iter().map(|word| word.lower.as_str()).collect();
    let head = words.last()?;
    let names = words.iter().skip(usize::from(is_article(words[0])));
    let is_plain = names.clone().all(|word| {
        let lone = [ClauseWord::new(word)];
        !terms::is_function_word(word) && value::parse_value(&lone, 0, NumberBound::Exact).is_none()
    });
    if words.len() > MEDIUM_WORDS_MAX
        || !STORAGE_VERBS.contains(&verb.lower)
        || !STORAGE_MEDIA.contains(head)
        || !is_plain
    {
        return None;
    }
    let name = names.copied().collect::<Vec<_>>().join(" ");
    let value = ClaimValue::Name { name, kind: None, is_only: true, sort: NameSort::Medium };
    Some(NameValue { value, length: words.len(), place_words })
}

/// Maximum words of a group before what it may do.
const GROUP_WORDS_MAX: usize = 3;

/// Parses who alone may do something, at the beginning of a clause: "Only admins can delete it",
/// "Everyone may edit the wiki".
pub(super) fn group_name(tokens: &[ClauseWord<'_>]) -> Option<NameValue> {
    let first = tokens.first()?.lower.as_str();
    let is_modal = |word: &ClauseWord<'_>| {
        matches!(word.lower.as_str(), "can" | "may" | "must" | "should" | "cannot" | "can't")
    };
    let length = tokens.iter().take(GROUP_WORDS_MAX + 2).position(is_modal)?;
    let name = match first {
        "everyone" | "everybody" | "anyone" | "anybody" if length == 1 => "everyone".to_owned(),
        "only" if length > 1 => {
            let number = value::parse_value(tokens, 1, NumberBound::Exact);
            let words: Vec<&str> =
                tokens[..length].iter().map(|word| word.lower.as_str()).collect();
            number.is_none().then(|| words.join(" "))?
        }
        _ => return None,
    };
    let value = ClaimValue::Name { name, kind: None, is_only: true, sort: NameSort::Proper };
    Some(NameValue { value, length, place_words: 0 })
}

/// A name in a form that can be compared: of spellings of one thing the same.
pub(super) fn name_of(tokens: &[ClauseWord<'_>], is_only: bool) -> ClaimValue {
    let words: Vec<&str> = tokens.iter().map(|word| word.lower.trim_end_matches("'s")).collect();
    let name = words.join(" ");
    let side = side_of(&name).filter(|side| side.is_name());
    let is_technical = side.is_some() || tokens.iter().any(ClauseWord::is_identifier);
    let sort = match is_technical && !EMBEDDED_STORES.contains(&name) {
        true => NameSort::Technical,
        false => NameSort::Proper,
    };
    let kind = side.map(|side| side.pair);
    let name = side.map_or(name, |side| side.first_word().to_owned());
    ClaimValue::Name { name, kind, is_only, sort }
}
