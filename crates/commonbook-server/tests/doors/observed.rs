//! What agents received, at every door: listed, explained and streamed for those who may see it.

use serde_json::{Value, json};

use crate::doors::stream::Stream;
use crate::world::{Answer, Cli, Door, Home, Mcp, Server, WORKSPACE, new_text};

const TASK: &str = "Mend the parser of tabs";

/// Saves a shared and a private memory of a child, and tells it both; returns their ids.
fn told_child(door: &dyn Door) -> (Value, Value, Value) {
    let saved = |sharing: &str, about: &str| {
        let text = format!("The parser of tabs {about} {}", new_text());
        let fields = json!({"text": text, "sharing": sharing});
        door.call("claude/engineer", "save_memory", &fields).unwrap()["memory"]["id"].clone()
    };
    let (shared, private) = (saved("shared", "fails on blanks"), saved("private", "is a secret"));
    let context = door.call("claude/engineer", "get_context", &json!({"task": TASK})).unwrap();
    assert_eq!(context["items"].as_array().unwrap().len(), 2, "{context}");
    (shared, private, context["id"].clone())
}

fn work_events(answer: &Answer) -> Vec<Value> {
    let events = answer.as_ref().unwrap()["items"].as_array().unwrap().clone();
    let of_work = |event: &Value| event["kind"] == "context.built";
    events.into_iter().filter(of_work).collect()
}

#[test]
fn every_door_shows_what_a_child_was_told_to_its_parent_and_to_no_stranger() {
    let home = Home::new();
    let server = Server::start(&home);
    let (cli, mcp) = (Cli(&home), Mcp::over_http(&home, &server));
    let doors: [&dyn Door; 3] = [&server, &cli, &mcp];
    let (shared, private, context) = told_child(&server);
    for (index, door) in doors.into_iter().enumerate() {
        let list =
            |agent: &str| door.call(agent, "list_contexts", &json!({"since": "1h"})).unwrap();
        let explain =
            |agent: &str| door.call(agent, "explain_context", &json!({"context": context}));
        let events = |agent: &str| work_events(&door.call(agent, "list_events", &json!({})));
        let parents = list("claude");
        assert_eq!(parents["items"][0]["items"], 1, "{parents}");
        // An MCP client's own name is no path.
        let own: &dyn Door = if index == 2 { &server } else { door };
        let own = own.call("claude/engineer", "list_contexts", &json!({})).unwrap();
        assert_eq!(own["items"][0]["items"], 2);
        let explained = explain("claude").unwrap();
        assert_eq!(explained["candidates"][0]["id"], shared);
        assert_eq!(explained["diagnostics"]["candidate_count"], 1);
        let seen = events("claude");
        assert_eq!(seen[0]["details"]["ids"], json!([shared]));
        assert!(seen[0]["details"].get("candidate_count").is_none());
        for answer in [&parents, &explained, &json!(seen)] {
            assert!(!answer.to_string().contains(private.as_str().unwrap()), "{answer}");
        }
        for stranger in ["eve", "claudette", "claude/qa"] {
            assert_eq!(list(stranger)["items"], json!([]), "{stranger}");
            assert_eq!(events(stranger), Vec::<Value>::new(), "{stranger}");
            assert!(explain(stranger).is_err(), "{stranger}");
        }
    }
}

#[test]
fn a_stream_narrows_what_a_child_was_told_for_each_reader() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut streams = ["claude/engineer", "claude"].map(|agent| Stream::open(&server, agent, ""));
    let (shared, private, context) = told_child(&server);
    let mut details = streams.iter_mut().map(|stream| {
        loop {
            let line = stream.line().unwrap();
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let event: Value = serde_json::from_str(data).unwrap();
            if event["kind"] == "context.built" {
                assert_eq!(event["subject"], context);
                return event["details"].clone();
            }
        }
    });
    let (own, parents) = (details.next().unwrap(), details.next().unwrap());
    assert_eq!(own["ids"].as_array().unwrap().len(), 2, "{own}");
    assert_eq!(parents["ids"], json!([shared]));
    assert!(!parents.to_string().contains(private.as_str().unwrap()), "{parents}");
}

#[test]
fn the_statistics_of_a_server_have_its_streams() {
    let home = Home::new();
    let server = Server::start(&home);
    let bus =
        |agent: &str| server.call(agent, "get_memory_stats", &json!({})).unwrap()["bus"].clone();
    assert_eq!(bus("ann")["followers"], 0);
    let mut stream = Stream::open(&server, "ann", "events=memory.*");
    told_child(&server);
    let mut lines = std::iter::from_fn(|| stream.line());
    lines.find(|line| line.starts_with("data: ")).unwrap();
    let anns = bus("ann");
    assert_eq!((&anns["followers"], &anns["failed"]), (&json!(1), &json!(0)), "{anns}");
    assert_eq!((&anns["published"], &anns["delivered"]), (&json!(2), &json!(1)), "{anns}");
    assert_eq!(anns["last_event"]["kind"], "memory.saved");
    assert_eq!(bus("bob")["followers"], 0, "each sees its own");
    let text = home.run(&["stats", "--workspace", WORKSPACE]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("1 follower") && text.contains("delivered"), "{text}");
    assert!(text.contains("last event  "), "{text}");
    drop(server);
    let without = Cli(&home).call("ann", "get_memory_stats", &json!({})).unwrap();
    assert!(without.get("bus").is_none(), "{without}");
}

#[test]
fn usage_is_shown_and_sorted_by_at_the_command_line() {
    let home = Home::new();
    let cli = Cli(&home);
    let (shared, private, _) = told_child(&cli);
    let show = |agent: &str, id: &Value| cli.call(agent, "get_memory", &json!({"id": id})).unwrap();
    let usage = show("claude/engineer", &private)["usage"].clone();
    assert_eq!((&usage["told"], &usage["used"]), (&json!(1), &json!(0)), "{usage}");
    assert!(usage["last_told_at"].as_str().unwrap().ends_with(":00Z"), "{usage}");
    assert_eq!(show("claude/engineer", &private)["usage"]["used"], 1);
    let sorted = json!({"sort": "used"});
    let list = |agent: &str| cli.call(agent, "list_memories", &sorted).unwrap()["items"].clone();
    assert_eq!(list("claude/engineer")[0]["id"], private);
    let others = list("eve");
    assert_eq!(others.as_array().unwrap().len(), 1, "{others}");
    assert_eq!((&others[0]["id"], &others[0]["usage"]["told"]), (&shared, &json!(1)));
    let printed = |arguments: &[&str]| {
        let output = home.run(&[arguments, &["--workspace", WORKSPACE]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let shown = printed(&["show", shared.as_str().unwrap()]);
    assert!(shown.contains("found 0, told 1, used 0, told last "), "{shown}");
    assert!(
        printed(&["list", "--sort", "told"]).contains("told 1"),
        "a list says what it sorts by"
    );
    let table = printed(&["contexts"]);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(table.lines().count() == 2 && table.contains("claude/engineer"), "{table}");
    let handle = table.lines().nth(1).unwrap().split_whitespace().next().unwrap();
    assert!(printed(&["explain", handle]).contains(TASK), "the handle is enough");
    // The export of a home leaves out what happened in it.
    assert!(!printed(&["export"]).contains("\"usage\""));
}
