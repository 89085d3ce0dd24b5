//! Style is a test: who imports whom, what is named how, what is documented.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A source file, by its path from the root of the repository.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The lines before its unit tests, with their numbers.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        // Unit tests that are a file of their own are no code before its tests.
        let tests = self.path.ends_with("/tests.rs");
        let code = move |line: &&str| !tests && !line.starts_with("#[cfg(test)]");
        let lines = self.text.lines().take_while(code);
        lines.enumerate().map(|(number, line)| (number + 1, line))
    }

    fn is_in(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.path.starts_with(place))
    }
}

/// The modules that a file imports, groups opened: `crate::{cli, mcp::stdio}` is `crate::cli` and
/// `crate::mcp::stdio`. With the line that each group begins at.
fn imports(source: &Source) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut lines = source.code();
    while let Some((number, line)) = lines.next() {
        let Some((visible, first)) = line.trim_start().split_once("use ") else { continue };
        if !visible.is_empty() && !visible.starts_with("pub") {
            continue;
        }
        let mut whole = first.to_owned();
        while !whole.contains(';') {
            let Some((_, more)) = lines.next() else { break };
            whole.push_str(more.trim());
        }
        let paths = opened("", whole.split(';').next().unwrap_or_default());
        found.extend(paths.into_iter().map(|path| (number, from_the_root(source, &path))));
    }
    found
}

/// The same path with `super` spelled out: in `rest/route.rs`, `super::super::mcp` is `crate::mcp`.
fn from_the_root(source: &Source, path: &str) -> String {
    let file = source.path.split_once("/src/").map_or("", |(_, file)| file);
    let file = file.trim_end_matches(".rs").trim_end_matches("lib").trim_end_matches("main");
    let mut module: Vec<&str> = file.split('/').filter(|part| !part.is_empty()).collect();
    let mut rest = path;
    while let Some(above) = rest.strip_prefix("super::") {
        module.pop();
        rest = above;
    }
    if rest == path {
        return path.to_owned();
    }
    ["crate"].into_iter().chain(module).chain([rest]).collect::<Vec<_>>().join("::")
}

fn opened(before: &str, tree: &str) -> Vec<String> {
    let Some((stem, group)) = tree.split_once('{') else {
        return vec![format!("{before}{}", tree.trim())];
    };
    let group = group.strip_suffix('}').unwrap_or(group);
    let (mut depth, mut branch, mut branches) = (0, String::new(), Vec::new());
    for letter in group.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                branches.push(std::mem::take(&mut branch));
                continue;
            }
            _ => {}
        }
        branch.push(letter);
    }
    branches.push(branch);
    let before = format!("{before}{}", stem.trim());
    let named = branches.iter().map(|branch| branch.trim()).filter(|branch| !branch.is_empty());
    named.flat_map(|branch| opened(&before, branch)).collect()
}

const TEXT: &str = "crates/commonbook-text/src/";
const EMBED: &str = "crates/commonbook-embed/src/";
const ARCHIVE: &str = "crates/commonbook-archive/src/";
const FORMATS: &str = "crates/commonbook-formats/src/";
const VAULT: &str = "crates/commonbook-vault/src/";
const LIBRARY: &str = "crates/commonbook/src/";
const PROGRAM: &str = "crates/commonbook-server/src/";
const DOORS: &str = "crates/commonbook-server/src/doors/";
const BENCH: &str = "crates/commonbook-bench/src/";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    walk_files(folder, &["rs"], found);
}

/// Finds the files with these endings below a folder.
fn walk_files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk_files(&path, endings, found);
        } else if path.extension().is_some_and(|ending| endings.iter().any(|end| ending == *end)) {
            found.push(path);
        }
    }
}

/// Every Rust file of all crates, tests too.
fn everything() -> Vec<Source> {
    let mut found = Vec::new();
    walk(&root().join("crates"), &mut found);
    found.sort();
    let source = |path: PathBuf| Source {
        path: path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/"),
        text: fs::read_to_string(&path).unwrap(),
    };
    found.into_iter().map(source).collect()
}

/// The files of the crates themselves.
fn sources() -> Vec<Source> {
    let crates = [TEXT, EMBED, ARCHIVE, FORMATS, LIBRARY, VAULT, PROGRAM, BENCH];
    everything().into_iter().filter(|source| source.is_in(&crates)).collect()
}

/// The files of these folders of the library, with the file of the same name.
fn folder(names: &'static [&'static str]) -> impl Fn(&Source) -> bool {
    move |source| {
        names.iter().any(|name| {
            let rest = source.path.strip_prefix(LIBRARY).and_then(|path| path.strip_prefix(name));
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    }
}

/// Fails with every line, of the files that `of` chooses, that holds one of these words.
fn nowhere(of: impl Fn(&Source) -> bool, words: &[&str], mend: &str) {
    let mut wrong = Vec::new();
    let files = sources();
    let chosen: Vec<&Source> = files.iter().filter(|source| of(source)).collect();
    assert!(!chosen.is_empty(), "a rule that looks at no file holds nothing");
    for source in chosen {
        for (number, line) in source.code() {
            let code = line.trim_start();
            if !code.starts_with("//") && words.iter().any(|word| code.contains(word)) {
                wrong.push(format!("{}:{number}: {code}", source.path));
            }
        }
        for (number, path) in imports(source) {
            // `crate::clippy` is not `crate::cli`.
            let path = format!("{path}::");
            let is_of = |word: &&str| path.contains(&format!("{}::", word.trim_end_matches("::")));
            if words.iter().any(is_of) {
                wrong.push(format!("{}:{number}: use {path}", source.path));
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{mend}\n{}", wrong.join("\n"));
}

#[test]
fn imports_are_read_as_the_compiler_reads_them() {
    let table: [(&str, &str, &[&str]); 7] = [
        ("rest.rs", "use crate::mcp;", &["crate::mcp"]),
        ("rest.rs", "use crate::{input, mcp::stdio};", &["crate::input", "crate::mcp::stdio"]),
        ("rest.rs", "pub use a::{b::{c, d}, e};", &["a::b::c", "a::b::d", "a::e"]),
        ("rest.rs", "pub(crate) use a::{\n    b,\n    c,\n};", &["a::b", "a::c"]),
        ("rest.rs", "// use crate::mcp;\nlet used = because;", &[]),
        ("rest.rs", "use super::mcp;", &["crate::mcp"]),
        ("rest/route.rs", "use super::{Rest, super::mcp};", &["crate::rest::Rest", "crate::mcp"]),
    ];
    for (file, text, expected) in table {
        let source = Source { path: format!("{PROGRAM}{file}"), text: text.to_owned() };
        let found: Vec<String> = imports(&source).into_iter().map(|(_, path)| path).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn the_library_imports_downwards() {
    let model = ["crate::prompt", "crate::store", "crate::index", "crate::verbs"];
    nowhere(folder(&["base"]), &["crate::model"], "The ground knows nothing above it.");
    nowhere(folder(&["base", "model"]), &model, "The model imports the model and the ground.");
    nowhere(folder(&["prompt"]), &model[1..], "A prompt is written from plain data.");
    nowhere(
        folder(&["store", "index"]),
        &["crate::prompt"],
        "What was told is data of model/delivery.rs; only a verb writes a text.",
    );
    nowhere(
        folder(&["store"]),
        &["crate::index", "crate::verbs"],
        "A store calls nothing above it.",
    );
    nowhere(
        folder(&["index"]),
        &["crate::verbs"],
        "The index follows any store, and calls no verb.",
    );
}

#[test]
fn only_a_store_knows_its_engine() {
    let others = folder(&["base", "model", "prompt", "index", "verbs"]);
    nowhere(
        others,
        &["rusqlite", "sqlite", "postgres"],
        "Use the contract of store.rs, not an engine.",
    );
    let contract = |source: &Source| {
        let engines = ["store/sqlite", "store/postgres"].map(|name| format!("{LIBRARY}{name}"));
        folder(&["store"])(source) && !engines.iter().any(|name| source.path.starts_with(name))
    };
    nowhere(contract, &["rusqlite", "sqlite::", "postgres::"], "The contract names no engine.");
}

#[test]
fn plain_data_reads_no_file_and_starts_no_thread() {
    let words = ["tracing", "std::fs", "std::thread", "std::net", "ureq"];
    nowhere(folder(&["model", "prompt"]), &words, "Data and rules have no effects.");
    let text = |source: &Source| source.is_in(&[TEXT]);
    nowhere(text, &words, "commonbook-text takes text and returns what it found.");
}

#[test]
fn a_machine_without_threads_gets_an_error() {
    let spawns = ["thread::spawn(", "scope.spawn("];
    let product = |source: &Source| !source.is_in(&[BENCH]);
    nowhere(product, &spawns, "That panics where no thread is left: use base::thread.");
}

#[test]
fn a_leaf_crate_knows_nothing_of_the_house() {
    let leaves = ["commonbook-text", "commonbook-model", "commonbook-embed", "commonbook-archive"];
    for leaf in leaves {
        let manifest = read(&format!("crates/{leaf}/Cargo.toml"));
        let model = ["commonbook-model.", "commonbook-weights-"];
        let ours = manifest
            .lines()
            .filter(|line| line.starts_with("commonbook"))
            .filter(|line| !model.iter().any(|data| line.starts_with(data)));
        assert_eq!(ours.count(), 0, "crates/{leaf}/Cargo.toml names a crate of the house");
    }
    let manifest = read("crates/commonbook-formats/Cargo.toml");
    let ours = manifest
        .lines()
        .filter(|line| line.starts_with("commonbook") && !line.starts_with("commonbook-text."));
    assert_eq!(ours.count(), 0, "the formats need text work, and nothing else of the house");
    let words = ["std::thread", "std::net", "ureq", "tracing", "File::create", "fs::write"];
    let formats = |source: &Source| source.is_in(&[FORMATS]);
    nowhere(formats, &words, "A reader of a format reads files, and does nothing else.");
    let words = ["std::thread", "std::net", "std::fs", "std::path", "tempfile", "tracing"];
    let archive = |source: &Source| source.is_in(&[ARCHIVE]);
    nowhere(archive, &words, "An archive is read from and written to what its caller opened.");
}

#[test]
fn a_vault_is_a_client_of_verbs() {
    let words =
        ["commonbook::store", "commonbook::verbs", "rusqlite", "std::net", "ureq", "tracing"];
    let vault = |source: &Source| source.is_in(&[VAULT]);
    nowhere(vault, &words, "A vault reads an export, and sends lines of an import.");
    let plan = |source: &Source| source.path == format!("{VAULT}plan.rs");
    nowhere(plan, &["std::fs", "folder", "Clock"], "The plan of a file is a pure function.");
}

#[test]
fn a_verb_takes_its_sight_by_what_it_does() {
    let mend = "Take Sight::reading, reading_at_home, writing, consulting or reviewing: they ask the token's scopes.";
    nowhere(folder(&["verbs"]), &["Sight::of(", "Sight::at_home("], mend);
}

#[test]
fn a_verb_writes_through_the_gates() {
    let ops = ["verbs/ops/", "verbs/import.rs"].map(|place| format!("{LIBRARY}{place}"));
    let others = |source: &Source| {
        folder(&["verbs"])(source) && !ops.iter().any(|place| source.path.starts_with(place))
    };
    let mend = "Use write_once, or Commonbook::write_as: they note the caller.";
    nowhere(others, &["store.write_as("], mend);
    let gate = format!("{LIBRARY}verbs/memory/write.rs");
    let others = |source: &Source| folder(&["verbs"])(source) && source.path != gate;
    nowhere(others, &["AdmittedMemory::judged("], "The gate alone says that words passed it.");
}

/// The places that know how systems differ: files, processes, sockets, the sandbox, locks of SQLite, and where clients
/// keep their files.
const SEAMS: [&str; 9] = [
    "crates/commonbook/src/base/file_system.rs",
    "crates/commonbook/src/store/postgres/address.rs",
    "crates/commonbook/src/store/sqlite/connection.rs",
    "crates/commonbook/src/store/sqlite/holder.rs",
    "crates/commonbook-server/src/clients/local",
    "crates/commonbook-server/src/clients/sandbox.rs",
    "crates/commonbook-server/src/clients/setup/clients.rs",
    "crates/commonbook-server/src/system/",
    "crates/commonbook-bench/",
];

#[test]
fn systems_differ_in_few_places() {
    let others = |source: &Source| !source.is_in(&SEAMS);
    let words = ["cfg(unix)", "cfg(not(unix))", "std::os::", "target_os"];
    nowhere(others, &words, "Put it into base/file_system.rs, or into system/ of the program.");
}

#[test]
fn the_library_is_synchronous_and_knows_no_door() {
    let libraries = [
        "commonbook-text",
        "commonbook-model",
        "commonbook-embed",
        "commonbook-archive",
        "commonbook-formats",
        "commonbook",
        "commonbook-vault",
    ];
    for library in libraries {
        let manifest = read(&format!("crates/{library}/Cargo.toml"));
        let dependencies: Vec<&str> =
            manifest.lines().filter_map(|line| line.split(['.', ' ']).next()).collect();
        for name in ["axum", "rmcp", "clap", "tokio", "hyper"] {
            assert!(!dependencies.contains(&name), "crates/{library}/Cargo.toml names {name}");
        }
    }
    nowhere(
        |source| source.is_in(&[TEXT, EMBED, ARCHIVE, FORMATS, LIBRARY, VAULT]),
        &["async fn", ".await"],
        "The library is synchronous.",
    );
}

#[test]
fn no_door_imports_another() {
    // Those that are not there yet are held to it from their first line on.
    let doors = ["rest", "mcp", "cli", "hook", "dashboard"];
    let (all, is_there) = (sources(), |door: &str| {
        let (file, folder) = (format!("{DOORS}{door}.rs"), format!("{DOORS}{door}/"));
        move |source: &Source| source.path == file || source.path.starts_with(&folder)
    });
    assert!(doors[..3].iter().all(|door| all.iter().any(is_there(door))), "a door has moved");
    for door in doors.into_iter().filter(|door| all.iter().any(is_there(door))) {
        let places = [format!("{DOORS}{door}.rs"), format!("{DOORS}{door}/")];
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let others: Vec<String> = doors
            .iter()
            .filter(|other| **other != door)
            .map(|o| format!("crate::doors::{o}"))
            .collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        nowhere(|source| source.is_in(&places), &others, "What two doors need stands beside them.");
    }
}

/// The rooms of the program, each above those before it.
const ROOMS: [&str; 7] = ["system", "calls", "settings", "http", "clients", "background", "doors"];

#[test]
fn the_program_imports_downwards() {
    let all = sources();
    for (height, room) in ROOMS.into_iter().enumerate() {
        let (file, folder) = (format!("{PROGRAM}{room}.rs"), format!("{PROGRAM}{room}/"));
        let is_inside = |source: &Source| source.path == file || source.path.starts_with(&folder);
        assert!(all.iter().filter(|source| is_inside(source)).count() > 1, "{room} is empty");
        let above: Vec<String> =
            ROOMS[height + 1..].iter().map(|room| format!("crate::{room}")).collect();
        let above: Vec<&str> = above.iter().map(String::as_str).chain(["crate::serve"]).collect();
        nowhere(is_inside, &above, "A room of the program imports the rooms below it.");
    }
    let roots = ["lib.rs", "main.rs", "serve.rs", "demo.rs", "documents.rs"];
    for source in all.iter().filter(|source| source.is_in(&[PROGRAM])) {
        let path = &source.path[PROGRAM.len()..];
        let room = path.split(['/', '.']).next().unwrap_or_default();
        assert!(ROOMS.contains(&room) || roots.contains(&path), "{path} is in no room");
    }
}

#[test]
fn one_file_of_mcp_makes_what_a_model_reads() {
    let (file, folder) = (format!("{DOORS}mcp.rs"), format!("{DOORS}mcp/"));
    let others = move |source: &Source| {
        let makes = ["answer.rs", "fixtures.rs"].iter().any(|file| source.path.ends_with(file))
            || source.path.contains("/fixtures/");
        (source.path == file || source.path.starts_with(&folder)) && !makes
    };
    let made = ["ContentBlock", "CallToolResult::", "ResourceContents::text", "PromptMessage"];
    nowhere(others, &made, "mcp/answer.rs makes it: a block of prompt/, or RecordedJson.");
}

#[test]
fn doors_know_no_store_of_their_own() {
    let opens = ["lib.rs", "settings/store.rs"].map(|file| format!("{PROGRAM}{file}"));
    let others = |source: &Source| source.is_in(&[PROGRAM]) && !opens.contains(&source.path);
    let mend = "Only settings/store.rs, lib.rs and the benches open a store.";
    nowhere(others, &["SqliteStore", "rusqlite"], mend);
}

#[test]
fn time_ids_and_the_environment_have_one_home_each() {
    let but = |files: &'static [&'static str]| {
        move |source: &Source| !files.iter().any(|file| source.path.ends_with(file))
    };
    nowhere(but(&["clock.rs"]), &["Timestamp::now", "SystemTime::now"], "Ask the Clock.");
    nowhere(but(&["id.rs"]), &["Uuid::new", "Uuid::now"], "Ids come from the IdSource.");
    let environment = ["env::var", "env::current_dir"];
    nowhere(but(&["config.rs", "main.rs"]), &environment, "config.rs reads the environment.");
}

#[test]
fn names_say_what_a_place_is() {
    const BANNED: [&str; 16] = [
        "utils",
        "util",
        "common",
        "helpers",
        "helper",
        "manager",
        "service",
        "services",
        "handler",
        "handlers",
        "types",
        "models",
        "core",
        "misc",
        "lib_utils",
        "shared",
    ];
    for source in everything() {
        for part in source.path.split('/') {
            let name = part.trim_end_matches(".rs");
            assert!(!BANNED.contains(&name), "{}:1: call it by what it is", source.path);
        }
        for (number, line) in source.code() {
            let module = line.trim_start().trim_start_matches("pub ").strip_prefix("mod ");
            let name = module.unwrap_or_default().trim_end_matches([';', ' ', '{']);
            assert!(!BANNED.contains(&name), "{}:{number}: call it by what it is", source.path);
        }
    }
}

#[test]
fn files_begin_with_what_they_are() {
    for source in everything() {
        let first = source.text.lines().next().unwrap_or_default();
        let says = first.starts_with("//! ") && first.len() >= 24;
        assert!(says, "{}:1: begin with one sentence that says what the place is", source.path);
    }
}

/// The types that a line of code defines.
fn type_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    let kind = words.next()?;
    let name = words.next().filter(|_| ["struct", "enum", "trait", "type"].contains(&kind))?;
    name.split(|c: char| !c.is_alphanumeric()).next().filter(|name| !name.is_empty())
}

#[test]
fn a_type_name_has_one_meaning() {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    // A stand-in has the name of what it stands for, on the systems that lack it.
    let all = sources()
        .into_iter()
        .filter(|source| source.path != "crates/commonbook-server/src/clients/local/absent.rs");
    for source in all {
        // A type inside of an implementation or a function is known there alone.
        for name in source
            .code()
            .filter(|(_, line)| !line.starts_with(' '))
            .filter_map(|(_, line)| type_name(line))
        {
            let first = seen.entry(name.to_owned()).or_insert_with(|| source.path.clone());
            let result = name == "Result" || *first == source.path;
            assert!(
                result,
                "{name} is in {first} and in {}: two names for two things",
                source.path
            );
        }
    }
}

/// This file, which contains samples of what it forbids.
const OWN_PATH: &str = "crates/commonbook/tests/tidy.rs";

/// The folders and files whose texts are rewritten in plain sentences.
const PLAIN: [&str; 30] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "crates/commonbook-archive/",
    "crates/commonbook-bench/src/",
    "crates/commonbook-embed/src/",
    "crates/commonbook-formats/",
    "crates/commonbook-model/",
    "crates/commonbook-server/src/",
    "crates/commonbook-server/tests/doors/",
    "crates/commonbook-server/tests/one_story.rs",
    "crates/commonbook-server/tests/processes/",
    "crates/commonbook-server/tests/program.rs",
    "crates/commonbook-server/tests/world/",
    "crates/commonbook-text/src/",
    "crates/commonbook-text/tests/fuzz/",
    "crates/commonbook-text/tests/tables.rs",
    "crates/commonbook-vault/",
    "crates/commonbook/src/",
    "crates/commonbook/tests/",
    "docs/api.md",
    "docs/benchmarks.md",
    "docs/clients.md",
    "docs/decisions/",
    "docs/glossary.md",
    "docs/guide.md",
    "docs/operating.md",
    "docs/security.md",
    "docs/typescript.md",
];

/// Every file with words in the repository.
fn texts() -> Vec<Source> {
    let mut found = Vec::new();
    for folder in ["crates", "docs"] {
        walk_files(&root().join(folder), &["rs", "md", "js", "json", "toml"], &mut found);
    }
    let top = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    found.extend(top.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    let source = |path: PathBuf| Source {
        path: path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/"),
        text: fs::read_to_string(&path).unwrap(),
    };
    found.into_iter().map(source).collect()
}

/// The lines of a text that contain a phrase, also across a line break.
fn lines_with(text: &str, phrase: &str) -> Vec<usize> {
    let bare = |line: &str| line.trim().trim_start_matches(['/', '!']).trim().to_lowercase();
    let lines: Vec<String> = text.lines().map(bare).collect();
    let next = |index: usize| lines.get(index + 1).map_or("", String::as_str);
    let holds = |index: &usize| {
        let joined = format!("{} {}", lines[*index], next(*index));
        let mut found = joined.match_indices(phrase).filter(|(at, _)| *at < lines[*index].len());
        found.any(|(at, _)| {
            let before = joined[..at].chars().next_back();
            let after = joined[at + phrase.len()..].chars().next();
            ![before, after].into_iter().flatten().any(char::is_alphanumeric)
        })
    };
    (0..lines.len()).filter(holds).map(|index| index + 1).collect()
}

#[test]
fn no_text_contains_a_banned_phrase() {
    assert_eq!(lines_with("a\n/// What it\n/// takes.", "what it takes"), [2]);
    assert!(lines_with("this tells", "is tell").is_empty());
    let phrases = read("crates/commonbook/tests/banned_phrases.txt");
    let phrases: Vec<&str> = phrases.lines().filter(|line| !line.starts_with('#')).collect();
    let plain = |source: &&Source| source.is_in(&PLAIN) && source.path != OWN_PATH;
    let mut found = Vec::new();
    for source in texts().iter().filter(plain) {
        for phrase in phrases.iter().filter(|phrase| !phrase.is_empty()) {
            let lines = lines_with(&source.text, phrase);
            let place = |line| format!("{}:{line}: banned phrase {phrase:?}", source.path);
            found.extend(lines.into_iter().map(place));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_text_names_the_origin_of_a_requirement() {
    for source in texts() {
        for number in 0..10 {
            let lines = lines_with(&source.text, &format!("seed {number:03}"));
            assert!(
                source.path == OWN_PATH || lines.is_empty(),
                "{}:{lines:?}: name the reason",
                source.path
            );
        }
    }
}

/// The parameters of each function in a text, as they are written: `name: Type`.
fn parameters(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        // A generic parameter may hold a function's type, but no function has its list before its name.
        let Some(begin) = code[at..].find('(').map(|begin| at + begin + 1) else { continue };
        let (mut depth, mut from) = (1, begin);
        for (offset, letter) in code[begin..].char_indices() {
            match letter {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 || depth == 1 && letter == ',' {
                found.push(code[from..begin + offset].trim());
                from = begin + offset + 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
    found
}

#[test]
fn no_parameter_is_a_tuple() {
    let is_tuple = |parameter: &str| {
        let kind = parameter.rsplit_once("): ").map(|(_, kind)| kind);
        let kind = kind.or_else(|| parameter.split_once(": ").map(|(_, kind)| kind));
        kind.is_some_and(|kind| kind.trim_start_matches('&').starts_with('(') && kind.contains(','))
    };
    assert!(parameters("fn a(b: u8, (c, d): (u8, u8)) {}").into_iter().any(is_tuple));
    assert!(parameters("fn a(b: &(u8, u8)) {}").into_iter().any(is_tuple));
    assert!(
        !parameters("fn a(b: Vec<(u8, u8)>, c: impl Fn((u8, u8))) {}").into_iter().any(is_tuple)
    );
    for source in sources() {
        let code: Vec<&str> = source.code().map(|(_, line)| line).collect();
        let code = code.iter().filter(|line| !line.trim_start().starts_with("//"));
        let code = code.copied().collect::<Vec<_>>().join("\n");
        let tuples: Vec<&str> =
            parameters(&code).into_iter().filter(|parameter| is_tuple(parameter)).collect();
        assert!(tuples.is_empty(), "{}: give each its own name: {tuples:?}", source.path);
    }
}

#[test]
fn the_name_of_a_verb_is_written_once() {
    let list = "crates/commonbook/src/verbs/names.rs";
    let text = read(list);
    let names = text.lines().filter_map(|line| line.trim().split('"').nth(1));
    // A single word also names a prompt, a command or a measure.
    let names: Vec<&str> = names.filter(|name| name.contains('_')).collect();
    assert!(names.len() > 100, "the list has another form");
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| source.path != list) {
        for (number, line) in source.code().filter(|(_, line)| !line.trim().starts_with("//")) {
            let mut literals = line.split('"').skip(1).step_by(2);
            if literals.any(|literal| names.contains(&literal)) {
                found.push(format!("{}:{number}", source.path));
            }
        }
    }
    assert!(found.is_empty(), "use commonbook::verbs::names: {found:#?}");
}

#[test]
fn a_file_of_unit_tests_is_compiled_for_tests_alone() {
    let all = sources();
    let tests: Vec<&str> =
        all.iter().filter_map(|source| source.path.strip_suffix("/tests.rs")).collect();
    assert!(!tests.is_empty(), "a rule that looks at no file holds nothing");
    for module in tests {
        let parent = all.iter().find(|source| source.path == format!("{module}.rs")).unwrap();
        let declared = ["mod tests;", "pub(crate) mod tests;"]
            .iter()
            .any(|declared| parent.text.contains(&format!("#[cfg(test)]\n{declared}")));
        assert!(declared, "{module}/tests.rs:1: {module}.rs declares it under #[cfg(test)]");
    }
}

#[test]
fn an_ignored_test_is_run_by_a_step_of_ci() {
    let run = read(".ci/run");
    let mut found = 0;
    for source in everything().iter().filter(|source| source.path != OWN_PATH) {
        for (index, line) in source.text.lines().enumerate() {
            let Some((_, reason)) = line.split_once("#[ignore") else { continue };
            let place = format!("{}:{}: name the script that runs it", source.path, index + 1);
            let (_, name) = reason.split_once(".ci/").expect(&place);
            let name = name.split(' ').next().unwrap();
            assert!(read(&format!(".ci/{name}")).contains("--ignored"), "{place}");
            assert!(run.contains(&format!("bash .ci/{name}\"")), "{place}, as a step of .ci/run");
            found += 1;
        }
    }
    assert!(found > 0, "a rule that looks at no test holds nothing");
}

/// The files that a Markdown text links to, as it writes them: addresses and places in the same page aside.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let files = targets.filter_map(|(target, _)| target.split('#').next());
    files.filter(|file| !file.is_empty() && !file.contains("://") && !file.contains(' '))
}

#[test]
fn no_link_of_the_documents_is_dead() {
    let documents = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let mut pages: Vec<PathBuf> = documents.iter().map(|name| root().join(name)).collect();
    for folder in ["docs", "docs/decisions"] {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            let there = page.parent().unwrap().join(link).exists();
            assert!(there, "{}: there is no {link}", page.display());
        }
    }
}

#[test]
fn every_page_of_the_documents_is_in_the_summary_of_the_site_once() {
    let summary = read("docs/SUMMARY.md");
    let listed: Vec<&str> = links(&summary).collect();
    let mut found = 0;
    for folder in ["", "decisions/"] {
        for entry in fs::read_dir(root().join("docs").join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") && name != "SUMMARY.md" {
                let page = format!("{folder}{name}");
                let times = listed.iter().filter(|link| **link == page).count();
                assert_eq!(
                    times, 1,
                    "docs/SUMMARY.md lists docs/{page} {times} times; expected once"
                );
                found += 1;
            }
        }
    }
    assert_eq!(listed.len(), found, "docs/SUMMARY.md lists pages that are not there");
}

#[test]
fn every_limit_and_every_kind_of_error_is_documented() {
    let api = read("docs/api.md");
    for line in read("crates/commonbook/src/base/limits.rs").lines() {
        if let Some(rest) = line.strip_prefix("pub const ") {
            let name = rest.split(':').next().unwrap();
            assert!(
                api.contains(&format!("`{name}`")),
                "docs/api.md does not list the limit {name}"
            );
        }
    }
    for kind in commonbook::base::error::ErrorKind::ALL {
        let name = kind.name();
        assert!(api.contains(&format!("`{name}`")), "docs/api.md does not list the error {name}");
    }
}

#[test]
fn every_event_is_documented() {
    let api = read("docs/api.md");
    for kind in commonbook::model::event::EventKind::ALL {
        let name = kind.name();
        assert!(api.contains(&format!("`{name}`")), "docs/api.md does not list the event {name}");
    }
}

#[test]
fn a_join_of_memories_names_its_order() {
    let engines = |source: &&Source| source.is_in(&["crates/commonbook/src/store/sql/"]);
    for source in sources().iter().filter(engines) {
        for (number, line) in source.code().filter(|(_, line)| line.contains("JOIN memory ")) {
            assert!(
                line.contains("CROSS JOIN memory ") || line.contains("LEFT JOIN memory "),
                "{}:{number}: write CROSS JOIN, what is fewer first: without it the engine may go \
                 through all memories:\n{line}",
                source.path
            );
        }
    }
}
