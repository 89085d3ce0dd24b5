//! Pairs of words that exclude each other, with where each has to stand to say something.

use super::DifferenceKind;

/// Where a word of a pair has to stand, so that it is what a clause says and not what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordPosition {
    /// After "is", "are", "=" and their like: "the public API" is another thing than "the private".
    AfterBeing,
    /// After those, and after words of choice: "prefers", "use", "keep".
    AfterChoosing,
    /// Anywhere: it is a verb.
    Anywhere,
    /// At the end of a clause alone: elsewhere it means something else.
    AtTheEnd,
}

/// Words of which those of one side exclude those of the other.
#[derive(Debug)]
pub struct OppositeWords {
    /// What two sides of it differ in.
    pub kind: DifferenceKind,
    /// Where a word of it has to stand.
    pub stands: WordPosition,
    /// The words of each side.
    pub sides: [&'static [&'static str]; 2],
}

const fn opposite_words(
    kind: DifferenceKind,
    stands: WordPosition,
    one: &'static [&'static str],
    other: &'static [&'static str],
) -> OppositeWords {
    OppositeWords { kind, stands, sides: [one, other] }
}

/// Every pair. A word is in one of them at the most.
pub const OPPOSITES: &[OppositeWords] = &{
    use DifferenceKind::{Antonym, Boolean};
    use WordPosition::{AfterBeing, AfterChoosing, Anywhere, AtTheEnd};
    [
        opposite_words(Boolean, AfterBeing, &["enabled"], &["disabled"]),
        opposite_words(Boolean, AfterBeing, &["true"], &["false"]),
        opposite_words(Boolean, AfterBeing, &["active"], &["inactive"]),
        opposite_words(Boolean, AtTheEnd, &["on"], &["off"]),
        opposite_words(Boolean, AtTheEnd, &["yes"], &["no"]),
        opposite_words(
            Antonym,
            AfterChoosing,
            &["verbose", "detailed", "long", "lengthy", "thorough", "elaborate"],
            &["concise", "short", "brief", "terse", "succinct", "compact"],
        ),
        opposite_words(Antonym, AfterChoosing, &["formal"], &["informal", "casual"]),
        opposite_words(Antonym, AfterChoosing, &["light"], &["dark"]),
        opposite_words(Antonym, AfterChoosing, &["tabs"], &["spaces"]),
        opposite_words(
            Antonym,
            AfterChoosing,
            &["synchronous", "sync", "synchronously"],
            &["asynchronous", "async", "asynchronously"],
        ),
        opposite_words(
            Antonym,
            AfterChoosing,
            &["manual", "manually"],
            &["automatic", "automatically", "automated"],
        ),
        opposite_words(Antonym, AfterChoosing, &["strict"], &["lenient", "loose", "relaxed"]),
        opposite_words(Antonym, AfterChoosing, &["squash", "squashed"], &["unsquashed"]),
        opposite_words(
            Antonym,
            AfterChoosing,
            &["static", "statically"],
            &["dynamic", "dynamically"],
        ),
        opposite_words(Antonym, AfterBeing, &["public"], &["private"]),
        opposite_words(Antonym, AfterBeing, &["internal"], &["external"]),
        opposite_words(
            Antonym,
            AfterBeing,
            &["required", "mandatory", "obligatory"],
            &["optional"],
        ),
        opposite_words(
            Antonym,
            AfterBeing,
            &["allowed", "permitted"],
            &["forbidden", "prohibited", "disallowed", "banned"],
        ),
        opposite_words(Antonym, AfterBeing, &["safe"], &["unsafe", "dangerous"]),
        opposite_words(Antonym, AfterBeing, &["stable"], &["unstable"]),
        opposite_words(Antonym, AfterBeing, &["supported"], &["unsupported"]),
        opposite_words(
            Antonym,
            AfterBeing,
            &["deprecated", "discouraged"],
            &["recommended", "encouraged"],
        ),
        opposite_words(Antonym, AfterBeing, &["mutable"], &["immutable"]),
        opposite_words(Antonym, AfterBeing, &["encrypted"], &["unencrypted", "plaintext"]),
        opposite_words(Antonym, AfterBeing, &["sorted", "ordered"], &["unsorted", "unordered"]),
        opposite_words(Antonym, AfterBeing, &["available"], &["unavailable"]),
        opposite_words(Antonym, AfterBeing, &["fast", "quick"], &["slow"]),
        opposite_words(Antonym, AfterBeing, &["cheap", "inexpensive"], &["expensive", "costly"]),
        opposite_words(
            Antonym,
            AfterBeing,
            &["easy", "simple"],
            &["hard", "difficult", "complicated"],
        ),
        opposite_words(Antonym, AfterBeing, &["stateful"], &["stateless"]),
        opposite_words(Antonym, AfterBeing, &["sensitive"], &["insensitive"]),
        opposite_words(Antonym, AfterBeing, &["ascending"], &["descending"]),
        opposite_words(Antonym, AfterBeing, &["valid"], &["invalid"]),
        opposite_words(Antonym, AfterBeing, &["compatible"], &["incompatible"]),
        opposite_words(Antonym, AfterBeing, &["blocking"], &["nonblocking"]),
        opposite_words(Antonym, AfterBeing, &["empty"], &["full"]),
        opposite_words(Antonym, AfterBeing, &["married"], &["single", "unmarried"]),
        opposite_words(Antonym, AfterBeing, &["open"], &["closed"]),
        opposite_words(
            Antonym,
            Anywhere,
            &["allows", "permits"],
            &["forbids", "prohibits", "denies"],
        ),
        opposite_words(Antonym, Anywhere, &["accepts"], &["rejects", "refuses"]),
        opposite_words(Antonym, Anywhere, &["includes"], &["excludes", "omits"]),
        opposite_words(
            Antonym,
            Anywhere,
            &["increases", "raises"],
            &["decreases", "reduces", "lowers"],
        ),
        opposite_words(Antonym, Anywhere, &["improves"], &["worsens", "degrades"]),
        opposite_words(Antonym, Anywhere, &["encrypts"], &["decrypts"]),
        opposite_words(Antonym, Anywhere, &["succeeds", "passes"], &["fails"]),
    ]
};
