//! Valid relations, their growth, and their validity in time.

use jiff::SignedDuration;
use serde_json::json;

use super::*;
use crate::base::id::CountingIds;

const ENTITY: &str = "ent_00000000000000000000000001";
const OTHER: &str = "ent_00000000000000000000000002";
const MEMORY: &str = "mem_00000000000000000000000001";

fn at(second: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second)
}

fn ends() -> (GraphNode, GraphNode) {
    (ENTITY.parse().expect("a node"), OTHER.parse().expect("another"))
}

fn relation_request(from: &str, to: &str, kind: &str) -> Result<AddRelation> {
    let request: AddRelation = input::from_value(json!({"from": from, "to": to, "type": kind}))?;
    let node = |reference: &NodeRef| String::from(reference.clone()).parse::<GraphNode>();
    request.check(node(&request.from)?, node(&request.to)?)?;
    Ok(request)
}

#[test]
fn an_invalid_relation_is_refused_with_its_field() {
    let table = [
        (ENTITY, ENTITY, "uses", "to"),
        (ENTITY, MEMORY, "uses", "to"),
        ("", OTHER, "uses", "from"),
        (ENTITY, OTHER, "", "type"),
        (ENTITY, OTHER, "depends on", "type"),
        (ENTITY, OTHER, "-- drop", "type"),
    ];
    for (from, to, kind, field) in table {
        let error = relation_request(from, to, kind).expect_err(&format!("{from} {kind} {to}"));
        assert_eq!(error.kind, crate::base::error::ErrorKind::Invalid, "{error}");
        assert_eq!(error.field.as_deref(), Some(field), "{error}");
    }
    let long = "x".repeat(limits::RELATION_CHARS + 1);
    assert!(relation_request(ENTITY, OTHER, &long).is_err());
    for kind in RelationType::WELL_KNOWN.into_iter().chain(["inspired_by", "Blocks"]) {
        assert!(relation_request(ENTITY, OTHER, kind).is_ok(), "{kind}");
    }
    let mut backwards = relation_request(ENTITY, OTHER, "uses").expect("a relation");
    (backwards.valid_from, backwards.valid_until) = (Some(at(2)), Some(at(1)));
    let (from, to) = ends();
    assert!(backwards.check(from, to).is_err());
}

#[test]
fn repetition_makes_it_stronger_up_to_one() {
    let request = relation_request(ENTITY, OTHER, "uses").expect("a relation");
    let agent: Agent = "analyst".parse().expect("a name");
    let id = RelationId::new(&CountingIds::default(), at(1));
    let (from, to) = ends();
    let mut relation = Relation::new(id, Workspace::fallback(), from, &request, to, &agent, at(1));
    let expected = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0];
    for (n, strength) in expected.into_iter().enumerate() {
        assert!((relation.strength - strength).abs() < 1e-12, "{n}");
        assert_eq!(relation.count, n as u64 + 1);
        relation = relation.reinforce(&request, at(2 + n as i64));
    }
    assert_eq!((relation.recorded_at, relation.last_at), (at(1), at(8)));
}

#[test]
fn a_relation_holds_from_its_beginning_until_its_end() {
    let mut request = relation_request(ENTITY, OTHER, "uses").expect("a relation");
    let agent: Agent = "analyst".parse().expect("a name");
    let id = RelationId::new(&CountingIds::default(), at(1));
    let table = [
        (None, None, [true, true, true]),
        (Some(at(5)), None, [false, true, true]),
        (None, Some(at(5)), [true, false, false]),
        (Some(at(5)), Some(at(6)), [false, true, false]),
    ];
    for (from, until, expected) in table {
        (request.valid_from, request.valid_until) = (from, until);
        let relation =
            Relation::new(id, Workspace::fallback(), ends().0, &request, ends().1, &agent, at(1));
        let holds = [4, 5, 6].map(|second| relation.holds_at(at(second)));
        assert_eq!(holds, expected, "{from:?} {until:?}");
    }
}

#[test]
fn queries_must_keep_their_limits() {
    let query = |depth: u32, limit: u32| -> GraphQuery {
        input::from_value(json!({"from": ENTITY, "depth": depth, "limit": limit})).expect("a query")
    };
    assert_eq!(query(3, 500).depth().ok(), Some(3));
    assert_eq!(query(3, 500).limit().ok(), Some(500));
    for (depth, limit) in [(0, 0), (4, 501)] {
        assert!(query(depth, limit).depth().is_err() && query(depth, limit).limit().is_err());
    }
}
