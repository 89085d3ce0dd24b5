//! Pairs of texts that contradict each other, and pairs that do not.

use super::*;
use crate::base::id::{CountingIds, MemoryId};
use crate::model::agent::AgentName;
use crate::model::caller::{Caller, EntryPoint};
use crate::model::memory::SaveMemory;
use crate::model::memory::Sharing;

use DifferenceKind::{Antonym, Boolean, Date, Name, Negation, Number};

/// The older text, the newer one, and their difference.
type Row = (&'static str, &'static str, Option<DifferenceKind>);

const CONTRADICT: &[Row] = &[
    ("The API timeout is 30 seconds", "The API timeout is 60 seconds", Some(Number)),
    ("The API timeout is 30 seconds.", "Timeout of the API: 2 minutes", Some(Number)),
    (
        "The rate limit of the API is 100 requests per minute",
        "API rate limit is 60 requests per minute",
        Some(Number),
    ),
    ("Postgres listens on port 5432", "Postgres listens on port 5433", Some(Number)),
    ("max_connections = 100", "max_connections = 200", Some(Number)),
    ("The session TTL is set to 24 h", "The session TTL is set to 48 h", Some(Number)),
    ("Uploads are limited to 10 MB", "Uploads are limited to 25 MB", Some(Number)),
    (
        "The checkout service retries card payments 3 times",
        "The checkout service retries card payments five times",
        Some(Number),
    ),
    ("The Pro plan costs $20 a month", "The Pro plan costs $25 a month", Some(Number)),
    ("Alice has two children", "Alice has three children", Some(Number)),
    ("The cache hit rate is 95%", "The cache hit rate is 80%", Some(Number)),
    ("The project uses Node 18", "The project uses Node 20", Some(Number)),
    ("The minimum Rust version is 1.80.0", "The minimum Rust version is 1.85.0", Some(Number)),
    ("The gateway address is 10.0.0.1", "The gateway address is 10.0.0.2", Some(Number)),
    ("Backups are kept for 30 days", "Backups are kept for 7 days", Some(Number)),
    (
        "At most 20 entries fit into one batch",
        "At most 50 entries fit into one batch",
        Some(Number),
    ),
    ("The launch of Atlas is on 2026-03-01", "The launch of Atlas is on 2026-04-01", Some(Date)),
    ("The release is due on March 3", "The release is due on March 10", Some(Date)),
    ("Alice's birthday is 4 May 1990", "Alice's birthday is 14 May 1990", Some(Date)),
    ("The sprint review is on Fridays", "The sprint review is on Thursdays", Some(Date)),
    ("The design meeting is on Monday", "The design meeting is on Tuesday", Some(Date)),
    ("The daily standup starts at 9:30", "The daily standup starts at 10:00", Some(Date)),
    ("The office opens at 8 am", "The office opens at 9 am", Some(Date)),
    ("Alice hates coffee", "Alice likes coffee", Some(Negation)),
    ("Acme, founded in 2010, is in Berlin", "Acme, founded in 2012, is in Berlin", Some(Date)),
    (
        "The certificate expires in June 2026",
        "The certificate expires in September 2026",
        Some(Date),
    ),
    (
        "The migration of Billing is scheduled for Q2",
        "The migration of Billing is scheduled for Q3",
        Some(Date),
    ),
    (
        "Telemetry is enabled in the desktop client",
        "Telemetry is disabled in the desktop client",
        Some(Boolean),
    ),
    ("debug_mode = true", "debug_mode = false", Some(Boolean)),
    ("The feature flag new_checkout is on", "The feature flag new_checkout is off", Some(Boolean)),
    ("Dark mode enabled: yes", "Dark mode enabled: no", Some(Boolean)),
    ("Two-factor login for admins: yes", "Two-factor login for admins: no", Some(Boolean)),
    ("The nightly job is active", "The nightly job is inactive", Some(Boolean)),
    ("Redis persistence is enabled", "Redis persistence is disabled", Some(Boolean)),
    ("The API supports pagination", "The API does not support pagination", Some(Negation)),
    ("Never deploy on Fridays", "Deploy on Fridays", Some(Negation)),
    ("Alice likes coffee", "Alice doesn't like coffee", Some(Negation)),
    (
        "The parser handles nested comments",
        "The parser can't handle nested comments",
        Some(Negation),
    ),
    (
        "There is no rate limit on the public API",
        "There is a rate limit on the public API",
        Some(Negation),
    ),
    (
        "The billing tests need a database",
        "The billing tests do not need a database",
        Some(Negation),
    ),
    ("Squash commits before merging", "Do not squash commits before merging", Some(Negation)),
    ("Bob is a vegetarian", "Bob is not a vegetarian", Some(Negation)),
    (
        "The importer preserves timestamps",
        "The importer never preserves timestamps",
        Some(Negation),
    ),
    (
        "User prefers verbose, detailed explanations",
        "User wants short, concise responses",
        Some(Antonym),
    ),
    ("Use tabs for indentation", "Use spaces for indentation", Some(Antonym)),
    ("The user prefers tabs over spaces", "The user prefers spaces over tabs", Some(Antonym)),
    ("The user prefers light themes", "The user prefers dark themes", Some(Antonym)),
    ("The billing repository is public", "The billing repository is private", Some(Antonym)),
    ("The field email is required", "The field email is optional", Some(Antonym)),
    ("Force pushes are allowed", "Force pushes are forbidden", Some(Antonym)),
    ("The firewall allows port 22", "The firewall denies port 22", Some(Antonym)),
    ("The results are sorted by name", "The results are unsorted by name", Some(Antonym)),
    ("Deploys of Atlas are manual", "Deploys of Atlas are automatic", Some(Antonym)),
    ("The Atlas export is synchronous", "The Atlas export is asynchronous", Some(Antonym)),
    ("The build of Atlas is slow", "The build of Atlas is fast", Some(Antonym)),
    ("Names in Atlas are case-sensitive", "Names in Atlas are case-insensitive", Some(Antonym)),
];

const CHANGED: &[Row] = &[
    ("The API timeout is 30 seconds", "The API timeout is now 60 seconds", Some(Number)),
    ("We use Redis for sessions", "We no longer use Redis for sessions", Some(Negation)),
    ("The limit is 10 MB", "The limit was raised to 20 MB", Some(Number)),
    ("The site is hosted on Netlify", "The site is now hosted on Vercel", Some(Name)),
    ("The project uses PostgreSQL", "The project uses MySQL", Some(Name)),
    ("Ann leads the team", "Bert leads the team", Some(Name)),
    ("The report is sent weekly", "The report is sent daily", Some(Date)),
];

const AGREE: &[Row] = &[
    // The same, in other words and units.
    ("The API timeout is 30 seconds", "The API timeout is 30 s", None),
    ("Sessions live for 24 hours", "Sessions live for 1 day", None),
    ("The upload limit is 1 GB", "The upload limit is 1024 MB", None),
    ("The release is due on March 3", "The release is due on 2026-03-03", None),
    ("The flag is not enabled for guests", "The flag is disabled for guests", None),
    ("The service handles about 100 requests", "The service handles about 110 requests", None),
    ("The tests take at least 3 minutes", "The tests take 5 minutes", None),
    // Changes in time.
    ("The timeout was 30 seconds", "The timeout is 60 seconds", None),
    ("The timeout was 3, now 5", "The timeout is 5", None),
    ("The team has 5 members", "Previously the team had 4 members", None),
    // Other subjects.
    ("The login service timeout is 30 seconds", "The payment service timeout is 60 seconds", None),
    ("Postgres listens on port 5432", "Redis listens on port 6379", None),
    ("Alice has two children", "Bob has three children", None),
    (
        "Version 1.2 of the client caches 10 items",
        "Version 1.3 of the client caches 20 items",
        None,
    ),
    ("Step 1 takes 10 minutes", "Step 2 takes 20 minutes", None),
    ("Sprint 14 has 8 stories", "Sprint 15 has 9 stories", None),
    ("Issue #12 is open", "Issue #13 is closed", None),
    ("HTTP 404 means that it is not found", "HTTP 403 means that it is forbidden", None),
    ("src/a.rs has 100 lines", "src/b.rs has 200 lines", None),
    ("The maximum batch size is 100", "The default batch size is 20", None),
    ("The read timeout is 5 seconds", "The write timeout is 10 seconds", None),
    ("The public API is documented", "The private API is documented", None),
    ("The internal service uses gRPC", "The external service uses gRPC", None),
    ("Alice reports to Bob", "Bob reports to Alice", None),
    ("Component 3 of Atlas is written in Rust", "Component 4 of Atlas is written in Rust", None),
    ("Kernel 5 handles billing", "Kernel 6 handles billing", None),
    // Other environments and conditions.
    (
        "The staging database listens on port 5433",
        "The production database listens on port 5432",
        None,
    ),
    ("On Linux the cache is enabled", "On Windows the cache is disabled", None),
    ("Tracing is enabled in staging", "Tracing is disabled in production", None),
    ("If the queue is full, retries are disabled", "Retries are enabled", None),
    ("Deploys are allowed after the freeze", "Deploys are forbidden during the freeze", None),
    ("The test runs without a database", "The test runs with a database", None),
    // Single events.
    ("Alice met Bob on 3 March", "Alice met Bob on 9 March", None),
    ("The nightly build failed with 3 errors", "The nightly build failed with 5 errors", None),
    ("Today 3 bugs were fixed", "Today 5 bugs were fixed", None),
    ("The deploy took 12 minutes", "The deploy took 15 minutes", None),
    ("2026-03-01 10:00:00 INFO pool size 10", "2026-03-01 11:00:00 INFO pool size 20", None),
    ("[worker-1] queue length is 10", "[worker-1] queue length is 40", None),
    // Guesses, questions, views, examples.
    ("Maybe the limit is 10", "The limit is 20", None),
    ("Is telemetry enabled?", "Telemetry is disabled", None),
    ("The limit could be 10 or 20", "The limit is 30", None),
    ("I prefer tabs for indentation", "I prefer spaces for indentation", None),
    (
        "A port, for example 8080, is set in the config",
        "A port, for example 9090, is set in the config",
        None,
    ),
    ("```\ntimeout = 30\n```", "```\ntimeout = 60\n```", None),
    ("Rust is safer", "Go is simpler", None),
    ("John: Definitely, Maria!", "John: Definitely isn't, Maria!", None),
    // Several can hold.
    ("The library supports Python 3.8", "The library supports Python 3.12", None),
    ("Atlas is compatible with version 2.0.1", "Atlas is compatible with version 2.1.0", None),
    ("Bob works on Mondays", "Bob works on Tuesdays", None),
    ("Not only the API is slow", "The API is slow", None),
    ("No more than 5 retries are made", "5 retries are made", None),
    (
        "The API timeout is 30 seconds. The batch timeout is 60 seconds.",
        "The batch timeout is 60 seconds",
        None,
    ),
    ("Staging:\n- the port is 5433", "Production:\n- the port is 5432", None),
    ("It is 30 seconds", "It is 60 seconds", None),
    ("Use gRPC between services", "Use REST for partners", None),
    ("Alice lives in Berlin", "Alice works in Paris", None),
    ("Redis is a cache", "Redis is a database", None),
    ("", "…", None),
];

fn memory(agent: &str, text: &str, more: SaveMemory) -> Memory {
    let name = AgentName { agent: Agent::with_any_name(agent).unwrap(), device: None };
    let caller = Caller::new(Some(name), "x".parse().unwrap(), EntryPoint::Cli);
    let ids = CountingIds::default();
    let now: Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
    let text = if text.is_empty() { "." } else { text };
    let request = SaveMemory { text: text.to_owned(), ..more };
    request.memory(&caller, Sharing::Shared, MemoryId::new(&ids, now), now).unwrap()
}

fn plain(agent: &str, text: &str) -> Memory {
    memory(agent, text, SaveMemory::default())
}

fn found(older: &Memory, newer: &Memory) -> Option<ContradictionFinding> {
    MemoryStatements::of(older).contradiction_with(&MemoryStatements::of(newer))
}

fn between(older: &str, newer: &str) -> Option<ContradictionFinding> {
    found(&plain("a", older), &plain("b", newer))
}

#[test]
fn pairs_are_judged_as_a_person_would_or_passed_over() {
    let mut wrong = Vec::new();
    for (older, newer, expected) in CONTRADICT.iter().chain(CHANGED).chain(AGREE) {
        let kind = between(older, newer).map(|found| found.kind);
        if kind != *expected {
            wrong.push(format!("{older:?} | {newer:?}: {kind:?}, and not {expected:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        CONTRADICT.len() + CHANGED.len() + AGREE.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_reason_is_a_sentence_with_both_authors_and_their_words() {
    let reason = |older: (&str, &str), newer: (&str, &str)| {
        found(&plain(older.0, older.1), &plain(newer.0, newer.1)).unwrap().reason
    };
    let (three, five) = ("The deploy needs three approvals", "The deploy needs five approvals");
    assert_eq!(
        reason(("claude-code", three), ("gemini-cli", five)),
        "claude-code says three, gemini-cli says five"
    );
    assert_eq!(reason(("ann", three), ("ann", five)), "ann said three, and later five");
    let (deploy, never) = ("Deploy on Fridays", "Never deploy on Fridays");
    assert_eq!(reason(("ann", deploy), ("bob", never)), "bob denies what ann says");
    assert_eq!(reason(("ann", never), ("bob", deploy)), "bob says what ann denies");
}

#[test]
fn confidence_grows_with_what_the_subjects_have_in_common() {
    let sure = |older: &str, newer: &str, agents: (&str, &str)| {
        found(&plain(agents.0, older), &plain(agents.1, newer)).map(|finding| finding.confidence)
    };
    let (a, b) = ("The API timeout is 30 seconds", "The API timeout is 60 seconds");
    let (c, d) = ("The cache timeout is 30 seconds", "The cache timeout is 60 seconds");
    let table = [
        (a, b, ("a", "b"), 0.9),
        (c, d, ("a", "b"), 0.8),
        (a, b, ("a", "a"), 0.8),
        ("Redis is enabled", "Redis is disabled", ("a", "b"), 0.8),
        (
            "The checkout service retries payments 3 times",
            "The checkout service retries card payments 5 times",
            ("a", "b"),
            0.7,
        ),
    ];
    for (older, newer, agents, expected) in table {
        assert_eq!(sure(older, newer, agents), Some(expected), "{older} | {newer}");
    }
}

#[test]
fn an_author_repeats_corrects_or_adds() {
    use EarlierRelation::{Corrected, Other, Repeated};
    let relation = |old: &Memory, new: &Memory| {
        let mut new = new.clone();
        new.id = MemoryId::from_name("new");
        MemoryStatements::of(&new).relation_to_earlier(&MemoryStatements::of(old))
    };
    let (a, b) = ("The API timeout is 30 seconds", "The API timeout is 60 seconds");
    let about = |topic: &str, text: &str| {
        let more = SaveMemory { topics: vec![topic.into()], ..SaveMemory::default() };
        memory("ann", text, more)
    };
    let hidden = |text: &str| {
        memory("ann", text, SaveMemory { sharing: Some(Sharing::Private), ..SaveMemory::default() })
    };
    let two = "The API timeout is 30 seconds. The API key is in the vault.";
    let table = [
        (plain("ann", a), plain("ann", a), Repeated),
        (plain("ann", a), plain("ann", "the API timeout is **30 s**."), Repeated),
        (plain("ann", a), plain("ann", b), Corrected),
        (plain("ann", a), plain("ann", "The API timeout is now 60 seconds"), Corrected),
        (plain("ann", a), plain("ann", "Correction: the API timeout is 60 seconds"), Corrected),
        (plain("ann", a), plain("bob", b), Other),
        (plain("ann", a), plain("bob", a), Other),
        (plain("anonymous", a), plain("anonymous", b), Other),
        (plain("ann", two), plain("ann", b), Other),
        (plain("ann", "The batch timeout is 30 seconds"), plain("ann", b), Other),
        (about("billing", a), about("search", b), Other),
        (about("billing", a), about("billing", b), Corrected),
        (about("billing", a), about("search", a), Other),
        (plain("ann", a), hidden(b), Other),
        (hidden(a), plain("ann", b), Corrected),
    ];
    for (row, (old, new, expected)) in table.into_iter().enumerate() {
        assert_eq!(relation(&old, &new), expected, "row {row}: {} | {}", old.text, new.text);
    }
}

#[test]
fn a_claim_and_its_contrary_share_a_key() {
    for (older, newer, _) in CONTRADICT.iter().chain(CHANGED) {
        let [a, b] = [older, newer].map(|text| plain("a", text));
        let (a, b) = (MemoryStatements::of(&a).keys(), MemoryStatements::of(&b).keys());
        assert!(a.iter().any(|key| b.contains(key)), "{older} | {newer}");
    }
}

#[test]
fn the_surroundings_of_two_texts_can_distinguish_them() {
    let (a, b) = ("The API timeout is 30 seconds", "The API timeout is 60 seconds");
    let titled = |title: &str| SaveMemory { title: Some(title.into()), ..SaveMemory::default() };
    let about = |topic: &str| SaveMemory { topics: vec![topic.into()], ..SaveMemory::default() };
    let typed = |slug: &str| SaveMemory {
        memory_type: Some(slug.to_owned().try_into().unwrap()),
        ..SaveMemory::default()
    };
    let none = SaveMemory::default;
    let table = [
        (titled("Limits of the API"), titled("API limits"), true),
        (titled("Billing"), titled("Search"), false),
        (titled("Billing"), none(), true),
        (about("staging"), about("production"), false),
        (about("staging"), about("staging"), true),
        (about("api"), about("limits"), true),
        (typed("decision"), typed("semantic"), true),
        (typed("episodic"), none(), false),
        (none(), typed("conversation"), false),
    ];
    for (place, (of_older, of_newer, expected)) in table.into_iter().enumerate() {
        let pair = (memory("a", a, of_older), memory("b", b, of_newer));
        let is = found(&pair.0, &pair.1).is_some();
        assert_eq!(is, expected, "row {place}");
    }
}

#[test]
fn a_correction_by_the_same_author_is_not_a_contradiction() {
    let (a, b) = ("The API timeout is 30 seconds", "The API timeout is 60 seconds");
    let fixed = "Correction: the API timeout is 60 seconds";
    let is = |older: &Memory, newer: &Memory| found(older, newer).is_some();
    assert!(is(&plain("a", a), &plain("a", b)));
    assert!(!is(&plain("a", a), &plain("a", fixed)));
    assert!(is(&plain("a", a), &plain("b", fixed)));
    let mut in_session = (plain("a", a), plain("a", b));
    in_session.0.session = Some("s".into());
    in_session.1.session = Some("s".into());
    assert!(!is(&in_session.0, &in_session.1));
}

#[test]
fn on_friday_means_another_day_a_week_later() {
    let (a, b) = ("The design meeting is on Monday", "The design meeting is on Friday");
    let (older, mut newer) = (plain("a", a), plain("b", b));
    assert!(found(&older, &newer).is_some());
    newer.valid_from = Some("2026-12-01T09:00:00Z".parse().unwrap());
    assert!(found(&older, &newer).is_none());
}

#[test]
fn only_current_memories_with_a_common_reader_contradict() {
    let pair = || {
        let mut pair = (plain("a", "one"), plain("b", "two"));
        pair.1.id = MemoryId::from_name("another");
        pair
    };
    assert!(may_contradict(&pair().0, &pair().1));
    type Change = (&'static str, fn(&mut Memory, &mut Memory));
    let changes: [Change; 8] = [
        ("the same", |a, b| b.id = a.id),
        ("superseded", |a, b| a.superseded_by = Some(b.id)),
        ("deleted", |_, b| b.deleted_at = Some(b.recorded_at)),
        ("quarantined", |_, b| b.trust = crate::model::memory::Trust::Quarantined),
        ("another user", |_, b| b.user_id = Some("u".into())),
        ("another workspace", |_, b| b.workspace = "y".parse().unwrap()),
        ("over before", |a, b| {
            a.valid_until = Some(b.recorded_at);
        }),
        ("both hidden", |a, b| {
            a.sharing = Sharing::Private;
            b.sharing = Sharing::Private;
        }),
    ];
    for (what, change) in changes {
        let (mut a, mut b) = pair();
        change(&mut a, &mut b);
        assert!(!may_contradict(&a, &b), "{what}");
        assert!(!may_contradict(&b, &a), "{what}, the other way round");
    }
}

#[test]
fn a_resolution_has_what_it_needs_and_nothing_else() {
    let request = |value: serde_json::Value| {
        let mut fields = value;
        fields["contradiction"] =
            id_of(MemoryId::from_name("a"), MemoryId::from_name("b")).to_string().into();
        crate::base::input::from_value::<ResolveContradiction>(fields).unwrap().check()
    };
    use serde_json::json;
    let table = [
        (json!({"resolution": "keep_both"}), Some("context")),
        (json!({"resolution": "keep_both", "context": "for learning"}), None),
        (json!({"resolution": "keep_both", "context": "x", "text": "y"}), Some("text")),
        (json!({"resolution": "keep_newer"}), None),
        (json!({"resolution": "keep_newer", "context": "x"}), Some("context")),
        (json!({"resolution": "merge"}), Some("text")),
        (json!({"resolution": "merge", "text": "Both"}), None),
        (json!({"resolution": "override"}), Some("keep")),
        (json!({"resolution": "override", "keep": MemoryId::from_name("a")}), None),
        (json!({"resolution": "keep_both", "context": "  "}), Some("context")),
        (json!({"resolution": "keep_both", "context": "a\nb"}), Some("context")),
        (json!({"resolution": "keep_both", "context": "x".repeat(1_001)}), Some("context")),
    ];
    for (fields, wrong) in table {
        let field = request(fields.clone()).err().and_then(|error| error.field);
        assert_eq!(field.as_deref(), wrong, "{fields}");
    }
}

#[test]
fn any_text_can_be_compared() {
    let odd = [
        "=",
        ":",
        "~",
        "$",
        "v",
        "#",
        "-",
        "5 -",
        "at",
        "more than",
        "q9",
        "31 May",
        "٣",
        "ⅷ %",
        "2026-1é-01",
        "é é é: no",
    ];
    for a in odd {
        for b in odd {
            between(a, b);
        }
    }
    between(&"a = 1. ".repeat(5_000), &"a = 2. ".repeat(5_000));
}
