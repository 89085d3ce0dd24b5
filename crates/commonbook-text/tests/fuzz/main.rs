//! Fuzzing: laws that hold for every text.
//!
//! The tables of `tests/tables` are the corpus. Each target tries its lines and a few thousand
//! mutations of them, the same every time; or new ones for some seconds:
//! `FUZZ_SECONDS=60 cargo test --release -p commonbook-text --test fuzz dates -- --nocapture`.
//! The run prints an input that breaks a law; it becomes a row of a table.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod harness;
mod inputs;

use std::borrow::Cow;

use commonbook_text::claims::clause::clauses;
use commonbook_text::dates::{TimeSpan, parse_times, period, tells_time};
use commonbook_text::entities::value::normalise;
use commonbook_text::entities::{
    CONFIDENCE_MAX, CONFIDENCE_MIN, ENTITIES_MAX, ExtractionInput, PLACES_MAX, extract,
};
use commonbook_text::{injection, secrets, sentences, terms};
use harness::fuzz;
use jiff::Timestamp;

const NOW: Timestamp = Timestamp::constant(1_795_000_000, 0);

/// A law on texts as a law on bytes.
fn on_text(law: impl Fn(&str)) -> impl Fn(&[u8]) {
    move |bytes| law(&String::from_utf8_lossy(bytes))
}

#[test]
fn dates() {
    fuzz(
        include_str!("../tables/dates.md"),
        on_text(|text| {
            let spans = parse_times(text, NOW).spans;
            assert!(spans.len() <= 16);
            assert!(spans.is_empty() || tells_time(text));
            for span in spans {
                if let TimeSpan::Fixed { from, until } = span {
                    assert!(from <= until, "{span:?}");
                }
                assert!((0.0..=1.0).contains(&span.closeness(NOW)), "{span:?}");
            }
            for word in text.split_whitespace() {
                let period = period::parse_period(word, NOW);
                assert!(period.is_none_or(|period| period.start <= period.end), "{word}");
            }
        }),
    );
}

#[test]
fn sentences_of_texts() {
    let inked = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    fuzz(
        include_str!("../tables/claims.md"),
        on_text(|text| {
            let sentences: Vec<&str> = sentences::sentences(text).collect();
            assert!(sentences.iter().all(|text| !text.is_empty() && text.trim() == *text));
            assert_eq!(inked(&sentences.concat()), inked(text), "no character is lost");
            let joined = sentences::join_sentences(text, text, 100);
            assert!(joined.chars().count() <= 100);
        }),
    );
}

#[test]
fn secrets_in_texts() {
    fuzz(
        include_str!("../tables/secrets.md"),
        on_text(|text| {
            let redacted = secrets::redact(text);
            assert_eq!(redacted.found.is_empty(), matches!(redacted.text, Cow::Borrowed(_)));
            assert!(redacted.found.iter().all(|finding| finding.count > 0));
            assert_eq!(secrets::redact(&redacted.text).text, redacted.text, "again");
        }),
    );
}

#[test]
fn injections() {
    fuzz(
        include_str!("../tables/injection.md"),
        on_text(|text| {
            for reasons in [injection::reasons(text), injection::joint_reasons(text)] {
                assert!(reasons.is_sorted());
                assert!(reasons.windows(2).all(|pair| pair[0] != pair[1]));
            }
        }),
    );
}

#[test]
fn entities() {
    fuzz(
        include_str!("../tables/entities.md"),
        on_text(|text| {
            let found = extract(&ExtractionInput { text, ..ExtractionInput::default() });
            assert!(found.len() <= ENTITIES_MAX);
            assert!(found.is_sorted_by(|a, b| a.confidence >= b.confidence));
            for entity in found {
                assert!((CONFIDENCE_MIN..=CONFIDENCE_MAX).contains(&entity.confidence));
                assert_eq!(normalise(entity.entity_type, &entity.value), entity.normalised);
                assert!(!entity.normalised.is_empty() && entity.places.len() <= PLACES_MAX);
                for place in &entity.places {
                    assert!(text.get(place.from..place.to).is_some(), "{place:?}");
                }
            }
        }),
    );
}

#[test]
fn claims() {
    fuzz(
        include_str!("../tables/claims.md"),
        on_text(|text| {
            let clauses = clauses(text);
            assert!(clauses.len() <= 24);
            let values: Vec<_> = clauses.iter().flat_map(|clause| &clause.values).collect();
            for pair in values.windows(2) {
                let relation = pair[0].value.relation_to(&pair[1].value);
                assert_eq!(pair[1].value.relation_to(&pair[0].value), relation);
            }
        }),
    );
}

#[test]
fn terms_of_texts() {
    fuzz(
        include_str!("../tables/entities.md"),
        on_text(|text| {
            assert!(terms::terms(text).iter().all(|term| !term.is_empty() && term.len() <= 64));
            let query = terms::query_terms(text);
            assert!(query.len() <= terms::QUERY_WORDS_MAX);
            let distinct: std::collections::BTreeSet<_> = query.iter().collect();
            assert_eq!(distinct.len(), query.len());
        }),
    );
}
