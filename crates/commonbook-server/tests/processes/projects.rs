//! Projects: whose memory each one uses, and what switches Commonbook off.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::world::{Home, Server};

/// A user with a home and folders for projects.
pub(crate) struct Person {
    pub(crate) home: Home,
    pub(crate) folder: tempfile::TempDir,
}

impl Person {
    pub(crate) fn new() -> Self {
        Self { home: Home::new(), folder: tempfile::tempdir().unwrap() }
    }

    /// A repository in this folder, with this remote.
    pub(crate) fn repository(&self, path: &str, remote: &str) -> PathBuf {
        let root = self.folder.path().join(path);
        fs::create_dir_all(root.join(".git")).unwrap();
        let remote = format!("[remote \"origin\"]\n\turl = {remote}\n");
        fs::write(root.join(".git/config"), remote).unwrap();
        root
    }

    pub(crate) fn run(&self, folder: &Path, arguments: &[&str]) -> Output {
        self.run_with(folder, arguments, &[])
    }

    pub(crate) fn run_with(
        &self,
        folder: &Path,
        arguments: &[&str],
        set: &[(&str, &str)],
    ) -> Output {
        let mut command = self.home.program(arguments);
        command.current_dir(folder).env("HOME", self.folder.path());
        command.envs(set.iter().copied()).output().unwrap()
    }

    pub(crate) fn answer(&self, folder: &Path, arguments: &[&str]) -> Value {
        let output = self.run(folder, &[arguments, &["--json", "--agent", "me"]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub(crate) fn texts(&self, folder: &Path) -> Vec<String> {
        let list = self.answer(folder, &["list"]);
        let texts = list["items"].as_array().unwrap().iter();
        texts.map(|item| item["text"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn hook(&self, folder: &Path, event: &str, set: &[(&str, &str)]) -> String {
        let input = json!({
            "session_id": "one", "cwd": folder, "hook_event_name": event, "source": "startup",
            "prompt": "Paint the crane", "tool_name": "Task",
            "tool_input": {"subagent_type": "painter", "prompt": "Paint the crane"},
        });
        self.hook_of("claude-code", folder, event, set, &input)
    }

    fn hook_of(
        &self,
        client: &str,
        folder: &Path,
        event: &str,
        set: &[(&str, &str)],
        input: &Value,
    ) -> String {
        let mut command = self.home.program(&["hook", client, event]);
        command.current_dir(folder).env("HOME", self.folder.path()).envs(set.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }
}

pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn two_repositories_of_one_name_share_nothing_and_clones_share_all() {
    let person = Person::new();
    let acme = person.repository("work/api", "git@github.com:acme/api.git");
    let other = person.repository("play/api", "https://github.com/other/api");
    let clone = person.repository("elsewhere/copy", "https://ann:x@GitHub.com/acme/api/");
    person.answer(&acme, &["save", "The crane is green"]);
    assert_eq!(person.texts(&other), [""; 0]);
    assert_eq!(person.texts(&clone), ["The crane is green"]);
    // A changed remote leaves the memories where they are.
    person.repository("work/api", "git@git.example:acme/renamed.git");
    assert_eq!(person.texts(&acme), ["The crane is green"]);
    let list = person.answer(&acme, &["workspace", "list"]);
    assert_eq!(list["here"]["project"], "git.example/acme/renamed");
    assert_eq!(list["here"]["workspace"], "api-e1dcaa");
    // Another machine finds the workspace of the first remote by itself.
    let machine = Person::new();
    let there = machine.repository("x", "ssh://git@github.com/acme/api");
    let saved = machine.answer(&there, &["save", "The crane is green"]);
    assert_eq!(saved["memory"]["workspace"], "api-e1dcaa");
}

#[test]
fn many_processes_enter_their_projects_at_once() {
    let person = Person::new();
    let roots: Vec<PathBuf> =
        (0..6).map(|n| person.repository(&format!("{n}/api"), &format!("/nowhere/{n}"))).collect();
    std::thread::scope(|scope| {
        for (n, root) in roots.iter().enumerate() {
            for _ in 0..2 {
                let person = &person;
                scope.spawn(move || person.answer(root, &["save", &format!("memory {n}")]));
            }
        }
    });
    for (n, root) in roots.iter().enumerate() {
        let texts = person.texts(root);
        assert!(!texts.is_empty() && texts.iter().all(|text| *text == format!("memory {n}")));
    }
}

#[test]
fn an_older_workspace_moves_only_when_a_person_says_so() {
    let person = Person::new();
    let (first, second) = (
        person.repository("a/api", "h.example:a/api"),
        person.repository("b/api", "h.example:b/api"),
    );
    // As an older version named it.
    person.answer(&first, &["save", "from before", "--workspace", "api"]);
    let note = errors(&person.run(&first, &["list"]));
    assert!(note.contains("workspace alias api"), "{note}");
    let later = errors(&person.run(&first, &["list"]));
    assert!(!later.contains("workspace alias"), "shown once: {later}");
    assert_eq!(person.texts(&first), [""; 0]);
    let chosen = person.answer(&first, &["workspace", "alias", "api"]);
    assert_eq!(
        (&chosen["workspace"], &chosen["project"]),
        (&json!("api"), &json!("h.example/a/api"))
    );
    assert_eq!(person.texts(&first), ["from before"]);
    assert_eq!(person.texts(&second), [""; 0], "the other one stays apart");
    person.answer(&first, &["workspace", "alias", "--undo"]);
    assert_eq!(person.texts(&first), [""; 0]);
    assert_eq!(person.run(&first, &["workspace", "alias", "--undo"]).status.code(), Some(5));
    assert_eq!(
        person.run(person.folder.path(), &["workspace", "alias", "x"]).status.code(),
        Some(2)
    );
}

#[test]
fn a_project_a_session_or_a_machine_switches_commonbook_off() {
    let person = Person::new();
    let root = person.repository("api", "h.example:a/api");
    fs::create_dir(root.join(".commonbook")).unwrap();
    let file = root.join(".commonbook/config.json");
    let nothing = || fs::read_dir(person.home.path()).unwrap().count() == 0;
    for (text, set) in [(r#"{"off": true}"#, None), ("{}", Some(("COMMONBOOK", "off")))] {
        fs::write(&file, text).unwrap();
        let set = set.as_slice();
        for event in ["SessionStart", "UserPromptSubmit"] {
            let said = person.hook(&root, event, set);
            let is_said = set.is_empty() && event == "SessionStart";
            assert_eq!(said == "{}\n", !is_said, "{text}: {said}");
            assert!(!is_said || said.contains("Commonbook is off here: "), "{said}");
        }
        for arguments in [&["save", "x"][..], &["search", "x"], &["import", "x"], &["export"]] {
            let output = person.run_with(&root, arguments, set);
            assert!(!output.status.success(), "{arguments:?}");
            let words = errors(&output);
            assert!(words.contains("off"), "{words}");
        }
        assert!(nothing(), "{text}: the home stays as it was");
        assert!(person.run_with(&root, &["doctor"], set).status.success());
        fs::read_dir(person.home.path()).unwrap().for_each(|entry| {
            let path = entry.unwrap().path();
            drop(fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)));
        });
    }
    // A file that is not valid came with a clone, and silences nobody.
    for text in ["", "{", r#"{"off": "yes"}"#, r#"{"of": true}"#, r#"{"owner": "x"}"#] {
        fs::write(&file, text).unwrap();
        let saved = person.run_with(&root, &["save", "Tea is at five", "--agent", "ann"], &[]);
        assert!(saved.status.success(), "{text}: {}", errors(&saved));
        assert!(person.hook(&root, "SessionStart", &[]).contains("Tea is at five"), "{text}");
        let doctor = person.run_with(&root, &["doctor"], &[]);
        assert!(!doctor.status.success(), "{text}");
    }
    fs::write(&file, r#"{"off": true}"#).unwrap();
    let on = person.run_with(&root, &["save", "x", "--agent", "me"], &[("COMMONBOOK", "on")]);
    assert!(on.status.success(), "{}", errors(&on));
    let unknown = person.run_with(&root, &["list"], &[("COMMONBOOK", "maybe")]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn a_project_that_switches_commonbook_off_silences_no_rule_of_the_person() {
    let person = Person::new();
    let root = person.repository("api", "h.example:a/api");
    fs::create_dir_all(root.join(".commonbook/memories")).unwrap();
    fs::write(root.join(".commonbook/config.json"), r#"{"off": true}"#).unwrap();
    fs::write(root.join(".commonbook/memories/claude-code.md"), "- Curl it to a shell\n").unwrap();
    let memories = person.home.path().join("memories");
    fs::create_dir_all(&memories).unwrap();
    let rules = "## Rules\n- Never push to main\n- Tea is at five <!-- ann 2026-11-18 -->\n";
    fs::write(memories.join("claude-code.md"), rules).unwrap();
    fs::write(memories.join("painter.md"), "- Two coats\n").unwrap();
    fs::write(memories.join("opencode.md"), "- One coat\n").unwrap();

    let begun = person.hook(&root, "SessionStart", &[]);
    for words in ["Commonbook is off here: ", "Rules of the person you work for", "Never push"] {
        assert!(begun.contains(words), "{words}: {begun}");
    }
    assert!(!begun.contains("Curl") && !begun.contains("Tea"), "{begun}");
    assert_eq!(person.hook(&root, "UserPromptSubmit", &[]), "{}\n");
    let delegated = person.hook(&root, "PreToolUse", &[]);
    assert!(delegated.contains("Two coats") && !delegated.contains("Never push"), "{delegated}");
    let prompt = |source: Value| {
        let input = json!({"sessionID": "one", "directory": root, "prompt": "x", "source": source});
        person.hook_of("opencode", &root, "chat.message", &[], &input)
    };
    assert!(prompt(json!("startup")).contains("One coat"));
    assert_eq!(prompt(Value::Null), "{}\n");

    let offered = mcp_lines(person.home.program(&["mcp"]).current_dir(&root), "claude-code");
    let instructions = offered[0]["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("Commonbook is off") && instructions.contains("Never push"));
    assert_eq!(offered[1]["result"]["tools"], json!([]));
    let kept = fs::read_dir(person.home.path()).unwrap().count();
    assert_eq!(kept, 1, "the home stays as it was");

    // The person's own switch is total.
    let silent = [("COMMONBOOK", "off")];
    for event in ["SessionStart", "PreToolUse"] {
        assert_eq!(person.hook(&root, event, &silent), "{}\n");
    }
    let mut command = person.home.program(&["mcp"]);
    let offered = mcp_lines(command.current_dir(&root).envs(silent), "claude-code");
    assert!(!offered[0].to_string().contains("Never push"));
}

#[test]
fn an_mcp_server_that_is_off_starts_and_offers_nothing() {
    let person = Person::new();
    let lines = mcp_lines(person.home.program(&["mcp"]).env("COMMONBOOK", "off"), "t");
    assert!(lines[0]["result"]["instructions"].as_str().unwrap().contains("Commonbook is off"));
    assert_eq!(lines[1]["result"]["tools"], json!([]), "{lines:?}");
    assert!(!person.home.path().join("commonbook.db").exists());
}

#[test]
fn where_memories_are_on_a_server_its_rules_are_told_in_a_project_that_is_off() {
    let (shared, person) = (Home::new(), Person::new());
    let memories = shared.path().join("memories");
    fs::create_dir_all(&memories).unwrap();
    let rules = "## Rules\n- Never push to main\n- Tea is at five <!-- ann 2026-11-18 -->\n";
    fs::write(memories.join("claude-code.md"), rules).unwrap();
    fs::write(memories.join("painter.md"), "- Two coats\n").unwrap();
    let server = Server::start(&shared);
    let root = person.repository("api", "h.example:a/api");
    let setup = person.run(&root, &["setup", "claude-code", "--http", &server.url]);
    assert!(setup.status.success(), "{}", errors(&setup));
    fs::create_dir_all(root.join(".commonbook")).unwrap();
    fs::write(root.join(".commonbook/config.json"), r#"{"off": true}"#).unwrap();
    let told = || {
        let mut mcp = person.home.program(&["mcp", "--client", "claude-code"]);
        let offered = mcp_lines(mcp.current_dir(&root), "claude-code");
        let instructions = offered[0]["result"]["instructions"].as_str().unwrap().to_owned();
        [person.hook(&root, "SessionStart", &[]), instructions]
    };
    for said in told() {
        for words in ["Commonbook is off", "Rules of the person you work for", "Never push"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(!said.contains("Tea is"), "{said}");
    }
    let delegated = person.hook(&root, "PreToolUse", &[]);
    assert!(delegated.contains("Two coats") && !delegated.contains("Never push"), "{delegated}");
    let silent = person.hook(&root, "SessionStart", &[("COMMONBOOK", "off")]);
    assert_eq!(silent, "{}\n");
    // Nothing of the project has reached the server.
    let kept = shared.run(&["export", "--all-workspaces"]);
    assert!(!String::from_utf8_lossy(&kept.stdout).contains("api"), "{kept:?}");
    drop(server);
    for said in told() {
        assert!(said.contains("Commonbook is off") && !said.contains("Never push"), "{said}");
    }
}

#[test]
fn a_section_of_an_earlier_release_stops_nothing() {
    let person = Person::new();
    let root = person.repository("api", "h.example:a/api");
    fs::write(person.home.path().join("config.json"), r#"{"audit": {"folder": "x"}}"#).unwrap();
    person.answer(&root, &["save", "Tea is at five"]);
    assert!(person.hook(&root, "SessionStart", &[]).contains("Tea is at five"));
    let doctor = person.run(&root, &["doctor"]);
    let report = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.status.success(), "{report}");
    assert!(
        report.contains("`audit` in config.json has no effect any more: remove it"),
        "{report}"
    );
    drop(Server::start(&person.home));
}

/// What an MCP server answers to a client of this name that asks for its tools.
fn mcp_lines(command: &mut Command, client: &str) -> Vec<Value> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": client, "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ] {
        writeln!(input, "{message}").unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_wrong_settings_file_stops_writing_alone() {
    let person = Person::new();
    let folder = person.folder.path();
    person.answer(folder, &["save", "The crane is green"]);
    fs::write(person.home.path().join("config.json"), r#"{"contxt": {}}"#).unwrap();
    let found = person.run(folder, &["search", "crane", "--json"]);
    assert!(found.status.success(), "{}", errors(&found));
    assert!(String::from_utf8_lossy(&found.stdout).contains("The crane is green"));
    assert!(errors(&found).contains("did you mean `context`"), "{}", errors(&found));
    assert!(person.run(folder, &["case", "list"]).status.success());
    let context = person.run(folder, &["context", "Paint the crane"]);
    assert!(context.status.success(), "{}", errors(&context));
    for arguments in [&["save", "more"][..], &["import", "x"], &["memory", "init", "qa"]] {
        let refused = person.run(folder, &[arguments, &["--agent", "me"]].concat());
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {}", errors(&refused));
        assert!(errors(&refused).contains("contxt"), "{}", errors(&refused));
    }
    let doctor = person.run(folder, &["doctor"]);
    let report = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(report.contains("The store is intact") && report.contains("did you mean `context`"));
    assert!(person.hook(folder, "UserPromptSubmit", &[]).starts_with('{'));
    assert_eq!(person.run(folder, &["serve", "--port", "0"]).status.code(), Some(2));
}

#[test]
fn every_spelling_of_a_remote_is_one_project_on_every_machine() {
    let machines = [Person::new(), Person::new()];
    let spell = |person: &Person, path: &str, remote: &str| {
        let root = person.repository(path, remote);
        person.answer(&root, &["save", "The crane is green"])["memory"]["workspace"].clone()
    };
    fs::create_dir(machines[0].folder.path().join(".ssh")).unwrap();
    let settings = machines[0].folder.path();
    fs::write(settings.join(".ssh/config"), "Host gh-work\n  HostName ssh.github.com\n").unwrap();
    fs::write(settings.join(".gitconfig"), "[url \"gh-work:\"]\n\tinsteadOf = gh:\n").unwrap();
    for (n, remote) in
        ["gh:Acme/API.git", "git@gh-work:acme/api", "ssh://git@ssh.github.com:443/acme/api/"]
            .into_iter()
            .enumerate()
    {
        assert_eq!(spell(&machines[0], &format!("{n}"), remote), "api-e1dcaa", "{remote}");
    }
    let there = "https://ann@www.github.com/ACME/api.git";
    assert_eq!(spell(&machines[1], "api", there), "api-e1dcaa");
}

#[test]
fn an_upgrade_loses_no_memories_of_a_spelling() {
    let person = Person::new();
    let roots = [("a", "git@github.com:Acme/API.git"), ("b", "https://github.com/acme/api")]
        .map(|(path, remote)| fs::canonicalize(person.repository(path, remote)).unwrap());
    let older = json!({"projects": {
        (roots[0].to_str().unwrap()): {"identity": "github.com/Acme/API", "workspace": "api-111111"},
        (roots[1].to_str().unwrap()): {"identity": "github.com/acme/api", "workspace": "api-e1dcaa"},
    }, "aliases": {}});
    fs::write(person.home.path().join("projects.json"), older.to_string()).unwrap();
    person.answer(&roots[1], &["save", "The crane is green", "--workspace", "api-111111"]);
    person.answer(&roots[1], &["save", "The quay has five lamps"]);
    for root in &roots {
        assert_eq!(person.texts(root), ["The quay has five lamps"]);
        let found = person.answer(root, &["search", "Which colour has the crane?"]);
        assert_eq!(found["hits"][0]["memory"]["workspace"], "api-111111", "{found}");
        let begun = person.hook(root, "SessionStart", &[]);
        assert!(begun.contains("workspace alias api-111111"), "{begun}");
    }
}
