//! What a handoff takes along: a task that refers to earlier work, and one that names its matter.

use std::collections::{BTreeMap, BTreeSet};

use commonbook::base::id::MemoryId;
use serde_json::json;

use crate::{World, at, caller, request};

/// The cells of the rows of a table with this number of columns, without its head.
fn rows(columns: usize) -> Vec<Vec<&'static str>> {
    let table = include_str!("handing_over/tasks.md");
    let cells = table.lines().filter(|line| line.starts_with("| ")).map(|line| {
        line.trim_start_matches('|').trim_end_matches('|').split('|').map(str::trim).collect()
    });
    let heads = ["note", "half"];
    cells.filter(|row: &Vec<_>| row.len() == columns && !heads.contains(&row[0])).collect()
}

/// The world of the table, and the name of each note.
fn world() -> (World, BTreeMap<MemoryId, &'static str>) {
    let world = World::new();
    let is_note = |row: &Vec<&str>| row[0].len() == 2;
    let mut names = BTreeMap::new();
    let (own, others): (Vec<_>, Vec<_>) =
        rows(3).into_iter().filter(is_note).partition(|row| row[1] == "analyst");
    for row in others {
        names.insert(world.save(row[1], row[2]).id, row[0]);
    }
    world.clock.set(at(47));
    for row in own {
        names.insert(world.save(row[1], row[2]).id, row[0]);
    }
    world.clock.set(at(48));
    (world, names)
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are for people")]
fn a_task_that_names_its_matter_takes_only_what_fits_it() {
    let tasks: Vec<_> = rows(3).into_iter().filter(|row| row[0].len() > 2).collect();
    assert_eq!(tasks.len(), 40);
    for half in ["fitting", "judging"] {
        let (mut right, mut taken, mut wanted) = (0.0, 0.0, 0.0);
        for row in tasks.iter().filter(|row| row[0] == half) {
            let (world, names) = world();
            let fields = json!({"to": "developer", "task": row[1], "dry_run": true});
            let created = world.book.create_handoff(&caller("analyst"), &request(fields)).unwrap();
            let in_full = created.handoff.memories.iter().filter(|memory| !memory.headline);
            let found: BTreeSet<&str> = in_full.map(|memory| names[&memory.id]).collect();
            let expected: BTreeSet<&str> = match row[2] {
                "A" => ["A1", "A2", "A3", "A4"].into(),
                notes => notes.split(' ').filter(|note| !note.is_empty()).collect(),
            };
            right += found.intersection(&expected).count() as f64;
            taken += found.len() as f64;
            wanted += expected.len() as f64;
            if found != expected {
                println!("{half}: {:?} takes {found:?}, expected {expected:?}", row[1]);
            }
        }
        let (precision, recall) = (right / taken, right / wanted);
        println!("{half}: precision {precision:.2}, recall {recall:.2}");
        // By words alone, one rare word in common makes a few notes relevant.
        assert!(precision >= 0.85 && recall >= 0.9, "{half}: {precision}, {recall}");
    }
}
