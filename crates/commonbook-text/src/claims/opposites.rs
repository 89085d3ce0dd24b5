//! Words that exclude each other, with the position in which they state something.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::DifferenceKind;
use crate::word_list::rows;

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
}

/// Two sets of words; those of one side exclude those of the other.
#[derive(Debug)]
pub struct OppositeWords {
    /// The kind of difference between the sides.
    pub kind: DifferenceKind,
    /// The position in which a word counts.
    pub position: WordPosition,
    /// The words of each side.
    pub sides: [Vec<&'static str>; 2],
}

/// The side of a pair that a word belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OppositeSide {
    /// The index of the pair in [`OPPOSITES`].
    pub pair: usize,
    /// The side, 0 or 1.
    pub side: usize,
}

/// Every pair. A word is in one pair at most.
pub static OPPOSITES: LazyLock<Vec<OppositeWords>> =
    LazyLock::new(|| rows(include_str!("opposites.tsv")).filter_map(parse_pair).collect());

/// The side of each word.
static SIDES: LazyLock<FxHashMap<&'static str, OppositeSide>> = LazyLock::new(|| {
    let mut sides = FxHashMap::default();
    for (pair, words) in OPPOSITES.iter().enumerate() {
        for (side, words) in words.sides.iter().enumerate() {
            sides.extend(words.iter().map(|word| (*word, OppositeSide { pair, side })));
        }
    }
    sides
});

fn parse_pair([first, second, kind, position]: [&'static str; 4]) -> Option<OppositeWords> {
    let position = match position {
        "after_being" => WordPosition::AfterBeing,
        "after_choosing" => WordPosition::AfterChoosing,
        "anywhere" => WordPosition::Anywhere,
        "at_the_end" => WordPosition::AtTheEnd,
        _ => return None,
    };
    let sides = [first, second].map(|words| words.split(' ').collect());
    Some(OppositeWords { kind: kind.parse().ok()?, position, sides })
}

/// The side that a word in lower case belongs to.
#[must_use]
pub fn side_of(word: &str) -> Option<OppositeSide> {
    SIDES.get(word).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word_list::entries;

    #[test]
    fn every_line_is_a_pair_and_no_word_is_in_two() {
        assert_eq!(OPPOSITES.len(), entries(include_str!("opposites.tsv")).count());
        let words: usize = OPPOSITES.iter().flat_map(|pair| &pair.sides).map(Vec::len).sum();
        assert_eq!(SIDES.len(), words);
    }
}
