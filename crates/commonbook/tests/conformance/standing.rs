//! Versions of standing memory files: each file has its own, and the oldest go first.

use commonbook::model::standing::{StandingAction, StandingKey, StandingVersion};

use crate::{Fresh, caller, now};

fn key(project: &str, role: &str) -> StandingKey {
    StandingKey { project: project.to_owned(), role: role.to_owned() }
}

fn version(number: u64, by: Option<&str>, text: &str) -> StandingVersion {
    StandingVersion {
        version: number,
        at: now(),
        by: by.map(|name| caller(name, "x").agent),
        action: if by.is_some() { StandingAction::Added } else { StandingAction::Edited },
        bytes: text.len() as u64,
        sha256: format!("sum of {text}"),
    }
}

pub(crate) fn the_versions_of_a_file_are_its_own_and_the_oldest_go_first(fresh: &dyn Fresh) {
    let store = fresh.open();
    let put = |key: &StandingKey, version: StandingVersion, text: &str, kept: u32, bytes: u64| {
        let (key, text) = (key.clone(), text.to_owned());
        store.write(move |tx| tx.put_standing_version(&key, &version, &text, kept, bytes)).unwrap();
    };
    let listed = |key: &StandingKey| store.read(|tx| tx.standing_versions(key, 10)).unwrap();
    let numbers =
        |key: &StandingKey| listed(key).iter().map(|found| found.version).collect::<Vec<_>>();
    let (home, project, other) = (key("", "qa"), key("/p", "qa"), key("", "pm"));
    for number in 1..=4 {
        let by = (number % 2 == 0).then_some("ann");
        put(&home, version(number, by, "0123456789"), "0123456789", 3, 1_000);
    }
    put(&project, version(1, None, "theirs"), "theirs", 3, 1_000);
    assert_eq!(
        (numbers(&home), numbers(&project), numbers(&other)),
        (vec![4, 3, 2], vec![1], vec![])
    );
    assert_eq!(listed(&home)[0], version(4, Some("ann"), "0123456789"));
    assert_eq!(listed(&home)[1].by, None);
    // Also by size; the newest always stays.
    put(&home, version(5, None, "x"), "x", 3, 12);
    assert_eq!(numbers(&home), [5, 4]);
    put(&home, version(6, None, &"y".repeat(50)), &"y".repeat(50), 3, 12);
    assert_eq!(numbers(&home), [6]);
    let text = |key: &StandingKey, number| store.read(|tx| tx.standing_text(key, number)).unwrap();
    assert_eq!(text(&project, 1).as_deref(), Some("theirs"));
    assert_eq!((text(&home, 1), text(&other, 6)), (None, None));
    let gone = home.clone();
    store.write(move |tx| tx.remove_standing_version(&gone, 6)).unwrap();
    assert_eq!((numbers(&home), numbers(&project)), (vec![], vec![1]));
}
