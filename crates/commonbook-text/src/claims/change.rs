//! Statements of a change, rewritten as what holds since: "was raised from 5 to 20" as "is 20".

use super::vocabulary::{BEING_VERBS, CHANGE_VERBS, NOTE_LABELS};
use super::word::ClauseWord;
use crate::dates::DateToken;

/// Maximum words of a label before a colon.
const LABEL_WORDS_MAX: usize = 2;

/// Maximum words of "we" or "the team".
const SPEAKER_WORDS_MAX: usize = 2;

/// Rewrites the words of a clause: drops the label of a note, joins denials of several words, and
/// turns a change into its result. Returns whether the clause states a change.
pub(super) fn settle_change(tokens: &mut Vec<ClauseWord<'_>>) -> bool {
    drop_label(tokens);
    let mut evolved = drop_since(tokens);
    let mut index = 0;
    while index + 1 < tokens.len() {
        let pair = (tokens[index].lower.as_str(), tokens[index + 1].lower.as_str());
        match pair {
            ("no", "longer") => {
                tokens[index] = ClauseWord::new("not");
                tokens.remove(index + 1);
                evolved = true;
            }
            ("any", "more") => {
                tokens.remove(index + 1);
                tokens[index] = ClauseWord::new("anymore");
            }
            ("no", "one") => {
                tokens[index] = ClauseWord::new("nobody");
                tokens.remove(index + 1);
            }
            _ => {}
        }
        index += 1;
    }
    tokens.retain(|word| {
        let is_mark = word.lower == "anymore";
        evolved |= is_mark;
        !is_mark
    });
    settle_removal(tokens);
    settle_replacement(tokens) || settle_move(tokens) || evolved
}

/// Drops "Decision:" and its likes.
fn drop_label(tokens: &mut Vec<ClauseWord<'_>>) {
    let Some(colon) = tokens.iter().take(LABEL_WORDS_MAX + 1).position(|word| word.lower == ":")
    else {
        return;
    };
    if colon > 0 && NOTE_LABELS.contains(&tokens[colon - 1].lower) {
        tokens.drain(..=colon);
    }
}

/// Drops "as of May" at the beginning.
fn drop_since(tokens: &mut Vec<ClauseWord<'_>>) -> bool {
    if !matches!(tokens[..], [ref first, ref second, ..] if first.lower == "as" && second.lower == "of")
    {
        return false;
    }
    let is_time = |word: &&ClauseWord<'_>| {
        let token = DateToken::of(&word.lower);
        !matches!(token, DateToken::Other | DateToken::Amount(_)) || word.lower == "now"
    };
    let length = tokens[2..].iter().take_while(is_time).count();
    tokens.drain(..2 + length);
    true
}

/// "The flag was removed in version 4" as "The flag is removed in version 4": it happens once.
fn settle_removal(tokens: &mut [ClauseWord<'_>]) {
    let lower = |index: usize, tokens: &[ClauseWord<'_>]| {
        tokens.get(index).map(|word| word.lower.clone()).unwrap_or_default()
    };
    for index in 0..tokens.len().saturating_sub(2) {
        let was = matches!(lower(index, tokens).as_str(), "was" | "were");
        let is_removal = matches!(
            lower(index + 1, tokens).as_str(),
            "removed" | "dropped" | "deprecated" | "retired" | "discontinued"
        );
        if was && is_removal && lower(index + 2, tokens) == "in" {
            tokens[index] = ClauseWord::new("is");
        }
    }
}

/// "We replaced Jenkins with GitHub Actions for builds" as "We use GitHub Actions for builds".
fn settle_replacement(tokens: &mut Vec<ClauseWord<'_>>) -> bool {
    let Some(verb) = tokens.iter().position(|word| word.lower == "replaced") else { return false };
    let Some(with) = tokens.iter().position(|word| word.lower == "with") else { return false };
    let passive = verb > 0 && is_auxiliary(&tokens[verb - 1].lower);
    if with <= verb + 1 || with + 1 == tokens.len() || passive {
        return false;
    }
    tokens.splice(verb..=with, [ClauseWord::new("use")]);
    true
}

/// "The limit was raised from 5 to 20" as "The limit is 20", and "We moved the site to Vercel" as
/// "The site is Vercel".
fn settle_move(tokens: &mut Vec<ClauseWord<'_>>) -> bool {
    let Some(verb) = tokens.iter().position(|word| CHANGE_VERBS.contains(&word.lower)) else {
        return false;
    };
    let after = &tokens[verb + 1..];
    let Some(to) = after.iter().position(|word| word.lower == "to").map(|to| verb + 1 + to) else {
        return false;
    };
    let from = tokens[verb..to].iter().position(|word| word.lower == "from");
    let object_end = from.map_or(to, |from| verb + from);
    let mut start = verb;
    while start > 0 && is_auxiliary(&tokens[start - 1].lower) {
        start -= 1;
    }
    // "The port is set to 5432" states no change.
    let states = |word: &ClauseWord<'_>| matches!(word.lower.as_str(), "is" | "are");
    if to + 1 == tokens.len() || tokens[start..verb].iter().any(states) {
        return false;
    }
    let begins_with_us =
        start <= SPEAKER_WORDS_MAX && tokens[..start].iter().all(|word| is_speaker(&word.lower));
    if begins_with_us && object_end == verb + 1 {
        tokens.splice(start..=to, [ClauseWord::new("use")]);
    } else if begins_with_us {
        tokens.splice(object_end..=to, [ClauseWord::new("is")]);
        tokens.drain(..=verb);
    } else {
        tokens.splice(start..=to, [ClauseWord::new("is")]);
    }
    true
}

fn is_auxiliary(lower: &str) -> bool {
    BEING_VERBS.contains(lower) && lower != ":" && lower != "="
        || matches!(lower, "was" | "were" | "has" | "have" | "had" | "just" | "recently")
}

fn is_speaker(lower: &str) -> bool {
    matches!(lower, "we" | "i" | "the" | "team")
}
