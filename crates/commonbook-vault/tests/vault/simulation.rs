//! Two stores with a vault each, agents, people, an exchange of files between the machines, kills and clock
//! jumps, in an order that a seed chooses: nothing that was said is lost, and all comes to rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use commonbook::base::clock::Clock;
use commonbook::base::hash::sha256;
use commonbook::model::memory::{Memory, UpdateMemory};
use commonbook_vault::folder::{DiskSteps, FileSteps};
use commonbook_vault::report::{SyncOptions, SyncReport};
use fastrand::Rng;
use jiff::Timestamp;
use serde_json::json;

use crate::{World, at, elsewhere, request};

/// What happens in one run, before all comes to rest.
const ACTIONS: usize = 14;

/// Passes and exchanges until both sides must be at rest.
const ROUNDS_TO_REST: usize = 3;

/// Runs of the test, and how many of them are made twice, with equal files at the end. The environment
/// asks for more, each of them twice.
const RUNS: u64 = 1_000;
const RUNS_TWICE: u64 = 10;

/// Runs of a thread that share the homes of their two machines.
const RUNS_TOGETHER: usize = 250;

/// A disk that fails after some steps, as if the process were killed before the next one.
struct DyingSteps {
    left: AtomicU32,
}

impl DyingSteps {
    fn step(&self) -> std::io::Result<()> {
        let is_alive = |left: u32| left.checked_sub(1);
        match self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, is_alive) {
            Ok(_) => Ok(()),
            Err(_) => Err(std::io::Error::other("killed")),
        }
    }
}

impl FileSteps for DyingSteps {
    fn write(&self, path: &Path, content: &str) -> std::io::Result<()> {
        self.step()?;
        DiskSteps.write(path, content)
    }

    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        self.step()?;
        DiskSteps.rename(from, to)
    }

    fn remove(&self, path: &Path) -> std::io::Result<()> {
        self.step()?;
        DiskSteps.remove(path)
    }
}

/// The files that two machines exchange, as they were at the last exchange.
type Exchanged = BTreeMap<String, String>;

/// One run: two machines, and every word that was said.
struct Run<'w> {
    machines: [&'w World; 2],
    rng: Rng,
    exchanged: Exchanged,
    /// Words that a store has acknowledged, or that a person has saved in a file.
    said: BTreeSet<String>,
    /// What happened, for the message of a failure.
    log: Vec<String>,
    words: u32,
    deletions: i64,
}

impl Run<'_> {
    fn word(&mut self) -> String {
        self.words += 1;
        format!("word{}x", self.words)
    }

    fn act(&mut self) {
        let side = self.rng.usize(..2);
        let world = self.machines[side];
        let action = self.rng.usize(..14);
        let name = match action {
            0 | 1 => self.save(world),
            2 | 3 => self.update(world),
            4 => self.delete(world),
            5 | 6 => self.edit(world),
            7 => self.write_note(world),
            8 => Self::remove_file(&mut self.rng, world),
            9 | 10 => self.sync(world),
            11 => self.exchange(),
            12 => self.restore(world),
            _ => {
                let hours = self.rng.i64(-30..60);
                world.clock.set(at(hours));
                format!("clock {hours}")
            }
        };
        self.log.push(format!("{side}: {name}"));
    }

    fn save(&mut self, world: &World) -> String {
        let word = self.word();
        let agent = *self.rng.choice(&["ann", "bob"]).unwrap();
        world
            .save(agent, &format!("First line\nMiddle line\n{word} is said by {agent}\nLast line"));
        self.said.insert(word.clone());
        format!("save {word}")
    }

    /// Some memory that its owner may change.
    fn some_memory(&mut self, world: &World) -> Option<Memory> {
        let found = world.list().into_iter().filter(|memory| memory.owner.as_str() != "human");
        let found: Vec<Memory> = found.collect();
        self.rng.choice(found)
    }

    fn update(&mut self, world: &World) -> String {
        let Some(memory) = self.some_memory(world) else { return "no memory".into() };
        let word = self.word();
        let text = self.changed_text(&memory.text, &word);
        let update: UpdateMemory = request(json!({"id": memory.id, "text": text}));
        let owner = memory.owner.as_str();
        match world.book.update_memory(&elsewhere(owner, &world.workspace), &update) {
            Ok(_) => drop(self.said.insert(word.clone())),
            Err(error) => return format!("update refused: {error}"),
        }
        format!("update {} with {word}", memory.id)
    }

    /// The text with a line more: at its beginning, in its middle or at its end.
    fn changed_text(&mut self, text: &str, word: &str) -> String {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.insert(self.rng.usize(..=lines.len()), word);
        lines.join("\n")
    }

    fn delete(&mut self, world: &World) -> String {
        let Some(memory) = self.some_memory(world) else { return "no memory".into() };
        let delete = request(json!({"id": memory.id}));
        let owner = elsewhere(memory.owner.as_str(), &world.workspace);
        // No two deletions have one time.
        self.deletions += 1;
        let hour = world.clock.now().as_second() / 3600 * 3600;
        let now = Timestamp::from_millisecond(hour * 1000 + self.deletions).unwrap();
        world.clock.set(now);
        let done = world.book.delete_memory(&owner, &delete);
        format!("delete {}: {}", memory.id, done.is_ok())
    }

    fn restore(&mut self, world: &World) -> String {
        let of = |agent: &str| {
            let list = request(json!({"deleted": true, "limit": 100}));
            let caller = elsewhere(agent, &world.workspace);
            world.book.list_memories(&caller, &list).unwrap().items
        };
        let deleted = ["ann", "bob"].into_iter().flat_map(of);
        let deleted: Vec<Memory> =
            deleted.filter(|memory| memory.owner.as_str() != "human").collect();
        let Some(memory) = self.rng.choice(deleted) else { return "nothing is deleted".into() };
        let owner = elsewhere(memory.owner.as_str(), &world.workspace);
        let done = world.book.restore_memory(&owner, &request(json!({"id": memory.id})));
        format!("restore {}: {}", memory.id, done.is_ok())
    }

    fn some_file(rng: &mut Rng, world: &World) -> Option<(String, String)> {
        rng.choice(world.files("memories"))
    }

    fn edit(&mut self, world: &World) -> String {
        let Some((path, content)) = Self::some_file(&mut self.rng, world) else {
            return "no file".into();
        };
        let word = self.word();
        let text = self.changed_text(body(&content), &word);
        let head = content.trim_end().strip_suffix(body(&content)).unwrap();
        world.write(&path, &format!("{head}{text}\n"));
        self.said.insert(word.clone());
        format!("edit {path} with {word}")
    }

    fn write_note(&mut self, world: &World) -> String {
        let word = self.word();
        let path = format!("memories/{word}.md");
        world.write(&path, &format!("A note about {word}\n"));
        self.said.insert(word);
        format!("note {path}")
    }

    fn remove_file(rng: &mut Rng, world: &World) -> String {
        let Some((path, content)) = Self::some_file(rng, world) else { return "no file".into() };
        // What a person wrote and removes before any pass is the person's own loss.
        let is_known = world.texts().iter().any(|text| text.trim() == body(&content));
        if is_known {
            fs::remove_file(world.folder().join(&path)).unwrap();
        }
        format!("remove {path}: {is_known}")
    }

    fn sync(&mut self, world: &World) -> String {
        let left = self.rng.u32(..12);
        let steps = Box::new(DyingSteps { left: AtomicU32::new(left) });
        let options = SyncOptions { many: true, prune: self.rng.u8(..8) == 0, dry_run: false };
        let is_killed = world.try_sync(options, steps).is_err();
        format!("sync, killed after {left}: {is_killed}")
    }

    /// Exchanges the files as git does: what one side changed, the other gets; where both changed a file,
    /// each side gets that of the first.
    fn exchange(&mut self) -> String {
        let sides = self.machines.map(World::shared_files);
        let paths: BTreeSet<&String> = sides.iter().flat_map(BTreeMap::keys).collect();
        let mut merged = Exchanged::new();
        for path in paths.into_iter().chain(self.exchanged.keys()) {
            let before = self.exchanged.get(path);
            let [here, there] = [sides[0].get(path), sides[1].get(path)];
            let after = match (here == before, there == before) {
                (true, _) => there,
                (false, true) => here,
                (false, false) => here.or(there),
            };
            merged.extend(after.map(|content| (path.clone(), content.clone())));
        }
        for (side, world) in self.machines.iter().enumerate() {
            // What git overwrites on this side is in its commits.
            for (path, content) in &sides[side] {
                if merged.get(path) != Some(content) {
                    world.commit(content);
                }
            }
            for path in sides[side].keys().filter(|path| !merged.contains_key(*path)) {
                fs::remove_file(world.folder().join(path)).unwrap();
            }
            for (path, content) in &merged {
                if sides[side].get(path) != Some(content) {
                    world.write(path, content);
                }
            }
        }
        self.exchanged = merged;
        "exchange".into()
    }

    /// Passes and exchanges until nothing changes any more; returns the last reports.
    fn rest(&mut self) -> [SyncReport; 2] {
        let options = SyncOptions { many: true, ..SyncOptions::default() };
        let mut reports = [SyncReport::default(), SyncReport::default()];
        for _ in 0..=ROUNDS_TO_REST {
            for (world, report) in self.machines.into_iter().zip(&mut reports) {
                *report = world.try_sync(options, Box::new(DiskSteps)).unwrap();
                self.exchange();
            }
        }
        reports
    }

    fn check(&mut self, seed: u64) {
        let reports = self.rest();
        let log = || format!("seed {seed}\n{}", self.log.join("\n"));
        for report in &reports {
            assert!(!report.changed_store(), "still changing: {report:?}\n{}", log());
            assert_eq!(
                (report.written, report.moved, report.removed),
                (0, 0, 0),
                "{report:?}\n{}",
                log()
            );
        }
        let [here, there] = self.machines.map(World::shared_files);
        assert_eq!(here, there, "{}", log());
        let everything: String = self.machines.iter().map(|world| world.everything()).collect();
        for word in &self.said {
            assert!(everything.contains(word.as_str()), "{word} is lost\n{}", log());
        }
        for (world, last) in self.machines.into_iter().zip(&reports) {
            // A memory holds in the store if its file says so. What waits for the person is named.
            let is_named = |path: &String| last.notes.iter().any(|note| note.path == *path);
            let files = world.files("memories").into_iter().filter(|(path, _)| !is_named(path));
            let in_files: BTreeSet<String> =
                files.map(|(_, content)| body(&content).to_owned()).collect();
            let in_store: BTreeSet<String> = world.texts().into_iter().collect();
            assert_eq!(in_store, in_files, "{last:?}\n{}", log());
        }
        for (world, last) in self.machines.into_iter().zip(&reports) {
            // What the passes remembered is what a new process reads. Two files of one memory, of which a
            // person edited one while an agent deleted the memory elsewhere, are named until one is removed.
            world.restart();
            let report = world.try_sync(SyncOptions::default(), Box::new(DiskSteps)).unwrap();
            assert_eq!(report, *last, "{}", log());
        }
    }
}

/// The text of a file without its frontmatter.
fn body(content: &str) -> &str {
    content.rfind("\n---\n").map_or(content, |end| &content[end + 5..]).trim()
}

/// One run; returns what it left behind, as a hash.
fn run(worlds: &mut [World; 2], seed: u64) -> String {
    for world in worlds.iter_mut() {
        world.begin(&format!("s{seed}"));
    }
    let [one, two] = &*worlds;
    let (machines, rng) = ([one, two], Rng::with_seed(seed));
    let (exchanged, said, log) = (Exchanged::new(), BTreeSet::new(), Vec::new());
    let mut run = Run { machines, rng, exchanged, said, log, words: 0, deletions: 0 };
    for _ in 0..ACTIONS {
        run.act();
    }
    run.check(seed);
    let files = one.files("memories");
    sha256(&format!("{files:?}"))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a longer run is asked for by the environment")]
fn nothing_is_lost_and_everything_comes_to_rest() {
    let asked = std::env::var("COMMONBOOK_VAULT_RUNS").ok().and_then(|runs| runs.parse().ok());
    let (runs, twice) = asked.map_or((RUNS, RUNS_TWICE), |runs: u64| (runs, runs));
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for thread in 0..threads as u64 {
            scope.spawn(move || {
                let (mut worlds, mut again) = (World::pair(), World::pair());
                for (place, seed) in (thread..runs).step_by(threads).enumerate() {
                    // Each seed has a workspace of its own, and a home with thousands is slower.
                    if place % RUNS_TOGETHER == RUNS_TOGETHER - 1 {
                        (worlds, again) = (World::pair(), World::pair());
                    }
                    let left_behind = run(&mut worlds, seed);
                    if seed < twice {
                        assert_eq!(run(&mut again, seed), left_behind, "seed {seed}");
                    }
                }
            });
        }
    });
}
