//! The entities of a memory as a whole: its parts, its bounds, its confidence.

use super::*;

fn of(text: &str) -> Vec<(EntityType, String)> {
    let found = extract(&ExtractionInput { text, ..ExtractionInput::default() });
    found.into_iter().map(|entity| (entity.entity_type, entity.value)).collect()
}

#[test]
fn every_type_is_found_in_its_place() {
    use EntityType::{
        Concept, Decision, File, Function, Issue, Organization, Person, Project, Tool, Url,
    };
    let text = "Anna Kowalczyk of Brightwater Labs decided to move project Phoenix to PostgreSQL, \
                see https://example.com/plan and PROJ-42. The query in `src/store.rs` calls \
                `Store::open`; rate limiting comes later.";
    let found = of(text);
    for (kind, value) in [
        (Person, "Anna Kowalczyk"),
        (Organization, "Brightwater Labs"),
        (Project, "Phoenix"),
        (Tool, "PostgreSQL"),
        (File, "src/store.rs"),
        (Function, "Store::open"),
        (Url, "https://example.com/plan"),
        (Issue, "PROJ-42"),
        (Decision, "move project Phoenix to PostgreSQL, see https://example.com/plan and PROJ-42"),
        (Concept, "rate limiting"),
    ] {
        assert!(found.contains(&(kind, value.to_owned())), "{kind} {value:?} in {found:?}");
    }
    assert_eq!(found.len(), 10, "{found:?}");
}

#[test]
fn code_has_paths_and_definitions_and_no_people() {
    let text = "```python\n# Anna decided to use Postgres, see #123\nfrom app import x\ndef load_all(path):\n    open(\"data/in.csv\")\n```\n";
    let found = of(text);
    let file = (EntityType::File, "data/in.csv".to_owned());
    let function = (EntityType::Function, "load_all".to_owned());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&file) && found.contains(&function), "{found:?}");
}

#[test]
fn mentions_have_their_places_in_the_text() {
    let text = "Anna wrote src/a.rs.\n\nThen Anna and Café Ünal read `src/a.rs`.";
    let found = extract(&ExtractionInput { text, ..ExtractionInput::default() });
    for entity in &found {
        for place in &entity.places {
            assert_eq!(&text[place.from..place.to], entity.value, "{entity:?}");
        }
    }
    let counts: Vec<(&str, usize)> =
        found.iter().map(|entity| (entity.value.as_str(), entity.count)).collect();
    assert!(counts.contains(&("Anna", 2)) && counts.contains(&("src/a.rs", 2)), "{counts:?}");
}

#[test]
fn titles_topics_and_speakers_count_too() {
    let (topics, speakers) = (
        ["rust".to_owned(), "billing flow".to_owned()],
        ["Zuri".to_owned(), "assistant".to_owned()],
    );
    let source = ExtractionInput {
        title: Some("Keep one journal"),
        text: "It was what Zuri wanted.",
        topics: &topics,
        speakers: &speakers,
        is_decision: true,
        own: None,
    };
    let found: Vec<(EntityType, String)> =
        extract(&source).into_iter().map(|entity| (entity.entity_type, entity.value)).collect();
    for expected in [
        (EntityType::Decision, "Keep one journal"),
        (EntityType::Tool, "Rust"),
        (EntityType::Concept, "billing flow"),
        (EntityType::Person, "Zuri"),
    ] {
        assert!(found.contains(&(expected.0, expected.1.to_owned())), "{expected:?} in {found:?}");
    }
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn speakers_stand_in_the_metadata() {
    let of = |value: serde_json::Value| speakers(value.as_object().expect("an object"));
    assert_eq!(of(serde_json::json!({"speaker": "Zuri", "mood": "good"})), ["Zuri"]);
    assert_eq!(of(serde_json::json!({"participants": ["Zuri", 5, "Tolga"]})), ["Zuri", "Tolga"]);
    assert!(of(serde_json::json!({"speaker": {"name": "Zuri"}})).is_empty());
}

#[test]
fn confidence_is_the_base_times_its_factors() {
    let table = [
        ("See https://example.com/a", CONFIDENCE_BASE * 1.3),
        ("We use PostgreSQL", CONFIDENCE_BASE * 1.2),
        ("We use PostgreSQL, and PostgreSQL", CONFIDENCE_BASE * 1.2 * 1.03),
        ("He works at Northwind", CONFIDENCE_BASE * 1.1),
        ("2026-01-02T03:04:05Z opened https://example.com/a", CONFIDENCE_BASE * 1.3 * 0.8),
    ];
    for (text, expected) in table {
        let found = extract(&ExtractionInput { text, ..ExtractionInput::default() });
        assert_eq!(found.len(), 1, "{text:?} {found:?}");
        assert!((found[0].confidence - expected).abs() < 0.001, "{text:?} {found:?}");
    }
}

#[test]
fn the_number_of_entities_is_bounded() {
    let text: String = (0..5_000).map(|n| format!("src/file{n}.rs ")).collect();
    assert_eq!(of(&text).len(), super::ENTITIES_MAX);
    let same = "Anna ".repeat(10_000);
    let found = extract(&ExtractionInput { text: &same, ..ExtractionInput::default() });
    assert!(found.iter().all(|entity| entity.places.len() <= super::PLACES_MAX), "{found:?}");
}
