//! Own types of entities: what a configuration names, and how a text mentions them.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::entity_type::{EntityType, OWN_TYPE_LETTERS_MAX, OwnTypeName};
use super::{EntityEvidence, NAME_CHARS_MAX, TextMention, listed, value};

/// Maximum own types.
const OWN_TYPES_MAX: usize = 32;
/// Maximum names of all own types.
const OWN_NAMES_MAX: usize = 2_000;
/// Maximum prefixes and suffixes of all own types.
const OWN_AFFIXES_MAX: usize = 64;
/// Letters that a name, a prefix or a suffix has at least: a shorter one is in every text.
const LETTERS_MIN: usize = 2;

/// How a text names entities of an own type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OwnTypeRules {
    /// Names, in any letter case.
    pub names: Vec<String>,
    /// Beginnings of words: `svc-` finds `svc-orders`.
    pub prefixes: Vec<String>,
    /// Endings of words: `-service` finds `orders-service`.
    pub suffixes: Vec<String>,
}

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidOwnType {
    /// The field below `types`: `service.names[0]`.
    pub field: String,
    /// The reason.
    pub reason: String,
}

/// The own types of a configuration, ready for many texts.
#[derive(Debug, Clone, Default)]
pub struct OwnTypes {
    rules: Vec<(EntityType, OwnTypeRules)>,
    /// All names, each with its type.
    names: Vec<(EntityType, String)>,
    /// The types of names in normal form.
    normalised: FxHashMap<String, usize>,
    matcher: Option<AhoCorasick>,
}

impl OwnTypes {
    /// The types with these names and rules.
    ///
    /// # Errors
    /// The first rule that cannot be used.
    pub fn of(types: &BTreeMap<String, OwnTypeRules>) -> Result<Self, InvalidOwnType> {
        let invalid =
            |field: &str, reason: String| Err(InvalidOwnType { field: field.to_owned(), reason });
        if types.len() > OWN_TYPES_MAX {
            return invalid("", format!("{} types; at most {OWN_TYPES_MAX}", types.len()));
        }
        let mut own = Self::default();
        for (name, rules) in types {
            let Some(kind) = OwnTypeName::of(name).map(EntityType::Own) else {
                let reason = match EntityType::built_in(name) {
                    Some(_) => "is a built-in type; choose another name".to_owned(),
                    None => format!(
                        "cannot name a type; expected a small letter, then small letters, digits, \
                         - and _, at most {OWN_TYPE_LETTERS_MAX}"
                    ),
                };
                return invalid(name, reason);
            };
            own.add(kind, rules)?;
        }
        let affixes =
            own.rules.iter().map(|(_, rules)| rules.prefixes.len() + rules.suffixes.len());
        let (names, affixes) = (own.names.len(), affixes.sum::<usize>());
        if names > OWN_NAMES_MAX {
            return invalid("", format!("{names} names; at most {OWN_NAMES_MAX}"));
        }
        if affixes > OWN_AFFIXES_MAX {
            return invalid(
                "",
                format!("{affixes} prefixes and suffixes; at most {OWN_AFFIXES_MAX}"),
            );
        }
        if !own.names.is_empty() {
            let spellings = own.names.iter().map(|(_, name)| name);
            let matcher = AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::LeftmostLongest)
                .build(spellings);
            match matcher {
                Ok(matcher) => own.matcher = Some(matcher),
                Err(error) => return invalid("", error.to_string()),
            }
        }
        Ok(own)
    }

    fn add(&mut self, kind: EntityType, rules: &OwnTypeRules) -> Result<(), InvalidOwnType> {
        for (index, name) in rules.names.iter().enumerate() {
            let invalid =
                |reason: String| InvalidOwnType { field: format!("{kind}.names[{index}]"), reason };
            let normalised = value::normalise(kind, name);
            let chars = name.chars().count();
            if chars > NAME_CHARS_MAX || name.trim() != name || name.contains(char::is_control) {
                let most = NAME_CHARS_MAX;
                return Err(invalid(format!("expected one line of at most {most} characters")));
            }
            if normalised.chars().count() < LETTERS_MIN {
                return Err(invalid(format!("a name has at least {LETTERS_MIN} letters")));
            }
            match self.normalised.get(&normalised).map(|at| self.names[*at].0) {
                Some(other) if other != kind => {
                    return Err(invalid(format!("{name:?} is a name of {other} too")));
                }
                Some(_) => {}
                None => {
                    self.normalised.insert(normalised, self.names.len());
                }
            }
            self.names.push((kind, name.clone()));
        }
        let mut rules = rules.clone();
        for (list, affixes) in
            [("prefixes", &mut rules.prefixes), ("suffixes", &mut rules.suffixes)]
        {
            for (index, affix) in affixes.iter_mut().enumerate() {
                let letters = affix.chars().filter(|c| c.is_alphanumeric()).count();
                if letters < LETTERS_MIN || !affix.chars().all(is_word_char) {
                    return Err(InvalidOwnType {
                        field: format!("{kind}.{list}[{index}]"),
                        reason: format!(
                            "expected at least {LETTERS_MIN} letters or digits, with - _ and . only"
                        ),
                    });
                }
                *affix = affix.to_lowercase();
            }
        }
        self.rules.push((kind, rules));
        Ok(())
    }

    /// Every type, by name.
    pub fn types(&self) -> impl Iterator<Item = EntityType> {
        self.rules.iter().map(|(kind, _)| *kind)
    }

    /// Whether there is no own type.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// A text that differs if the types or their rules differ; empty without types.
    #[must_use]
    pub fn fingerprint_text(&self) -> String {
        let line = |(kind, rules): &(EntityType, OwnTypeRules)| format!("{kind} {rules:?}\n");
        self.rules.iter().map(line).collect()
    }

    /// Finds the mentions in a block of text, in order and without overlaps.
    pub(super) fn find(&self, block: &str, start: usize) -> Vec<TextMention> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<TextMention> = Vec::new();
        for hit in self.matcher.iter().flat_map(|matcher| matcher.find_iter(block)) {
            let range = hit.range();
            if !stands_alone(block, &range) {
                continue;
            }
            let (kind, _) = self.names[hit.pattern().as_usize()];
            // All spellings of one name are shown as the first.
            let normalised = value::normalise(kind, &block[range.clone()]);
            let name = self.normalised.get(&normalised).map(|at| self.names[*at].1.clone());
            let range = start + range.start..start + range.end;
            found.push(TextMention { kind, range, value: name, evidence: EntityEvidence::Listed });
        }
        let names = found.len();
        for word in words(block) {
            let Some(kind) = self.type_of_word(&block[word.clone()]) else { continue };
            let range = start + word.start..start + word.end;
            let next = found[..names].partition_point(|name| name.range.end <= range.start);
            if next == names || found[next].range.start >= range.end {
                found.push(TextMention::new(kind, range, EntityEvidence::Cue));
            }
        }
        found.sort_by_key(|mention| mention.range.start);
        found
    }

    /// The type and the name of an entity that a whole text names.
    pub(super) fn find_whole<'a>(&'a self, text: &'a str) -> Option<(EntityType, &'a str)> {
        let (kind, _) = self.rules.first()?;
        // All own types have one normal form.
        let normalised = value::normalise(*kind, text);
        if let Some(at) = self.normalised.get(&normalised) {
            let (kind, name) = &self.names[*at];
            return Some((*kind, name));
        }
        let whole = words(text).next().filter(|word| *word == (0..text.len()))?;
        self.type_of_word(&text[whole]).map(|kind| (kind, text))
    }

    /// The type whose prefix or suffix a word has, with something beside it.
    fn type_of_word(&self, word: &str) -> Option<EntityType> {
        let lower = word.to_lowercase();
        let is_name = |rest: Option<&str>| rest.is_some_and(|r| r.contains(char::is_alphanumeric));
        let found = self.rules.iter().find(|(_, rules)| {
            rules.prefixes.iter().any(|prefix| is_name(lower.strip_prefix(prefix.as_str())))
                || rules.suffixes.iter().any(|suffix| is_name(lower.strip_suffix(suffix.as_str())))
        });
        found.map(|(kind, _)| *kind)
    }
}

/// Whether a character is inside a word of a prefix or suffix.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// The words of a block that are no part of a path or an address.
fn words(block: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    block.split(|c: char| !is_word_char(c)).filter_map(move |word| {
        let start = from;
        let after = block[start + word.len()..].chars().next();
        from = start + word.len() + after.map_or(0, char::len_utf8);
        let short = word.trim_matches('.');
        let before = block[..start].chars().next_back();
        let joined = |c: Option<char>| matches!(c, Some('/' | '\\' | '@' | '$'));
        let fits = (1..=4 * NAME_CHARS_MAX).contains(&short.len());
        let begin = start + word.len() - word.trim_start_matches('.').len();
        (fits && !joined(before) && !joined(after)).then(|| begin..begin + short.len())
    })
}

/// Whether no letter, path or address continues before or after a name.
fn stands_alone(block: &str, range: &Range<usize>) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() && !listed::is_unspaced(c);
    let before = block[..range.start].chars().next_back();
    let mut after = block[range.end..].chars();
    let (next, second) = (after.next(), after.next());
    let joins_before = before
        .is_some_and(|c| is_letter(c) || matches!(c, '_' | '-' | '.' | '/' | '\\' | '@' | '$'));
    let joins_after = match next {
        Some('-' | '.' | '/' | '@') => second.is_some_and(|c| c.is_alphanumeric() || c == '_'),
        Some(c) => is_letter(c) || matches!(c, '_' | '\\'),
        None => false,
    };
    !joins_before && !joins_after
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::entities::{ExtractionInput, extract};

    fn own(json: serde_json::Value) -> Result<OwnTypes, InvalidOwnType> {
        OwnTypes::of(&serde_json::from_value(json).expect("rules"))
    }

    fn found(types: &OwnTypes, text: &str) -> Vec<String> {
        let all =
            extract(&ExtractionInput { text, own: Some(types), ..ExtractionInput::default() });
        all.iter().map(|found| format!("{}:{}", found.entity_type, found.value)).collect()
    }

    #[test]
    fn a_text_mentions_own_types_by_name_prefix_and_suffix() {
        let types = own(json!({
            "service": {"names": ["Orders API", "ledger"], "suffixes": ["-service"]},
            "host": {"prefixes": ["db-", "web."]},
            "team": {},
        }))
        .expect("the rules are good");
        for (text, expected) in [
            ("The orders api calls the ledger.", "service:Orders API service:ledger"),
            ("Restart payment-service.", "service:payment-service"),
            (
                "Restart Payment-Service's pod on db-7, then web.eu.",
                "service:Payment-Service host:db-7 host:web.eu",
            ),
            ("用ledger缓存", "service:ledger"),
            ("ledger: 3 of them. LEDGER again", "service:ledger"),
            ("```\nledger --port 1\n```", "service:ledger"),
            ("ledgers, sledger, ledger-old, my-ledger, ledger/main, a-service/x", ""),
            ("db- and -service alone", ""),
        ] {
            let mut all = found(&types, text);
            all.retain(|name| {
                ["service:", "host:", "team:"].iter().any(|own| name.starts_with(own))
            });
            all.sort();
            let mut expected: Vec<&str> =
                expected.split(' ').filter(|name| !name.is_empty()).collect();
            if expected.first() == Some(&"service:Orders") {
                expected = vec!["service:Orders API", "service:ledger"];
            }
            expected.sort_unstable();
            assert_eq!(all, expected, "{text}");
        }
        assert_eq!(found(&types, "see src/ledger/main.rs"), ["file:src/ledger/main.rs"]);
        let topics = ["ledger".to_owned(), "x-service".to_owned()];
        let input = ExtractionInput { topics: &topics, own: Some(&types), ..Default::default() };
        assert!(extract(&input).iter().all(|found| found.entity_type.name() == "service"));
    }

    #[test]
    fn an_own_name_takes_precedence_over_lists() {
        let types = own(json!({"database": {"names": ["Redis"]}})).expect("the rules are good");
        assert_eq!(found(&types, "We run the server with Redis."), ["database:Redis"]);
    }

    #[test]
    fn a_rule_that_cannot_be_used_is_named_with_its_reason() {
        for (json, field, words) in [
            (json!({"tool": {}}), "tool", "built-in"),
            (json!({"Service": {}}), "Service", "small letter"),
            (json!({"s": {"names": ["x"]}}), "s.names[0]", "at least 2"),
            (json!({"s": {"names": ["ab", " b"]}}), "s.names[1]", "one line"),
            (json!({"a": {"names": ["X-Y"]}, "b": {"names": ["xy"]}}), "b.names[0]", "a name of a"),
            (json!({"s": {"prefixes": ["--"]}}), "s.prefixes[0]", "at least 2"),
            (json!({"s": {"suffixes": ["ab", "a b"]}}), "s.suffixes[1]", "only"),
        ] {
            let error = own(json.clone()).expect_err(&json.to_string());
            assert_eq!(error.field, field, "{json}");
            assert!(error.reason.contains(words), "{json}: {}", error.reason);
        }
        let names: Vec<String> = (0..=OWN_NAMES_MAX).map(|number| format!("n{number}")).collect();
        assert!(own(json!({"s": {"names": names}})).is_err());
    }
}
