//! A store that was lost comes back from its vault.

use std::sync::Arc;

use commonbook::model::import::ImportLine;
use commonbook::model::memory::SaveMemory;
use commonbook::model::origin::TextOrigin;
use commonbook_vault::export::RecordLine;
use commonbook_vault::folder::{DiskSteps, VaultFolder};
use commonbook_vault::rebuild::{RebuildTrust, rebuild_lines};
use commonbook_vault::settings::VaultSettings;
use commonbook_vault::source::VaultSource as _;
use commonbook_vault::state::PageSums;

use serde_json::Value;

use crate::team::team;
use crate::{World, at, elsewhere};

fn rebuilt(old: &World, with_history: bool) -> World {
    let new = World::with_folder(Arc::clone(&old.folder));
    new.clock.set(at(20));
    let folder = VaultFolder::new(old.folder.path(), Box::new(DiskSteps));
    let (writer, pages) = (old.writer().key(), PageSums::read(&old.state()).unwrap());
    let rebuild = rebuild_lines(&folder, with_history, &RebuildTrust { writer, pages }).unwrap();
    assert_eq!((rebuild.notes, rebuild.others), (Vec::new(), Vec::new()));
    for result in new.import_lines(rebuild.own).unwrap() {
        assert!(result.error.is_none(), "{:?}", result.error);
    }
    new
}

fn assert_same(found: &str, expected: &str) {
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

#[test]
fn a_rebuilt_store_exports_what_the_lost_one_did() {
    let old = team();
    let folder = VaultFolder::new(old.folder.path(), Box::new(DiskSteps));
    let mut settings = VaultSettings::new("x".parse().unwrap());
    settings.history = true;
    settings.write(&folder).unwrap();
    let report = old.sync();
    assert_eq!(report.notes, []);
    let before = old.export();
    let new = rebuilt(&old, true);
    assert_same(&new.export(), &before);
    // The vault of the new store is the same, and a second pass of the old one changes nothing.
    let files = old.files("");
    let report = new.sync();
    assert_eq!(
        (report.written, report.moved, report.removed, report.changed_store()),
        (0, 0, 0, false)
    );
    assert_eq!(new.files(""), files);
    let report = old.sync();
    assert_eq!((report.written, report.pages, report.changed_store()), (0, 0, false));
}

#[test]
fn without_history_only_the_present_comes_back() {
    let old = team();
    old.sync();
    let new = rebuilt(&old, false);
    let without = |text: &str| -> String {
        let lines = text.lines().filter(|line| !line.starts_with("{\"record\":\"revisions\""));
        lines.map(|line| format!("{line}\n")).collect()
    };
    assert_same(&without(&new.export()), &without(&old.export()));
    assert!(!new.export().contains("\"record\":\"revisions\""));
}

#[test]
fn in_another_home_the_person_of_a_vault_is_another_person_and_both_come_to_rest() {
    let [ann, bob] = World::pair();
    ann.save("human", "Lunch is at noon");
    ann.save("scout", "The gate opens at six");
    ann.sync();
    for (path, content) in ann.files("") {
        bob.write(&path, &content);
    }
    bob.accept(&ann);
    let folder = VaultFolder::new(bob.folder.path(), Box::new(DiskSteps));
    let (writer, pages) = (bob.writer().key(), PageSums::read(&bob.state()).unwrap());
    let rebuild = rebuild_lines(&folder, false, &RebuildTrust { writer, pages }).unwrap();
    let is_memory = |line: &&RecordLine| line.contains_key("text");
    assert_eq!(rebuild.own.iter().filter(is_memory).count(), 0);
    let lines = rebuild.others.into_iter();
    let lines = lines.map(|line| ImportLine::from_json(Value::Object(line), TextOrigin::File));
    let lines = lines.collect::<Result<Vec<_>, _>>().unwrap();
    bob.book.import_lines(&elsewhere("human", "x"), None, lines).unwrap();
    let owner_of = |text: &str| {
        let found = bob.list().into_iter().find(|memory| memory.text.contains(text));
        found.unwrap().owner.to_string()
    };
    assert_eq!((owner_of("noon"), owner_of("six")), ("import/human".into(), "scout".into()));
    let report = bob.sync();
    assert_eq!((report.written, report.changed_store()), (0, false), "{report:?}");
}

#[test]
fn a_document_keeps_its_path() {
    let old = World::new();
    let path = "/plans/herons.md";
    let request = SaveMemory {
        text: "Herons first".into(),
        path: Some(path.parse().unwrap()),
        ..SaveMemory::default()
    };
    old.book.save_memory(&elsewhere("scout", &old.workspace), &request).unwrap();
    old.sync();
    let (_, content) = old.file_with("Herons first");
    assert!(content.contains(&format!("memory_path: \"{path}\"")), "{content}");
    let new = rebuilt(&old, false);
    let paths: Vec<_> = new.list().into_iter().map(|memory| memory.path).collect();
    assert_eq!(paths, [Some(path.parse().unwrap())]);
}
