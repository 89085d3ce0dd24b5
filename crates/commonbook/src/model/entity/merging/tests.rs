//! The results of merging, and its refusals.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::*;
use crate::base::error::ErrorKind;
use crate::base::input;
use crate::model::agent::Agent;
use crate::model::entity::{EntityName, EntityStatement, ResolveEntity};
use crate::model::workspace::Workspace;

fn at(second: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second)
}

fn sighting(agent: &str, second: i64, mut request: serde_json::Value) -> EntitySighting {
    if request["type"].is_null() {
        request["type"] = json!("tool");
    }
    if request["value"].is_null() {
        request["value"] = json!("TypeScript");
    }
    let request: ResolveEntity = input::from_value(request).expect("a request");
    let agent: Agent = agent.parse().expect("a name");
    EntitySighting::of(&request, &agent, at(second)).expect("a sighting")
}

fn entity(seen: &EntitySighting) -> Entity {
    let name = EntityName::of(&Workspace::fallback(), None, seen.entity_type, &seen.value);
    Entity::new(&name.expect("a name"), seen)
}

fn versions(source: u64, target: u64) -> EntityVersions {
    EntityVersions { source: Some(source), target: Some(target) }
}

fn changed(merged: MergeOutcome) -> Entity {
    match merged {
        MergeOutcome::Changed(entity) => entity,
        other => panic!("{other:?} is no change"),
    }
}

#[test]
fn the_documented_example_holds_exactly() {
    let first = sighting("analyst", 1, json!({"metadata": {"context": "Used for type safety"}}));
    let known = entity(&first);
    let second =
        sighting("developer", 2, json!({"metadata": {"context": "Compile target ES2020"}}));
    let merged = changed(merge(&known, &second, MergeStrategy::default()));
    assert_eq!(merged.id, known.id);
    assert_eq!(merged.version, 2);
    assert_eq!(merged.context.as_deref(), Some("Used for type safety. Compile target ES2020"));
    assert_eq!(merged.merge_count, 1);
    assert_eq!(merged.occurrences, 2);
    assert_eq!(merged.last_agent.as_str(), "developer");
    assert_eq!((merged.first_seen, merged.last_seen), (at(1), at(2)));
}

#[test]
fn each_strategy_chooses_its_context_and_confidence() {
    use MergeStrategy::{HighestConfidence, MergeContext, NewestWins};
    let table = [
        (MergeContext, 0.5, 0.9, Some("New"), "Old. New", 0.9),
        (MergeContext, 0.9, 0.5, Some("New"), "Old. New", 0.9),
        (MergeContext, 0.9, 0.5, None, "Old", 0.9),
        (NewestWins, 0.9, 0.5, Some("New"), "New", 0.5),
        (NewestWins, 0.9, 0.5, None, "Old", 0.5),
        (HighestConfidence, 0.5, 0.9, Some("New"), "New", 0.9),
        (HighestConfidence, 0.9, 0.5, Some("New"), "Old", 0.9),
        (HighestConfidence, 0.5, 0.9, None, "Old", 0.9),
    ];
    for (strategy, old, new, context, expected, confidence) in table {
        let known = entity(&sighting("a", 1, json!({"context": "Old", "confidence": old})));
        let seen = sighting("b", 2, json!({"context": context, "confidence": new}));
        let merged = match merge(&known, &seen, strategy) {
            MergeOutcome::Changed(merged) | MergeOutcome::Seen(merged) => merged,
            MergeOutcome::Review => panic!("{strategy:?} does not wait"),
        };
        assert_eq!(merged.context.as_deref(), Some(expected), "{strategy:?} {old} {new}");
        assert!((merged.confidence - confidence).abs() < 1e-9, "{strategy:?} {old} {new}");
    }
}

#[test]
fn manual_queues_a_review_and_changes_nothing() {
    let known = entity(&sighting("a", 1, json!({"context": "Old"})));
    let seen = sighting("b", 2, json!({"context": "New"}));
    assert_eq!(merge(&known, &seen, MergeStrategy::Manual), MergeOutcome::Review);
    assert_eq!(known.with_statement(&seen, MergeStrategy::Manual), known);
}

#[test]
fn a_known_statement_keeps_the_version() {
    let known = entity(&sighting("a", 1, json!({"context": "Old", "metadata": {"v": 1}})));
    for request in [json!({}), json!({"context": "old."}), json!({"metadata": {"v": 1}})] {
        let MergeOutcome::Seen(seen) =
            merge(&known, &sighting("b", 9, request.clone()), MergeStrategy::default())
        else {
            panic!("{request} says nothing new");
        };
        assert_eq!((seen.version, seen.merge_count, seen.occurrences), (1, 0, 2));
        assert_eq!(seen.last_agent.as_str(), "b");
        assert_eq!(seen.last_seen, at(9));
    }
}

#[test]
fn contradicting_attributes_stay_with_both_sources() {
    use MergeStrategy::{HighestConfidence, MergeContext, NewestWins};
    let table = [
        (MergeContext, 0.9, 0.5, "a"),
        (MergeContext, 0.5, 0.9, "b"),
        (MergeContext, 0.7, 0.7, "b"),
        (NewestWins, 0.9, 0.5, "b"),
        (HighestConfidence, 0.9, 0.5, "a"),
        (HighestConfidence, 0.7, 0.7, "a"),
    ];
    for (strategy, old, new, holder) in table {
        let of = |agent, second, confidence| {
            sighting(agent, second, json!({"confidence": confidence, "metadata": {"v": agent}}))
        };
        let known = entity(&of("a", 1, old));
        let merged = changed(merge(&known, &of("b", 2, new), strategy));
        let attribute = &merged.attributes["v"];
        assert_eq!(attribute.held.agent.as_str(), holder, "{strategy:?} {old} {new}");
        assert_eq!(attribute.conflicts.len(), 1, "{strategy:?} {old} {new}");
        let loser = &attribute.conflicts[0];
        assert_ne!(loser.agent, attribute.held.agent);
        assert_eq!(loser.value, json!(loser.agent.as_str()), "each claim has its own source");
    }
}

#[test]
fn a_changed_claim_of_one_agent_is_not_a_conflict() {
    let known = entity(&sighting("a", 1, json!({"metadata": {"v": 1}})));
    let merged = changed(merge(
        &known,
        &sighting("a", 2, json!({"metadata": {"v": 2}})),
        MergeStrategy::default(),
    ));
    assert_eq!(merged.attributes["v"].held.value, json!(2));
    assert!(merged.attributes["v"].conflicts.is_empty());
    let other = changed(merge(
        &merged,
        &sighting("b", 3, json!({"metadata": {"v": 3}})),
        MergeStrategy::default(),
    ));
    let again = changed(merge(
        &other,
        &sighting("a", 4, json!({"metadata": {"v": 3}})),
        MergeStrategy::default(),
    ));
    assert!(again.attributes["v"].conflicts.is_empty(), "{again:?}");
}

#[test]
fn claims_attributes_and_aliases_are_bounded() {
    let mut known = entity(&sighting("a", 1, json!({"metadata": {"v": 0}})));
    for n in 0..100 {
        let request =
            json!({"value": format!("name {n}"), "metadata": {"v": n, format!("k{n}"): 1}});
        known = changed(merge(
            &known,
            &sighting(&format!("agent-{n}"), n, request),
            MergeStrategy::default(),
        ));
    }
    assert_eq!(known.aliases.len(), limits::ENTITY_ALIASES);
    assert_eq!(known.attributes.len(), limits::ENTITY_ATTRIBUTES);
    assert_eq!(known.attributes["v"].conflicts.len(), limits::ENTITY_CLAIMS);
}

#[test]
fn two_entities_become_one_and_two_again() {
    let a = entity(&sighting(
        "a",
        1,
        json!({"value": "k8s", "context": "Runs it", "metadata": {"v": 1}}),
    ));
    let b = entity(&sighting(
        "b",
        5,
        json!({"value": "Kubernetes", "context": "Orchestrates", "metadata": {"v": 2, "w": 3}}),
    ));
    let by: Agent = "curator".parse().expect("a name");
    let read = EntityVersions { source: Some(1), target: None };
    let joined = merge_entities(&a, &b, read, MergeStrategy::default(), &by, at(9));
    let joined = joined.expect("a merge");
    assert_eq!(joined.target.id, b.id);
    assert_eq!(joined.target.aliases, ["k8s"]);
    assert_eq!(joined.target.context.as_deref(), Some("Orchestrates. Runs it"));
    assert_eq!((joined.target.version, joined.target.merge_count), (2, 1));
    assert_eq!(joined.target.occurrences, 2);
    assert_eq!(joined.target.first_seen, at(1));
    assert_eq!(joined.target.attributes["v"].conflicts.len(), 1);
    assert_eq!(joined.source.merged_into, Some(b.id));
    let back = joined.undo_merge(&joined.target, &joined.source, &[], &[]);
    let back = back.expect("it was the last");
    assert_eq!(back, (b.clone(), a.clone()));

    let again = joined.undo_merge(&b, &a, &[], &[]).expect_err("they are two");
    assert_eq!(again.kind, ErrorKind::Conflict);
    let statement = |agent, value: &str| EntityStatement {
        sighting: sighting(agent, 10, json!({"value": value, "context": "More"})),
        strategy: MergeStrategy::default(),
        name: if value == "k8s" { a.id } else { b.id },
    };
    let since = [statement("c", "Kubernetes"), statement("d", "k8s")];
    let mut now = joined.target.clone();
    for statement in &since {
        now = now.with_statement(&statement.sighting, statement.strategy);
    }
    let (target, source) =
        joined.undo_merge(&now, &joined.source, &since, &[]).expect("every statement is kept");
    assert_eq!((target.last_agent.as_str(), source.last_agent.as_str()), ("c", "d"));
    assert_eq!(source.context.as_deref(), Some("Runs it. More"));
    assert_eq!((target.version, source.version), (now.version + 1, joined.source.version + 1));
    now.merged_into = Some(a.id);
    let error = joined.undo_merge(&now, &joined.source, &[], &[]).expect_err("it went on");
    assert_eq!(error.kind, ErrorKind::Conflict);
}

#[test]
fn invalid_merges_are_refused() {
    let a = entity(&sighting("a", 1, json!({"value": "Rust"})));
    let b = entity(&sighting("a", 1, json!({"value": "Zig"})));
    let person = entity(&sighting("a", 1, json!({"type": "person", "value": "Rust"})));
    let mut gone = entity(&sighting("a", 1, json!({"value": "Nim"})));
    gone.merged_into = Some(b.id);
    let mut session = b.clone();
    session.session = Some("s1".to_owned());
    let table = [
        ("itself", &a, &a, (1, 1), ErrorKind::Invalid),
        ("another type", &a, &person, (1, 1), ErrorKind::Invalid),
        ("another session", &a, &session, (1, 1), ErrorKind::Invalid),
        ("a stale source", &a, &b, (2, 1), ErrorKind::Conflict),
        ("a stale target", &a, &b, (1, 0), ErrorKind::Conflict),
        ("a merged source", &gone, &a, (1, 1), ErrorKind::Conflict),
        ("a merged target", &a, &gone, (1, 1), ErrorKind::Conflict),
    ];
    for (what, source, target, read, kind) in table {
        let error = check_merge(source, target, versions(read.0, read.1)).expect_err(what);
        assert_eq!(error.kind, kind, "{what}");
        assert!(error.hint.is_some(), "{what}");
    }
    assert!(check_merge(&a, &b, versions(1, 1)).is_ok());
}

#[test]
fn agents_that_claim_the_same_are_counted_and_a_settled_attribute_has_no_conflicts() {
    let states = |agent: &str, version: i64, settle: bool| {
        let request = json!({"value": "Rust", "metadata": {"version": version}, "settle": settle});
        sighting(agent, 1, request)
    };
    let summary = |entity: &Entity| {
        let attribute = &entity.attributes["version"];
        let names = |agents: Vec<&Agent>| {
            agents.iter().map(|agent| agent.as_str().to_owned()).collect::<Vec<_>>().join(" ")
        };
        let conflicts = attribute.conflicts.iter().map(|claim| &claim.agent).collect();
        let agreed = names(attribute.agreed.iter().collect());
        format!(
            "{} {} | {agreed} | {}",
            attribute.held.value,
            attribute.held.agent,
            names(conflicts)
        )
    };
    let mut rust = entity(&states("ann", 1, false));
    let table = [
        ("bob", 1, false, "1 ann | bob | "),
        ("bob", 1, false, "1 ann | bob | "),
        ("eve", 2, false, "2 eve |  | ann bob"),
        ("kim", 1, false, "1 kim | ann bob | eve"),
        // An agent that changes its mind has one claim.
        ("ann", 2, false, "2 ann | eve | kim bob"),
        ("zoe", 1, true, "1 zoe | kim bob | "),
    ];
    for (agent, version, settle, expected) in table {
        rust = rust.with_statement(&states(agent, version, settle), MergeStrategy::default());
        assert_eq!(summary(&rust), expected, "{agent} {version}");
    }
}

proptest::proptest! {
    #[test]
    fn merges_undone_in_turn_leave_entities_unchanged(
        steps in proptest::collection::vec((0_usize..6, 0_usize..6, proptest::bool::ANY), 1..40),
    ) {
        let by: Agent = "curator".parse().expect("a name");
        let request = |n: usize| json!({"value": format!("name {n}"), "context": format!("Says {n}"), "metadata": {"v": n}});
        let first: Vec<Entity> =
            (0..6).map(|n| entity(&sighting("a", 1, request(n)))).collect();
        let (mut now, mut done) = (first.clone(), Vec::new());
        for (source, target, undo) in steps {
            if undo {
                let Some((source, target, joined)) = done.pop() else { continue };
                let joined: EntityMerge = joined;
                let (back, other) = joined.undo_merge(&now[target], &now[source], &[], &[]).expect("it was the last");
                (now[target], now[source]) = (back, other);
                continue;
            }
            let read = versions(now[source].version, now[target].version);
            if let Ok(joined) = merge_entities(&now[source], &now[target], read, MergeStrategy::default(), &by, at(2)) {
                (now[target], now[source]) = (joined.target.clone(), joined.source.clone());
                done.push((source, target, joined));
            }
            // No redirect leads in a circle.
            for entity in &now {
                let (mut here, mut steps) = (entity, 0);
                while let Some(into) = here.merged_into {
                    here = now.iter().find(|other| other.id == into).expect("a live entity");
                    steps += 1;
                    proptest::prop_assert!(steps <= now.len());
                }
            }
        }
        while let Some((source, target, joined)) = done.pop() {
            let (back, other) = joined.undo_merge(&now[target], &now[source], &[], &[]).expect("it was the last");
            (now[target], now[source]) = (back, other);
        }
        proptest::prop_assert_eq!(now, first);
    }
}
