//! Import, export, monitor, the current session and the choice of tools, with a memory at a URL.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Output, Stdio};

use serde_json::{Value, json};

use super::projects::{Person, errors};
use super::remote::{McpProcess, has_store};
use crate::doors::export::unsigned;
use crate::world::{Home, Server, new_text};

/// The workspace of the project of these tests.
const PROJECT: &str = "api-e1dcaa";

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", errors(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A home with a server, and a person with a project.
fn world() -> (Home, Server, Person, std::path::PathBuf) {
    let (shared, person) = (Home::new(), Person::new());
    let server = Server::start(&shared);
    let root = person.repository("api", "git@github.com:acme/api.git");
    (shared, server, person, root)
}

/// A token of the server for this agent.
fn token(shared: &Home, agent: &str, scopes: &[&str]) -> String {
    let scopes: Vec<&str> = scopes.iter().flat_map(|scope| ["--scope", *scope]).collect();
    let created = shared.run(&[&["token", "create", agent, "--json"], &scopes[..]].concat());
    let created: Value = serde_json::from_str(&printed(&created)).unwrap();
    created["secret"].as_str().unwrap().to_owned()
}

#[test]
fn an_export_and_an_import_print_at_a_url_what_they_print_at_home() {
    let (shared, server, person, root) = world();
    let url = [("COMMONBOOK_URL", server.url.as_str())];
    let lines =
        (0..230).map(|n| json!({"text": format!("turn {n}"), "speaker": "Ann"}).to_string());
    let mut lines: Vec<String> = lines.collect();
    lines.insert(120, r#"{"speaker": "Ann"}"#.to_owned());
    lines.insert(7, "{broken".to_owned());
    fs::write(root.join("talk.jsonl"), lines.join("\n")).unwrap();
    let import = ["import", "talk.jsonl", "--json"];
    let there = person.run_with(&root, &import, &url);
    assert!(!has_store(&person), "the home is not used");
    let here = person.run(&root, &import);
    assert_eq!(there.status.code(), Some(2), "{}", errors(&there));
    assert_eq!(there.stdout, here.stdout);
    let found: Value = serde_json::from_slice(&there.stdout).unwrap();
    assert_eq!((&found["created"], &found["bad"][1]["line"]), (&json!(230), &json!(122)));
    let again = person.run_with(&root, &["import", "talk.jsonl"], &url);
    assert!(String::from_utf8_lossy(&again.stdout).contains("0 imported, 230 already present, 2"));
    // A whole export, with the owners, ids and times of its memories, into another home.
    let exported = person.run_with(&root, &["export", "-"], &url);
    assert!(errors(&exported).contains(&format!("exported 230 memories from {PROJECT}")));
    let of_server = shared.run(&["export", "--workspace", PROJECT]);
    assert_eq!(printed(&exported), printed(&of_server));
    let file = person.folder.path().join("all.jsonl");
    printed(&person.run_with(&root, &["export", file.to_str().unwrap()], &url));
    assert_eq!(fs::read_to_string(&file).unwrap(), printed(&exported));
    let (other, second) = (Home::new(), Person::new());
    let other_server = Server::start(&other);
    let set = [("COMMONBOOK_URL", other_server.url.as_str())];
    let restored = second.run_with(&root, &["import", file.to_str().unwrap()], &set);
    assert!(printed(&restored).contains("230 imported, 0 already present, 0 not imported"));
    let second = printed(&second.run_with(&root, &["export"], &set));
    assert_eq!(unsigned(&second), unsigned(&printed(&exported)));
}

#[test]
fn a_token_imports_for_its_own_agent_alone_unless_it_administers() {
    let (shared, server, person, root) = world();
    for agent in ["ann", "ann/reviewer", "bob"] {
        printed(&person.run(&root, &["save", &format!("by {agent}"), "--agent", agent]));
    }
    printed(&person.run(&root, &["export", "talk.jsonl"]));
    let import = |token: &str| {
        let set = [("COMMONBOOK_URL", server.url.as_str()), ("COMMONBOOK_TOKEN", token)];
        person.run_with(&root, &["import", "talk.jsonl"], &set)
    };
    let (own, admin) = (token(&shared, "ann", &[]), token(&shared, "ann", &["write", "admin"]));
    let partly = import(&own);
    assert_eq!(partly.status.code(), Some(2));
    let words = errors(&partly);
    assert!(words.contains("line 7: ann may not import memories of bob"), "{words}");
    assert!(String::from_utf8_lossy(&partly.stdout).starts_with("2 imported, 0"), "{partly:?}");
    assert!(printed(&import(&admin)).starts_with("1 imported, 2 already present, 0 not"));
}

struct Monitor {
    child: Child,
    lines: BufReader<ChildStdout>,
    notes: BufReader<std::process::ChildStderr>,
}

impl Monitor {
    fn start(person: &Person, root: &Path, url: &str, arguments: &[&str]) -> Self {
        let mut command = person.home.program(&[&["monitor"], arguments].concat());
        command.current_dir(root).env("COMMONBOOK_URL", url);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let notes = BufReader::new(child.stderr.take().unwrap());
        let mut monitor = Self { child, lines, notes };
        assert!(monitor.note().contains(&format!("following {PROJECT}")));
        monitor
    }

    fn note(&mut self) -> String {
        let mut note = String::new();
        self.notes.read_line(&mut note).unwrap();
        note
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_monitor_follows_a_server_and_its_restart() {
    let (shared, server, person, root) = world();
    let save = |text: &str, agent: &str| {
        printed(&shared.run(&["save", text, "--agent", agent, "--workspace", PROJECT]));
    };
    save("before", "ann");
    let mut monitor =
        Monitor::start(&person, &root, &server.url, &["--event", "memory.*", "--agent", "bob"]);
    save("The crane is green", "ann");
    let line = monitor.line();
    assert!(line.contains("  ann saved: The crane is green  (memory.saved "), "{line}");
    let mut all = Monitor::start(&person, &root, &server.url, &["--json", "--after", "0"]);
    let events = [all.line(), all.line()];
    let listed = shared.run(&["events", "--json", "--workspace", PROJECT]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    for (event, listed) in events.iter().zip(listed["items"].as_array().unwrap()) {
        assert_eq!(serde_json::from_str::<Value>(event).unwrap(), *listed);
    }
    // The server ends; another one answers at its address.
    let port = server.url.rsplit(':').next().unwrap().to_owned();
    drop(server);
    assert!(monitor.note().contains("connecting again"));
    save("The hook is red", "ann");
    let serve = ["serve", "--port", &port, "--workspace", PROJECT];
    let _restarted = Server::from(shared.program(&serve));
    let line = monitor.line();
    assert!(line.contains("ann saved: The hook is red"), "{line}");
    let id = monitor.child.id().to_string();
    let killed = std::process::Command::new("kill").args(["-INT", &id]).status();
    assert!(killed.unwrap().success());
    assert!(monitor.child.wait().unwrap().success());
    assert!(!has_store(&person), "the home is not used");
}

#[test]
fn a_session_of_a_server_is_the_current_one_at_its_url_alone() {
    let (_shared, server, person, root) = world();
    let url = [("COMMONBOOK_URL", server.url.as_str())];
    let ann = |arguments: &[&str], set: &[(&str, &str)]| {
        let arguments = [arguments, &["--agent", "ann", "--json"]].concat();
        let output = person.run_with(&root, &arguments, set);
        serde_json::from_str::<Value>(&printed(&output)).unwrap()
    };
    let save = |set: &[(&str, &str)]| ann(&["save", &new_text()], set)["memory"].clone();
    let saved = |set: &[(&str, &str)]| save(set)["session"].clone();
    let outside = save(&url);
    let id = ann(&["session", "start"], &url)["session"]["id"].clone();
    let id = id.as_str().unwrap();
    assert_ne!(outside["session"], id, "it has a session that nobody named");
    assert_eq!(ann(&["session", "use", &id[id.len() - 8..]], &url)["session"], id);
    assert!(!has_store(&person), "the home is not used");
    let inside = save(&url);
    assert_eq!(inside["session"], id);
    assert_ne!(saved(&[]), id, "the home has a current session of its own");
    let list = |session: &str| {
        person.run_with(&root, &["list", "--session", session, "--agent", "ann"], &url)
    };
    let (shown, text) = (printed(&list(id)), |memory: &Value| memory["text"].to_string());
    let lists = |memory: &Value| shown.contains(text(memory).trim_matches('"'));
    assert!(lists(&inside) && !lists(&outside), "{shown}");
    let unknown = "ses_01m7y9c4dpeqkspxh7a865d434";
    let variable = [url[0], ("COMMONBOOK_SESSION", unknown)];
    for refused in [
        list(unknown),
        person.run_with(&root, &["session", "use", unknown], &url),
        person.run_with(&root, &["save", "z", "--agent", "ann"], &variable),
    ] {
        assert_eq!(refused.status.code(), Some(5), "{}", errors(&refused));
    }
    ann(&["session", "end"], &url);
    assert_eq!(saved(&url), outside["session"], "it has ended");
    assert_eq!(saved(&[url[0], ("COMMONBOOK_SESSION", id)]), id);
}

#[test]
fn a_client_selects_its_tools_through_the_bridge() {
    let (_shared, server, person, root) = world();
    let setup = ["setup", "claude-code", "--http", &server.url, "--tools", "core,list_memories"];
    printed(&person.run(&root, &setup));
    let entry = fs::read_to_string(person.folder.path().join(".claude.json")).unwrap();
    assert!(entry.contains("core,list_memories"), "{entry}");
    let mut at_home = McpProcess::with(&Person::new(), &root, &["--tools", "core"], &[]);
    at_home.begin();
    let refused_at_home = at_home.call("list_memories", &json!({}));
    let url = [("COMMONBOOK_URL", server.url.as_str())];
    for (arguments, count, lists) in [
        (&[][..], None, true),
        (&["--tools", "core"], Some(at_home.tools().len()), false),
        (&["--tools", "core,list_memories"], Some(at_home.tools().len() + 1), true),
        (&["--tools", "list_memories"], Some(1), true),
    ] {
        let mut mcp = McpProcess::with(&person, &root, arguments, &url);
        mcp.begin();
        let tools = mcp.tools();
        assert_eq!(tools.contains(&"list_memories".to_owned()), lists, "{arguments:?}");
        assert!(count.is_none_or(|count| count == tools.len()), "{arguments:?}: {tools:?}");
        let called = mcp.call("list_memories", &json!({}));
        match lists {
            true => assert!(called["result"]["isError"] != json!(true), "{called}"),
            false => assert_eq!(called, refused_at_home, "it is refused as at home"),
        }
    }
    assert!(!has_store(&person), "the home is not used");
}
