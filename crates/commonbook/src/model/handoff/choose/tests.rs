//! Tests of choosing: the memories that pass, their order, and the budget.

use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;
use crate::base::id::CountingIds;
use crate::base::id::HandoffId;
use crate::model::handoff::{
    BroughtWork, ChainPosition, CreateHandoff, Handoff, HandoffOrigin, InclusionReason,
    ReceivedHandoffs,
};
use commonbook_text::terms::query_terms;
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
        brought_by: None,
        recent: false,
        other_matter: false,
        words: BTreeSet::new(),
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

/// The memories in full.
fn passed(chosen: &HandoffSelection) -> Vec<MemoryId> {
    chosen.memories.iter().filter(|memory| !memory.headline).map(|memory| memory.id).collect()
}

fn headlines(chosen: &HandoffSelection) -> Vec<MemoryId> {
    chosen.memories.iter().filter(|memory| memory.headline).map(|memory| memory.id).collect()
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
    // What a search found besides is named; what it did not find stays behind.
    assert_eq!((headlines(&chosen).len(), chosen.left_out.len()), (3, 7));
}

#[test]
fn only_what_stands_out_is_in_full_beside_what_the_work_brought() {
    let ids = CountingIds::default();
    let old = now() - SignedDuration::from_hours(400 * 24);
    let at_hand = HandoffCandidate { at_hand: true, since: old, ..candidate(&ids, 0.0) };
    let other = HandoffCandidate { other_matter: true, ..at_hand.clone() };
    let other = HandoffCandidate { id: candidate(&ids, 0.0).id, ..other };
    let list = [
        candidate(&ids, 0.02),
        HandoffCandidate { since: old, ..candidate(&ids, 0.5) },
        candidate(&ids, 0.49),
        candidate(&ids, 0.0),
        at_hand,
        other,
    ];
    let chosen = chosen(&list, &HandoffSettings::default(), 5_000);
    assert_eq!(passed(&chosen), [list[1].id, list[4].id]);
    assert_eq!(headlines(&chosen), [list[2].id, list[5].id, list[0].id]);
    assert_eq!(reason(&chosen, list[3].id), Some(ExclusionReason::Unfit));
}

#[test]
fn ten_headlines_at_most_and_one_author_has_six_where_others_have_some() {
    let ids = CountingIds::default();
    let of = |author: &str, place: u32| HandoffCandidate {
        author: agent_named(author),
        ..candidate(&ids, 0.4 - f64::from(place) / 100.0)
    };
    let list: Vec<HandoffCandidate> =
        (0..9).map(|place| of("ann", place)).chain((9..14).map(|place| of("bob", place))).collect();
    let chosen = chosen(&list, &HandoffSettings::default(), 5_000);
    let expected: Vec<MemoryId> =
        [0, 1, 2, 3, 4, 5, 9, 10, 11, 12].map(|place: usize| list[place].id).into();
    assert_eq!(headlines(&chosen), expected);
    assert_eq!(reason(&chosen, list[6].id), Some(ExclusionReason::Crowded));
}

/// A note at hand with these words.
fn note(ids: &CountingIds, text: &str, found: f64) -> HandoffCandidate {
    let words = query_terms(text).into_iter().collect();
    HandoffCandidate { at_hand: true, words, ..candidate(ids, found) }
}

#[test]
fn of_two_matters_the_one_of_the_task_is_meant() {
    let ids = CountingIds::default();
    let table = [
        // The task, what a search makes of the first note, and whether each of the two matters is meant.
        ("Hand the pairing of ticket 88 over", 0.3, [true, false]),
        ("Store the offset of the OTA download", 0.0, [false, true]),
        ("Please take over", 0.05, [true, true]),
        ("Order pizza for the party", 0.02, [false, false]),
    ];
    for (task, found, expected) in table {
        let mut notes = [
            note(&ids, "Ticket 88: both phones send the pairing request with MTU 185", found),
            note(&ids, "OTA: after power loss the download starts from offset 0", 0.0),
            note(&ids, "Ticket 88: passkey entry drops when the pairing MTU is 185", 0.0),
            note(&ids, "OTA: storing the download offset each 4 KiB costs 0.05 uA", 0.0),
        ];
        let _ = settle_matter(&mut notes, &[], &MeaningNearness::default(), task);
        let meant = notes.map(|note| !note.other_matter);
        assert_eq!([meant[0], meant[1]], expected, "{task}");
        assert_eq!([meant[2], meant[3]], expected, "{task}");
    }
}

#[test]
fn meaning_joins_notes_that_share_no_word() {
    let ids = CountingIds::default();
    let notes = || {
        [
            note(&ids, "The clock drifts by two seconds a day", 0.4),
            note(&ids, "Crystal load capacitors are 12 pF, 8 is right", 0.0),
            note(&ids, "Exports of the year end are late", 0.0),
        ]
    };
    let mut apart = notes();
    let _ = settle_matter(&mut apart, &[], &MeaningNearness::default(), "Finish the clock thing");
    assert_eq!(apart.map(|note| note.other_matter), [false, true, true]);
    let mut near = notes();
    let pair = (near[0].id.min(near[1].id), near[0].id.max(near[1].id));
    let meaning = MeaningNearness { pairs: [(pair, 0.6)].into(), ..MeaningNearness::default() };
    let _ = settle_matter(&mut near, &[], &meaning, "Finish the clock thing");
    assert_eq!(near.map(|note| note.other_matter), [false, false, true]);
}

#[test]
fn recent_memories_are_at_hand_only_where_nothing_else_is() {
    let ids = CountingIds::default();
    let recent = |at_hand| HandoffCandidate {
        at_hand,
        recent: true,
        ..note(&ids, "The pool holds ten connections", 0.0)
    };
    let mut alone = [recent(false), candidate(&ids, 0.3)];
    let _ = settle_matter(&mut alone, &[], &MeaningNearness::default(), "Go on");
    assert_eq!(alone.map(|note| note.at_hand), [true, false]);
    let mut beside = [recent(false), recent(true)];
    let _ = settle_matter(&mut beside, &[], &MeaningNearness::default(), "Go on");
    assert_eq!(beside.map(|note| note.at_hand), [false, true]);
}

#[test]
fn of_what_came_back_the_matter_of_the_task_is_told() {
    let ids = CountingIds::default();
    let work = |text: &str| BroughtWork {
        words: query_terms(text).into_iter().collect(),
        ..BroughtWork::from(handed_back(&ids))
    };
    let brought = [
        work("Find out why refunds are booked twice. The webhook is retried without its key"),
        work("Draw the menu of the summer party"),
    ];
    let told = settle_matter(
        &mut [],
        &brought,
        &MeaningNearness::default(),
        "Mend the webhook of the refunds",
    );
    assert_eq!(told, [&brought[0]]);
    let told = settle_matter(&mut [], &brought, &MeaningNearness::default(), "Go on");
    assert_eq!(told.len(), 2);
}

/// A completed handoff.
fn handed_back(ids: &CountingIds) -> Handoff {
    let from = agent_named("lead");
    let request =
        CreateHandoff { to: "analyst".into(), task: Some("x".into()), ..CreateHandoff::default() };
    let draft = request.check(&from, None, HandoffSettings::default()).expect("a draft");
    let id = HandoffId::new(ids, now());
    let place = ChainPosition::of(id, &draft, &from, ReceivedHandoffs::default()).expect("a place");
    let origin =
        HandoffOrigin { workspace: "w".parse().expect("a workspace"), from, user_id: None };
    Handoff::new(id, &draft, origin, place, now())
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
    assert_eq!(headlines(&chosen), [list[1].id, list[3].id]);
}

#[test]
fn tokens_of_excluded_memories_are_not_counted() {
    let ids = CountingIds::default();
    let mut list: Vec<HandoffCandidate> = (0..22).map(|_| candidate(&ids, 0.9)).collect();
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
    assert_eq!((passed(&chosen).len(), headlines(&chosen).len(), counted), (20, 3, 20));
    assert_eq!(chosen.left_out.len(), 1);
}

#[test]
fn at_most_twenty_are_in_full_besides_inherited_ones() {
    let ids = CountingIds::default();
    let mut list: Vec<HandoffCandidate> =
        (0..22).map(|n| candidate(&ids, 0.9 - f64::from(n) / 100.0)).collect();
    let came = HandoffCandidate {
        came_with: Some(1.0),
        author: agent_named("first"),
        ..candidate(&ids, 0.0)
    };
    list.push(came.clone());
    let chosen = chosen(&list, &HandoffSettings::default(), 5_000);
    assert_eq!(passed(&chosen).len(), 21);
    assert_eq!(headlines(&chosen), [list[20].id, list[21].id]);
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
        (passed(&found).len(), entities)
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
        prop_assert!(counted <= 30);
        prop_assert!(found.memories.iter().filter(|memory| memory.headline).count() <= 10);
        for memory in &found.memories {
            let candidate = list.iter().find(|candidate| candidate.id == memory.id).expect("it was given");
            prop_assert!(candidate.named || !candidate.private);
            let is_brought = candidate.at_hand || candidate.found >= 0.5;
            prop_assert!(memory.why != InclusionReason::Chosen || memory.headline || is_brought);
        }
        // The order of unnamed candidates makes no difference.
        let (named, mut rest): (Vec<_>, Vec<_>) = list.into_iter().partition(|candidate| candidate.named);
        let turn = turn.min(rest.len());
        rest.rotate_left(turn);
        let turned = [rest, named].concat();
        prop_assert_eq!(chosen(&turned, &settings, room), found);
    }
}
