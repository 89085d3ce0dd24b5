//! A memory at a URL: the command line, hooks and tools of a client all use it, and never the home.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::projects::{Person, errors};
use crate::world::{Home, Server};

/// An address at which nothing answers.
const NOWHERE: &str = "http://127.0.0.1:9";

/// `commonbook mcp` as a client starts it.
pub(crate) struct McpProcess {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<std::process::ChildStdout>,
}

impl McpProcess {
    fn start(person: &Person, folder: &Path, set: &[(&str, &str)]) -> Self {
        Self::with(person, folder, &[], set)
    }

    /// With these additional arguments.
    pub(crate) fn with(
        person: &Person,
        folder: &Path,
        arguments: &[&str],
        set: &[(&str, &str)],
    ) -> Self {
        let own = ["mcp", "--client", "claude-code"];
        let mut command = person.home.program(&[&own, arguments].concat());
        command.current_dir(folder).env("HOME", person.folder.path()).envs(set.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), child, output }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn begin(&mut self) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}}}));
        let begun = self.receive();
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        begun
    }

    /// Calls a tool, and returns the response.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The names of the tools.
    pub(crate) fn tools(&mut self) -> Vec<String> {
        let listed = self.request("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": "call", "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == "call" {
                return message;
            }
        }
    }
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        drop(self.input.take());
        drop(self.child.wait());
    }
}

/// What the server of this home has, as its own command line lists it.
pub(crate) fn stored(home: &Home, workspace: &str) -> Vec<(String, String)> {
    let list = ["list", "--json", "--agent", "reader", "--workspace", workspace];
    // In no project, which could use a server.
    let output = home.program(&list).current_dir(std::env::temp_dir()).output().unwrap();
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let items = list["items"].as_array().unwrap().iter();
    let text = |item: &Value, field: &str| item[field].as_str().unwrap().to_owned();
    let mut rows: Vec<_> = items.map(|item| (text(item, "owner"), text(item, "text"))).collect();
    rows.sort();
    rows
}

pub(crate) fn has_store(person: &Person) -> bool {
    person.home.path().join("commonbook.db").exists()
}

#[test]
fn hooks_and_tools_of_a_client_use_its_url() {
    let (shared, person) = (Home::new(), Person::new());
    let server = Server::start(&shared);
    let root = person.repository("api", "git@github.com:acme/api.git");
    let setup =
        person.run(&root, &["setup", "claude-code", "--http", &format!("{}/mcp", server.url)]);
    assert!(setup.status.success(), "{}", errors(&setup));
    assert!(String::from_utf8_lossy(&setup.stdout).contains(&format!("memories   {}", server.url)));

    let mut mcp = McpProcess::start(&person, &root, &[]);
    assert_eq!(mcp.begin()["result"]["serverInfo"]["name"], "commonbook");
    let saved = mcp.call("save_memory", &json!({"text": "The crane is green"}));
    assert!(saved["result"]["isError"] != json!(true) && saved["error"].is_null(), "{saved}");
    // A sub-agent, which only the hook knows, has its own name on the server.
    let call = json!({"text": "The hook is red"});
    let mut command = person.home.program(&["hook", "claude-code", "PreToolUse"]);
    command.current_dir(&root).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut hook = command.spawn().unwrap();
    let input = json!({
        "session_id": "one", "cwd": root, "hook_event_name": "PreToolUse", "agent_type": "engineer",
        "agent_id": "a1", "tool_name": "mcp__commonbook__save_memory", "tool_input": call,
    });
    hook.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = hook.wait_with_output().unwrap();
    let signed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let signed = &signed["hookSpecificOutput"]["updatedInput"];
    assert!(signed["commonbook_ticket"].is_string(), "{signed}");
    let saved = mcp.call("save_memory", signed);
    assert!(saved["result"]["isError"] != json!(true) && saved["error"].is_null(), "{saved}");
    let row = |owner: &str, text: &str| (owner.to_owned(), text.to_owned());
    let rows =
        [row("claude-code", "The crane is green"), row("claude-code/engineer", "The hook is red")];
    assert_eq!(stored(&shared, "api-e1dcaa"), rows);
    // A hook gives what is there.
    let context = person.hook(&root, "SessionStart", &[]);
    assert!(context.starts_with('{'), "{context}");
    let sessions = shared.run(&[
        "session",
        "list",
        "--json",
        "--workspace",
        "api-e1dcaa",
        "--owner",
        "claude-code",
        "--agent",
        "claude-code",
    ]);
    assert!(String::from_utf8_lossy(&sessions.stdout).contains("one"), "{sessions:?}");
    assert!(!has_store(&person), "the home is not used");
    drop(mcp);
    let doctor = person.run(&root, &["doctor"]);
    let report = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(report.contains(&format!("claude-code: {}", server.url)), "{report}");
    assert!(report.contains("the command line: "), "{report}");
    // Another client, and the command line, still use the home.
    person.answer(&root, &["save", "local"]);
    assert!(has_store(&person));
    assert_eq!(stored(&shared, "api-e1dcaa"), rows);
    let undone = person.run(&root, &["setup", "claude-code", "--undo"]);
    assert!(undone.status.success());
    let servers = fs::read_to_string(person.home.path().join("servers.json")).unwrap();
    assert!(!servers.contains("http"), "{servers}");
}

#[test]
fn the_command_line_uses_the_url_of_its_project_or_its_environment() {
    let (shared, person) = (Home::new(), Person::new());
    let server = Server::start(&shared);
    let root = person.repository("api", "git@github.com:acme/api.git");
    let project = ["setup", "claude-code", "--scope", "project", "--http", &server.url];
    assert!(person.run(&root, &project).status.success());
    // Nothing in the project tells where its memories are.
    for path in [".mcp.json", ".claude/settings.json"] {
        let text = fs::read_to_string(root.join(path)).unwrap();
        assert!(text.contains("commonbook") && !text.contains("http"), "{text}");
    }
    let saved = person.answer(&root, &["save", "The crane is green", "--topic", "crane"]);
    let id = saved["memory"]["id"].as_str().unwrap();
    assert_eq!(saved["memory"]["workspace"], "api-e1dcaa");
    assert_eq!(person.answer(&root, &["search", "crane"])["total"], 1);
    assert_eq!(person.answer(&root, &["show", id])["text"], "The crane is green");
    person.answer(&root, &["update", id, "--title", "Crane"]);
    person.answer(&root, &["delete", id]);
    person.answer(&root, &["restore", id]);
    person.answer(&root, &["case", "append", "crane", "It is green", "--title", "Crane"]);
    let read = person.answer(&root, &["case", "read", "crane", "--mark"]);
    assert_eq!(read["entries"][0]["summary"], "It is green");
    assert_eq!(person.answer(&root, &["case", "read", "crane"])["entries"], json!([]));
    assert!(person.answer(&root, &["changes", "--mark"])["through"].is_u64());
    let missing = person.run(&root, &["show", "mem_00000000000000000000000000", "--json"]);
    assert_eq!(missing.status.code(), Some(5), "{}", errors(&missing));
    let foreign = person.run(&root, &["update", id, "--title", "Mine", "--agent", "yan"]);
    let words = errors(&foreign);
    assert!(words.contains("belongs to 'me'") && words.contains("`commonbook save`"), "{words}");
    let doctor = person.run(&root, &["doctor"]);
    assert!(errors(&doctor).contains("`doctor` is about"), "{}", errors(&doctor));
    assert!(!has_store(&person), "the home is not used");
    // Elsewhere the environment says it, also in a folder without a project.
    let set = [("COMMONBOOK_URL", server.url.as_str()), ("COMMONBOOK_WORKSPACE", "api-e1dcaa")];
    let found = person.run_with(person.folder.path(), &["search", "crane", "--json"], &set);
    let shown = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(shown.contains("The crane is green"), "{shown} {}", errors(&found));
}

#[test]
fn a_url_that_does_not_answer_is_unavailable_and_no_reason_to_use_the_home() {
    let person = Person::new();
    let root = person.repository("api", "git@github.com:acme/api.git");
    let set = [("COMMONBOOK_URL", NOWHERE)];
    fs::write(root.join("lines"), r#"{"text": "x"}"#).unwrap();
    for arguments in [
        &["save", "x", "--agent", "me"][..],
        &["search", "x"],
        &["export"],
        &["import", "lines"],
        &["monitor"],
        &["session", "use", "ses_01m7y9c4dpeqkspxh7a865d434"],
    ] {
        let output = person.run_with(&root, arguments, &set);
        assert_eq!(output.status.code(), Some(9), "{arguments:?}");
        assert!(errors(&output).contains(NOWHERE), "{}", errors(&output));
    }
    let begin = Instant::now();
    assert_eq!(person.hook(&root, "UserPromptSubmit", &set), "{}\n");
    assert!(begin.elapsed() < Duration::from_secs(30));
    let log = fs::read_to_string(person.home.path().join("hook.log")).unwrap();
    assert!(log.contains(NOWHERE), "{log}");
    let mut mcp = McpProcess::start(&person, &root, &set);
    let begun = mcp.begin();
    assert_eq!(begun["error"]["data"]["kind"], "unavailable", "{begun}");
    let saved = mcp.call("save_memory", &json!({"text": "x"}));
    assert_eq!(saved["result"]["isError"], true, "{saved}");
    assert!(saved["result"]["content"][0]["text"].as_str().unwrap().contains(NOWHERE), "{saved}");
    drop(mcp);
    let doctor = person.run_with(&root, &["doctor"], &set);
    assert_eq!(doctor.status.code(), Some(9));
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("cannot be reached"));
    let wrong = person.run_with(&root, &["list"], &[("COMMONBOOK_URL", "ftp://x")]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(!has_store(&person), "the home is not used");
}

#[test]
fn a_token_is_in_the_home_or_the_environment_and_asked_for_first() {
    use std::os::unix::fs::PermissionsExt;
    let (shared, person) = (Home::new(), Person::new());
    let server = Server::start(&shared);
    let root = person.repository("api", "git@github.com:acme/api.git");
    // On the server's machine a client uses HTTP without a token.
    let set =
        |home: &Home| home.run(&["setup", "cursor", "--scope", "project", "--http", &server.url]);
    assert!(set(&shared).status.success());
    let create = ["token", "create", "me", "--json"];
    let refused = shared.run(&create);
    assert_eq!(refused.status.code(), Some(6), "{}", errors(&refused));
    let created = shared.run(&[&create[..], &["--yes"]].concat());
    let token: Value = serde_json::from_slice(&created.stdout).unwrap();
    let token = token["secret"].as_str().unwrap();
    let header = format!("Authorization: Bearer {token}");
    let url = [("COMMONBOOK_URL", server.url.as_str())];
    assert_eq!(person.run_with(&root, &["list"], &url).status.code(), Some(3));
    let with = [url[0], ("COMMONBOOK_TOKEN", token)];
    let list = person.run_with(&root, &["list", "--agent", "me"], &with);
    assert!(list.status.success(), "{}", errors(&list));
    let setup = ["setup", "claude-code", "--scope", "project", "--http", &server.url];
    let setup = person.run(&root, &[&setup[..], &["--header", &header, "--agent", "me"]].concat());
    assert!(setup.status.success(), "{}", errors(&setup));
    assert!(!String::from_utf8_lossy(&setup.stdout).contains(token));
    let servers = person.home.path().join("servers.json");
    assert_eq!(fs::metadata(&servers).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(servers).unwrap().contains(token));
    // Set up again, with the token in the environment of the setup alone.
    let again = ["setup", "claude-code", "--scope", "project", "--http", &server.url];
    let again = person.run_with(&root, &[&again[..], &["--agent", "me"]].concat(), &with[1..]);
    assert!(again.status.success(), "{}", errors(&again));
    assert!(!String::from_utf8_lossy(&again.stdout).contains(token));
    person.answer(&root, &["save", "The crane is green"]);
    let mut mcp = McpProcess::start(&person, &root, &[]);
    mcp.begin();
    let saved = mcp.call("save_memory", &json!({"text": "The hook is red"}));
    assert!(saved["error"].is_null(), "{saved}");
    let owners: Vec<String> = stored(&shared, "api-e1dcaa").into_iter().map(|row| row.0).collect();
    assert_eq!(owners, ["me", "me"]);
}

#[test]
fn a_setup_with_a_url_says_where_to_read_and_whether_the_server_answers() {
    let (shared, person) = (Home::new(), Person::new());
    let server = Server::start(&shared);
    let root = person.repository("api", "git@github.com:acme/api.git");
    let text_of = |arguments: &[&str]| {
        let output = person.run(&root, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", errors(&output));
        (String::from_utf8(output.stdout.clone()).unwrap(), errors(&output))
    };
    let (said, warned) = text_of(&["setup", "gemini", "--http", &server.url]);
    let next = format!("  COMMONBOOK_URL={} commonbook list", server.url);
    assert!(said.contains(&next) && !warned.contains("warning"), "{said} {warned}");
    // The command line reads the home, and says who does not.
    let (_, noted) = text_of(&["list"]);
    let note =
        format!("gemini uses {0}; `COMMONBOOK_URL={0} commonbook …` reads there", server.url);
    assert!(noted.contains(&note), "{noted}");
    let set = [("COMMONBOOK_URL", server.url.as_str())];
    let there = person.run_with(&root, &["list"], &set);
    assert!(!errors(&there).contains("gemini uses"), "{}", errors(&there));

    let (_, warned) = text_of(&["setup", "gemini", "--http", NOWHERE]);
    assert!(warned.contains(&format!("warning: {NOWHERE} does not answer now")), "{warned}");
    // The command line goes to the server of its project by itself.
    let project = ["setup", "codex", "--scope", "project", "--http", &server.url];
    assert!(text_of(&project).0.contains("  commonbook list  "));
    let (said, _) = text_of(&["setup", "codex", "--undo"]);
    assert_eq!(said, "codex is set up in this project: add `--scope project`\n");
    text_of(&["setup", "codex", "--undo", "--scope", "project"]);
    let (said, _) = text_of(&["setup", "codex", "--undo"]);
    assert_eq!(said, "codex is not set up here\n");
    let (said, _) = text_of(&["setup", "gemini", "--undo", "--scope", "project"]);
    assert!(said.contains("leave out `--scope project`"), "{said}");
}
