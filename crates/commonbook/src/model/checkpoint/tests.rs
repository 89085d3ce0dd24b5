//! Tests of checkpoints: requests, what a sweep removes, when one is due, and resuming.

use proptest::prelude::*;

use super::*;
use crate::base::id::CountingIds;
use crate::base::settled_clock::SettledClock;

/// The settings of a home without config.json.
const SETTINGS: CheckpointSettings = CheckpointSettings {
    kept: 10,
    days: 30,
    minutes: 60,
    partial_memories: 50,
    partial_entities: 20,
};

pub(crate) fn agent(name: &str) -> Agent {
    name.parse().expect("a name")
}

pub(crate) fn at(hours: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + hours * 3_600).expect("a time")
}

pub(crate) fn checkpoint(
    ids: &CountingIds,
    sequence: u64,
    kind: CheckpointKind,
    hours: i64,
) -> Checkpoint {
    Checkpoint {
        id: CheckpointId::new(ids, at(hours)),
        workspace: "w".parse().expect("a workspace"),
        session: "s1".into(),
        sequence,
        kind,
        title: Some("End of day one".into()),
        agent: agent("developer"),
        agents_involved: vec![agent("analyst"), agent("developer")],
        case: None,
        position: 7,
        created_at: at(hours),
        resumed: 0,
        resumed_at: None,
        archived_at: None,
    }
}

#[test]
fn a_request_names_its_session_and_agents() {
    let caller = agent("developer");
    let request = CreateCheckpoint {
        agents_involved: vec!["QA Agent".into(), "analyst".into()],
        title: Some(" done ".into()),
        ..CreateCheckpoint::default()
    };
    let marked =
        request.check(&caller, Some("s1"), &[agent("analyst")]).expect("the request is valid");
    assert_eq!(marked.agents_involved, ["analyst", "developer", "qa"].map(agent));
    assert_eq!((marked.session.as_str(), marked.title.as_deref()), ("s1", Some("done")));
    assert_eq!(marked.kind, CheckpointKind::Manual);
    let table = [
        (CreateCheckpoint::default(), None, "session"),
        (CreateCheckpoint { title: Some("x".repeat(201)), ..request.clone() }, Some("s"), "title"),
        (
            CreateCheckpoint { agents_involved: vec!["a".into(), "*".into()], ..request.clone() },
            Some("s"),
            "agents_involved[1]",
        ),
        (
            CreateCheckpoint { agents_involved: vec!["a".into(); 51], ..request },
            Some("s"),
            "agents_involved",
        ),
    ];
    for (request, session, field) in table {
        let error = request.check(&caller, session, &[]).expect_err(field);
        assert_eq!(error.field.as_deref(), Some(field));
    }
}

#[test]
fn resuming_asks_for_a_mode_an_agent_and_a_budget() {
    let caller = agent("developer");
    let resume = |mode, agent: Option<&str>, budget| ResumeSession {
        mode,
        owner: agent.map(str::to_owned),
        budget,
        ..ResumeSession::default()
    };
    let mine = resume(ResumeMode::Agent, None, None)
        .check(&caller, SETTINGS)
        .expect("the request is valid");
    assert_eq!((mine.agent, mine.budget), (Some(caller.clone()), 5_000));
    let theirs = resume(ResumeMode::Agent, Some("analyst"), Some(500))
        .check(&caller, SETTINGS)
        .expect("the request is valid");
    assert_eq!(theirs.agent, Some(agent("analyst")));
    let table = [
        (resume(ResumeMode::Full, Some("analyst"), None), "owner"),
        (resume(ResumeMode::Agent, Some("a/"), None), "owner"),
        (resume(ResumeMode::Full, None, Some(499)), "budget"),
        (resume(ResumeMode::Full, None, Some(40_001)), "budget"),
        (ResumeSession { session: Some(" ".into()), ..ResumeSession::default() }, "session"),
    ];
    for (request, field) in table {
        let error = request.check(&caller, SETTINGS).expect_err(field);
        assert_eq!(error.field.as_deref(), Some(field));
    }
    assert_eq!(ResumeMode::Partial.count_limits(SETTINGS), (50, 20));
}

#[test]
fn a_sweep_keeps_ten_and_lets_the_automatic_ones_go_first() {
    use CheckpointKind::{Automatic, Manual, Milestone, Workflow};
    let ids = CountingIds::default();
    let make = |kinds: &[CheckpointKind]| -> Vec<Checkpoint> {
        kinds.iter().zip(1..).map(|(kind, number)| checkpoint(&ids, number, *kind, 0)).collect()
    };
    let rest = [Milestone; 8];
    let table: [(Vec<CheckpointKind>, &[u64]); 6] = [
        (vec![Automatic; 10], &[]),
        (vec![Automatic; 13], &[1, 2, 3]),
        ([vec![Milestone, Manual, Workflow, Automatic], rest.to_vec()].concat(), &[4, 3]),
        ([vec![Manual, Milestone, Manual], rest.to_vec()].concat(), &[1]),
        // The newest stays, automatic or not.
        ([vec![Milestone, Milestone], rest.to_vec(), vec![Automatic]].concat(), &[1]),
        (vec![Milestone; 11], &[1]),
    ];
    for (kinds, expected) in table {
        let all = make(&kinds);
        let mut turned = all.clone();
        turned.rotate_left(3);
        for given in [&all, &turned] {
            let gone = checkpoints_to_sweep(given, SETTINGS, at(1));
            let numbers: Vec<u64> = gone
                .iter()
                .filter_map(|id| {
                    all.iter()
                        .find(|checkpoint| checkpoint.id == *id)
                        .map(|checkpoint| checkpoint.sequence)
                })
                .collect();
            assert_eq!(numbers, expected, "{kinds:?}");
        }
    }
}

#[test]
fn a_sweep_removes_checkpoints_older_than_thirty_days_of_confirmed_time() {
    let ids = CountingIds::default();
    let all: Vec<Checkpoint> = [0, 24, 30 * 24, 60 * 24]
        .iter()
        .zip(1..)
        .map(|(hours, number)| checkpoint(&ids, number, CheckpointKind::Milestone, *hours))
        .collect();
    assert!(checkpoints_to_sweep(&all, SETTINGS, at(30 * 24)).is_empty());
    assert_eq!(checkpoints_to_sweep(&all, SETTINGS, at(30 * 24 + 1)), [all[0].id]);
    assert_eq!(checkpoints_to_sweep(&all, SETTINGS, at(31 * 24 + 1)), [all[0].id, all[1].id]);
}

#[test]
fn the_settings_decide_how_many_checkpoints_are_kept_and_how_long() {
    assert_eq!(CheckpointSettings::default(), SETTINGS);
    let ids = CountingIds::default();
    let mut all: Vec<Checkpoint> =
        (1..=5).map(|n| checkpoint(&ids, n, CheckpointKind::Manual, 0)).collect();
    let few = CheckpointSettings { kept: 2, days: 7, ..SETTINGS };
    assert_eq!(checkpoints_to_sweep(&all, few, at(1)), [all[0].id, all[1].id, all[2].id]);
    all[0].archived_at = Some(at(0));
    assert_eq!(checkpoints_to_sweep(&all, few, at(1)), [all[1].id, all[2].id], "it stays");
    let gone = checkpoints_to_sweep(&all, few, at(7 * 24 + 1));
    assert_eq!(gone, all[1..].iter().map(|checkpoint| checkpoint.id).collect::<Vec<_>>());
    let table = [
        (CheckpointSettings { kept: 0, ..SETTINGS }, "kept"),
        (CheckpointSettings { kept: 101, ..SETTINGS }, "kept"),
        (CheckpointSettings { days: 0, ..SETTINGS }, "days"),
        (CheckpointSettings { minutes: 1_441, ..SETTINGS }, "minutes"),
        (CheckpointSettings { partial_memories: 501, ..SETTINGS }, "partial_memories"),
        (CheckpointSettings { partial_entities: 201, ..SETTINGS }, "partial_entities"),
    ];
    for (settings, field) in table {
        assert_eq!(settings.check().unwrap_err().field.as_deref(), Some(field));
    }
    assert!(few.check().is_ok());
    let active = SessionActivity { active: 30 * 60_000, last: at(0) };
    assert!(active.is_due(30) && !active.is_due(31));
    let partial = CheckpointSettings { partial_memories: 5, partial_entities: 0, ..SETTINGS };
    assert_eq!(ResumeMode::Partial.count_limits(partial), (5, 0));
}

#[test]
fn a_clock_that_jumps_by_a_day_removes_and_reorders_nothing() {
    let ids = CountingIds::default();
    // Made while the clock was right, a day ahead, a day behind, and right again.
    let hours = [0, 25, -23, 2];
    let made = hours.iter().zip(1..);
    let all: Vec<Checkpoint> =
        made.map(|(hours, n)| checkpoint(&ids, n, CheckpointKind::Automatic, *hours)).collect();
    // One reading in between, with the clock a month ahead.
    let readings = [0, 1, 25, -23, 2, 31 * 24, 3, 4];
    let mut clock = SettledClock::starting(at(readings[0]));
    for reading in readings {
        clock = clock.observe(at(reading));
        assert!(checkpoints_to_sweep(&all, SETTINGS, clock.confirmed).is_empty(), "{reading}");
    }
    let many: Vec<Checkpoint> = (1..=11)
        .map(|n| checkpoint(&ids, n, CheckpointKind::Automatic, if n == 1 { 24 } else { 0 }))
        .collect();
    assert_eq!(
        checkpoints_to_sweep(&many, SETTINGS, at(0)),
        [many[0].id],
        "the first is the oldest, even with a later time"
    );
}

#[test]
fn a_checkpoint_is_due_after_an_hour_of_activity() {
    let minute = |minutes: f64| at(0) + SignedDuration::from_millis((minutes * 60_000.0) as i64);
    let after = |minutes: &[f64]| {
        let begin = SessionActivity::start_at(minute(0.0));
        minutes.iter().fold(begin, |activity, elapsed| activity.extend_to(minute(*elapsed)))
    };
    let every =
        |step: f64, count: usize| -> Vec<f64> { (1..=count).map(|n| step * n as f64).collect() };
    let table = [
        ("every minute, 59", every(1.0, 59), false),
        ("every minute, 60", every(1.0, 60), true),
        ("every half second", every(0.5 / 60.0, 7_200), true),
        ("once after a night", vec![600.0], false),
        ("once a day, three times", every(1_440.0, 3), false),
        ("once a day, four times", every(1_440.0, 4), true),
        ("the clock a day ahead and back", vec![1_440.0, 1.0, 1_441.0, 2.0], false),
        ("the clock back", vec![-1_440.0, -1_439.0], false),
    ];
    for (what, minutes, due) in table {
        assert_eq!(after(&minutes).is_due(60), due, "{what}: {:?}", after(&minutes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_sweep_leaves_ten_at_the_most_and_always_the_newest(
        kinds in proptest::collection::vec((0_usize..4, 0_i64..1_400), 0..30),
        sure in 0_i64..1_500,
    ) {
        let ids = CountingIds::default();
        let all: Vec<Checkpoint> = kinds.iter().zip(1..).map(|((kind, hours), number)| {
            checkpoint(&ids, number, CheckpointKind::ALL[*kind], *hours)
        }).collect();
        let gone = checkpoints_to_sweep(&all, SETTINGS, at(sure));
        let (over, left): (Vec<_>, Vec<_>) = all.iter().partition(|checkpoint| is_expired(checkpoint, SETTINGS, at(sure)));
        prop_assert!(over.iter().all(|checkpoint| gone.contains(&checkpoint.id)));
        prop_assert_eq!(all.len() - gone.len(), left.len().min(10));
        prop_assert!(left.last().is_none_or(|newest| !gone.contains(&newest.id)));
    }
}
