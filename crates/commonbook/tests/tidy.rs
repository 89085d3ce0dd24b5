//! Style is a test: who imports whom, what is named how, how long things get, what is documented.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

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
        let lines = self.text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
        lines.enumerate().map(|(number, line)| (number + 1, line))
    }

    fn is_in(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.path.starts_with(place))
    }
}

const LIBRARY: &str = "crates/commonbook/src/";
const PROGRAM: &str = "crates/commonbook-server/src/";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Every Rust file of both crates, tests too.
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

/// The files of the two crates themselves.
fn sources() -> Vec<Source> {
    everything().into_iter().filter(|source| source.is_in(&[LIBRARY, PROGRAM])).collect()
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
    }
    assert!(wrong.is_empty(), "{mend}\n{}", wrong.join("\n"));
}

fn is_noun(source: &Source) -> bool {
    let below = source.path.strip_prefix(LIBRARY);
    below.is_some_and(|path| {
        !["store", "commonbook", "lib.rs"].iter().any(|place| path.starts_with(place))
    })
}

#[test]
fn nouns_know_no_store_no_verb_and_no_engine() {
    let words =
        ["crate::store", "crate::commonbook", "rusqlite", "tracing::", "std::fs", "std::thread"];
    nowhere(is_noun, &words, "A noun imports nouns and the ground only.");
}

#[test]
fn the_contract_and_the_verbs_know_no_engine() {
    let contract = |source: &Source| source.path == "crates/commonbook/src/store.rs";
    nowhere(
        contract,
        &["rusqlite", "sqlite::", "crate::commonbook"],
        "The contract names no engine.",
    );
    let verbs = |source: &Source| source.is_in(&["crates/commonbook/src/commonbook"]);
    nowhere(verbs, &["rusqlite", "sqlite"], "A verb sees the contract of store.rs, not an engine.");
}

#[test]
fn a_store_calls_no_verb() {
    let stores = |source: &Source| source.is_in(&["crates/commonbook/src/store/"]);
    nowhere(stores, &["crate::commonbook", "crate::Commonbook"], "Imports run only downwards.");
}

#[test]
fn the_library_is_synchronous_and_knows_no_door() {
    let manifest = read("crates/commonbook/Cargo.toml");
    for name in ["axum", "rmcp", "clap", "tokio", "hyper"] {
        assert!(
            !manifest.contains(name),
            "crates/commonbook/Cargo.toml names {name}: doors are the program's"
        );
    }
    nowhere(
        |source| source.is_in(&[LIBRARY]),
        &["async fn", ".await"],
        "The library is synchronous.",
    );
}

#[test]
fn no_door_imports_another() {
    let doors = ["rest", "mcp", "cli"];
    for door in doors {
        let places = [format!("{PROGRAM}{door}.rs"), format!("{PROGRAM}{door}/")];
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let others: Vec<String> =
            doors.iter().filter(|other| **other != door).map(|o| format!("crate::{o}")).collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        nowhere(|source| source.is_in(&places), &others, "What two doors need stands beside them.");
    }
}

#[test]
fn doors_know_no_store_of_their_own() {
    let opens = [format!("{PROGRAM}main.rs"), format!("{PROGRAM}bench.rs")];
    let others = |source: &Source| source.is_in(&[PROGRAM]) && !opens.contains(&source.path);
    nowhere(others, &["SqliteStore", "rusqlite"], "Only main.rs and the benches open a store.");
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
            assert!(!BANNED.contains(&name), "{}: call it by what it is", source.path);
        }
    }
}

#[test]
fn files_begin_with_what_they_are_and_stay_short() {
    for source in everything() {
        let first = source.text.lines().next().unwrap_or_default();
        let says = first.starts_with("//! ") && first.len() >= 24;
        assert!(says, "{}:1: begin with one sentence that says what the place is", source.path);
        let lines = source.code().count();
        let tests = source.path.contains("/tests/");
        assert!(
            tests || lines <= 400,
            "{}: {lines} lines before its tests; at most 400",
            source.path
        );
    }
}

/// A function of over 70 lines, as its closing brace tells: rustfmt puts it below the `fn`.
#[test]
fn functions_stay_short() {
    for source in everything() {
        let lines: Vec<&str> = source.text.lines().collect();
        for (start, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let words = [
                "fn ",
                "pub fn ",
                "pub(crate) fn ",
                "pub(super) fn ",
                "async fn ",
                "pub(crate) async fn ",
            ];
            if !words.iter().any(|word| code.starts_with(word)) {
                continue;
            }
            let indent = &line[..line.len() - code.len()];
            let end = lines[start..].iter().position(|line| *line == format!("{indent}}}"));
            let length = end.map_or(1, |end| end + 1);
            assert!(length <= 70, "{}:{}: {length} lines; at most 70", source.path, start + 1);
        }
    }
}

#[test]
fn nothing_is_silenced_unwrapped_or_left_open() {
    let all = |_: &Source| true;
    nowhere(all, &["#[allow", "#![allow"], "Use #[expect(…, reason = …)].");
    nowhere(all, &[".unwrap()"], "Answer an Error; unwrap is for tests.");
    nowhere(
        all,
        &["todo!(", "unimplemented!(", "FIXME", "XXX"],
        "Do it, or say in the notes that it is open.",
    );
}

#[test]
fn every_limit_and_every_kind_of_error_is_documented() {
    let api = read("docs/api.md");
    for line in read("crates/commonbook/src/limits.rs").lines() {
        if let Some(rest) = line.strip_prefix("pub const ") {
            let name = rest.split(':').next().unwrap();
            assert!(
                api.contains(&format!("`{name}`")),
                "docs/api.md does not tell the limit {name}"
            );
        }
    }
    for kind in commonbook::error::ErrorKind::ALL {
        let name = kind.name();
        assert!(api.contains(&format!("`{name}`")), "docs/api.md does not tell the error {name}");
    }
}

#[test]
fn every_noun_and_every_event_is_in_the_glossary() {
    let glossary = read("docs/glossary.md").to_lowercase();
    let lib = read("crates/commonbook/src/lib.rs");
    let modules = lib.lines().filter_map(|line| line.strip_prefix("pub mod "));
    for module in modules.map(|line| line.trim_end_matches(';')) {
        assert!(
            glossary.contains(&format!("**{module}**")),
            "docs/glossary.md does not tell **{module}**"
        );
    }
    for kind in commonbook::event::EventKind::ALL {
        assert!(glossary.contains(kind.name()), "docs/glossary.md does not tell {}", kind.name());
    }
}

/// Reads of memory rows without the permission rule, and why each needs none.
const WITHOUT_SIGHT: [(&str, &str); 6] = [
    ("deleted_at < ?1", "the sweep shows what it removes to nobody"),
    (
        "SELECT EXISTS (SELECT 1 FROM memory WHERE workspace",
        "an import asks only whether it ran before",
    ),
    (
        "EXISTS (SELECT 1 FROM memory WHERE workspace = ?1 AND imported",
        "an import asks only whether it ran before",
    ),
    ("SELECT number FROM memory", "the index is kept up for a row the verb has already seen"),
    ("DELETE FROM memory", "a verb has already judged the row it removes"),
    (
        "(SELECT 1 FROM memory m WHERE m.workspace = e.workspace AND m.id = e.subject)))",
        "whether a subject is gone; its owner alone is told",
    ),
];

#[test]
fn every_read_of_memory_rows_goes_through_the_permission_rule() {
    for source in
        sources().iter().filter(|source| source.is_in(&["crates/commonbook/src/store/sqlite/"]))
    {
        let lines: Vec<(usize, &str)> = source.code().collect();
        for (place, (number, line)) in lines.iter().enumerate() {
            if !line.contains("FROM memory") && !line.contains("JOIN memory")
                || line.contains("///")
            {
                continue;
            }
            // The rule stands in the same statement, at most four lines on.
            let end = (place + 5).min(lines.len());
            let ruled = lines[place..end].iter().any(|(_, line)| line.contains("{SEEN}"));
            let found_by_it = line.contains("FROM page JOIN memory m");
            let excused = WITHOUT_SIGHT.iter().any(|(sql, _)| line.contains(sql));
            assert!(
                ruled || found_by_it || excused,
                "{}:{number}: put {{SEEN}} into the statement, or say in tidy.rs why it needs none:\n{line}",
                source.path
            );
        }
    }
}
