//! Folders that git does not know: each has a memory of its own, for hooks, tools and commands alike.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::projects::{Person, errors};

impl Person {
    fn plain(&self, path: &str) -> PathBuf {
        let folder = self.folder.path().join(path);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// The output of a hook of Claude Code in this folder, started elsewhere.
    fn claude(&self, event: &str, cwd: &Path, set: &[(&str, &Path)], more: &Value) -> String {
        let mut input = json!({"session_id": cwd, "cwd": cwd, "hook_event_name": event});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut command = self.home.program(&["hook", "claude-code", event]);
        command.env("HOME", self.folder.path()).envs(set.iter().copied());
        let mut child = spawn_piped(&mut command);
        child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    fn prompt(&self, cwd: &Path) -> String {
        self.claude("UserPromptSubmit", cwd, &[], &json!({"prompt": "Which colour has the crane?"}))
    }

    /// Saves through a server that a client starts in this folder.
    fn save_by_tool(&self, folder: &Path, text: &str) {
        let mut command = self.home.program(&["mcp", "--client", "codex"]);
        command.env("HOME", self.folder.path()).current_dir(folder);
        let mut child = spawn_piped(&mut command);
        let mut input = child.stdin.take().unwrap();
        let call = json!({"name": "save_memory", "arguments": {"text": text}});
        for message in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "codex", "version": "1"}}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
        ] {
            writeln!(input, "{message}").unwrap();
        }
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("\"id\":2")));
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

fn spawn_piped(command: &mut Command) -> std::process::Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn no_prompt_hears_of_another_folder_and_every_door_finds_its_own() {
    let person = Person::new();
    let (notes, hg, user) =
        (person.plain("notes"), person.plain("hg/.hg/.."), person.folder.path().to_owned());
    person.claude("SessionStart", &notes, &[], &json!({"source": "startup"}));
    person.save_by_tool(&notes, "The crane is green");
    person.answer(&person.plain("hg/src"), &["save", "The crane is crimson"]);
    person.answer(&user, &["save", "The crane is blue"]);
    let sub = person.plain("notes/sub");
    for (folder, own) in [(&notes, "green"), (&sub, "green"), (&hg, "crimson"), (&user, "blue")] {
        assert_eq!(person.texts(folder), [format!("The crane is {own}")], "{}", folder.display());
        let heard = person.prompt(folder);
        for colour in ["green", "crimson", "blue"] {
            assert_eq!(heard.contains(colour), colour == own, "{}: {heard}", folder.display());
        }
    }
    // The folder that the client opened is the project, also where one below it is a repository.
    let inner = person.repository("notes/inner", "h.example:a/inner");
    let learned = json!({"last_assistant_message": "Done.\n\nRemember: the quay has five lamps"});
    person.claude("Stop", &inner, &[("CLAUDE_PROJECT_DIR", &notes)], &learned);
    assert!(person.texts(&notes).contains(&"the quay has five lamps".to_owned()));
    let doctor = person.run(&user, &["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("no folder of a project here"));
}

#[test]
fn a_removed_worktree_still_saves_for_its_project() {
    let person = Person::new();
    let main = person.repository("api", "h.example:a/api");
    let tree = person.plain("tree");
    fs::create_dir_all(main.join(".git/worktrees/tree")).unwrap();
    fs::write(main.join(".git/worktrees/tree/commondir"), "../..\n").unwrap();
    let link = format!("gitdir: {}\n", main.join(".git/worktrees/tree").display());
    fs::write(tree.join(".git"), link).unwrap();
    person.claude("SessionStart", &tree, &[], &json!({"source": "startup"}));
    fs::remove_dir_all(&tree).unwrap();
    let learned = json!({"last_assistant_message": "Done.\n\nRemember: the quay has five lamps"});
    person.claude("Stop", &tree, &[], &learned);
    assert_eq!(person.texts(&main), ["the quay has five lamps"]);
}

#[test]
fn what_folders_shared_before_is_found_and_not_told() {
    let person = Person::new();
    let (notes, user) = (person.plain("notes"), person.folder.path().to_owned());
    person.answer(&user, &["save", "The crane is green", "--topic", "quay"]);
    let start = || person.claude("SessionStart", &notes, &[], &json!({"source": "startup"}));
    let begun = start();
    assert!(begun.contains("commonbook workspace alias default"), "{begun}");
    assert!(!begun.contains("green") && !person.prompt(&notes).contains("green"));
    assert_eq!(person.texts(&notes), [""; 0]);
    let found = person.answer(&notes, &["search", "Which colour has the crane?"]);
    let memory = &found["hits"][0]["memory"];
    assert_eq!(
        (&memory["text"], &memory["workspace"]),
        (&json!("The crane is green"), &json!("default"))
    );
    let id = memory["id"].as_str().unwrap();
    assert_eq!(person.answer(&notes, &["show", &id[id.len() - 8..]])["text"], "The crane is green");
    let words = person.run(&notes, &["search", "crane"]);
    assert!(errors(&words).contains("--workspace default"), "{}", errors(&words));
    // A repository of git never shared them.
    let api = person.repository("api", "h.example:a/api");
    assert_eq!(person.answer(&api, &["search", "crane"])["total"], 0);
    // What belongs here moves; it can go back.
    let quay = ["workspace", "move", "default", "--topic", "quay"];
    let preview = person.answer(&notes, &[&quay[..], &["--dry-run"]].concat());
    assert_eq!((&preview["memories"], person.texts(&notes).len()), (&json!(1), 0));
    let moved = person.answer(&notes, &quay);
    assert_eq!(person.texts(&notes), ["The crane is green"]);
    let found = person.answer(&notes, &["search", "Which colour has the crane?"]);
    assert_eq!((&found["total"], &found["hits"][0]["memory"]["id"]), (&json!(1), &memory["id"]));
    assert_ne!(found["hits"][0]["memory"]["workspace"], "default");
    assert!(!start().contains("workspace alias default"));
    person.answer(&notes, &["undo", moved["operation"].as_str().unwrap()]);
    assert_eq!(person.texts(&notes), [""; 0]);
    person.answer(&notes, &["workspace", "alias", "default"]);
    assert_eq!(person.texts(&notes), ["The crane is green"]);
    assert!(!start().contains("workspace alias default"));
}
