//! Words that exclude each other, with the position in which they state something: opposites, and
//! names of one kind.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::DifferenceKind;
use crate::word_list::{entries, rows};

/// The position in which a word is what a clause says, and not what the clause is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordPosition {
    /// After "is", "are" or "=": "the public API" is another thing than "the private".
    AfterBeing,
    /// After those, and after words of choice: "prefers", "use", "keep".
    AfterChoosing,
    /// Anywhere: the word is a verb.
    Anywhere,
    /// Only at the end of a clause: elsewhere the word means something else.
    AtTheEnd,
    /// At the end of a clause, or after "is" and before what limits the state: "is on by default".
    AsState,
    /// Before an option of a command: "with --release".
    BeforeFlag,
    /// After a verb, and before no noun: "the daily report" is another thing than "the weekly".
    AfterVerb,
}

/// Sets of words; those of one side exclude those of the others.
#[derive(Debug)]
pub struct OppositeWords {
    /// The kind of difference between the sides.
    pub kind: DifferenceKind,
    /// The position in which a word counts.
    pub position: WordPosition,
    /// The words of each side.
    pub sides: Vec<Vec<String>>,
}

/// The side of a pair that a word belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OppositeSide {
    /// The index of the pair in [`OPPOSITES`].
    pub pair: usize,
    /// The index of the side.
    pub side: usize,
}

impl OppositeSide {
    /// Whether the words are names of one kind: databases, package managers.
    #[must_use]
    pub fn is_name(self) -> bool {
        OPPOSITES[self.pair].kind == DifferenceKind::Name
    }

    /// The first word of the side.
    #[must_use]
    pub fn first_word(self) -> &'static str {
        &OPPOSITES[self.pair].sides[self.side][0]
    }
}

/// Every set of opposites and of alternatives. A word is in one of them at most.
pub static OPPOSITES: LazyLock<Vec<OppositeWords>> = LazyLock::new(|| {
    let opposites = rows(include_str!("opposites.tsv"));
    let opposites = opposites.filter_map(|[first, second, kind, position]: [&str; 4]| {
        parse_sides(kind, position, &[first, second])
    });
    let alternatives = entries(include_str!("alternatives.tsv")).filter_map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        parse_sides(columns.first()?, columns.get(1)?, &columns[2..])
    });
    opposites.chain(alternatives).collect()
});

/// The side of each word or phrase.
static SIDES: LazyLock<FxHashMap<&'static str, OppositeSide>> = LazyLock::new(|| {
    let mut sides = FxHashMap::default();
    for (pair, words) in OPPOSITES.iter().enumerate() {
        for (side, words) in words.sides.iter().enumerate() {
            sides.extend(words.iter().map(|word| (word.as_str(), OppositeSide { pair, side })));
        }
    }
    sides
});

fn parse_sides(kind: &str, position: &str, sides: &[&str]) -> Option<OppositeWords> {
    let position = match position {
        "after_being" => WordPosition::AfterBeing,
        "after_choosing" => WordPosition::AfterChoosing,
        "anywhere" => WordPosition::Anywhere,
        "at_the_end" => WordPosition::AtTheEnd,
        "after_verb" => WordPosition::AfterVerb,
        "as_state" => WordPosition::AsState,
        "before_flag" => WordPosition::BeforeFlag,
        _ => return None,
    };
    let spellings = |side: &&str| side.split(' ').map(|word| word.replace('+', " ")).collect();
    Some(OppositeWords {
        kind: kind.parse().ok()?,
        position,
        sides: sides.iter().map(spellings).collect(),
    })
}

/// The side that a word or a phrase in lower case belongs to.
#[must_use]
pub fn side_of(word: &str) -> Option<OppositeSide> {
    SIDES.get(word).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_and_no_word_is_in_two() {
        let lines = [include_str!("opposites.tsv"), include_str!("alternatives.tsv")];
        assert_eq!(OPPOSITES.len(), lines.into_iter().flat_map(entries).count());
        let mut words: Vec<&String> =
            OPPOSITES.iter().flat_map(|pair| pair.sides.iter().flatten()).collect();
        words.sort();
        let twice: Vec<_> = words.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
