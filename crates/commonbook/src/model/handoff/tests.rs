//! Tests of handoffs: the request, the position in a chain, the steps, and their visibility.

use jiff::Timestamp;
use proptest::prelude::*;

use super::choose::HandoffSettings;
use super::*;
use crate::base::error::{ErrorKind, Result};
use crate::base::id::CountingIds;
use crate::base::page::PageCursor;

fn agent(name: &str) -> Agent {
    Agent::with_any_name(name).expect("a name")
}

fn at(hour: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + hour * 3_600).expect("a time")
}

fn request() -> CreateHandoff {
    CreateHandoff {
        to: "developer".to_owned(),
        task: Some("Fix what was found".to_owned()),
        ..CreateHandoff::default()
    }
}

fn checked(request: &CreateHandoff) -> Result<HandoffDraft> {
    request.check(&agent("analyst"), Some("s1"), HandoffSettings::default())
}

fn made(ids: &CountingIds, from: &str, request: &CreateHandoff, received: &[Handoff]) -> Handoff {
    let from = agent(from);
    let draft =
        request.check(&from, Some("s1"), HandoffSettings::default()).expect("the request is valid");
    let id = HandoffId::new(ids, at(0));
    let received = ReceivedHandoffs { handoffs: received, ..ReceivedHandoffs::default() };
    let place = ChainPosition::of(id, &draft, &from, received).expect("a place");
    let workspace = "w".parse().expect("a workspace");
    let origin = HandoffOrigin { workspace, from, user_id: None };
    Handoff::new(id, &draft, origin, place, at(0))
}

fn handoff() -> Handoff {
    made(&CountingIds::default(), "analyst", &request(), &[])
}

fn taken<'a>(step: HandoffStep, by: &'a Agent, note: Option<&'a str>) -> StepAttempt<'a> {
    StepAttempt { step, by, session: Some("s2"), note, at: at(1), target_seen: Some(at(1)) }
}

fn after(handoff: &Handoff, step: HandoffStep, by: &str) -> Handoff {
    let by = agent(by);
    handoff.apply_step(taken(step, &by, None)).expect("it may").expect("it changes")
}

#[test]
fn each_step_leads_where_the_table_says() {
    use HandoffStatus::{Accepted, Completed, Expired, Pending, Rejected, Withdrawn};
    // Accept, complete, reject, withdraw, expire; nothing where the step is refused.
    let table = [
        (Pending, [Some(Accepted), None, Some(Rejected), Some(Withdrawn), Some(Expired)]),
        (Accepted, [Some(Accepted), Some(Completed), Some(Rejected), None, None]),
        (Completed, [Some(Completed), Some(Completed), None, None, None]),
        (Rejected, [None, None, Some(Rejected), None, None]),
        (Withdrawn, [None, None, None, Some(Withdrawn), None]),
        (Expired, [None, None, None, None, Some(Expired)]),
    ];
    assert_eq!(table.len(), HandoffStatus::ALL.len());
    for (status, row) in table {
        for (step, expected) in HandoffStep::ALL.iter().zip(row) {
            let found = next_status(status, *step);
            assert_eq!(found.as_ref().ok(), expected.as_ref(), "{step} of {status}");
            let refused = found.err();
            let hinted = refused.as_ref().is_none_or(|error| error.hint.is_some());
            assert!(hinted, "{step} of {status} tells no next step");
            let kind = refused.map(|error| error.kind);
            assert!(kind.is_none_or(|kind| kind == ErrorKind::Conflict), "{step} of {status}");
        }
    }
}

#[test]
fn only_the_target_accepts_and_only_the_source_withdraws() {
    let table = [
        (HandoffStep::Accept, "developer", true),
        (HandoffStep::Accept, "analyst", false),
        (HandoffStep::Accept, "qa", false),
        (HandoffStep::Accept, "developer/child", false),
        (HandoffStep::Reject, "developer", true),
        (HandoffStep::Reject, "analyst", false),
        (HandoffStep::Withdraw, "analyst", true),
        (HandoffStep::Withdraw, "developer", false),
        (HandoffStep::Withdraw, "qa", false),
        (HandoffStep::Expire, "system", true),
    ];
    for (step, by, may) in table {
        let by = agent(by);
        let answer = handoff().apply_step(taken(step, &by, None));
        let kind = answer.as_ref().err().map(|error| error.kind);
        assert_eq!(kind, (!may).then_some(ErrorKind::Forbidden), "{step} by {by}");
    }
    let done = after(&handoff(), HandoffStep::Accept, "developer");
    let by = agent("analyst");
    let kind = done.apply_step(taken(HandoffStep::Complete, &by, None)).map_err(|error| error.kind);
    assert_eq!(kind, Err(ErrorKind::Forbidden));
}

#[test]
fn accepting_again_changes_nothing() {
    let accepted = after(&handoff(), HandoffStep::Accept, "developer");
    assert_eq!((accepted.version, accepted.accepted_at), (2, Some(at(1))));
    assert_eq!(accepted.accepted_in.as_deref(), Some("s2"));
    let by = agent("developer");
    let again = StepAttempt { at: at(9), session: None, ..taken(HandoffStep::Accept, &by, None) };
    assert_eq!(accepted.apply_step(again).expect("it may"), None);
}

fn of_role(role: &str) -> Handoff {
    Handoff { to: agent(role), role: Some(agent(role)), ..handoff() }
}

#[test]
fn the_first_agent_with_the_role_has_it() {
    let waiting = of_role("developer");
    let take = |handoff: &Handoff, step, by: &str| {
        let by = agent(by);
        handoff.apply_step(taken(step, &by, Some("no"))).map_err(|error| error.kind)
    };
    for (name, waits) in [
        ("claude-code/developer", true),
        ("developer", true),
        ("codex/sub/developer", true),
        ("claude-code", false),
        ("developer/claude-code", false),
        ("analyst", false),
    ] {
        assert_eq!(waiting.waits_for(&agent(name)), waits, "{name}");
        let refused = take(&waiting, HandoffStep::Accept, name).err();
        assert_eq!(refused, (!waits).then_some(ErrorKind::Forbidden), "{name}");
    }
    assert!(of_role("gemini-cli").waits_for(&agent("gemini")), "a name of the same client");
    let own = Handoff { from: agent("x/developer"), ..of_role("developer") };
    assert!(!own.waits_for(&own.from), "the source hands over to others");
    assert_eq!(take(&own, HandoffStep::Accept, "x/developer"), Err(ErrorKind::Forbidden));
    // One of several cannot refuse for all; the agent of that very name can.
    assert_eq!(take(&waiting, HandoffStep::Reject, "codex/developer"), Err(ErrorKind::Conflict));
    assert!(take(&waiting, HandoffStep::Reject, "developer").is_ok());
    let accepted = after(&waiting, HandoffStep::Accept, "codex/developer");
    assert_eq!(
        (accepted.to.as_str(), accepted.role),
        ("codex/developer", Some(agent("developer")))
    );
    let accepted = after(&waiting, HandoffStep::Accept, "codex/developer");
    for step in [HandoffStep::Accept, HandoffStep::Complete, HandoffStep::Reject] {
        for name in ["claude-code/developer", "developer"] {
            let by = agent(name);
            let late = accepted.apply_step(taken(step, &by, None)).expect_err("it has gone");
            assert_eq!(late.kind, ErrorKind::Conflict, "{step} by {name}");
            assert_eq!(late.message, "'codex/developer' has accepted this handoff");
        }
    }
    let done = take(&accepted, HandoffStep::Complete, "codex/developer").expect("it may");
    assert_eq!(done.map(|handoff| handoff.status), Some(HandoffStatus::Completed));
}

#[test]
fn a_repeated_step_says_the_same_or_nothing() {
    let by = agent("developer");
    let accepted = after(&handoff(), HandoffStep::Accept, "developer");
    let with_note = taken(HandoffStep::Complete, &by, Some("It is mended"));
    let done = accepted.apply_step(with_note).expect("it may").expect("it changes");
    let reject = taken(HandoffStep::Reject, &by, Some("No time"));
    let rejected = handoff().apply_step(reject).expect("it may").expect("it changes");
    let silent = accepted.apply_step(taken(HandoffStep::Complete, &by, None));
    let silent = silent.expect("it may").expect("it changes");
    let table = [
        (&done, HandoffStep::Complete, Some("It is mended"), None),
        (&done, HandoffStep::Complete, Some(" It is mended "), None),
        (&done, HandoffStep::Complete, None, None),
        (&done, HandoffStep::Complete, Some("It is broken"), Some("result")),
        (&silent, HandoffStep::Complete, Some("It is mended"), Some("result")),
        (&rejected, HandoffStep::Reject, Some("No time"), None),
        (&rejected, HandoffStep::Reject, Some("Not mine"), Some("reason")),
    ];
    for (handoff, step, note, field) in table {
        let refused = handoff.apply_step(taken(step, &by, note)).err();
        assert_eq!(refused.as_ref().and_then(|error| error.field.as_deref()), field, "{note:?}");
        assert!(refused.is_none_or(|error| error.kind == ErrorKind::Conflict));
    }
}

#[test]
fn reason_and_result_are_kept_and_limited() {
    let by = agent("developer");
    let rejected =
        handoff().apply_step(taken(HandoffStep::Reject, &by, Some(" too busy "))).expect("it may");
    assert_eq!(rejected.and_then(|handoff| handoff.note).as_deref(), Some("too busy"));
    let long = "x".repeat(limits::HANDOFF_NOTE_CHARS + 1);
    let table = [
        (HandoffStep::Reject, "", ErrorKind::Invalid, "reason"),
        (HandoffStep::Reject, "a\0", ErrorKind::Invalid, "reason"),
        (HandoffStep::Reject, long.as_str(), ErrorKind::TooLarge, "reason"),
        (HandoffStep::Complete, long.as_str(), ErrorKind::TooLarge, "result"),
    ];
    for (step, note, kind, field) in table {
        let error =
            handoff().apply_step(taken(step, &by, Some(note))).expect_err("the step is invalid");
        assert_eq!((error.kind, error.field.as_deref()), (kind, Some(field)));
    }
}

#[test]
fn work_of_a_silent_target_is_taken_back_and_expires() {
    let accepted = after(&handoff(), HandoffStep::Accept, "developer");
    let (source, system) = (agent("analyst"), agent("system"));
    let silent = 1 + limits::HANDOFF_SILENT_HOURS;
    // When it was accepted an hour ago and its target last seen then, or later.
    for (now, seen, gone) in [
        (silent, None, true),
        (silent, Some(at(1)), true),
        (silent - 1, None, false),
        (silent, Some(at(2)), false),
    ] {
        for (step, by) in [(HandoffStep::Withdraw, &source), (HandoffStep::Expire, &system)] {
            let taken = StepAttempt { at: at(now), target_seen: seen, ..taken(step, by, None) };
            let found = accepted.apply_step(taken).map(|next| next.map(|next| next.status));
            let status = match step {
                HandoffStep::Withdraw => HandoffStatus::Withdrawn,
                _ => HandoffStatus::Expired,
            };
            assert_eq!(found.ok(), gone.then_some(Some(status)), "{step} {now} {seen:?}");
        }
    }
}

#[test]
fn what_is_still_open_stands_below_the_result() {
    let complete = |result: Option<&str>, open: &[&str]| CompleteHandoff {
        handoff: handoff().id,
        result: result.map(str::to_owned),
        still_open: open.iter().map(|line| (*line).to_owned()).collect(),
        based_on: Vec::new(),
        require_current: false,
    };
    let note = |request: CompleteHandoff| request.note().expect("it is valid");
    assert_eq!(note(complete(None, &[])), None);
    assert_eq!(note(complete(Some("Done"), &[])).as_deref(), Some("Done"));
    let both = note(complete(Some("The fix is in "), &[" un-ignore the test", "tell Ana"]));
    assert_eq!(
        both.as_deref(),
        Some("The fix is in\n\nStill open:\n- un-ignore the test\n- tell Ana")
    );
    assert_eq!(note(complete(None, &["all"])).as_deref(), Some("Still open:\n- all"));
    let error = complete(None, &["a", ""]).note().expect_err("an empty line");
    assert_eq!(error.field.as_deref(), Some("still_open[1]"));
}

#[test]
fn a_pending_handoff_expires_by_confirmed_time_only() {
    let waiting = handoff();
    assert_eq!(waiting.expires_at, at(24));
    assert!(!waiting.is_overdue(at(23)) && waiting.is_overdue(at(24)));
    assert!(!after(&waiting, HandoffStep::Accept, "developer").is_overdue(at(99)));
    // Without a sweep, a late step does not fail because of the clock.
    let by = agent("developer");
    let late = StepAttempt { at: at(99), ..taken(HandoffStep::Accept, &by, None) };
    assert!(waiting.apply_step(late).is_ok());
}

/// The steps that changed something, of all steps that a handoff can take.
const LIVES: [&[HandoffStep]; 7] = [
    &[],
    &[HandoffStep::Accept],
    &[HandoffStep::Accept, HandoffStep::Complete],
    &[HandoffStep::Accept, HandoffStep::Reject],
    &[HandoffStep::Reject],
    &[HandoffStep::Withdraw],
    &[HandoffStep::Expire],
];

proptest! {
    #[test]
    fn a_handoff_follows_its_state_machine(
        tries in proptest::collection::vec((0_usize..5, 0_usize..4), 0..24),
    ) {
        let agents = ["analyst", "developer", "qa", "system"].map(agent);
        let mut real = handoff();
        let mut life: Vec<HandoffStep> = Vec::new();
        for (step, by) in tries {
            let (step, by) = (HandoffStep::ALL[step], &agents[by]);
            let answer = real.apply_step(taken(step, by, None));
            let may = match step.step_actor() {
                StepActor::Target => by.as_str() == "developer",
                StepActor::Source => by.as_str() == "analyst",
                StepActor::Layer => true,
            };
            let longer = [life.as_slice(), &[step]].concat();
            match answer {
                Err(error) if error.kind == ErrorKind::Forbidden => prop_assert!(!may),
                Err(_) => prop_assert!(may && !LIVES.contains(&longer.as_slice())
                    && life.last() != Some(&step)),
                Ok(None) => {
                    let is_read_again = step == HandoffStep::Accept
                        && life.last() == Some(&HandoffStep::Complete);
                    prop_assert!(may && (life.last() == Some(&step) || is_read_again));
                }
                Ok(Some(next)) => {
                    prop_assert!(may && LIVES.contains(&longer.as_slice()));
                    prop_assert_eq!(next.version, real.version + 1);
                    life = longer;
                    real = next;
                }
            }
            prop_assert_eq!(real.accepted_at.is_some(), life.contains(&HandoffStep::Accept));
            let ended = life.last().is_some_and(|step| *step != HandoffStep::Accept);
            prop_assert_eq!(real.ended_at.is_some(), ended);
            prop_assert_eq!(real.status.is_open(), !ended);
        }
    }
}

#[test]
fn an_invalid_request_is_refused_with_its_field() {
    let line = |n: usize| vec!["x".repeat(n)];
    let many = |n: usize| vec!["x".to_owned(); n];
    let ids = CountingIds::default();
    let memories: Vec<MemoryId> = (0..3).map(|_| MemoryId::new(&ids, at(0))).collect();
    let table = [
        (CreateHandoff { to: "Analyst".into(), ..request() }, "invalid", "to"),
        (CreateHandoff { to: "legacy".into(), ..request() }, "invalid", "to"),
        (CreateHandoff { to: String::new(), ..request() }, "invalid", "to"),
        (CreateHandoff { task: None, ..request() }, "invalid", "task"),
        (CreateHandoff { task: Some(" ".into()), ..request() }, "invalid", "task"),
        (CreateHandoff { task: Some("x".repeat(2_001)), ..request() }, "too_large", "task"),
        (CreateHandoff { context: Some("x".repeat(16_001)), ..request() }, "too_large", "context"),
        (CreateHandoff { context: Some("a\u{1b}".into()), ..request() }, "invalid", "context"),
        (CreateHandoff { active_files: many(51), ..request() }, "too_large", "active_files"),
        (
            CreateHandoff { decisions_made: line(501), ..request() },
            "too_large",
            "decisions_made[0]",
        ),
        (CreateHandoff { next_steps: line(0), ..request() }, "invalid", "next_steps[0]"),
        (
            CreateHandoff { next_steps: vec!["é".repeat(500); 50], ..request() },
            "too_large",
            "context",
        ),
        (CreateHandoff { budget: Some(499), ..request() }, "invalid", "budget"),
        (CreateHandoff { budget: Some(40_001), ..request() }, "invalid", "budget"),
        (CreateHandoff { max_memories: Some(0), ..request() }, "invalid", "max_memories"),
        (CreateHandoff { max_entities: Some(101), ..request() }, "invalid", "max_entities"),
        (CreateHandoff { threshold: Some(1.1), ..request() }, "invalid", "threshold"),
        (CreateHandoff { threshold: Some(f64::NAN), ..request() }, "invalid", "threshold"),
        (CreateHandoff { expires_hours: Some(0), ..request() }, "invalid", "expires_hours"),
        (CreateHandoff { case: Some("a\nb".into()), ..request() }, "invalid", "case"),
        (
            CreateHandoff { memories: memories.clone(), max_memories: Some(2), ..request() },
            "too_large",
            "memories",
        ),
        (
            CreateHandoff {
                follows: (0..21).map(|_| HandoffId::new(&ids, at(0))).collect(),
                ..request()
            },
            "too_large",
            "follows",
        ),
    ];
    for (request, kind, field) in table {
        let error = checked(&request).expect_err(field);
        assert_eq!((error.kind.name(), error.field.as_deref()), (kind, Some(field)));
    }
}

#[test]
fn a_request_in_the_original_format_is_accepted() {
    let json = serde_json::json!({
        "target_agent": "Gemini CLI@desktop",
        "context": "Working on the code review.\nFixed 10 bugs.",
        "active_files": ["src/engram/server.py (modified)"],
    });
    let request: CreateHandoff = crate::base::input::from_value(json).expect("it fits");
    let draft = checked(&request).expect("the request is valid");
    assert_eq!(draft.to, agent("gemini-cli"));
    assert_eq!(draft.task, "Working on the code review.");
    assert!(draft.whole_text().ends_with("src/engram/server.py (modified)"));
    let unknown = serde_json::json!({"to": "qa", "task": "x", "from": "boss"});
    assert!(crate::base::input::from_value::<CreateHandoff>(unknown).is_err());
}

#[test]
fn naming_many_memories_raises_the_maximum() {
    let ids = CountingIds::default();
    let memories: Vec<MemoryId> = (0..22).map(|_| MemoryId::new(&ids, at(0))).collect();
    let twice = [memories.clone(), memories.clone()].concat();
    let draft =
        checked(&CreateHandoff { memories: twice, ..request() }).expect("the request is valid");
    assert_eq!(draft.memories, memories);
    assert_eq!(draft.settings.max_memories, 22);
}

#[test]
fn every_request_has_a_description() {
    let schemas = [
        crate::base::input::schema::<CreateHandoff>(),
        crate::base::input::schema::<AcceptHandoff>(),
        crate::base::input::schema::<CompleteHandoff>(),
        crate::base::input::schema::<RejectHandoff>(),
        crate::base::input::schema::<WithdrawHandoff>(),
        crate::base::input::schema::<ListHandoffs>(),
        crate::base::input::schema::<crate::model::checkpoint::CreateCheckpoint>(),
        crate::base::input::schema::<crate::model::checkpoint::ResumeSession>(),
    ];
    for schema in schemas {
        assert!(schema["description"].as_str().is_some_and(|text| text.len() > 20), "{schema}");
        assert_eq!(schema["additionalProperties"], false, "{schema}");
        let fields = schema["properties"].as_object().expect("it has fields");
        for (name, field) in fields {
            assert!(field["description"].is_string(), "{name}: {field}");
        }
    }
}

fn followed(of: &str, ids: &CountingIds, received: &[Handoff], request: &CreateHandoff) -> Handoff {
    made(ids, of, request, received)
}

#[test]
fn a_handoff_continues_the_last_accepted_one() {
    let ids = CountingIds::default();
    let to_b = |case: Option<&str>| CreateHandoff {
        to: "b".into(),
        case: case.map(str::to_owned),
        ..request()
    };
    let first = after(&made(&ids, "a", &to_b(Some("k1")), &[]), HandoffStep::Accept, "b");
    let second = after(&made(&ids, "a", &to_b(Some("k2")), &[]), HandoffStep::Accept, "b");
    let waiting = made(&ids, "a", &to_b(None), &[]);
    let others = after(
        &made(&ids, "a", &CreateHandoff { to: "x".into(), ..request() }, &[]),
        HandoffStep::Accept,
        "x",
    );
    let received = [first.clone(), second.clone(), waiting.clone(), others.clone()];
    let to_c = |case: Option<&str>, follows: Vec<HandoffId>| CreateHandoff {
        to: "c".into(),
        case: case.map(str::to_owned),
        follows,
        ..request()
    };
    let table = [
        (to_c(None, vec![]), vec![second.id], second.chain, 2),
        (to_c(Some("k1"), vec![]), vec![first.id], first.chain, 2),
        (to_c(None, vec![first.id]), vec![first.id], first.chain, 2),
        (
            CreateHandoff {
                kind: HandoffKind::Join,
                ..to_c(None, vec![first.id, second.id, first.id])
            },
            vec![first.id, second.id],
            first.chain,
            2,
        ),
    ];
    for (request, follows, chain, depth) in table {
        let made = followed("b", &ids, &received, &request);
        assert_eq!((made.follows, made.chain, made.depth), (follows, chain, depth));
    }
    let alone = followed("b", &ids, std::slice::from_ref(&waiting), &to_c(None, vec![]));
    assert_eq!((alone.follows, alone.chain, alone.depth), (vec![], alone.id, 1));
    let of = |handoffs| ReceivedHandoffs { handoffs, ..ReceivedHandoffs::default() };
    let both =
        to_c(None, vec![first.id, second.id]).check(&agent("b"), None, HandoffSettings::default());
    let id = HandoffId::new(&ids, at(0));
    let error =
        ChainPosition::of(id, &both.expect("the request is valid"), &agent("b"), of(&received));
    assert_eq!(error.map_err(|error| error.field), Err(Some("follows".to_owned())));
    let rejected = after(&first, HandoffStep::Reject, "b");
    let received = [rejected.clone(), second.clone(), waiting.clone(), others.clone()];
    for wrong in [vec![waiting.id], vec![others.id], vec![rejected.id]] {
        let draft = to_c(None, wrong).check(&agent("b"), None, HandoffSettings::default());
        let id = HandoffId::new(&ids, at(0));
        let error = ChainPosition::of(
            id,
            &draft.expect("the request is valid"),
            &agent("b"),
            of(&received),
        );
        assert_eq!(error.map_err(|error| error.kind), Err(ErrorKind::Invalid));
    }
}

/// What a new handoff of `b` could continue, and whether it does.
struct Continuation {
    what: &'static str,
    session: Option<&'static str>,
    case: Option<&'static str>,
    user: Option<&'static str>,
    hours: i64,
    handed_on: bool,
    continues: bool,
}

#[test]
fn a_completed_handoff_is_continued_in_its_work_or_for_some_hours_once() {
    let plain = Continuation {
        what: "an hour later, nothing named",
        session: None,
        case: None,
        user: None,
        hours: 2,
        handed_on: false,
        continues: true,
    };
    let table = [
        Continuation { what: "in another session, an hour later", session: Some("s9"), ..plain },
        Continuation { what: "at the last hour", hours: 1 + limits::CHAIN_HOURS, ..plain },
        Continuation {
            what: "too late",
            hours: 2 + limits::CHAIN_HOURS,
            continues: false,
            ..plain
        },
        Continuation { what: "handed on before", handed_on: true, continues: false, ..plain },
        Continuation {
            what: "in the session that accepted it, days later, handed on before",
            session: Some("s2"),
            hours: 99,
            handed_on: true,
            ..plain
        },
        Continuation { what: "in its case, days later", case: Some("k1"), hours: 99, ..plain },
        Continuation { what: "in another case", case: Some("k2"), continues: false, ..plain },
        Continuation { what: "for its user", user: Some("u1"), ..plain },
        Continuation { what: "the clock was set back", hours: -30, ..plain },
        plain,
    ];
    let ids = CountingIds::default();
    for row in table {
        let case = row.case.map(|_| "k1".to_owned());
        let to_b = CreateHandoff { to: "b".into(), case, ..request() };
        let accepted = after(&made(&ids, "a", &to_b, &[]), HandoffStep::Accept, "b");
        let done = after(&accepted, HandoffStep::Complete, "b");
        let done = [Handoff { session: None, user_id: row.user.map(str::to_owned), ..done }];
        let case = row.case.map(str::to_owned);
        let to_c = CreateHandoff { to: "c".into(), case, ..request() };
        let draft = to_c.check(&agent("b"), row.session, HandoffSettings::default());
        let received = ReceivedHandoffs {
            handoffs: &done,
            handed_on: if row.handed_on { &[done[0].id] } else { &[] },
            user: row.user,
            now: at(row.hours),
            ..ReceivedHandoffs::default()
        };
        let id = HandoffId::new(&ids, at(0));
        let draft = draft.expect("the request is valid");
        let place = ChainPosition::of(id, &draft, &agent("b"), received).expect("a place");
        assert_eq!(place.depth == 2, row.continues, "{}", row.what);
        let for_others = ReceivedHandoffs { user: Some("u9"), ..received };
        let place = ChainPosition::of(id, &draft, &agent("b"), for_others).expect("a place");
        assert_eq!(place.depth == 2, row.continues && row.user.is_none(), "{}", row.what);
    }
}

#[test]
fn work_goes_on_from_the_handoff_accepted_or_completed_last() {
    let ids = CountingIds::default();
    let to_b = CreateHandoff { to: "b".into(), ..request() };
    let taken = || after(&made(&ids, "a", &to_b, &[]), HandoffStep::Accept, "b");
    let (open, done) = (taken(), after(&taken(), HandoffStep::Complete, "b"));
    for received in [[open.clone(), done.clone()], [done, open]] {
        let next = made(&ids, "b", &CreateHandoff { to: "c".into(), ..request() }, &received);
        assert_eq!(next.follows, [received[1].id]);
    }
}

#[test]
fn other_agents_see_neither_text_nor_private_memories() {
    let ids = CountingIds::default();
    let passed = |private| HandoffMemory {
        id: MemoryId::new(&ids, at(0)),
        author: agent("analyst"),
        why: InclusionReason::Named,
        score: 1.0,
        private,
        headline: false,
        tokens: 9,
    };
    let memories = vec![passed(true), passed(false)];
    let handoff = Handoff { memories, tokens: 1, ..handoff() };
    for part in ["analyst", "developer"] {
        assert_eq!(handoff.clone().redacted_for(&agent(part)), handoff);
    }
    let seen = handoff.redacted_for(&agent("qa"));
    assert_eq!((seen.tokens, seen.memories.len()), (0, 1));
}

#[test]
fn the_text_of_an_expired_handoff_fits_a_memory() {
    let full = CreateHandoff {
        context: Some("c".repeat(16_000)),
        active_files: vec!["f".repeat(150); 50],
        next_steps: vec!["n".repeat(100); 50],
        decisions_made: vec!["d".to_owned(); 50],
        ..request()
    };
    let handoff = made(&CountingIds::default(), "analyst", &full, &[]);
    let left = handoff.expired_text();
    assert!(left.len() <= limits::TEXT_BYTES);
    assert!(left.starts_with("Handoff from analyst to developer"));
    for part in ["## Task\nFix what was found\n", "## Context\nccc", "## Next steps\n- nnn"] {
        assert!(left.contains(part), "{part}");
    }
}

#[test]
fn a_list_has_the_callers_open_handoffs_by_default() {
    use HandoffStatus::{Accepted, Pending, Rejected};
    let list = ListHandoffs::default();
    assert_eq!(list.wanted_statuses(), [Pending, Accepted]);
    let sent = ListHandoffs { side: Some(HandoffSide::Sent), ..ListHandoffs::default() };
    assert_eq!(sent.wanted_statuses().len(), HandoffStatus::ALL.len());
    let rejected = ListHandoffs { status: vec![Rejected], ..ListHandoffs::default() };
    assert_eq!(rejected.wanted_statuses(), [Rejected]);
    let is_queue = |list: &ListHandoffs| list.filter().expect("it is valid").oldest_first;
    assert_eq!((is_queue(&list), is_queue(&sent), is_queue(&rejected)), (true, false, false));
    let memory = Some(MemoryId::new(&CountingIds::default(), at(0)));
    let of_memory = ListHandoffs { memory, ..ListHandoffs::default() };
    assert_eq!(of_memory.side(), HandoffSide::All);
    assert_eq!(of_memory.wanted_statuses().len(), HandoffStatus::ALL.len());
    let own = ListHandoffs { side: Some(HandoffSide::Received), ..of_memory };
    assert_eq!(own.side(), HandoffSide::Received);
    let with = ListHandoffs { with: Some("a b/".into()), ..ListHandoffs::default() };
    assert_eq!(with.filter().map_err(|error| error.field), Err(Some("with".to_owned())));
    let _: Option<PageCursor> = list.cursor;
}
