//! People: their names in a text; precision comes before recall.
//!
//! A capital letter alone makes no name. A person is named by a listed given name, alone or with a
//! family name; or by a cue beside the name: a title ("Dr."), a relation ("my friend"), a greeting
//! ("Hey …!"), a verb of speech ("… told me"), an email address. Names that are ordinary words,
//! places or months too need a cue. A name with a cue is known in the rest of the text.

mod cues;
mod east_asian;

use rustc_hash::FxHashSet;

use cues::{
    BREED_WORDS, GREETINGS, LETTERED_WORDS, NON_PERSON_WORDS, PARTICLES, PERSON_NOUNS,
    PERSON_TITLES, PLACE_WORDS, POSSESSIVES, RELATION_NOUNS, SPEECH_VERBS,
};

use super::words::{BlockWord, words};
use super::{EntityEvidence, TextMention};
use crate::entities::EntityType;
use crate::entities::value::fold_text;
use crate::entities::vocabulary::{self, NameRequirement};

/// The people named in a text so far, by folded given name.
#[derive(Debug, Default)]
pub(super) struct KnownPeople(FxHashSet<String>);

impl KnownPeople {
    /// Adds a person.
    pub(super) fn add(&mut self, name: &str) {
        let mut parts = name.split_whitespace();
        if let Some(given_name) = parts.next().filter(|given_name| given_name.chars().count() > 2) {
            self.0.insert(fold_text(given_name));
        }
    }

    fn contains(&self, word: &str) -> bool {
        self.0.contains(&fold_text(word))
    }
}

/// Whether the label of a speaker is a person's name and not a role.
pub(super) fn is_speaker(label: &str) -> bool {
    let words: Vec<&str> = label.split_whitespace().collect();
    let role = |word: &&str| {
        let lower = word.to_lowercase();
        NON_PERSON_WORDS.contains(lower.as_str())
            || vocabulary::is_ordinary(&lower)
            || lower == "claude"
    };
    (1..=4).contains(&words.len())
        && !words.iter().any(role)
        && label.starts_with(char::is_uppercase)
        && label.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '.' | '\'' | '’' | '-'))
}

/// Finds people in a block of prose, and adds those with certain evidence to `known_people`.
pub(super) fn find(
    block: &str,
    start: usize,
    known_people: &mut KnownPeople,
    found: &mut Vec<TextMention>,
) {
    east_asian::find(block, start, found);
    let words = words(block, start);
    let text = ProseBlock { block, start, words: &words };
    let mut index = 0;
    while index < words.len() {
        match text.person(index, known_people) {
            Some((until, evidence)) => {
                let range = words[index].from..words[until - 1].to;
                let value = block[range.start - start..range.end - start]
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ");
                if evidence != EntityEvidence::Guess {
                    known_people.add(&value);
                }
                found.push(TextMention::with_value(EntityType::Person, range, value, evidence));
                index = until;
            }
            None => index += 1,
        }
    }
}

/// Whether a family name in folded form has an ending that only family names have, in any case of
/// its declension.
fn has_slavic_ending(folded: &str) -> bool {
    let stem =
        folded.trim_end_matches(['а', 'у', 'ы', 'е', 'о', 'и', 'м', 'й', 'ю', 'я', 'х', 'г']);
    let endings = ["ов", "ев", "ин", "ск", "ян", "енк", "чук", "дз", "швил"];
    folded.chars().count() >= 4 && endings.iter().any(|ending| stem.ends_with(ending))
}

/// Initials before a family name, at most.
const INITIALS_MAX: usize = 3;

/// What a given name needs beside it; `Jean-Luc` is one if each of its parts is.
fn given_name(word: &str) -> Option<NameRequirement> {
    let listed = |part: &str| vocabulary::given_name(&fold_text(part));
    listed(word).or_else(|| {
        let is_name = |part: &str| part.starts_with(char::is_uppercase) && listed(part).is_some();
        (word.contains('-') && word.split('-').all(is_name)).then_some(NameRequirement::Nothing)
    })
}

/// Whether only family names have the form of a word: `O'Brien`, `D’Angelo`.
fn has_family_form(word: &str) -> bool {
    let rest = word.strip_prefix(['O', 'D']).and_then(|rest| rest.strip_prefix(['\'', '’']));
    rest.is_some_and(|rest| rest.starts_with(char::is_uppercase) && rest.chars().count() > 2)
}

struct ProseBlock<'a> {
    block: &'a str,
    start: usize,
    words: &'a [BlockWord<'a>],
}

impl ProseBlock<'_> {
    /// Returns the end of a person's name that begins at this word, and the evidence.
    fn person(&self, index: usize, known_people: &KnownPeople) -> Option<(usize, EntityEvidence)> {
        let word = &self.words[index];
        if let Some(until) = self.initialled(index) {
            return Some((until, EntityEvidence::Cue));
        }
        if !word.is_capital() || word.text.chars().count() < 2 || self.is_code(index) {
            return None;
        }
        let lower = word.text.to_lowercase();
        if vocabulary::is_ordinary(&lower)
            || NON_PERSON_WORDS.contains(lower.as_str())
            || PERSON_TITLES.contains(word.text)
        {
            return None;
        }
        let given_name = given_name(word.text);
        let beside = self.is_titled(index) || self.is_related(index);
        let before_family = self
            .words
            .get(index + 1)
            .is_some_and(|next| next.continues_phrase() && has_family_form(next.text));
        let is_candidate = given_name.is_some()
            || beside
            || before_family
            || self.may_have_cue(index)
            || known_people.contains(word.text);
        if !is_candidate || self.goes_on_before(index) {
            return None;
        }
        let until = self.family_name(index);
        if self.is_place(index, until) {
            return None;
        }
        // "Jan 15" is a day.
        let counted = self.words.get(until).is_some_and(|word| {
            word.continues_phrase() && word.text.starts_with(|c: char| c.is_ascii_digit())
        });
        if counted && !known_people.contains(word.text) {
            return None;
        }
        let cue = beside || self.is_greeted(index, until);
        let mailed = self.is_mailed(until);
        let listed_family = before_family
            || until > index + 1
                && vocabulary::is_family_name(&fold_text(self.words[until - 1].text));
        match given_name {
            Some(NameRequirement::Nothing) if until > index + 1 || cue || mailed => {
                Some((until, EntityEvidence::Shape))
            }
            Some(NameRequirement::Nothing) => Some((until, EntityEvidence::Listed)),
            Some(_) if listed_family || cue || mailed => Some((until, EntityEvidence::Cue)),
            _ if known_people.contains(word.text) => {
                Some((until.min(index + 1), EntityEvidence::Listed))
            }
            Some(_) if self.speaks(until) => Some((until, EntityEvidence::Guess)),
            None if self.is_thing(index, until) => None,
            None if self.is_titled(index) || before_family || mailed && until > index + 1 => {
                Some((until, EntityEvidence::Cue))
            }
            None if cue => Some((until, EntityEvidence::Cue)),
            None if !word.first && self.speaks(until) => Some((until, EntityEvidence::Guess)),
            _ => None,
        }
    }

    /// Returns the end of a name that begins with initials at this word: "J. R. Smith", "J.R.R. Tolkien", "И. Петров".
    /// After one initial the family name is a listed one or has the ending of one.
    fn initialled(&self, index: usize) -> Option<usize> {
        let is_initial = |at: usize| {
            let word = self.words.get(at)?;
            let mut letters = word.text.chars();
            let single = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
            let stopped = self.words.get(at + 1)?.gap;
            (single && matches!(stopped, "." | ". " | ".\u{a0}")).then_some(())
        };
        let initials = (index..index + INITIALS_MAX).take_while(|at| is_initial(*at).is_some());
        let count = initials.count();
        if count == 0 {
            return None;
        }
        let family = self.words.get(index + count)?;
        let folded = fold_text(family.text);
        let is_named = family.is_capital()
            && !vocabulary::is_ordinary(&family.text.to_lowercase())
            && !self.is_thing(index + count, index + count + 1)
            && !self.is_code(index + count)
            && (count > 1 || vocabulary::is_family_name(&folded) || has_slavic_ending(&folded));
        // "Plan B. Smith agreed" ends a sentence.
        let before = index.checked_sub(1).map(|at| self.words[at].text.to_lowercase());
        let lettered = before.filter(|_| self.words[index].continues_phrase());
        let is_label = lettered.is_some_and(|word| LETTERED_WORDS.contains(&word.as_str()));
        (is_named && !is_label).then_some(index + count + 1)
    }

    /// Whether a cue may be near a word that is no given name: a cheap test before the exact ones.
    fn may_have_cue(&self, index: usize) -> bool {
        let before = index.checked_sub(1).map(|at| &self.words[at]);
        let greeted = before.is_some_and(|word| word.first && word.text.len() < 9);
        let next = &self.words[index + 1..(index + 5).min(self.words.len())];
        greeted
            || next.iter().any(|word| SPEECH_VERBS.contains(word.text))
            || self.block[self.words[index].to - self.start..].bytes().take(80).any(|b| b == b'<')
    }

    /// Returns the end of a name that begins at a word: after the family name, if one follows.
    fn family_name(&self, index: usize) -> usize {
        let mut until = index + 1;
        let mut next = until;
        while next < self.words.len() && next < index + 4 {
            let word = &self.words[next];
            let initial = word.text.len() == 1 && word.text.starts_with(char::is_uppercase);
            let after_initial = word.gap == ". " && self.words[next - 1].text.len() == 1;
            if !word.continues_phrase() && !after_initial {
                break;
            }
            if PARTICLES.contains(word.text) || initial {
                next += 1;
                continue;
            }
            let lower = word.text.to_lowercase();
            let name = word.is_capital()
                && !vocabulary::is_ordinary(&lower)
                && !PLACE_WORDS.contains(lower.as_str())
                && !self.is_thing(next, next + 1)
                && (!word.gap.contains('\n') || vocabulary::is_family_name(&fold_text(word.text)));
            if !name {
                break;
            }
            until = next + 1;
            next = until;
            // "Ann Bob" may be one person, "Ann Lee Bob" hardly.
            if until > index + 2 {
                break;
            }
        }
        until
    }

    /// Whether the word continues a name: "Johns Hopkins", "the Grand Marina".
    fn goes_on_before(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1).map(|at| &self.words[at]) else { return false };
        let lower = before.text.to_lowercase();
        self.words[index].continues_phrase()
            && before.text.starts_with(char::is_uppercase)
            && !PERSON_TITLES.contains(before.text)
            && !GREETINGS.contains(lower.as_str())
            && (!vocabulary::is_ordinary(&lower) || PLACE_WORDS.contains(lower.as_str()))
            && !RELATION_NOUNS.contains(lower.as_str())
    }

    fn is_place(&self, index: usize, until: usize) -> bool {
        let is = |word: &BlockWord<'_>| PLACE_WORDS.contains(word.text.to_lowercase().as_str());
        let capital = |word: &BlockWord<'_>| word.text.starts_with(char::is_uppercase);
        let after = self.words.get(until).filter(|word| word.continues_phrase() && capital(word));
        let before = index.checked_sub(1).map(|at| &self.words[at]);
        let bred = self.words.get(until).is_some_and(|word| BREED_WORDS.contains(&word.text));
        bred || after.is_some_and(is)
            || before.is_some_and(|word| {
                capital(word) && is(word) && self.words[index].continues_phrase()
            })
            || before.is_some_and(|word| {
                word.text.eq_ignore_ascii_case("the") && self.words[index].continues_phrase()
            })
    }

    /// Whether a name is a tool's or an organization's.
    fn is_thing(&self, index: usize, until: usize) -> bool {
        let range = self.words[index].from - self.start..self.words[until - 1].to - self.start;
        super::listed::find_whole(&self.block[range]).is_some()
            || super::listed::find_whole(self.words[index].text).is_some()
    }

    fn is_titled(&self, index: usize) -> bool {
        let before = index.checked_sub(1).map(|at| &self.words[at]);
        before.is_some_and(|word| PERSON_TITLES.contains(word.text))
            && matches!(self.words[index].gap, " " | ". ")
    }

    /// Whether a relation is before the name: "my friend", "her sister", "a man named".
    fn is_related(&self, index: usize) -> bool {
        let word =
            |back: usize| index.checked_sub(back).map(|at| self.words[at].text.to_lowercase());
        let Some(before) = word(1) else { return false };
        let end = self.words[index].to - self.start;
        let closed = self.block[end..].starts_with([',', '.', '!', '?', ';', ')']);
        let joined =
            self.words[index].continues_phrase() || (self.words[index].gap == ", " && closed);
        let owned =
            |back: usize| word(back).is_some_and(|owner| POSSESSIVES.contains(&owner.as_str()));
        let is_relation = |text: &str| RELATION_NOUNS.contains(text);
        if joined && is_relation(&before) {
            return owned(2) || owned(3);
        }
        // "this amazing woman, Jean, who …"
        if self.words[index].gap == ", " && closed && PERSON_NOUNS.contains(&before.as_str()) {
            return true;
        }
        if matches!(before.as_str(), "named" | "called") && self.words[index].continues_phrase() {
            return word(2)
                .is_some_and(|noun| is_relation(&noun) || PERSON_NOUNS.contains(&noun.as_str()));
        }
        // "My name is …"; what "her name" is may be a cat's.
        before == "is"
            && word(2).as_deref() == Some("name")
            && matches!(word(3).as_deref(), Some("my" | "user"))
            && self.words[index].continues_phrase()
    }

    /// Whether a greeting is before the name: "Hey Mel!", "Thanks, Tom."
    fn is_greeted(&self, index: usize, until: usize) -> bool {
        let Some(before) = index.checked_sub(1).map(|at| &self.words[at]) else { return false };
        let gap = self.words[index].gap;
        let end = self.words[until - 1].to - self.start;
        let closed = self.block[end..].starts_with(['!', ',', '.', '?']) || end == self.block.len();
        GREETINGS.contains(before.text.to_lowercase().as_str())
            && before.first
            && matches!(gap, " " | ", ")
            && closed
            && until == index + 1
    }

    /// Whether the next word is a verb of speech.
    fn speaks(&self, until: usize) -> bool {
        let next = self.words.get(until).filter(|word| word.continues_phrase());
        next.is_some_and(|word| SPEECH_VERBS.contains(word.text))
    }

    /// Whether an email address in angle brackets follows.
    fn is_mailed(&self, until: usize) -> bool {
        let rest = &self.block[self.words[until - 1].to - self.start..];
        rest.strip_prefix(" <")
            .and_then(|rest| rest.split_once('>'))
            .is_some_and(|(mail, _)| mail.contains('@') && !mail.contains(' '))
    }

    /// Whether the word is part of a path, a call or a tag.
    fn is_code(&self, index: usize) -> bool {
        let (from, to) = (self.words[index].from - self.start, self.words[index].to - self.start);
        let before =
            self.block[..from].ends_with(['/', '_', '\\', '@', '#', '$', '.', '`', '<', '=']);
        let rest = &self.block[to..];
        let mut after = rest.chars();
        let joined = match after.next() {
            Some('/' | '_' | '\\' | '(' | '=' | '`' | '@') => true,
            Some('.' | ':') => after.next().is_some_and(char::is_alphanumeric),
            _ => false,
        };
        before || joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people(text: &str) -> Vec<String> {
        let (mut known, mut found) = (KnownPeople::default(), Vec::new());
        find(text, 0, &mut known, &mut found);
        found.into_iter().filter_map(|mention| mention.value).collect()
    }

    #[test]
    fn a_name_with_a_cue_is_known_in_the_rest_of_the_text() {
        assert_eq!(people("Hey Zuri! I like it. Zuri, do you?"), ["Zuri", "Zuri"]);
        let mut known = KnownPeople::default();
        known.add("Zuri Abara");
        let mut found = Vec::new();
        find("It was Zuri who came.", 0, &mut known, &mut found);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn roles_are_no_speakers() {
        for (label, is) in [
            ("Ann", true),
            ("Ann Lee", true),
            ("user", false),
            ("Assistant", false),
            ("Speaker", true),
            ("Claude", false),
            ("agent-7", false),
            ("", false),
        ] {
            assert_eq!(is_speaker(label), is, "{label:?}");
        }
    }
}
