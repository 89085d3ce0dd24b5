//! Passes of one process: they read only what has changed, and see everything that has.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use commonbook::model::memory::{Sharing, UpdateMemory};
use commonbook_vault::files::VaultFiles;
use commonbook_vault::folder::{DiskSteps, VaultFolder};

use crate::{World, caller};

/// An hour ago: what the disk says about a file is proof.
#[expect(clippy::disallowed_methods, reason = "a file has the time of the machine")]
fn an_hour_ago() -> SystemTime {
    SystemTime::now() - Duration::from_secs(3_600)
}

fn age(world: &World) {
    for (path, _) in world.files("") {
        let file = File::options().write(true).open(world.folder().join(path)).unwrap();
        file.set_modified(an_hour_ago()).unwrap();
    }
}

#[test]
fn a_file_is_read_again_when_the_disk_says_that_it_changed() {
    let world = World::new();
    for text in ["It is edited", "It is moved", "It is removed", "It stays"] {
        world.save("ann", text);
    }
    world.sync();
    age(&world);
    let folder = VaultFolder::new(world.folder(), Box::new(DiskSteps));
    let mut files = VaultFiles::default();
    assert_eq!(files.refresh(&folder).unwrap().len(), 4);
    assert_eq!(files.refresh(&folder).unwrap().len(), 0);

    let edited = world.edit("It is edited", |content| content.replace("edited", "EDITED"));
    // As `touch -d` does, and with as many bytes as before.
    let file = File::options().write(true).open(world.folder().join(&edited)).unwrap();
    file.set_modified(an_hour_ago()).unwrap();
    let (moved, _) = world.file_with("It is moved");
    fs::rename(world.folder().join(&moved), world.folder().join("memories/moved.md")).unwrap();
    let (removed, _) = world.file_with("It is removed");
    fs::remove_file(world.folder().join(&removed)).unwrap();
    assert_eq!(files.refresh(&folder).unwrap().len(), 3);
    let paths: Vec<&str> =
        files.memories.values().flatten().map(|found| found.path.as_str()).collect();
    assert!(paths.contains(&edited.as_str()) && paths.contains(&"memories/moved.md"), "{paths:?}");
    assert_eq!(paths.len(), 3, "{paths:?}");
    let texts = format!("{:?}", files.memories);
    assert!(texts.contains("It is EDITED") && !texts.contains("It is edited"), "{texts}");
}

#[test]
fn a_file_that_was_just_written_is_read_again() {
    let world = World::new();
    world.save("ann", "Two edits within one tick of the clock have one time");
    world.sync();
    let folder = VaultFolder::new(world.folder(), Box::new(DiskSteps));
    let mut files = VaultFiles::default();
    files.refresh(&folder).unwrap();
    assert_eq!(files.refresh(&folder).unwrap().len(), 1);
}

#[test]
fn a_later_pass_sees_each_change_of_the_store_and_of_the_files() {
    let world = World::new();
    let hidden = world.save("ann", "It becomes private");
    for text in ["It is edited", "It is updated", "It stays"] {
        world.save("ann", text);
    }
    world.sync();
    age(&world);
    world.sync();
    world.edit("It is edited", |content| format!("{content}\nby hand\n"));
    let report = world.sync();
    assert_eq!((report.changed.len(), report.written), (1, 1), "{report:?}");
    age(&world);
    let updated = world.list().into_iter().find(|memory| memory.text == "It is updated").unwrap();
    let update = |id, text: Option<&str>, sharing| {
        let update = UpdateMemory {
            text: text.map(str::to_owned),
            sharing,
            ..UpdateMemory::empty_update(id)
        };
        world.book.update_memory(&caller("ann"), &update).unwrap();
    };
    update(updated.id, Some("It was updated"), None);
    update(hidden.id, None, Some(Sharing::Private));
    world.save("bob", "It is new");
    let report = world.sync();
    assert_eq!((report.written, report.removed), (2, 1), "{report:?}");
    assert!(world.file_with("It was updated").0.starts_with("memories/ann/"));
    assert!(world.file_with("It is new").0.starts_with("memories/bob/"));
    assert!(world.files("").iter().all(|(_, content)| !content.contains("becomes private")));
    // The first pass of another process finds nothing that the later ones missed.
    world.restart();
    let report = world.sync();
    assert_eq!((report.written, report.pages, report.removed), (0, 0, 0), "{report:?}");
}
