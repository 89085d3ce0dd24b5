//! The depth of walks, the shortest path, and the limits.

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::base::id::EntityId;

fn node(n: u128) -> GraphNode {
    GraphNode::Entity(EntityId::from_uuid(Uuid::from_u128(n)))
}

fn link(id: u128, from: u128, to: u128, strength: f64) -> GraphLink {
    GraphLink {
        id: RelationId::from_uuid(Uuid::from_u128(id)),
        from: node(from),
        to: node(to),
        relation_type: "uses".parse().expect("a slug"),
        strength,
        source: GraphSource::of_statement("ann".parse().expect("a name")),
    }
}

/// The links of some nodes out of all of these.
fn among(all: &[GraphLink]) -> impl FnMut(&[GraphNode], usize) -> Result<Vec<GraphLink>> {
    move |nodes, most| {
        let touches = |link: &&GraphLink| nodes.contains(&link.from) || nodes.contains(&link.to);
        Ok(all.iter().filter(touches).take(most).cloned().collect())
    }
}

fn chain(length: u128) -> Vec<GraphLink> {
    (0..length).map(|n| link(n, n, n + 1, 0.5)).collect()
}

#[test]
fn a_neighbourhood_has_the_requested_depth() {
    let all = chain(10);
    for (depth, nodes) in [(1, 3), (2, 5), (3, 7)] {
        let reached = neighbourhood(node(5), depth, 500, among(&all)).expect("a walk");
        assert_eq!((reached.nodes.len(), reached.links.len()), (nodes, nodes - 1), "{depth}");
        assert!(!reached.cut);
        assert!(reached.nodes.is_sorted_by_key(|(_, steps)| *steps));
    }
}

#[test]
fn a_cut_response_keeps_the_strongest_and_says_so() {
    let all: Vec<GraphLink> = (1..=100).map(|n| link(n, 0, n, n as f64 / 100.0)).collect();
    let reached = neighbourhood(node(0), 1, 11, among(&all)).expect("a walk");
    assert!(reached.cut);
    let strongest: Vec<(GraphNode, u32)> = (91..=100).rev().map(|n| (node(n), 1)).collect();
    assert_eq!(reached.nodes[1..], strongest);
    assert_eq!(reached.links.len(), 10, "no link leads to what is left out");
}

#[test]
fn a_cycle_is_walked_once() {
    let mut all = chain(3);
    all.push(link(9, 3, 0, 0.5));
    all.push(link(10, 1, 0, 0.5));
    let reached = neighbourhood(node(0), 3, 500, among(&all)).expect("a walk");
    assert_eq!((reached.nodes.len(), reached.links.len()), (4, 5));
}

#[test]
fn the_shortest_path_is_found_in_either_direction() {
    let mut all = chain(6);
    all.push(link(20, 5, 1, 0.9));
    let ids = |path: PathResult| match path {
        PathResult::Found(links) => links.iter().map(|link| link.id.uuid().as_u128()).collect(),
        other => panic!("{other:?}"),
    };
    let table: [(u128, u128, &[u128]); 5] =
        [(0, 6, &[0, 20, 5]), (6, 0, &[5, 20, 0]), (2, 2, &[]), (3, 4, &[3]), (1, 5, &[20])];
    for (from, to, expected) in table {
        let path: Vec<u128> =
            ids(shortest_path(node(from), node(to), among(&all)).expect("a walk"));
        assert_eq!(path, expected, "{from} to {to}");
    }
    let none = shortest_path(node(0), node(99), among(&all)).expect("a walk");
    assert_eq!(none, PathResult::None);
}

#[test]
fn a_search_ends_at_its_limits() {
    let long = chain(40);
    assert_eq!(shortest_path(node(0), node(40), among(&long)).expect("a walk"), PathResult::None);
    let hub: Vec<GraphLink> =
        (1..=limits::GRAPH_LOOKED_AT as u128 + 1).map(|n| link(n, 0, n, 0.5)).collect();
    let mut all = hub.clone();
    all.extend(
        (1..=limits::GRAPH_LOOKED_AT as u128 + 1)
            .map(|n| link(1_000_000 + n, 999_999, 2_000_000 + n, 0.5)),
    );
    assert_eq!(
        shortest_path(node(0), node(999_999), among(&all)).expect("a walk"),
        PathResult::Unknown
    );
    assert!(neighbourhood(node(0), 3, 500, among(&hub)).expect("a walk").cut);
}

#[test]
fn an_error_of_the_store_ends_the_walk() {
    let broken =
        |_: &[GraphNode], _: usize| Err(crate::base::error::Error::conflict("the store is away"));
    assert!(neighbourhood(node(0), 1, 10, broken).is_err());
    assert!(shortest_path(node(0), node(1), broken).is_err());
}

proptest! {
    #[test]
    fn paths_are_as_short_as_those_of_a_plain_search(edges in proptest::collection::vec((0_u128..24, 0_u128..24), 1..60)) {
        let all: Vec<GraphLink> =
            edges.iter().enumerate().map(|(n, (a, b))| link(n as u128, *a, *b, 0.5)).collect();
        let mut steps: Vec<Option<usize>> = vec![None; 24];
        steps[0] = Some(0);
        for round in 0..24 {
            for (a, b) in &edges {
                for (x, y) in [(*a as usize, *b as usize), (*b as usize, *a as usize)] {
                    if steps[x] == Some(round) && steps[y].is_none() {
                        steps[y] = Some(round + 1);
                    }
                }
            }
        }
        for to in 0..24_u128 {
            let found = shortest_path(node(0), node(to), among(&all)).expect("a walk");
            match steps[to as usize].filter(|steps| *steps <= limits::GRAPH_PATH_STEPS as usize) {
                Some(length) => {
                    let PathResult::Found(path) = found else { panic!("{found:?}") };
                    prop_assert_eq!(path.len(), length);
                    let mut at = node(0);
                    for link in path {
                        prop_assert!(link.from == at || link.to == at);
                        at = link.other_end(at);
                    }
                    prop_assert_eq!(at, node(to));
                }
                None => prop_assert_eq!(found, PathResult::None),
            }
        }
    }
}
