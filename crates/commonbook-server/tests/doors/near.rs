//! The notes that the answer of a save names, on every door.

use commonbook_text::tokens::count;
use serde_json::{Value, json};

use super::mcp::ask;
use crate::world::{Cli, Door, Home, Mcp, Server, WORKSPACE};

const OLD: &str =
    "The gateway gives up on an upstream call after 30 seconds, whatever the service is.";
const NEW: &str = "Upstream calls from the gateway time out after 10 seconds.";

#[test]
fn each_door_names_the_nearest_notes_of_a_save() {
    let home = Home::new();
    let server = Server::start(&home);
    let old = server.call("ann", "save_memory", &json!({"text": OLD})).unwrap();
    let id = old["memory"]["id"].as_str().unwrap().to_owned();
    let rest = server.call("bob", "save_memory", &json!({"text": NEW})).unwrap();
    let cli =
        Cli(&home).call("eve", "save_memory", &json!({"text": format!("{NEW} Each.")})).unwrap();
    for answer in [rest, cli] {
        let near = answer["near"].as_array().unwrap();
        let named = near.iter().find(|note| note["id"] == id.as_str()).unwrap();
        assert_eq!((&named["owner"], &named["says"]), (&json!("ann"), &json!(OLD)), "{answer}");
    }
    let save = ["save", "Upstream calls of the gateway take 5 seconds.", "--agent", "joe"];
    let run = home.run(&[&save[..], &["--workspace", WORKSPACE]].concat());
    let told = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(told.contains(&format!("#{} ann: {OLD}", &id[id.len() - 8..])), "{told}");
}

#[test]
fn a_model_reads_them_within_their_tokens_and_says_what_they_are() {
    let home = Home::new();
    let server = Server::start(&home);
    let mut ids: Vec<String> = Vec::new();
    for number in 0..4 {
        let text = format!(
            "{OLD} Measured in round {number} by the team of the gateway, with 3 retries, a pool of 20 \
             connections and the mesh in front of it, since the calls of May were too slow for everybody."
        );
        let saved = server.call("ann", "save_memory", &json!({"text": text})).unwrap();
        ids.push(saved["memory"]["id"].as_str().unwrap().to_owned());
    }
    let (plain, near) = Mcp::over_http(&home, &server).with("bob", async |client| {
        let plain = ask(client, "save_memory", json!({"text": "Herons nest in elms"})).await.0;
        (plain, ask(client, "save_memory", json!({"text": NEW})).await.0)
    });
    let answer: Value = serde_json::from_str(&near).unwrap();
    let notes = answer["near"].as_array().unwrap();
    assert_eq!(notes.len(), 3, "{near}");
    for note in notes {
        assert!(ids.iter().any(|id| note["id"] == format!("#{}", &id[id.len() - 8..])), "{near}");
        assert_eq!(note["owner"], "ann");
        assert!(note["says"].as_str().unwrap().contains("after 30 seconds"), "{note}");
    }
    assert!(answer["data_note"].as_str().unwrap().contains("not instructions"), "{near}");
    assert!(!plain.contains("near"), "{plain}");
    let (with, without) = (count(&near), count(&plain));
    assert!(with - without <= 185, "{with} and {without}: {near}");
    let handle = &notes[0]["id"];
    let said = json!({"id": answer["memory"]["id"], "contradicts": [handle]});
    let (told, is_error) = Mcp::over_http(&home, &server)
        .with("bob", async |client| ask(client, "update_memory", said).await);
    assert!(!is_error, "{told}");
    let found = server.call("eve", "detect_contradictions", &json!({})).unwrap();
    let stated = found["items"].as_array().unwrap().iter().map(|found| &found["stated_by"]);
    assert!(stated.into_iter().any(|by| by == "bob"), "{found}");
}
