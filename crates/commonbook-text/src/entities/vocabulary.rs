//! Vocabulary: the well-kept lists of tools, organizations, notions and names of people.
//!
//! Each list is a text file beside this one, which says how it is read. The lists are looked
//! things up in; nothing that is kept depends on what stood in them when it was kept.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::value::{fold_text, normalise};
use crate::entities::EntityType;

const TOOL_LIST: &str = include_str!("vocabulary/tools.txt");
const ORGANIZATION_LIST: &str = include_str!("vocabulary/organizations.txt");
const CONCEPT_LIST: &str = include_str!("vocabulary/concepts.txt");
const GIVEN_NAME_LIST: &str = include_str!("vocabulary/given.txt");
const FAMILY_NAME_LIST: &str = include_str!("vocabulary/family.txt");
const ORDINARY_WORD_LIST: &str = include_str!("vocabulary/words.txt");

/// What must stand around a listed name, so that it is that name and no ordinary word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameRequirement {
    /// Nothing: the word means nothing else.
    Nothing,
    /// A technical text.
    Technical,
    /// A word beside it that says what it is.
    Cue,
}

/// A listed thing with its names.
#[derive(Debug)]
pub struct ListedTerm {
    /// What sort of thing the term names.
    pub kind: EntityType,
    /// Its name as it is usually written.
    pub name: &'static str,
    /// All its names as they are written, the usual one first.
    pub spellings: Vec<&'static str>,
    /// What else a text must show before the term counts.
    pub needs: NameRequirement,
}

/// Every listed tool, organization and notion.
pub static TERMS: LazyLock<Vec<ListedTerm>> = LazyLock::new(|| {
    let lists = [
        (EntityType::Tool, TOOL_LIST),
        (EntityType::Organization, ORGANIZATION_LIST),
        (EntityType::Concept, CONCEPT_LIST),
    ];
    let lines =
        lists.into_iter().flat_map(|(kind, list)| list_entries(list).map(move |l| (kind, l)));
    lines.filter_map(|(kind, line)| parse_term(kind, line)).collect()
});

/// The place in [`TERMS`] of each normalised name.
static TERM_INDEXES: LazyLock<FxHashMap<(EntityType, String), usize>> = LazyLock::new(|| {
    let mut places = FxHashMap::default();
    for (place, term) in TERMS.iter().enumerate() {
        for spelling in &term.spellings {
            places.entry((term.kind, normalise(term.kind, spelling))).or_insert(place);
        }
    }
    places
});

/// Given names, and whether each names a person by itself.
static GIVEN_NAMES: LazyLock<FxHashMap<String, NameRequirement>> = LazyLock::new(|| {
    let mut names = FxHashMap::default();
    for line in list_entries(GIVEN_NAME_LIST) {
        let (needs, line) = match line.strip_prefix("? ") {
            Some(rest) => (NameRequirement::Cue, rest),
            None => (NameRequirement::Nothing, line),
        };
        for name in line.split_whitespace() {
            // A name that stands in both lines is the ambiguous one.
            let kept = names.entry(fold_text(name)).or_insert(needs);
            *kept = needs.max(*kept);
        }
    }
    names
});

static FAMILY_NAMES: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    list_entries(FAMILY_NAME_LIST).flat_map(str::split_whitespace).map(fold_text).collect()
});

static ORDINARY_WORDS: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| list_entries(ORDINARY_WORD_LIST).flat_map(str::split_whitespace).collect());

/// The lines of a list without comments and empty ones.
fn list_entries(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("# "))
}

fn parse_term(kind: EntityType, line: &'static str) -> Option<ListedTerm> {
    let (needs, line) = match line.as_bytes() {
        [b'?', b' ', ..] if kind == EntityType::Organization => (NameRequirement::Cue, &line[2..]),
        [b'?', b' ', ..] => (NameRequirement::Technical, &line[2..]),
        [b'!', b' ', ..] => (NameRequirement::Cue, &line[2..]),
        _ => (NameRequirement::Nothing, line),
    };
    let spellings: Vec<&str> = line.split('|').map(str::trim).collect();
    let name = *spellings.first()?;
    Some(ListedTerm { kind, name, spellings, needs })
}

/// The listed thing of this type and normalised name.
pub fn find(kind: EntityType, normalised: &str) -> Option<&'static ListedTerm> {
    let place = TERM_INDEXES.get(&(kind, normalised.to_owned()))?;
    TERMS.get(*place)
}

/// The normalised names under which a thing of this normalised name may be kept: its own first, then
/// those that are well known to mean the same (`postgres` for `PostgreSQL`).
#[must_use]
pub fn names(kind: EntityType, normalised: &str) -> Vec<String> {
    let mut names = vec![normalised.to_owned()];
    for spelling in find(kind, normalised).iter().flat_map(|term| &term.spellings) {
        let other = normalise(kind, spelling);
        if !names.contains(&other) {
            names.push(other);
        }
    }
    names
}

/// What a given name, in folded form, needs to name a person; none when it is no such name.
pub fn given_name(folded: &str) -> Option<NameRequirement> {
    GIVEN_NAMES.get(folded).copied()
}

/// Whether a word, in folded form, is a family name of the list.
pub fn is_family_name(folded: &str) -> bool {
    FAMILY_NAMES.contains(folded)
}

/// Whether a word, in lower case, is an ordinary one that only begins a sentence.
pub fn is_ordinary(lower: &str) -> bool {
    ORDINARY_WORDS.contains(lower)
}

/// Whether a single word, in folded form, is a name that the lists have: a tool's or a person's.
pub fn is_listed_word(folded: &str) -> bool {
    given_name(folded).is_some()
        || is_family_name(folded)
        || find(EntityType::Tool, folded).is_some()
        || find(EntityType::Organization, folded).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_with_their_marks_and_other_names() {
        let of = |kind, name: &str| find(kind, name).map(|term| (term.name, term.needs));
        let table = [
            (EntityType::Tool, "postgres", Some(("PostgreSQL", NameRequirement::Nothing))),
            (EntityType::Tool, "go", Some(("Go", NameRequirement::Cue))),
            (EntityType::Tool, "golang", Some(("Go", NameRequirement::Cue))),
            (EntityType::Tool, "ruby", Some(("Ruby", NameRequirement::Technical))),
            (EntityType::Tool, "c#", Some(("C#", NameRequirement::Nothing))),
            (EntityType::Organization, "apple", Some(("Apple", NameRequirement::Cue))),
            (EntityType::Organization, "tool", None),
            (
                EntityType::Concept,
                "ci/cd",
                Some(("continuous integration and delivery", NameRequirement::Nothing)),
            ),
        ];
        for (kind, name, expected) in table {
            assert_eq!(of(kind, name), expected, "{kind} {name}");
        }
        assert!(TERMS.len() > 800, "{} terms", TERMS.len());
        assert_eq!(given_name("melissa"), Some(NameRequirement::Nothing));
        assert_eq!(given_name("jerome"), Some(NameRequirement::Cue), "it stands in both lines");
        assert!(is_family_name("johnston") && !is_family_name("commonbook"));
        assert!(is_ordinary("however") && !is_ordinary("kubernetes"));
    }

    #[test]
    fn no_name_is_listed_for_two_things_of_a_type() {
        let mut seen: FxHashMap<(EntityType, String), &str> = FxHashMap::default();
        for term in TERMS.iter() {
            for spelling in &term.spellings {
                let normal = normalise(term.kind, spelling);
                assert!(!normal.is_empty(), "{spelling:?} names nothing");
                let other = seen.insert((term.kind, normal), term.name);
                assert!(
                    other.is_none_or(|other| other == term.name),
                    "{spelling:?}: {other:?} and {:?}",
                    term.name
                );
            }
        }
    }
}
