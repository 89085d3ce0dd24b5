//! Tests of the collaboration graph: rings of any length, rules, statistics, chains, drawings.

use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;
use crate::base::error::ErrorKind;
use crate::base::id::{CountingIds, handle};

fn agent(number: usize) -> Agent {
    format!("a{number}").parse().expect("a name")
}

fn agents(count: usize) -> Vec<Agent> {
    (0..count).map(agent).collect()
}

/// A ring without its last handoff: a0 → a1 → … → a(n−1).
fn line(agents: &[Agent]) -> CollaborationGraph<'_> {
    CollaborationGraph::of(agents.windows(2).map(|two| (&two[0], &two[1])))
}

#[test]
fn a_cycle_of_any_length_is_found_with_its_path() {
    for length in [2, 3, 7, 50, 1_000] {
        let agents = agents(length);
        let graph = line(&agents);
        let last = &agents[length - 1];
        let cycle = graph.closing_cycle(last, &agents[0]).expect("the handoffs form a cycle");
        let expected: Vec<Agent> = [last].into_iter().chain(&agents).cloned().collect();
        assert_eq!(cycle, HandoffCycle::first(expected), "{length}");
        assert_eq!(graph.closing_cycle(&agents[0], last), None);
    }
}

#[test]
fn a_path_without_a_cycle_is_not_reported() {
    let agents = agents(5);
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|place: usize| &agents[place]);
    // A fork that joins again, and strangers.
    let graph = CollaborationGraph::of([(a, b), (a, c), (b, d), (c, d)]);
    assert_eq!(graph.closing_cycle(a, d), None);
    assert_eq!(graph.closing_cycle(e, a), None);
    assert_eq!(graph.closing_cycle(d, e), None);
    let path = graph.closing_cycle(d, a).expect("the handoffs form a cycle").path;
    assert_eq!(path, [d, a, b, d].map(Clone::clone));
    assert!(CollaborationGraph::default().closing_cycle(a, b).is_none());
    assert_eq!(
        CollaborationGraph::default().closing_cycle(a, a).map(|cycle| cycle.path.len()),
        Some(2)
    );
}

#[test]
fn a_cycle_is_the_same_again_when_its_last_handoff_was_there_before() {
    let agents = agents(3);
    let [a, b, c] = [0, 1, 2].map(|place: usize| &agents[place]);
    let again = |edges: &[(&Agent, &Agent)], from, to| {
        CollaborationGraph::of(edges.iter().map(|(a, b)| (*a, *b)))
            .closing_cycle(from, to)
            .map(|cycle| cycle.again)
    };
    assert_eq!(again(&[(a, b), (b, c)], c, a), Some(false));
    assert_eq!(again(&[(a, b), (b, c), (c, a)], c, a), Some(true));
    // Entered at another agent, it is the same cycle.
    assert_eq!(again(&[(a, b), (b, c), (c, a)], a, b), Some(true));
    // Two handoffs in the same direction close nothing.
    assert_eq!(again(&[(a, b), (a, b)], a, b), None);
    assert_eq!(again(&[(a, b), (a, b)], b, a), Some(false));
    // Another cycle through one of them is another one.
    assert_eq!(again(&[(a, b), (b, c), (c, a)], b, a), Some(false));
}

/// Whether a path leads from `start` to `end`, by trying every path without a repeated node.
fn naive(
    edges: &[(usize, usize)],
    start: usize,
    end: usize,
    seen: &mut Vec<usize>,
) -> Option<usize> {
    if start == end {
        return Some(seen.len());
    }
    let targets = edges.iter().filter(|(from, to)| *from == start && !seen.contains(to));
    let targets: Vec<usize> = targets.map(|(_, to)| *to).collect();
    let mut best: Option<usize> = None;
    for target in targets {
        seen.push(target);
        best = best.into_iter().chain(naive(edges, target, end, seen)).min();
        seen.pop();
    }
    best
}

proptest! {
    #[test]
    fn cycles_match_a_naive_search(
        edges in proptest::collection::vec((0_usize..7, 0_usize..7), 0..14),
        from in 0_usize..7,
        to in 0_usize..7,
    ) {
        prop_assume!(from != to);
        let edges: Vec<(usize, usize)> = edges.into_iter().filter(|(a, b)| a != b).collect();
        let agents = agents(7);
        let graph = CollaborationGraph::of(edges.iter().map(|(a, b)| (&agents[*a], &agents[*b])));
        let found = graph.closing_cycle(&agents[from], &agents[to]);
        let shortest = naive(&edges, to, from, &mut vec![to]);
        prop_assert_eq!(found.as_ref().map(|cycle| cycle.path.len() - 1), shortest);
        if let Some(HandoffCycle { path, again, idle: _ }) = found {
            // The path is true: each step is a handoff, and the first is the new one.
            prop_assert_eq!((&path[0], &path[1]), (&agents[from], &agents[to]));
            prop_assert_eq!(path.first(), path.last());
            let is_edge = |two: &[Agent]| {
                edges.iter().any(|(a, b)| agents[*a] == two[0] && agents[*b] == two[1])
            };
            prop_assert!(path[1..].windows(2).all(is_edge));
            let mut once = path[1..].to_vec();
            once.sort();
            once.dedup();
            prop_assert_eq!(once.len(), path.len() - 1);
            prop_assert_eq!(again, edges.contains(&(from, to)));
        }
    }

    #[test]
    fn a_repeated_cycle_was_reported_before(
        edges in proptest::collection::vec((0_usize..4, 0_usize..4), 1..16),
    ) {
        // Replays the handoffs one by one: "again" must mean that a cycle through these agents,
        // in this order, was closed by an earlier one.
        let edges: Vec<(usize, usize)> = edges.into_iter().filter(|(a, b)| a != b).collect();
        let agents = agents(4);
        for count in 0..edges.len() {
            let before = &edges[..count];
            let graph = CollaborationGraph::of(before.iter().map(|(a, b)| (&agents[*a], &agents[*b])));
            let (from, to) = edges[count];
            let Some(cycle) = graph.closing_cycle(&agents[from], &agents[to]) else { continue };
            let place = |agent: &Agent| agents.iter().position(|candidate| candidate == agent).expect("known");
            let steps: Vec<(usize, usize)> =
                cycle.path.windows(2).map(|two| (place(&two[0]), place(&two[1]))).collect();
            let whole = steps.iter().all(|step| before.contains(step));
            prop_assert_eq!(cycle.again, whole, "{:?} after {:?}", steps, before);
        }
    }
}

#[test]
fn the_rules_report_first_and_refuse_then() {
    let agents = agents(3);
    let [a, b, c] = [0, 1, 2].map(|place: usize| &agents[place]);
    let ring = CollaborationGraph::of([(a, b), (b, c)]);
    let closed = CollaborationGraph::of([(a, b), (b, c), (c, a)]);
    let rules = HandoffRules::default();
    let first = ring.closing_cycle(c, a);
    let warned = rules.judge(first, 3).expect("the first time it is made");
    let path = "this handoff closes a cycle of 3: a2 → a0 → a1 → a2";
    assert_eq!(warned.warning_text().as_deref(), Some(path));
    let again = closed.closing_cycle(c, a).expect("a cycle");
    let warned = rules.judge(Some(again.clone()), 6).expect("something was written since");
    let path = "this handoff closes a cycle of 3 again: a2 → a0 → a1 → a2";
    assert_eq!(warned.warning_text().as_deref(), Some(path));
    let idle = HandoffCycle { idle: true, ..again };
    let refused = rules.judge(Some(idle), 6).expect_err("nothing was written since");
    assert_eq!((refused.kind, refused.field.as_deref()), (ErrorKind::Conflict, Some("to")));
    assert_eq!(
        refused.message,
        "this handoff closes a cycle of 3 again, and none of its agents wrote anything since: \
         a2 → a0 → a1 → a2"
    );
    let hint = refused.hint.unwrap_or_default();
    assert!(hint.contains("collaboration.rules.same_cycle") && hint.contains("save_memory"));
    assert_eq!(rules.judge(None, 2).expect("all is well").warning_text(), None);
}

#[test]
fn each_policy_does_what_it_says() {
    let agents = agents(2);
    let (a, b) = (&agents[0], &agents[1]);
    let (first, again) =
        (CollaborationGraph::of([(a, b)]), CollaborationGraph::of([(a, b), (b, a)]));
    for policy in [RuleAction::Allow, RuleAction::Warn, RuleAction::Reject] {
        let rules =
            HandoffRules { cycle: policy, same_cycle: policy, deep_chain: policy, deepest: 10 };
        let idle = |cycle: HandoffCycle| HandoffCycle { idle: true, ..cycle };
        let cycle = |graph: &CollaborationGraph<'_>| graph.closing_cycle(b, a);
        for cycle in [cycle(&first), cycle(&again), cycle(&again).map(idle)] {
            let answer = rules.judge(cycle, 2);
            assert_eq!(answer.is_err(), policy == RuleAction::Reject);
            let warned = answer.is_ok_and(|warnings| warnings.cycle.is_some());
            assert_eq!(warned, policy == RuleAction::Warn);
        }
        let deep = rules.judge(None, 11);
        assert_eq!(deep.is_err(), policy == RuleAction::Reject);
        assert_eq!(
            deep.is_ok_and(|warnings| warnings.deep == Some(11)),
            policy == RuleAction::Warn
        );
        assert!(rules.judge(None, 10).is_ok_and(|warnings| warnings.warning_text().is_none()));
    }
    let rules: HandoffRules = serde_json::from_str(r#"{"cycle":"allow"}"#).expect("it fits");
    assert_eq!(rules, HandoffRules { cycle: RuleAction::Allow, ..HandoffRules::default() });
}

#[test]
fn a_long_cycle_is_shortened_in_the_middle() {
    let agents = agents(50);
    let cycle =
        line(&agents).closing_cycle(&agents[49], &agents[0]).expect("the handoffs form a cycle");
    let text = cycle.cycle_text();
    assert!(text.starts_with("this handoff closes a cycle of 50: a49 → a0 → a1 → a2"), "{text}");
    assert!(text.ends_with("… 39 more … → a44 → a45 → a46 → a47 → a48 → a49"), "{text}");
}

fn edge(ids: &CountingIds, from: usize, to: usize, status: HandoffStatus) -> HandoffEdge {
    let created_at = "2026-11-21T10:00:00Z".parse().expect("a time");
    let handoff = HandoffId::new(ids, created_at);
    HandoffEdge {
        handoff,
        from: agent(from),
        to: agent(to),
        kind: HandoffKind::Sequential,
        status,
        chain: handoff,
        depth: 1,
        created_at,
        accepted_at: None,
        ended_at: None,
        cycle: None,
    }
}

fn accepted(edge: HandoffEdge, seconds: i64) -> HandoffEdge {
    let at = edge.created_at + SignedDuration::from_secs(seconds);
    let ended_at = Some(at + SignedDuration::from_secs(100));
    HandoffEdge { accepted_at: Some(at), ended_at, ..edge }
}

#[test]
fn a_handoff_that_passed_no_work_is_not_an_edge() {
    let ids = CountingIds::default();
    for status in HandoffStatus::ALL {
        let edges = [edge(&ids, 0, 1, *status)];
        let graph = CollaborationGraph::of_edges(&edges);
        let found = graph.closing_cycle(&agent(1), &agent(0)).is_some();
        assert_eq!(found, status.passes_work(), "{status}");
    }
}

#[test]
fn handoffs_are_counted_by_pair_and_status_with_their_times() {
    use HandoffStatus::{Completed, Pending, Rejected};
    let ids = CountingIds::default();
    let edges = [
        edge(&ids, 0, 1, Pending),
        accepted(edge(&ids, 1, 2, Completed), 60),
        accepted(edge(&ids, 1, 2, Completed), 20),
        accepted(edge(&ids, 1, 2, Completed), -86_400),
        edge(&ids, 1, 2, Rejected),
    ];
    let closing = |again| Some(HandoffCycle { again, ..HandoffCycle::first(agents(2)) });
    let mut edges = edges;
    (edges[1].cycle, edges[2].cycle) = (closing(false), closing(true));
    let found = statistics(&edges, 4);
    assert_eq!((found.cycles, found.rounds, found.refusals), (2, 1, 4));
    assert_eq!((found.count, found.agents, found.chains, found.deepest), (5, 3, 5, 1));
    assert_eq!(found.by_status[&Completed], 3);
    assert_eq!(found.by_status[&HandoffStatus::Expired], 0);
    let times =
        DurationSummary { count: 2, p50_seconds: 20.0, p95_seconds: 60.0, max_seconds: 60.0 };
    assert_eq!(found.to_accept, times);
    assert_eq!((found.to_complete.count, found.to_complete.max_seconds), (3, 100.0));
    let first = &found.pairs[0];
    assert_eq!((first.from.as_str(), first.to.as_str(), first.count), ("a1", "a2", 4));
    assert_eq!(first.by_status[&Rejected], 1);
    assert_eq!(statistics(&[], 0).by_status.len(), HandoffStatus::ALL.len());
    assert!(serde_json::to_value(&found).expect("it is JSON")["by_status"]["completed"] == 3);
}

#[test]
fn chains_are_listed_in_order_and_drawn_safely() {
    use HandoffStatus::{Accepted, Completed, Withdrawn};
    let ids = CountingIds::default();
    let first = edge(&ids, 0, 1, Completed);
    let at = |edge: HandoffEdge, depth| HandoffEdge { chain: first.handoff, depth, ..edge };
    let third = at(edge(&ids, 1, 3, Withdrawn), 2);
    let second = at(edge(&ids, 1, 2, Accepted), 2);
    let unrelated = edge(&ids, 7, 8, Accepted);
    let edges = [first.clone(), unrelated.clone(), third.clone(), second.clone()];
    let found = chains(&edges);
    assert_eq!(found.len(), 2);
    let names: Vec<&str> = found[0].agents.iter().map(Agent::as_str).collect();
    assert_eq!(names, ["a0", "a1", "a3", "a2"]);
    assert_eq!((found[0].depth, found[0].open), (2, 1));
    let at = "sequential, 2026-11-21 10:00";
    let short = |edge: &HandoffEdge| handle(&edge.handoff.to_string()).to_owned();
    let expected = format!(
        "#{0}: 3 handoffs, depth 2\n  ✓ a0 → a1  completed, {at}  #{0}\n    · a1 → a3  withdrawn, {at}  #{1}\n    · a1 → a2  accepted, {at}  #{2}\n#{3}: 1 handoff, depth 1\n  · a7 → a8  accepted, {at}  #{3}\n",
        short(&first),
        short(&third),
        short(&second),
        short(&unrelated)
    );
    assert_eq!(export::text(&found), expected);
    let dot = export::dot(&edges[..3]);
    assert!(dot.contains("  \"a0\" -> \"a1\" [label=\"1\"];\n"), "{dot}");
    assert!(dot.contains("  \"a1\" -> \"a3\" [label=\"1\", style=dashed];\n"), "{dot}");
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
}
