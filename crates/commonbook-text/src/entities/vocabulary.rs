//! Vocabulary: the lists of tools, organizations, concepts and names of people.
//!
//! Each list is a text file in the folder of this module, and begins with its format. No stored row
//! depends on the lists.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::value::{fold_text, normalise};
use crate::entities::EntityType;
use crate::word_list::entries;

const TOOL_LIST: &str = include_str!("vocabulary/tools.txt");
const ORGANIZATION_LIST: &str = include_str!("vocabulary/organizations.txt");
const CONCEPT_LIST: &str = include_str!("vocabulary/concepts.txt");
const GIVEN_NAME_LIST: &str = include_str!("vocabulary/given.txt");
const FAMILY_NAME_LIST: &str = include_str!("vocabulary/family.txt");
const ORDINARY_WORD_LIST: &str = include_str!("vocabulary/words.txt");

/// The context that a listed name requires, so that it is no ordinary word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameRequirement {
    /// None: the word means nothing else.
    Nothing,
    /// A technical text.
    Technical,
    /// A word beside the name that shows its type.
    Cue,
}

/// A listed entity with its names.
#[derive(Debug)]
pub struct ListedTerm {
    /// The type of the entity.
    pub kind: EntityType,
    /// The usual spelling of the name.
    pub name: &'static str,
    /// All names as written, the usual one first.
    pub spellings: Vec<&'static str>,
    /// The context that the name requires.
    pub needs: NameRequirement,
}

/// Every listed tool, organization and concept.
pub static TERMS: LazyLock<Vec<ListedTerm>> = LazyLock::new(|| {
    let lists = [
        (EntityType::Tool, TOOL_LIST),
        (EntityType::Organization, ORGANIZATION_LIST),
        (EntityType::Concept, CONCEPT_LIST),
    ];
    let lines = lists.into_iter().flat_map(|(kind, list)| entries(list).map(move |l| (kind, l)));
    lines.filter_map(|(kind, line)| parse_term(kind, line)).collect()
});

/// The index in [`TERMS`] of each normalised name.
static TERM_INDEXES: LazyLock<FxHashMap<(EntityType, String), usize>> = LazyLock::new(|| {
    let mut indexes = FxHashMap::default();
    for (index, term) in TERMS.iter().enumerate() {
        for spelling in &term.spellings {
            indexes.entry((term.kind, normalise(term.kind, spelling))).or_insert(index);
        }
    }
    indexes
});

/// Given names, with the context that each requires.
static GIVEN_NAMES: LazyLock<FxHashMap<String, NameRequirement>> = LazyLock::new(|| {
    let mut names = FxHashMap::default();
    for line in entries(GIVEN_NAME_LIST) {
        let (needs, line) = match line.strip_prefix("? ") {
            Some(rest) => (NameRequirement::Cue, rest),
            None => (NameRequirement::Nothing, line),
        };
        for name in line.split_whitespace() {
            // A name in both kinds of lines is ambiguous.
            let requirement = names.entry(fold_text(name)).or_insert(needs);
            *requirement = needs.max(*requirement);
        }
    }
    names
});

static FAMILY_NAMES: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    entries(FAMILY_NAME_LIST).flat_map(str::split_whitespace).map(fold_text).collect()
});

static ORDINARY_WORDS: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| entries(ORDINARY_WORD_LIST).flat_map(str::split_whitespace).collect());

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

/// Returns the listed entity of a type and normalised name.
pub fn find(kind: EntityType, normalised: &str) -> Option<&'static ListedTerm> {
    let index = TERM_INDEXES.get(&(kind, normalised.to_owned()))?;
    TERMS.get(*index)
}

/// Returns the normalised names of the entity with this normalised name: this name first, then the
/// well-known synonyms (`postgres` for `PostgreSQL`).
#[must_use]
pub fn names(kind: EntityType, normalised: &str) -> Vec<String> {
    let mut names = vec![normalised.to_owned()];
    for spelling in find(kind, normalised).iter().flat_map(|term| &term.spellings) {
        let synonym = normalise(kind, spelling);
        if !names.contains(&synonym) {
            names.push(synonym);
        }
    }
    names
}

/// Returns the context that a given name, in folded form, requires; `None` if the list does not have
/// the name.
pub fn given_name(folded: &str) -> Option<NameRequirement> {
    GIVEN_NAMES.get(folded).copied()
}

/// Whether a word in folded form is a listed family name.
pub fn is_family_name(folded: &str) -> bool {
    FAMILY_NAMES.contains(folded)
}

/// Whether a word in lower case is an ordinary word, which has a capital only at the beginning of a
/// sentence.
pub fn is_ordinary(lower: &str) -> bool {
    ORDINARY_WORDS.contains(lower)
}

/// Whether a single word in folded form is a listed name of a tool, an organization or a person.
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
