//! Tests of choosing: the memories that pass, their order, and the budget.

use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;
use crate::base::id::CountingIds;
use crate::model::handoff::InclusionReason;
use commonbook_text::tokens::TokenBudget;

fn now() -> Timestamp {
    "2026-11-21T10:00:00Z".parse().expect("a time")
}

fn candidate(ids: &CountingIds, found: f64) -> HandoffCandidate {
    HandoffCandidate {
        id: MemoryId::new(ids, now()),
        author: "analyst".parse().expect("a name"),
        private: false,
        tier: MemoryTier::Project,
        since: now(),
        found,
        at_hand: false,
        recent: false,
        shared_words: 0,
        entities: BTreeSet::new(),
        named: false,
        came_with: None,
    }
}

fn chosen(
    candidates: &[HandoffCandidate],
    settings: &HandoffSettings,
    room: usize,
) -> HandoffSelection {
    sized(candidates, &[50], settings, room)
}

/// The same, for candidates of these sizes in turn.
fn sized(
    list: &[HandoffCandidate],
    tokens: &[usize],
    settings: &HandoffSettings,
    room: usize,
) -> HandoffSelection {
    let sizes: Vec<(MemoryId, usize)> =
        list.iter().map(|candidate| candidate.id).zip(tokens.iter().copied().cycle()).collect();
    let size = |candidate: &HandoffCandidate| {
        sizes.iter().find(|(id, _)| *id == candidate.id).map_or(0, |(_, size)| *size)
    };
    select_for_handoff(list, &[], &BTreeSet::new(), settings, TokenBudget::new(room), now(), size)
}

fn passed(chosen: &HandoffSelection) -> Vec<MemoryId> {
    chosen.memories.iter().map(|memory| memory.id).collect()
}

fn reason(chosen: &HandoffSelection, id: MemoryId) -> Option<ExclusionReason> {
    chosen.left_out.iter().find(|left| left.id == id).map(|left| left.reason)
}

#[test]
fn a_score_is_the_weighted_sum() {
    let ids = CountingIds::default();
    let shared: BTreeSet<EntityId> = (0..4).map(|_| EntityId::new(&ids, now())).collect();
    let half: BTreeSet<EntityId> = shared.iter().take(2).copied().collect();
    let week = SignedDuration::from_hours(7 * 24);
    let plain = candidate(&ids, 0.5);
    let table = [
        ("fit, of now, project", plain.clone(), 0.4 * 0.5 + 0.2 + 0.3),
        (
            "a week old",
            HandoffCandidate { since: now() - week, ..plain.clone() },
            0.2 + 0.2 / 1_f64.exp() + 0.3,
        ),
        ("of tomorrow", HandoffCandidate { since: now() + week, ..plain.clone() }, 0.2 + 0.2 + 0.3),
        (
            "of an agent",
            HandoffCandidate { tier: MemoryTier::Agent, ..plain.clone() },
            0.2 + 0.2 + 0.21,
        ),
        (
            "of talk",
            HandoffCandidate { tier: MemoryTier::Conversation, ..plain.clone() },
            0.2 + 0.2 + 0.12,
        ),
        ("two of four entities", HandoffCandidate { entities: half, ..plain.clone() }, 0.7 + 0.05),
        ("at hand", HandoffCandidate { at_hand: true, ..plain.clone() }, 0.4 * 0.6 + 0.5),
        ("came with more", HandoffCandidate { came_with: Some(1.0), ..plain.clone() }, 0.9),
        ("came with less", HandoffCandidate { came_with: Some(0.5), ..plain.clone() }, 0.7),
        ("fit beyond all", HandoffCandidate { found: 7.0, ..plain }, 0.9),
    ];
    for (what, candidate, expected) in table {
        let score = candidate.score(ScoreWeights::default(), &shared, now());
        assert!((score - expected).abs() < 1e-9, "{what}: {score}, not {expected}");
    }
}

#[test]
fn recent_memories_are_at_hand_unless_one_answers_the_task() {
    let ids = CountingIds::default();
    let recent =
        |found| HandoffCandidate { recent: true, shared_words: 2, ..candidate(&ids, found) };
    let one_word = |found| HandoffCandidate { shared_words: 1, ..recent(found) };
    let private = |found| HandoffCandidate { private: true, ..recent(found) };
    let table = [
        ("none answers", vec![recent(0.2), recent(0.0)], 2),
        ("one answers", vec![recent(0.7), recent(0.0)], 1),
        ("an old one answers", vec![candidate(&ids, 0.7), recent(0.0)], 2),
        ("a private one does not go along", vec![private(0.7), recent(0.0)], 1),
        ("one word in common", vec![one_word(0.7), recent(0.0)], 2),
    ];
    for (what, mut candidates, count) in table {
        settle_at_hand(&mut candidates, "Fix what I found");
        let found = chosen(&candidates, &HandoffSettings::default(), 5_000);
        assert_eq!(found.memories.len(), count, "{what}: {found:?}");
    }
    assert_eq!(shared_words("Take over from here", "It takes nine seconds"), 1);
    assert_eq!(shared_words("Fix the slow queries of orders", "Each order runs one query"), 2);
}

#[test]
fn nothing_is_at_hand_for_a_task_that_names_its_matter() {
    let ids = CountingIds::default();
    let table = [("Take over", 3), ("Order pizza for the party", 1)];
    for (task, count) in table {
        let at_hand = HandoffCandidate { at_hand: true, ..candidate(&ids, 0.02) };
        let recent = HandoffCandidate { recent: true, ..candidate(&ids, 0.02) };
        let mut candidates = [at_hand, recent, candidate(&ids, 0.2)];
        settle_at_hand(&mut candidates, task);
        let found = chosen(&candidates, &HandoffSettings::default(), 5_000);
        assert_eq!(found.memories.len(), count, "{task}: {found:?}");
    }
}

#[test]
fn what_is_at_hand_and_what_fits_do_not_crowd_out_each_other() {
    let ids = CountingIds::default();
    let old = now() - SignedDuration::from_hours(90 * 24);
    let at_hand = |_| HandoffCandidate { at_hand: true, ..candidate(&ids, 0.0) };
    let fitting = |_| HandoffCandidate { since: old, ..candidate(&ids, 0.4) };
    for (hands, fits, expected) in
        [(20, 3, (7, 3)), (3, 20, (3, 7)), (20, 20, (5, 5)), (4, 4, (4, 4))]
    {
        let list: Vec<HandoffCandidate> =
            (0..hands).map(at_hand).chain((0..fits).map(fitting)).collect();
        for room in [50 * 10, 5_000] {
            let found = chosen(&list, &HandoffSettings::default(), room);
            let kept = passed(&found);
            let of = |fits: bool| {
                list.iter().filter(|c| (c.found > 0.0) == fits && kept.contains(&c.id)).count()
            };
            assert_eq!((of(false), of(true)), expected, "{hands} {fits} {room}");
            assert!(found.memories.is_sorted_by(|a, b| a.score >= b.score));
        }
    }
}

#[test]
fn an_entity_of_which_only_the_told_name_is_known_is_left_out() {
    let ids = CountingIds::default();
    let entity = |in_task, inherited, has_facts| EntityCandidate {
        id: EntityId::new(&ids, now()),
        kind: "tool".to_owned(),
        value: "x".to_owned(),
        in_task,
        inherited,
        has_facts,
        tokens: 10,
    };
    // In the task, inherited, with facts, mentioned; whether it goes along.
    let table = [
        (entity(true, false, false), false, false),
        (entity(true, false, true), false, true),
        (entity(false, false, false), true, false),
        (entity(false, false, true), true, true),
        (entity(false, true, false), false, true),
        (entity(false, true, false), true, false),
        (entity(false, false, true), false, false),
    ];
    for (entity, mentioned, expected) in table {
        let entities = if mentioned { [entity.id].into() } else { BTreeSet::new() };
        let memory = HandoffCandidate { entities, ..candidate(&ids, 1.0) };
        let found = select_for_handoff(
            &[memory],
            std::slice::from_ref(&entity),
            &BTreeSet::new(),
            &HandoffSettings::default(),
            TokenBudget::new(1_000),
            now(),
            |_| 50,
        );
        assert_eq!(found.entities.len(), usize::from(expected), "{entity:?}, {mentioned}");
    }
}

/// Thirteen notes for a task without a word of its findings: whether each is relevant, and how
/// likely a model without common sense takes it to be.
const FIX_THE_PERFORMANCE_ISSUES: [(bool, f64); 13] = [
    (false, 0.13), // the logo on the login page
    (true, 0.10),
    (false, 0.05),
    (false, 0.03), // the coffee machine
    (true, 0.03),
    (true, 0.0),
    (false, 0.0),
    (false, 0.0),
    (false, 0.0),
    (false, 0.0),
    (false, 0.0),
    (false, 0.0),
    (false, 0.0),
];

#[test]
fn the_findings_of_the_work_are_included_and_the_coffee_machine_is_not() {
    let ids = CountingIds::default();
    let found = |(relevant, found): (bool, f64)| HandoffCandidate {
        // The analyst found it in the session that it hands over; the others are of the workspace.
        at_hand: relevant,
        ..candidate(&ids, found)
    };
    let candidates: Vec<HandoffCandidate> =
        FIX_THE_PERFORMANCE_ISSUES.into_iter().map(found).collect();
    let chosen = chosen(&candidates, &HandoffSettings::default(), 5_000);
    let expected: Vec<MemoryId> = candidates
        .iter()
        .filter(|candidate| candidate.at_hand)
        .map(|candidate| candidate.id)
        .collect();
    assert_eq!(passed(&chosen), expected);
    assert_eq!(chosen.left_out.len(), 10);
}

#[test]
fn memories_found_by_words_are_included_wherever_they_were_saved() {
    let ids = CountingIds::default();
    let old = now() - SignedDuration::from_hours(90 * 24);
    // "Implement token rotation": the one about it, and the next.
    let candidates =
        [HandoffCandidate { since: old, ..candidate(&ids, 0.2) }, candidate(&ids, 0.14)];
    let chosen = chosen(&candidates, &HandoffSettings::default(), 5_000);
    assert_eq!(passed(&chosen), [candidates[0].id]);
    assert_eq!(reason(&chosen, candidates[1].id), Some(ExclusionReason::Unfit));
}

#[test]
fn memories_that_hardly_fit_are_left_out_however_fresh() {
    let ids = CountingIds::default();
    let chosen = chosen(&[candidate(&ids, 0.14)], &HandoffSettings::default(), 5_000);
    assert!(chosen.memories.is_empty());
    assert!(chosen.left_out[0].score > DEFAULT_THRESHOLD, "its age and tier alone would pass it");
}

#[test]
fn memories_at_hand_are_included_while_fresh_and_facts_at_any_age() {
    let ids = CountingIds::default();
    let days = |days: i64| now() - SignedDuration::from_hours(days * 24);
    let table = [
        (MemoryTier::Project, 0, true),
        (MemoryTier::Project, 400, true),
        (MemoryTier::Agent, 0, true),
        (MemoryTier::Agent, 5, true),
        (MemoryTier::Agent, 30, false),
        (MemoryTier::Conversation, 0, true),
        (MemoryTier::Conversation, 3, false),
    ];
    for (tier, age, passes) in table {
        let candidate =
            HandoffCandidate { tier, since: days(age), at_hand: true, ..candidate(&ids, 0.0) };
        let found = chosen(&[candidate], &HandoffSettings::default(), 5_000);
        assert_eq!(!found.memories.is_empty(), passes, "{tier:?} of {age} days");
    }
}

#[test]
fn the_tier_depends_on_type_and_sharing() {
    let table = [
        ("semantic", false, MemoryTier::Project),
        ("decision", false, MemoryTier::Project),
        ("decision", true, MemoryTier::Agent),
        ("episodic", false, MemoryTier::Agent),
        ("task_context", false, MemoryTier::Agent),
        ("conversation", true, MemoryTier::Conversation),
    ];
    for (memory_type, private, tier) in table {
        assert_eq!(MemoryTier::of(memory_type, private), tier, "{memory_type}");
    }
}

#[test]
fn selection_skips_a_memory_that_is_too_large() {
    let ids = CountingIds::default();
    let list = [1.0, 0.9, 0.8, 0.7, 0.6].map(|found| candidate(&ids, found));
    let chosen = sized(&list, &[60, 500, 30, 20, 5], &HandoffSettings::default(), 100);
    assert_eq!(passed(&chosen), [list[0].id, list[2].id, list[4].id]);
    assert_eq!(reason(&chosen, list[1].id), Some(ExclusionReason::Budget));
    assert_eq!(reason(&chosen, list[3].id), Some(ExclusionReason::Budget));
}

#[test]
fn tokens_of_excluded_memories_are_not_counted() {
    let ids = CountingIds::default();
    let mut list: Vec<HandoffCandidate> = (0..12).map(|_| candidate(&ids, 0.9)).collect();
    list.push(candidate(&ids, 0.1));
    list.push(HandoffCandidate { private: true, ..candidate(&ids, 1.0) });
    let mut counted = 0;
    let count = |_: &HandoffCandidate| {
        counted += 1;
        50
    };
    let (task, room) = (BTreeSet::new(), TokenBudget::new(5_000));
    let chosen =
        select_for_handoff(&list, &[], &task, &HandoffSettings::default(), room, now(), count);
    assert_eq!((chosen.memories.len(), chosen.left_out.len(), counted), (10, 4, 10));
}

#[test]
fn at_most_ten_are_chosen_besides_inherited_ones() {
    let ids = CountingIds::default();
    let mut list: Vec<HandoffCandidate> =
        (0..12).map(|n| candidate(&ids, 0.9 - f64::from(n) / 100.0)).collect();
    let came = HandoffCandidate {
        came_with: Some(1.0),
        author: agent_named("first"),
        ..candidate(&ids, 0.0)
    };
    list.push(came.clone());
    let chosen = chosen(&list, &HandoffSettings::default(), 5_000);
    assert_eq!(chosen.memories.len(), 11);
    assert_eq!(reason(&chosen, list[10].id), Some(ExclusionReason::Crowded));
    let inherited = chosen.memories.iter().find(|memory| memory.id == came.id).expect("it goes on");
    assert_eq!((inherited.why, inherited.author.as_str()), (InclusionReason::Inherited, "first"));
}

fn agent_named(name: &str) -> Agent {
    name.parse().expect("a name")
}

#[test]
fn inherited_memories_compete_with_their_earlier_score() {
    let ids = CountingIds::default();
    let came = HandoffCandidate { came_with: Some(0.95), ..candidate(&ids, 0.0) };
    let list = [candidate(&ids, 0.6), came, candidate(&ids, 0.5)];
    // 0.74, 0.855 and 0.70; two of 50 tokens have room.
    assert_eq!(passed(&chosen(&list, &HandoffSettings::default(), 100)), [list[1].id, list[0].id]);
}

#[test]
fn named_memories_come_first() {
    let ids = CountingIds::default();
    let named = |private| HandoffCandidate { named: true, private, ..candidate(&ids, 0.0) };
    let list = [candidate(&ids, 1.0), named(false), named(true)];
    let chosen = chosen(&list, &HandoffSettings::default(), 5_000);
    assert_eq!(passed(&chosen), [list[1].id, list[2].id, list[0].id]);
    assert!(chosen.memories[1].private);
}

#[test]
fn a_private_memory_is_included_only_if_named() {
    let ids = CountingIds::default();
    let private = HandoffCandidate { private: true, at_hand: true, ..candidate(&ids, 1.0) };
    let came = HandoffCandidate { private: true, came_with: Some(1.0), ..candidate(&ids, 1.0) };
    let chosen = chosen(&[private.clone(), came.clone()], &HandoffSettings::default(), 5_000);
    assert!(chosen.memories.is_empty());
    assert_eq!(reason(&chosen, private.id), Some(ExclusionReason::Private));
    assert_eq!(reason(&chosen, came.id), Some(ExclusionReason::Private));
}

#[test]
fn a_duplicate_candidate_is_included_once_at_its_best_rank() {
    let ids = CountingIds::default();
    let far = candidate(&ids, 0.1);
    let list = [far.clone(), HandoffCandidate { at_hand: true, ..far.clone() }, far.clone()];
    assert_eq!(passed(&chosen(&list, &HandoffSettings::default(), 5_000)), [far.id]);
    let named = [far.clone(), HandoffCandidate { named: true, ..far }];
    assert_eq!(
        chosen(&named, &HandoffSettings::default(), 5_000).memories[0].why,
        InclusionReason::Named
    );
}

#[test]
fn entities_count_in_the_budget_and_belong_to_included_memories() {
    let ids = CountingIds::default();
    let entity = |in_task, came, tokens| EntityCandidate {
        id: EntityId::new(&ids, now()),
        kind: "tool".to_owned(),
        value: "x".to_owned(),
        in_task,
        inherited: came,
        has_facts: true,
        tokens,
    };
    let list = [
        entity(false, false, 10),
        entity(true, false, 10),
        entity(false, false, 10),
        entity(false, true, 10),
    ];
    let memories = [
        HandoffCandidate { entities: [list[0].id].into(), ..candidate(&ids, 1.0) },
        HandoffCandidate { entities: [list[2].id].into(), ..candidate(&ids, 0.9) },
    ];
    let run = |room, max_entities| {
        let settings = HandoffSettings { max_entities, ..HandoffSettings::default() };
        let tokens = |_: &HandoffCandidate| 55;
        let found = select_for_handoff(
            &memories,
            &list,
            &BTreeSet::new(),
            &settings,
            TokenBudget::new(room),
            now(),
            tokens,
        );
        let entities: Vec<EntityId> = found.entities.iter().map(|entity| entity.id).collect();
        (found.memories.len(), entities)
    };
    let [mentioned, asked, too, came] = [0, 1, 2, 3].map(|place: usize| list[place].id);
    assert_eq!(run(1_000, 20), (2, vec![asked, mentioned, too, came]));
    assert_eq!(run(1_000, 2), (2, vec![asked, mentioned]));
    // Of 110 tokens a fifth is reserved for entities, so the second memory has no room; they also
    // get what the first leaves, except the one that no included memory mentions.
    assert_eq!(run(110, 20), (1, vec![asked, mentioned, came]));
    assert_eq!(run(0, 20), (0, vec![]));
}

#[test]
fn weights_and_threshold_can_be_set() {
    let ids = CountingIds::default();
    let weights = ScoreWeights { semantic: 1.0, recency: 0.0, tier: 0.0, entities: 0.0 };
    let settings = HandoffSettings { weights, threshold: 0.8, ..HandoffSettings::default() };
    let list = [candidate(&ids, 0.79), candidate(&ids, 0.81)];
    assert_eq!(passed(&chosen(&list, &settings, 5_000)), [list[1].id]);
    for (semantic, right) in
        [(0.4, true), (0.0, true), (-0.1, false), (f64::NAN, false), (1.1, false)]
    {
        let weights = ScoreWeights { semantic, ..ScoreWeights::default() };
        let checked = HandoffSettings { weights, ..HandoffSettings::default() }.check();
        assert_eq!(checked.is_ok(), right, "{semantic}");
    }
    assert!(HandoffSettings { threshold: 2.0, ..HandoffSettings::default() }.check().is_err());
    assert!(HandoffSettings { budget: 10, ..HandoffSettings::default() }.check().is_err());
    let partial: HandoffSettings =
        serde_json::from_str(r#"{"weights":{"tier":0.1}}"#).expect("it fits");
    assert_eq!((partial.weights.tier, partial.weights.semantic), (0.1, 0.4));
}

proptest! {
    #[test]
    fn any_selection_keeps_its_limits_and_ignores_input_order(
        drawn in proptest::collection::vec(
            (0.0_f64..1.2, 1_usize..200, any::<[bool; 4]>(), 0_u8..40), 0..30),
        room in 0_usize..1_500,
        turn in 0_usize..30,
    ) {
        let ids = CountingIds::default();
        let size = |candidate: &HandoffCandidate| drawn[candidate.id.uuid().as_u128() as usize % drawn.len()].1;
        let chosen = |list: &[HandoffCandidate], settings: &HandoffSettings, room| {
            select_for_handoff(list, &[], &BTreeSet::new(), settings, TokenBudget::new(room), now(), size)
        };
        let mut list: Vec<HandoffCandidate> = drawn.iter().map(|(found, _, is, id)| HandoffCandidate {
            id: MemoryId::from_uuid(uuid::Uuid::from_u128(u128::from(*id))),
            private: is[0],
            at_hand: is[1],
            named: is[2] && is[3],
            came_with: (is[1] && is[3]).then_some(0.7),
            ..candidate(&ids, *found)
        }).collect();
        list.sort_by_key(|candidate| candidate.id);
        list.dedup_by_key(|candidate| candidate.id);
        let settings = HandoffSettings::default();
        let found = chosen(&list, &settings, room);
        let tokens: u32 = found.memories.iter().map(|candidate| candidate.tokens).sum();
        prop_assert!(tokens as usize <= room);
        prop_assert_eq!(found.memories.len() + found.left_out.len(), list.len());
        let counted = found.memories.iter().filter(|candidate| candidate.why != InclusionReason::Inherited).count();
        prop_assert!(counted <= 10);
        for memory in &found.memories {
            let candidate = list.iter().find(|candidate| candidate.id == memory.id).expect("it was given");
            prop_assert!(candidate.named || !candidate.private);
            prop_assert!(memory.why != InclusionReason::Chosen || memory.score >= 0.5);
        }
        // The order of unnamed candidates makes no difference.
        let (named, mut rest): (Vec<_>, Vec<_>) = list.into_iter().partition(|candidate| candidate.named);
        let turn = turn.min(rest.len());
        rest.rotate_left(turn);
        let turned = [rest, named].concat();
        prop_assert_eq!(chosen(&turned, &settings, room), found);
    }
}
