//! Tests of the digest: which facts, from whom, and that nothing is proposed twice.

use proptest::prelude::*;

use super::*;
use crate::base::id::CountingIds;

fn at(hour: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + hour * 3_600).expect("a time")
}

fn given(ids: &CountingIds, author: &str, text: &str) -> DigestSource {
    let id = MemoryId::new(ids, at(0));
    DigestSource {
        id,
        author: author.parse().expect("a name"),
        title: None,
        text: text.to_owned(),
        summary: None,
        topics: Vec::new(),
        memory_type: MemoryType::semantic(),
        importance: Importance::Normal,
        since: at(0),
        saved_at: at(0),
        revised_at: at(0),
        replaces: Vec::new(),
    }
}

/// The proposals for a case that has these texts.
fn propose(memories: &[DigestSource], texts: &[String], most: usize) -> Vec<EntryProposal> {
    let known = KnownEntry {
        id: None,
        sources: Vec::new(),
        said_by: "ann in entry 1".to_owned(),
        texts: texts.to_vec(),
        at: None,
        is_current: false,
    };
    let material = DigestMaterial { memories, known: &[known], contradictions: &[] };
    propose_entries(material, most)
}

/// What a digest knows of an entry of its own that is in the case since the fifth hour.
fn entry_of(proposal: &EntryProposal, ids: &CountingIds) -> KnownEntry {
    KnownEntry {
        id: Some(MemoryId::new(ids, at(5))),
        sources: proposal.sources.clone(),
        said_by: "entry 1".to_owned(),
        texts: vec![proposal.summary.clone()],
        at: Some(at(5)),
        is_current: true,
    }
}

fn summaries(found: &[EntryProposal]) -> Vec<&str> {
    found.iter().map(|entry| entry.summary.as_str()).collect()
}

#[test]
fn the_key_sentence_of_a_memory_is_proposed_with_its_source() {
    let ids = CountingIds::default();
    let memory = given(
        &ids,
        "analyst",
        "I opened the orders page today. Then I had lunch with the team outside.\n\
         - We found that getUserOrders runs one query per row, 3.2 s for 400 orders.\n\
         ```\nSELECT * FROM orders WHERE user_id = 42 AND found = true;\n```\n\
         Should we ask somebody about the orders page?",
    );
    let found = propose(std::slice::from_ref(&memory), &[], 20);
    let expected = "We found that getUserOrders runs one query per row, 3.2 s for 400 orders.";
    assert_eq!(summaries(&found), [expected]);
    assert_eq!((&found[0].sources, &found[0].authors), (&vec![memory.id], &vec![memory.author]));
}

#[test]
fn facts_of_the_case_are_not_proposed_but_other_numbers_and_negations_are() {
    let ids = CountingIds::default();
    let known = ["Decision: the orders service uses PostgreSQL 16 as its database.".to_owned()];
    let table = [
        ("The orders service uses PostgreSQL 16.", false),
        ("the orders service uses `PostgreSQL 16` as its database!", false),
        ("PostgreSQL 16 is in use because of the orders service.", true),
        ("The database uses the orders service as its PostgreSQL 16.", true),
        ("The orders service uses PostgreSQL 17.", true),
        ("The orders service does not use PostgreSQL 16.", true),
        ("The orders service doesn't use PostgreSQL 16.", true),
        ("The billing service keeps invoices in MySQL.", true),
    ];
    for (text, new) in table {
        let found = propose(&[given(&ids, "analyst", text)], &known, 20);
        assert_eq!(!found.is_empty(), new, "{text}");
    }
}

#[test]
fn equal_statements_are_one_entry_and_different_ones_two() {
    let ids = CountingIds::default();
    let mut list = [
        given(&ids, "analyst", "The deploy goes out on Tuesday at 10 UTC from the main branch."),
        given(&ids, "developer", "Deploy goes out on Tuesday at 10 UTC from `main` branch!"),
        given(&ids, "qa", "The deploy goes out on Tuesday at 11 UTC from the main branch."),
    ];
    list[1].importance = Importance::High;
    list[1].topics = vec!["ops".into()];
    let found = propose(&list, &[], 20);
    assert_eq!(found.len(), 2, "{found:?}");
    let agreed = found.iter().find(|entry| entry.sources.len() == 2).expect("two agents state it");
    assert_eq!(agreed.sources, [list[0].id, list[1].id]);
    assert_eq!(agreed.authors, [list[0].author.clone(), list[1].author.clone()]);
    assert_eq!((agreed.importance, agreed.topics.len()), (Importance::High, 1));
    let single = found.iter().find(|entry| entry.sources.len() == 1).expect("one differs");
    assert!(single.summary.contains("11 UTC") && agreed.score > single.score);
}

/// Pairs of sentences of two agents, and whether they become one entry.
const PAIRS: [(&str, &str, bool); 10] = [
    (
        "Root cause: the connection pool of checkout is exhausted after 40 connections.",
        "The connection pool of checkout must stay at 40.",
        false,
    ),
    (
        "The export job needs 4 GB of memory on the worker.",
        "The export job failed with 4 GB of memory on the worker.",
        false,
    ),
    ("The gateway calls the billing service.", "The billing service calls the gateway.", false),
    (
        "The deploy goes out on Tuesday at 10 UTC from main.",
        "The deploy goes out on Tuesday.",
        false,
    ),
    ("The pool of checkout holds 40 connections.", "The pool of checkout holds 50.", false),
    ("The worker must restart each night.", "The worker must not restart each night.", false),
    ("The timeout of the gateway is 60 seconds.", "The timeout of the gateway is 1 minute.", true),
    ("The pool of checkout holds 40 connections.", "Pool of checkout holds `40` connections", true),
    ("Ann leads checkout and Bob leads search.", "Bob leads checkout and Ann leads search.", false),
    (
        "We found that the cache is never cleared.",
        "We found that the cache is never cleared.",
        true,
    ),
];

#[test]
fn nobody_is_quoted_for_what_another_said_and_no_sentence_is_lost() {
    for (ann, bob, one) in PAIRS {
        let ids = CountingIds::default();
        let list = [given(&ids, "ann", ann), given(&ids, "bob", bob)];
        let found = propose(&list, &[], 20);
        assert_eq!(found.len(), if one { 1 } else { 2 }, "{found:?}");
        for (memory, text) in list.iter().zip([ann, bob]) {
            let own = found.iter().find(|entry| entry.sources.contains(&memory.id)).expect(text);
            assert!(
                one || own.summary == text && own.authors == [memory.author.clone()],
                "{own:?}"
            );
        }
        // The same if the case has what the other said.
        assert_eq!(
            propose(&list[1..], &[ann.to_owned()], 20).is_empty(),
            one || ann.contains("from main"),
            "{bob}"
        );
        assert!(propose(&list, &[ann.to_owned(), bob.to_owned()], 20).is_empty());
    }
}

#[test]
fn a_memory_has_one_entry_in_the_order_found_out_and_settled_guesses_have_none() {
    let ids = CountingIds::default();
    let texts = [
        (
            "ann",
            "Errors of checkout began at 09:14. They come from one table. Small carts are fine.",
        ),
        ("bob", "I suspect the new Redis version of the cache."),
        ("bob", "Maybe the load balancer drops a node of the cluster."),
        ("cid", "Ich vermute, der Mailserver sendet die Rechnung zweimal."),
        ("ann", "Ruled out Redis: hit rate 98.7 %, load as last week."),
        ("cid", "Mailserver ausgeschlossen: das Log von postfix ist sauber."),
        ("bob", "Started the index build on the primary at 10:02, expected 14 minutes."),
        ("bob", "The refund of 214 orders failed for DE89 3704 0044 0532 0130 00."),
        ("bob", "The customer is Kenji Mori, kenji.mori@example.jp, order 4711 of the shop."),
    ];
    let mut list: Vec<DigestSource> =
        texts.iter().map(|(author, text)| given(&ids, author, text)).collect();
    for (place, memory) in list.iter_mut().enumerate() {
        (memory.saved_at, memory.since) = (at(place as i64), at(-(place as i64)));
    }
    let found = propose(&list, &[], 20);
    let expected = [
        "Errors of checkout began at 09:14.",
        "Maybe the load balancer drops a node of the cluster.",
        "Ruled out Redis: hit rate 98.7 %, load as last week.",
        "Mailserver ausgeschlossen: das Log von postfix ist sauber.",
        "The refund of 214 orders failed for [account number].",
    ];
    let told = summaries(&found);
    assert_eq!(told, expected);
    let chars: usize = texts.iter().map(|(_, text)| text.chars().count()).sum();
    assert!(told.concat().chars().count() * 10 <= chars * 7, "shorter than its sources");

    list.push(given(&ids, "ann", "Root cause: migration 0231 dropped the index of cart_items."));
    list.last_mut().expect("one").saved_at = at(20);
    let found = propose(&list, &[], 20);
    assert!(!summaries(&found).concat().contains("balancer"), "a cause answers what was guessed");
}

#[test]
fn what_binds_goes_with_the_sentence_before_it() {
    let whole = [
        "M41 is locked out, LOTO tag #0093, my lock. Do not remove.",
        "The console holds at most 2,000 images. Please do not reboot it, a reboot empties the queue.",
        "Micro results of the pallets 40-52 are due Mon 14:00. Release only by QA, not by shift.",
        "The fix of the ledger must be on prod before tomorrow 05:58. Owner: ledger-bot.",
        "Temporary ferrite on the line of node 17 brought 1.9 V. Removed.",
        "The migration script of the orders table is merged. Not run yet, waits for the dba.",
        "The cache of the print edition was built at 22:40. Somebody rebuilds it before 05:30.",
        "ops/s of the cache 41k, 0 evictions, so redis is fine. Not redis, my bad.",
        "Der Alias gehört ins Handbuch, Kap. 4, Termin ist am 3. Dezember um 10:00.",
        "fix is in branch mm/ping-seconds, commit 4be91d7, 12 unit tests green",
        "I'll send the root cause report (8D) until Friday",
        "purge-all would send 100 % of the traffic to the origin. Please don't.",
    ];
    let ids = CountingIds::default();
    for text in whole {
        assert_eq!(summaries(&propose(&[given(&ids, "ann", text)], &[], 20)), [text]);
    }
    for (text, told) in [
        (
            "The gateway drops every 40th request. Thanks all!",
            "The gateway drops every 40th request.",
        ),
        ("The gateway drops every 40th request. Why?", "The gateway drops every 40th request."),
    ] {
        assert_eq!(summaries(&propose(&[given(&ids, "ann", text)], &[], 20)), [told]);
    }
    for text in [
        "I'll be right back",
        "2026-11-28T03:12:44Z ERROR c.a.Ledger timeout after 20000 ms",
        "fix the flaky test of the gateway",
    ] {
        assert_eq!(propose(&[given(&ids, "ann", text)], &[], 20), [], "{text}");
    }
}

#[test]
fn entries_of_the_case_settle_what_was_guessed_and_proposed_before_them() {
    let ids = CountingIds::default();
    let settled = |guess: &str, entry: &str| {
        let known = |hours| KnownEntry {
            id: Some(MemoryId::new(&ids, at(hours))),
            sources: Vec::new(),
            said_by: "ann in entry 1".to_owned(),
            texts: vec![entry.to_owned()],
            at: Some(at(hours)),
            is_current: true,
        };
        let memories = [DigestSource { saved_at: at(2), ..given(&ids, "bob", guess) }];
        let told = |known| {
            let known = [known];
            let material =
                DigestMaterial { memories: &memories, known: &known, contradictions: &[] };
            !propose_entries(material, 20).is_empty()
        };
        assert!(told(known(1)), "what was said before does not settle it: {guess}");
        !told(known(3))
    };
    let table = [
        (
            "Guess: the TLS client cert of the gateway expired tonight",
            "The TLS cert is good, so expiry is not it.",
        ),
        (
            "Think its the light curtain of cell 3",
            "Root cause: the gateway of cell 3 loses frames.",
        ),
        ("prolly the redis cluster again", "ops/s 41k, failover was clean. not redis, my bad"),
        ("Vermutung: das Netz der Radiologie verliert 3 % der Pakete", "Am Netz liegt es nicht."),
        (
            "Could raise F_WD_TIME to 400 ms and be done, 2 min of work",
            "Decision: no change of F_WD_TIME, because the safety validation covers 150 ms only.",
        ),
    ];
    for (guess, entry) in table {
        assert!(settled(guess, entry), "{guess}");
    }
    assert!(!settled(
        "The load balancer of the gateway drops node 3",
        "Root cause: an old kernel."
    ));
}

#[test]
fn a_changed_source_has_an_entry_that_supersedes_its_own() {
    let ids = CountingIds::default();
    let first = given(&ids, "ann", "The deploy goes out on Tuesday at 10 UTC from main.");
    let entry = entry_of(&propose(std::slice::from_ref(&first), &[], 20)[0], &ids);
    let propose = |memory: &DigestSource| {
        let known = [entry.clone()];
        let memories = std::slice::from_ref(memory);
        propose_entries(DigestMaterial { memories, known: &known, contradictions: &[] }, 20)
    };
    assert_eq!(propose(&first), [], "a memory has one entry");
    let unchanged = DigestSource { revised_at: at(6), topics: vec!["ops".into()], ..first.clone() };
    assert_eq!(propose(&unchanged), [], "it says the same");
    let text = "The deploy goes out on Friday at 10 UTC from main.".to_owned();
    let edited = DigestSource { revised_at: at(6), text: text.clone(), ..first.clone() };
    let heir = DigestSource { text, replaces: vec![first.id], ..given(&ids, "bob", "") };
    for memory in [edited, heir] {
        let found = propose(&memory);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (&found[0].supersedes, &found[0].sources),
            (&vec![entry.id.unwrap()], &vec![memory.id])
        );
        assert_eq!(found[0].entry().supersedes, found[0].supersedes);
    }
}

#[test]
fn agreement_of_two_agents_counts_more_than_a_repetition() {
    let score = |second: &str| {
        let ids = CountingIds::default();
        let text = "The deploy goes out on Tuesday at 10 UTC.";
        let found = propose(&[given(&ids, "analyst", text), given(&ids, second, text)], &[], 20);
        assert_eq!((found.len(), found[0].sources.len()), (1, 2));
        found[0].score
    };
    assert!(score("developer") > score("analyst"));
}

#[test]
fn a_summary_stands_for_its_memory_and_a_heading_goes_with_its_sentence() {
    let ids = CountingIds::default();
    let long = "Nothing of note here at all. ".repeat(90);
    let mut list =
        [given(&ids, "a", &long), given(&ids, "b", "It takes 900 ms at p95 without one.")];
    list[0].summary = Some("The pool\nholds ten connections.".into());
    list[1].title = Some("Product search has no index.".into());
    let found = propose(&list, &[], 20);
    let expected = [
        "The pool holds ten connections.",
        "Product search has no index: It takes 900 ms at p95 without one.",
    ];
    assert_eq!(summaries(&found), expected);
}

#[test]
fn no_entry_is_longer_than_an_entry_may_be() {
    let ids = CountingIds::default();
    let endless = given(&ids, "a", &"index and another ".repeat(200));
    let solid = given(&ids, "b", &"漢".repeat(3_000));
    let many: String = (0..300).map(|n| format!("word{n} ")).collect();
    for memory in [endless, solid, given(&ids, "c", &many)] {
        let found = propose(std::slice::from_ref(&memory), &[], 20);
        assert!(propose(&[memory], &[found[0].summary.clone()], 20).is_empty());
        let chars = found[0].summary.chars().count();
        assert!(chars <= limits::SUMMARY_CHARS && found[0].summary.ends_with(" …"), "{chars}");
    }
}

#[test]
fn the_most_important_facts_are_proposed_in_order_of_time() {
    let ids = CountingIds::default();
    let mut list: Vec<DigestSource> = (0..30)
        .map(|n| given(&ids, "a", &format!("Station{n} reports reading{n} from hall{n}.")))
        .collect();
    for (place, memory) in list.iter_mut().enumerate() {
        memory.saved_at = at(100 - place as i64);
    }
    list[25].importance = Importance::Critical;
    let found = propose(&list, &[], 3);
    assert_eq!(found.len(), 3);
    assert!(found.iter().any(|entry| entry.sources == [list[25].id]));
    let times: Vec<Timestamp> = found
        .iter()
        .filter_map(|entry| {
            list.iter().find(|memory| memory.id == entry.sources[0]).map(|memory| memory.saved_at)
        })
        .collect();
    assert!(times.is_sorted());
    assert_eq!(propose(&list, &[], 99).len(), limits::DIGEST_ENTRIES);
    assert!(propose(&[], &[], 20).is_empty());
}

proptest! {
    #[test]
    fn a_digest_does_not_depend_on_order_and_is_idempotent(
        texts in proptest::collection::vec(
            "((the|an|our) (index|pool|query|cache|deploy) (is|was not|must be|uses) (slow|ten|42|fixed|gone)( today| because of it)?[.?!] ?){1,5}|\\PC{0,60}",
            0..10),
        turn in 0_usize..10,
        importance in proptest::collection::vec(0_usize..4, 10),
    ) {
        let ids = CountingIds::default();
        let names = ["a", "b", "c"];
        let list: Vec<DigestSource> = texts.iter().enumerate().map(|(place, text)| DigestSource {
            importance: Importance::ALL[importance[place]],
            saved_at: at(place as i64 % 3),
            ..given(&ids, names[place % 3], text)
        }).collect();
        let found = propose(&list, &[], 20);
        let mut turned = list.clone();
        turned.rotate_left(turn.min(list.len()));
        turned.extend(list.first().cloned());
        prop_assert_eq!(&propose(&turned, &[], 20), &found);
        let known: Vec<KnownEntry> = found.iter().map(|entry| entry_of(entry, &ids)).collect();
        if found.len() < limits::DIGEST_ENTRIES {
            let material = DigestMaterial { memories: &list, known: &known, contradictions: &[] };
            prop_assert_eq!(propose_entries(material, 20), vec![]);
        }
        for entry in &found {
            prop_assert!(!entry.summary.trim().is_empty() && !entry.summary.contains('\n'));
            prop_assert!(entry.summary.chars().count() <= limits::SUMMARY_CHARS);
            prop_assert!(crate::base::input::refuse_control_characters("summary", &entry.summary).is_ok());
            prop_assert!(entry.sources.iter().all(|id| list.iter().any(|memory| memory.id == *id)));
        }
    }
}
