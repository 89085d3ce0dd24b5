//! Features of MCP alone: tools with their schemas, two transports, broken lines.

use serde_json::{Value, json};

use crate::world::{Door, Home, Mcp, Server};

fn answers(home: &Home, lines: &[&[u8]]) -> Vec<Value> {
    let output = home.feed(&["mcp"], &lines.join(&b'\n'));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const HELLO: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"Some Client","version":"1"}}}"#;
const READY: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const SAVE: &[u8] = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"save_memory","arguments":{"text":"tea"}}}"#;

#[test]
fn a_broken_line_on_stdio_is_answered_and_the_next_one_works() {
    let home = Home::new();
    let broken: [&[u8]; 3] = [b"{\"jsonrpc\": \"2.0\", \"id\": 3,", b"\xff\xfe", b"nonsense"];
    let lines = [HELLO, READY, broken[0], broken[1], broken[2], SAVE, b""];
    let answers = answers(&home, &lines);
    let errors: Vec<&Value> =
        answers.iter().filter(|answer| answer.get("error").is_some()).collect();
    assert_eq!(errors.len(), 3, "{answers:?}");
    for error in errors {
        assert_eq!((&error["id"], &error["error"]["code"]), (&Value::Null, &json!(-32700)));
        assert_eq!(error["error"]["data"]["error"]["kind"], "invalid");
    }
    let saved = answers.iter().find(|answer| answer["id"] == 7).unwrap();
    let memory = &saved["result"]["structuredContent"]["memory"];
    assert_eq!((&memory["text"], &memory["owner"]), (&json!("tea"), &json!("some-client")));
}

#[test]
fn a_line_that_is_too_long_is_answered_and_the_next_one_works() {
    let home = Home::new();
    let long = vec![b'x'; 16 * 1024 * 1024 + 10];
    let answers = answers(&home, &[HELLO, READY, &long, SAVE, b""]);
    assert!(answers.iter().any(|a| a["error"]["data"]["error"]["kind"] == "too_large"));
    assert!(answers.iter().any(|a| a["id"] == 7 && a.get("result").is_some()));
}

#[cfg(unix)]
#[test]
fn a_stdio_server_ends_on_sigterm() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    let home = Home::new();
    let mut command = home.program(&["mcp"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&[HELLO, b"\n"].concat()).unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("serverInfo"), "{answer}");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    // Its end of standard input is still open.
    assert!(child.wait().unwrap().success());
    drop(stdin);
}

#[test]
fn at_most_ten_tools_are_offered_by_default() {
    let home = Home::new();
    let list = br#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let core = answers(&home, &[HELLO, READY, list, b""]);
    let core = &core.iter().find(|answer| answer["id"] == 2).unwrap()["result"]["tools"];
    let names: Vec<_> =
        core.as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert!(names.len() <= 10 && names.starts_with(&["save_memory", "search_memory"]), "{names:?}");
    let full = Mcp::over_stdio(&home).with("client", async |client| client.list_all_tools().await);
    let full = full.unwrap();
    assert!(full.len() > names.len());
    for tool in &full {
        assert!(tool.description.as_ref().is_some_and(|text| text.len() > 20), "{}", tool.name);
        assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        assert!(tool.output_schema.is_some() && tool.annotations.is_some(), "{}", tool.name);
    }
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol() {
    let home = Home::new();
    let server = Server::start(&home);
    for mcp in [Mcp::over_stdio(&home), Mcp::over_http(&home, &server)] {
        let request = rmcp::model::CallToolRequestParams::new("forget_everything");
        let answer = mcp.with("client", async |client| client.call_tool(request).await);
        assert!(answer.unwrap_err().to_string().contains("forget_everything"));
    }
}

#[test]
fn one_process_finds_the_saves_of_another_at_once() {
    let home = Home::new();
    let server = Server::start(&home);
    let (stdio, http) = (Mcp::over_stdio(&home), Mcp::over_http(&home, &server));
    stdio.call("one", "save_memory", &json!({"text": "The heron nests on Tuesday"})).unwrap();
    let found = http.call("two", "search_memory", &json!({"query": "When does the heron nest?"}));
    assert_eq!(found.unwrap()["hits"][0]["memory"]["owner"], "one");
}

#[test]
fn a_connection_works_in_the_session_that_it_has_started() {
    use rmcp::model::CallToolRequestParams;
    let home = Home::new();
    let server = Server::start(&home);
    for mcp in [Mcp::over_stdio(&home), Mcp::over_http(&home, &server)] {
        mcp.with("ann", async |client| {
            let call = async |tool: &str, fields: Value| {
                let mut request = CallToolRequestParams::new(tool.to_owned());
                request.arguments = fields.as_object().cloned();
                client.call_tool(request).await.unwrap().structured_content.unwrap()
            };
            let session = |saved: Value| saved["memory"]["session"].clone();
            let before = call("save_memory", json!({"text": "before"})).await;
            let id = call("start_session", json!({})).await["session"]["id"].clone();
            let within = call("save_memory", json!({"text": "within"})).await;
            assert_eq!((session(before), session(within)), (Value::Null, id.clone()));
            assert_eq!(call("end_session", json!({})).await["id"], id);
            let after = call("save_memory", json!({"text": "after"})).await;
            assert_eq!(session(after), Value::Null);
        });
    }
}

#[test]
fn a_save_of_codex_is_in_the_session_that_codex_names() {
    let home = Home::new();
    let save = |id: u8, text: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "save_memory", "arguments": {"text": text},
            "_meta": {"x-codex-turn-metadata": {"session_id": "own-1", "thread_id": "own-1"}}}})
        .to_string()
    };
    let lines = [save(7, "tea at four"), save(8, "coffee at six")];
    answers(&home, &[HELLO, READY, lines[0].as_bytes(), lines[1].as_bytes(), b""]);
    let list = |arguments: &[&str]| -> Value {
        let output = home.run(&[arguments, &["--json", "--agent", "some-client"]].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let sessions = list(&["session", "list"]);
    let [session] = sessions["items"].as_array().unwrap().as_slice() else { panic!("{sessions}") };
    assert_eq!(session["client_session"], "own-1");
    let memories = list(&["list"]);
    let memories = memories["items"].as_array().unwrap();
    assert_eq!(memories.len(), 2);
    assert!(memories.iter().all(|memory| memory["session"] == session["id"]), "{memories:?}");
}
