//! Pairs of words that exclude each other, with where each has to stand to say something.

use super::Kind;

/// Where a word of a pair has to stand, so that it is what a clause says and not what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
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
pub struct Axis {
    /// What two sides of it differ in.
    pub kind: Kind,
    /// Where a word of it has to stand.
    pub stands: Stands,
    /// The words of each side.
    pub sides: [&'static [&'static str]; 2],
}

const fn axis(
    kind: Kind,
    stands: Stands,
    one: &'static [&'static str],
    other: &'static [&'static str],
) -> Axis {
    Axis { kind, stands, sides: [one, other] }
}

/// Every pair. A word is in one of them at the most.
pub const AXES: &[Axis] = &{
    use Kind::{Antonym, Boolean};
    use Stands::{AfterBeing, AfterChoosing, Anywhere, AtTheEnd};
    [
        axis(Boolean, AfterBeing, &["enabled"], &["disabled"]),
        axis(Boolean, AfterBeing, &["true"], &["false"]),
        axis(Boolean, AfterBeing, &["active"], &["inactive"]),
        axis(Boolean, AtTheEnd, &["on"], &["off"]),
        axis(Boolean, AtTheEnd, &["yes"], &["no"]),
        axis(
            Antonym,
            AfterChoosing,
            &["verbose", "detailed", "long", "lengthy", "thorough", "elaborate"],
            &["concise", "short", "brief", "terse", "succinct", "compact"],
        ),
        axis(Antonym, AfterChoosing, &["formal"], &["informal", "casual"]),
        axis(Antonym, AfterChoosing, &["light"], &["dark"]),
        axis(Antonym, AfterChoosing, &["tabs"], &["spaces"]),
        axis(
            Antonym,
            AfterChoosing,
            &["synchronous", "sync", "synchronously"],
            &["asynchronous", "async", "asynchronously"],
        ),
        axis(
            Antonym,
            AfterChoosing,
            &["manual", "manually"],
            &["automatic", "automatically", "automated"],
        ),
        axis(Antonym, AfterChoosing, &["strict"], &["lenient", "loose", "relaxed"]),
        axis(Antonym, AfterChoosing, &["squash", "squashed"], &["unsquashed"]),
        axis(Antonym, AfterChoosing, &["static", "statically"], &["dynamic", "dynamically"]),
        axis(Antonym, AfterBeing, &["public"], &["private"]),
        axis(Antonym, AfterBeing, &["internal"], &["external"]),
        axis(Antonym, AfterBeing, &["required", "mandatory", "obligatory"], &["optional"]),
        axis(
            Antonym,
            AfterBeing,
            &["allowed", "permitted"],
            &["forbidden", "prohibited", "disallowed", "banned"],
        ),
        axis(Antonym, AfterBeing, &["safe"], &["unsafe", "dangerous"]),
        axis(Antonym, AfterBeing, &["stable"], &["unstable"]),
        axis(Antonym, AfterBeing, &["supported"], &["unsupported"]),
        axis(Antonym, AfterBeing, &["deprecated", "discouraged"], &["recommended", "encouraged"]),
        axis(Antonym, AfterBeing, &["mutable"], &["immutable"]),
        axis(Antonym, AfterBeing, &["encrypted"], &["unencrypted", "plaintext"]),
        axis(Antonym, AfterBeing, &["sorted", "ordered"], &["unsorted", "unordered"]),
        axis(Antonym, AfterBeing, &["available"], &["unavailable"]),
        axis(Antonym, AfterBeing, &["fast", "quick"], &["slow"]),
        axis(Antonym, AfterBeing, &["cheap", "inexpensive"], &["expensive", "costly"]),
        axis(Antonym, AfterBeing, &["easy", "simple"], &["hard", "difficult", "complicated"]),
        axis(Antonym, AfterBeing, &["stateful"], &["stateless"]),
        axis(Antonym, AfterBeing, &["sensitive"], &["insensitive"]),
        axis(Antonym, AfterBeing, &["ascending"], &["descending"]),
        axis(Antonym, AfterBeing, &["valid"], &["invalid"]),
        axis(Antonym, AfterBeing, &["compatible"], &["incompatible"]),
        axis(Antonym, AfterBeing, &["blocking"], &["nonblocking"]),
        axis(Antonym, AfterBeing, &["empty"], &["full"]),
        axis(Antonym, AfterBeing, &["married"], &["single", "unmarried"]),
        axis(Antonym, AfterBeing, &["open"], &["closed"]),
        axis(Antonym, Anywhere, &["allows", "permits"], &["forbids", "prohibits", "denies"]),
        axis(Antonym, Anywhere, &["accepts"], &["rejects", "refuses"]),
        axis(Antonym, Anywhere, &["includes"], &["excludes", "omits"]),
        axis(Antonym, Anywhere, &["increases", "raises"], &["decreases", "reduces", "lowers"]),
        axis(Antonym, Anywhere, &["improves"], &["worsens", "degrades"]),
        axis(Antonym, Anywhere, &["encrypts"], &["decrypts"]),
        axis(Antonym, Anywhere, &["succeeds", "passes"], &["fails"]),
    ]
};
