//! People: names that a text gives them, with certainty before completeness.
//!
//! A capital letter makes no name. Somebody is named by a given name of the lists, alone or with a
//! family name; or by what stands beside: a title ("Dr."), a relation ("my friend"), a greeting
//! ("Hey …!"), a verb that only people do ("… told me"), an address of mail. Names that are
//! ordinary words, places or months too need one of those. Who was named so once in a text is
//! known by that name in all of it.

mod cues;

use rustc_hash::FxHashSet;

use cues::{
    BREED_WORDS, GREETINGS, NON_PERSON_WORDS, PARTICLES, PERSON_NOUNS, PERSON_TITLES, PLACE_WORDS,
    POSSESSIVES, RELATION_NOUNS, SPEECH_VERBS,
};

use super::words::{BlockWord, words};
use super::{EntityEvidence, TextMention};
use crate::entities::EntityType;
use crate::entities::value::fold_text;
use crate::entities::vocabulary::{self, NameRequirement};

/// Who is named in a text so far, by the folded name.
#[derive(Debug, Default)]
pub(super) struct KnownPeople(FxHashSet<String>);

impl KnownPeople {
    /// Speakers and others who are people beyond doubt.
    pub(super) fn add(&mut self, name: &str) {
        let mut parts = name.split_whitespace();
        if let Some(given) = parts.next().filter(|given| given.chars().count() > 2) {
            self.0.insert(fold_text(given));
        }
    }

    fn contains(&self, word: &str) -> bool {
        self.0.contains(&fold_text(word))
    }
}

/// Whether a speaker's label is a person's name and not a role.
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

/// Finds people in a block of prose, and remembers those that are certain.
pub(super) fn find(
    block: &str,
    start: usize,
    known: &mut KnownPeople,
    found: &mut Vec<TextMention>,
) {
    let words = words(block, start);
    let text = ProseBlock { block, start, words: &words };
    let mut place = 0;
    while place < words.len() {
        match text.person(place, known) {
            Some((until, proof)) => {
                let range = words[place].from..words[until - 1].to;
                let value = block[range.start - start..range.end - start]
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ");
                if proof != EntityEvidence::Guess {
                    known.add(&value);
                }
                found.push(TextMention::with_value(EntityType::Person, range, value, proof));
                place = until;
            }
            None => place += 1,
        }
    }
}

struct ProseBlock<'a> {
    block: &'a str,
    start: usize,
    words: &'a [BlockWord<'a>],
}

impl ProseBlock<'_> {
    /// The person named from this word on: where the name ends, and what shows it.
    fn person(&self, place: usize, known: &KnownPeople) -> Option<(usize, EntityEvidence)> {
        let word = &self.words[place];
        if !word.is_capital() || word.text.chars().count() < 2 || self.is_code(place) {
            return None;
        }
        let lower = word.text.to_lowercase();
        if vocabulary::is_ordinary(&lower)
            || NON_PERSON_WORDS.contains(lower.as_str())
            || PERSON_TITLES.contains(word.text)
        {
            return None;
        }
        let given = vocabulary::given_name(&fold_text(word.text));
        let beside = self.is_titled(place) || self.is_related(place);
        let hopeful =
            given.is_some() || beside || self.may_be_somebody(place) || known.contains(word.text);
        if !hopeful || self.goes_on_before(place) {
            return None;
        }
        let until = self.family_name(place);
        if self.is_place(place, until) {
            return None;
        }
        // "Jan 15" is a day.
        let counted = self.words.get(until).is_some_and(|word| {
            word.continues_phrase() && word.text.starts_with(|c: char| c.is_ascii_digit())
        });
        if counted && !known.contains(word.text) {
            return None;
        }
        let cue = beside || self.is_greeted(place, until);
        let mailed = self.is_mailed(until);
        let listed_family =
            until > place + 1 && vocabulary::is_family_name(&fold_text(self.words[until - 1].text));
        match given {
            Some(NameRequirement::Nothing) if until > place + 1 || cue || mailed => {
                Some((until, EntityEvidence::Shape))
            }
            Some(NameRequirement::Nothing) => Some((until, EntityEvidence::Listed)),
            Some(_) if listed_family || cue || mailed => Some((until, EntityEvidence::Cue)),
            _ if known.contains(word.text) => Some((until.min(place + 1), EntityEvidence::Listed)),
            Some(_) if self.speaks(until) => Some((until, EntityEvidence::Guess)),
            None if self.is_thing(place, until) => None,
            None if self.is_titled(place) || mailed && until > place + 1 => {
                Some((until, EntityEvidence::Cue))
            }
            None if cue => Some((until, EntityEvidence::Cue)),
            None if !word.first && self.speaks(until) => Some((until, EntityEvidence::Guess)),
            _ => None,
        }
    }

    /// Whether something near a word that is no given name may show that it names somebody: what
    /// is looked for before the costly questions.
    fn may_be_somebody(&self, place: usize) -> bool {
        let before = place.checked_sub(1).map(|at| &self.words[at]);
        let greeted = before.is_some_and(|word| word.first && word.text.len() < 9);
        let next = &self.words[place + 1..(place + 5).min(self.words.len())];
        greeted
            || next.iter().any(|word| SPEECH_VERBS.contains(word.text))
            || self.block[self.words[place].to - self.start..].bytes().take(80).any(|b| b == b'<')
    }

    /// Where a name ends that begins at a word: after the family name, if one follows.
    fn family_name(&self, place: usize) -> usize {
        let mut until = place + 1;
        let mut next = until;
        while next < self.words.len() && next < place + 4 {
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
            // "Ann Bob" are two people, "Ann Lee Bob" hardly one.
            if until > place + 2 {
                break;
            }
        }
        until
    }

    /// Whether the word goes on a name that began before: "Johns Hopkins", "the Grand Marina".
    fn goes_on_before(&self, place: usize) -> bool {
        let Some(before) = place.checked_sub(1).map(|at| &self.words[at]) else { return false };
        let lower = before.text.to_lowercase();
        self.words[place].continues_phrase()
            && before.text.starts_with(char::is_uppercase)
            && !PERSON_TITLES.contains(before.text)
            && !GREETINGS.contains(lower.as_str())
            && (!vocabulary::is_ordinary(&lower) || PLACE_WORDS.contains(lower.as_str()))
            && !RELATION_NOUNS.contains(lower.as_str())
    }

    fn is_place(&self, place: usize, until: usize) -> bool {
        let is = |word: &BlockWord<'_>| PLACE_WORDS.contains(word.text.to_lowercase().as_str());
        let capital = |word: &BlockWord<'_>| word.text.starts_with(char::is_uppercase);
        let after = self.words.get(until).filter(|word| word.continues_phrase() && capital(word));
        let before = place.checked_sub(1).map(|at| &self.words[at]);
        let bred = self.words.get(until).is_some_and(|word| BREED_WORDS.contains(&word.text));
        bred || after.is_some_and(is)
            || before.is_some_and(|word| {
                capital(word) && is(word) && self.words[place].continues_phrase()
            })
            || before.is_some_and(|word| {
                word.text.eq_ignore_ascii_case("the") && self.words[place].continues_phrase()
            })
    }

    /// Whether a name is a tool's or an organization's.
    fn is_thing(&self, place: usize, until: usize) -> bool {
        let range = self.words[place].from - self.start..self.words[until - 1].to - self.start;
        super::listed::find_whole(&self.block[range]).is_some()
            || super::listed::find_whole(self.words[place].text).is_some()
    }

    fn is_titled(&self, place: usize) -> bool {
        let before = place.checked_sub(1).map(|at| &self.words[at]);
        before.is_some_and(|word| PERSON_TITLES.contains(word.text))
            && matches!(self.words[place].gap, " " | ". ")
    }

    /// Whether "my friend", "her sister" or the like stands before, or "a man named".
    fn is_related(&self, place: usize) -> bool {
        let word =
            |back: usize| place.checked_sub(back).map(|at| self.words[at].text.to_lowercase());
        let Some(before) = word(1) else { return false };
        let end = self.words[place].to - self.start;
        let closed = self.block[end..].starts_with([',', '.', '!', '?', ';', ')']);
        let joined =
            self.words[place].continues_phrase() || (self.words[place].gap == ", " && closed);
        let owned =
            |back: usize| word(back).is_some_and(|owner| POSSESSIVES.contains(&owner.as_str()));
        let is_relation = |text: &str| RELATION_NOUNS.contains(text);
        if joined && is_relation(&before) {
            return owned(2) || owned(3);
        }
        // "this amazing woman, Jean, who …"
        if self.words[place].gap == ", " && closed && PERSON_NOUNS.contains(&before.as_str()) {
            return true;
        }
        if matches!(before.as_str(), "named" | "called") && self.words[place].continues_phrase() {
            return word(2)
                .is_some_and(|noun| is_relation(&noun) || PERSON_NOUNS.contains(&noun.as_str()));
        }
        // "My name is …"; what "her name" is may be a cat's.
        before == "is"
            && word(2).as_deref() == Some("name")
            && matches!(word(3).as_deref(), Some("my" | "user"))
            && self.words[place].continues_phrase()
    }

    /// Whether somebody is called: "Hey Mel!", "Thanks, Tom."
    fn is_greeted(&self, place: usize, until: usize) -> bool {
        let Some(before) = place.checked_sub(1).map(|at| &self.words[at]) else { return false };
        let gap = self.words[place].gap;
        let end = self.words[until - 1].to - self.start;
        let closed = self.block[end..].starts_with(['!', ',', '.', '?']) || end == self.block.len();
        GREETINGS.contains(before.text.to_lowercase().as_str())
            && before.first
            && matches!(gap, " " | ", ")
            && closed
            && until == place + 1
    }

    /// Whether the next word is what only people do.
    fn speaks(&self, until: usize) -> bool {
        let next = self.words.get(until).filter(|word| word.continues_phrase());
        next.is_some_and(|word| SPEECH_VERBS.contains(word.text))
    }

    /// Whether an address of mail follows in angle brackets.
    fn is_mailed(&self, until: usize) -> bool {
        let rest = &self.block[self.words[until - 1].to - self.start..];
        rest.strip_prefix(" <")
            .and_then(|rest| rest.split_once('>'))
            .is_some_and(|(mail, _)| mail.contains('@') && !mail.contains(' '))
    }

    /// Whether the word is a part of a path, a call or a tag.
    fn is_code(&self, place: usize) -> bool {
        let (from, to) = (self.words[place].from - self.start, self.words[place].to - self.start);
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
        found.into_iter().filter_map(|it| it.value).collect()
    }

    #[test]
    fn who_was_named_once_is_known_in_the_whole_text() {
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
