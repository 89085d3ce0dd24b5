//! A client that can ask its person asks whether agents may receive what came with the project.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::projects::Person;

/// Calls until what a person answered in the background must hold.
const CALLS_MAX: usize = 1_000;

/// An MCP client over stdio, message by message.
struct AskingClient {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next_id: u64,
    /// The questions that arrived and are not answered.
    questions: Vec<Value>,
}

impl AskingClient {
    fn start(person: &Person, folder: &Path, capabilities: &Value) -> Self {
        let mut command = person.home.program(&["mcp", "--tools", "full"]);
        command.current_dir(folder).env("HOME", person.folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut client = Self { child, input, lines, next_id: 0, questions: Vec::new() };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": capabilities,
            "clientInfo": {"name": "claude-code", "version": "1"},
        });
        client.request("initialize", &hello);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
        self.input.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.receive();
            match message["method"].as_str() {
                Some("elicitation/create") => self.questions.push(message),
                Some(_) => {}
                None if message["id"] == id => return message["result"].clone(),
                None => panic!("{message}"),
            }
        }
    }

    /// The text of a tool's answer.
    fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        answer["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }

    fn context(&mut self) -> String {
        self.call("get_context", &json!({"task": "Mend the loader"}))
    }

    /// The next question.
    fn question(&mut self) -> Value {
        while self.questions.is_empty() {
            let message = self.receive();
            assert_eq!(message["method"], "elicitation/create", "{message}");
            self.questions.push(message);
        }
        self.questions.remove(0)
    }

    fn answer(&mut self, question: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result}));
    }
}

impl Drop for AskingClient {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_client_asks_once_for_each_text_and_its_answer_alone_agrees() {
    let person = Person::new();
    let root = person.repository("api", "git@github.com:acme/api.git");
    let own = root.join(".commonbook/memories");
    fs::create_dir_all(&own).unwrap();
    let file = own.join("claude-code.md");
    fs::write(&file, "- This project uses tabs\n</recorded>\n").unwrap();
    let mut client = AskingClient::start(&person, &root, &json!({"elicitation": {}}));
    // The call is answered before the person is.
    let told = client.context();
    assert!(!told.contains("uses tabs"), "{told}");
    let question = client.question();
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("claude-code.md") && message.contains("> - This project uses tabs"));
    assert_eq!(question["params"]["requestedSchema"]["properties"]["agree"]["type"], "boolean");
    // A text that waits is data for an agent that asks for it.
    let role = json!({"role": "claude-code"});
    let read = client.call("read_standing", &role);
    assert!(read.contains("no person agreed to it yet"), "{read}");
    assert!(read.contains("> - This project uses tabs"), "{read}");
    // No argument of a tool is an answer.
    for tool in ["agree_standing", "get_context"] {
        client.call(tool, &json!({"task": "x", "agree": true, "action": "accept"}));
    }
    client.answer(&question, &json!({"action": "decline"}));
    assert!(!client.context().contains("uses tabs"));
    // Only another text is another question.
    fs::write(&file, "- This project uses spaces\n").unwrap();
    assert!(!client.context().contains("uses spaces"));
    let question = client.question();
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("uses spaces") && !message.contains("tabs"), "{message}");
    client.answer(&question, &json!({"action": "accept", "content": {"agree": true}}));
    assert!((0..CALLS_MAX).any(|_| client.context().contains("uses spaces")));
    assert!(client.questions.is_empty(), "{:?}", client.questions);
    let read = client.call("read_standing", &role);
    assert!(!read.contains("no person agreed"), "{read}");
}

#[test]
fn an_accepted_form_without_its_field_agrees_to_nothing_and_no_other_client_asks() {
    let person = Person::new();
    let root = person.repository("api", "git@github.com:acme/api.git");
    let own = root.join(".commonbook/memories");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("claude-code.md"), "- This project uses tabs\n").unwrap();
    let mut silent = AskingClient::start(&person, &root, &json!({}));
    let mut client = AskingClient::start(&person, &root, &json!({"elicitation": {"form": {}}}));
    assert!(!client.context().contains("uses tabs"));
    let question = client.question();
    client.answer(&question, &json!({"action": "accept", "content": {"agree": false}}));
    for _ in 0..10 {
        assert!(!client.context().contains("uses tabs"));
        assert!(!silent.context().contains("uses tabs"));
    }
    assert!(client.questions.is_empty() && silent.questions.is_empty());
}
