//! `agent add` and `agent remove`: a token, what to paste, and the end of both.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::world::Home;

fn run(home: &Home, arguments: &[&str]) -> Output {
    let mut command = home.program(arguments);
    command.env_remove("CODEX_HOME").env("HOME", home.path()).output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn tokens(home: &Home) -> Vec<Value> {
    let listed = printed(&run(home, &["token", "list", "--json"]));
    let listed: Value = serde_json::from_str(&listed).unwrap();
    listed["items"].as_array().unwrap().clone()
}

#[test]
fn a_new_agent_gets_a_token_with_what_to_paste_and_loses_it_again() {
    let home = Home::new();
    let said =
        printed(&run(&home, &["agent", "add", "rook", "--for", "codex", "--workspace", "w"]));
    let line =
        "commonbook setup codex --http http://127.0.0.1:7077 --header 'Authorization: Bearer cbk_";
    assert!(said.contains(line), "{said}");
    let token = tokens(&home).remove(0);
    assert_eq!((&token["agent"], &token["workspace"]), (&json!("rook"), &json!("w")));
    assert_eq!(token["scopes"], json!(["read", "write", "hook"]));

    let reader = ["agent", "add", "bob", "--for", "langgraph", "--preset", "reader", "--json"];
    let added: Value = serde_json::from_str(&printed(&run(&home, &reader))).unwrap();
    let entry: Value = serde_json::from_str(added["lines"][0].as_str().unwrap()).unwrap();
    let server = &entry["mcpServers"]["commonbook"];
    let secret = added["secret"].as_str().unwrap();
    assert_eq!(server["headers"]["Authorization"], json!(format!("Bearer {secret}")));
    assert_eq!(server["url"], "http://127.0.0.1:7077/mcp");
    assert_eq!(added["token"]["scopes"], json!(["read"]));
    let said =
        printed(&run(&home, &["agent", "add", "eve", "--for", "python", "--expires", "30d"]));
    assert!(said.contains("export COMMONBOOK_TOKEN=cbk_"), "{said}");
    assert!(said.contains("book = Commonbook()"), "{said}");

    assert!(printed(&run(&home, &["agent", "remove", "rook"])).contains("Revoked 1 token of rook"));
    let live = tokens(&home).into_iter().filter(|token| token.get("revoked_at").is_none());
    let live: Vec<_> = live.map(|token| token["agent"].as_str().unwrap().to_owned()).collect();
    assert!(!live.contains(&"rook".to_owned()) && live.len() == 2, "{live:?}");
    let again = run(&home, &["agent", "remove", "rook"]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("rook has no token here"), "{again:?}");
}

#[test]
fn an_agent_is_written_into_the_files_of_its_client_and_taken_out_again() {
    let home = Home::new();
    let file = home.path().join(".codex/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "model = \"x\"\n").unwrap();
    let add = ["agent", "add", "rook", "--for", "codex", "--write"];
    let said = printed(&run(&home, &add));
    assert!(!said.contains("cbk_"), "the secret goes into the home alone: {said}");
    assert!(fs::read_to_string(&file).unwrap().contains("commonbook"));
    assert!(fs::read_to_string(home.path().join("servers.json")).unwrap().contains("cbk_"));
    printed(&run(&home, &["agent", "remove", "rook"]));
    assert_eq!(fs::read_to_string(&file).unwrap(), "model = \"x\"\n");
    assert!(tokens(&home)[0].get("revoked_at").is_some());
}

#[test]
fn an_agent_that_cannot_be_added_gets_no_token() {
    let home = Home::new();
    for (arguments, words) in [
        (
            &["agent", "add", "rook", "--for", "python", "--write"][..],
            "paste what the command prints",
        ),
        (&["agent", "add", "human"], "is reserved"),
        (&["agent", "add", "rook", "--expires", "soon"], "expires"),
        (&["agent", "add", "rook", "--agent", "ann"], "ann"),
    ] {
        let refused = run(&home, arguments);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains(words), "{arguments:?}: {said}");
    }
    assert_eq!(tokens(&home), Vec::<Value>::new());
}
