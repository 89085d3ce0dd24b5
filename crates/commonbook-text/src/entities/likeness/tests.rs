//! Laws of likeness and of the blocking keys; the cases are in `tests/tables/entities.md`.

use proptest::prelude::*;

use super::*;
use EntityType::{Concept, Decision, File, Function, Organization, Person, Project, Tool};

#[test]
fn of_two_equally_near_names_neither_is_chosen() {
    let of = |text| ComparableName::of(Organization, text);
    let candidates = [of("Brightwater"), of("Brightwaters"), of("Elsewhere")];
    assert_eq!(
        nearest(&of("Brigtwater"), candidates[..1].iter(), LIKENESS_MIN).map(|(at, _)| at),
        Some(0)
    );
    let both = [of("Brightwader"), of("Brightwarer")];
    assert_eq!(nearest(&of("Brightwater"), both.iter(), LIKENESS_MIN), None);
    assert_eq!(nearest(&of("Nothing like it"), candidates.iter(), LIKENESS_MIN), None);
}

#[test]
fn exact_names_have_no_blocking_keys() {
    for (kind, text) in [
        (File, "src/entity/likeness.rs"),
        (Function, "nearly_same"),
        (Concept, "user_identifier"),
        (Tool, "Rust"),
        (Decision, &"long ".repeat(40)),
    ] {
        let name = ComparableName::of(kind, text);
        assert!(keys(&name).is_empty() && probes(&name).is_empty(), "{kind} {text:?}");
    }
    assert_eq!(keys(&ComparableName::of(Tool, "Grafana")).len(), 3);
    assert_eq!(keys(&ComparableName::of(Tool, "Elasticsearch")).len(), 6);
    assert!(probes(&ComparableName::of(Tool, "Elasticsearch cluster")).len() <= 42);
}

/// Pairs that agents write, judged by hand: type, one name, another, same or different.
const PAIRS: &str = include_str!("pairs.tsv");

#[test]
fn hand_made_pairs_are_told_apart_with_few_mistakes() {
    let (mut right, mut wrong, mut missed, mut all) = (0, 0, 0, 0);
    for line in PAIRS.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [kind, first, second, expected] = fields.as_slice() else { panic!("{line:?}") };
        let kind: EntityType = kind.parse().expect(line);
        all += 1;
        match (*expected == "same", is_same(kind, first, second)) {
            (true, true) => right += 1,
            (true, false) => missed += 1,
            (false, true) => wrong += 1,
            (false, false) => {}
        }
        assert_eq!(is_same(kind, first, second), is_same(kind, second, first), "{line}");
    }
    let (precision, recall) =
        (f64::from(right) / f64::from(right + wrong), f64::from(right) / f64::from(right + missed));
    assert!(all >= 300 && precision >= 0.97, "{all} pairs, precision {precision:.3}");
    assert!(recall >= 0.9, "recall {recall:.3}");
}

fn edited(text: &str, edits: &[(usize, u8, char)]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for (place, how, letter) in edits {
        let place = place % letters.len();
        match how % 4 {
            0 => letters[place] = *letter,
            1 => letters.insert(place, *letter),
            2 if letters.len() > 3 => drop(letters.remove(place)),
            _ if place + 1 < letters.len() => letters.swap(place, place + 1),
            _ => {}
        }
    }
    letters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]
    #[test]
    fn the_blocking_keys_lose_no_nearly_equal_pair(
        text in "[a-z]{1,14}( [a-z]{4,14}){0,3}",
        edits in proptest::collection::vec((0_usize..60, 0_u8..4, proptest::char::range('a', 'z')), 1..3),
        kind in proptest::sample::select(vec![Person, Organization, Project, Tool, Concept, Decision]),
    ) {
        let (left, right) = (ComparableName::of(kind, &text), ComparableName::of(kind, &edited(&text, &edits)));
        if nearly_same(&left, &right, LIKENESS_MIN).is_some() {
            let filed = keys(&left);
            prop_assert!(probes(&right).iter().any(|probe| filed.contains(probe)), "{:?} {:?}", left, right);
        }
    }

    #[test]
    fn likeness_is_symmetric(left in "\\PC{0,30}", right in "\\PC{0,30}") {
        for kind in EntityType::ALL.iter().copied() {
            let (a, b) = (ComparableName::of(kind, &left), ComparableName::of(kind, &right));
            prop_assert_eq!(nearly_same(&a, &b, LIKENESS_MIN).is_some(), nearly_same(&b, &a, LIKENESS_MIN).is_some());
            let _ = (keys(&a), probes(&b));
        }
    }
}

#[test]
fn the_blocking_keys_find_every_single_slip() {
    let text = "quarterly brightwater observability";
    let (mut same, letters) = (0, text.chars().count());
    for kind in [Organization, Tool, Concept] {
        let filed = keys(&ComparableName::of(kind, text));
        for place in 0..letters {
            for how in 0..4 {
                for letter in ['e', 'x'] {
                    let other = ComparableName::of(kind, &edited(text, &[(place, how, letter)]));
                    if nearly_same(&ComparableName::of(kind, text), &other, LIKENESS_MIN).is_some()
                    {
                        same += 1;
                        assert!(
                            probes(&other).iter().any(|probe| filed.contains(probe)),
                            "{other:?}"
                        );
                    }
                }
            }
        }
    }
    assert!(same > 300, "{same} of them are the same");
}
