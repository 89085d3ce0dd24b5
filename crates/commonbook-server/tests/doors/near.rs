//! The notes that the answer of a save names, on every door.

use commonbook_text::tokens::count;
use serde_json::{Value, json};

use super::dashboard::signed_in;
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

#[test]
fn each_door_lists_near_pairs_and_records_an_answer() {
    let home = Home::new();
    let server = Server::start(&home);
    let texts = [OLD, NEW, "Certificates are renewed by hand.", "We renew certificates by hand."];
    let save = |text| server.call("ann", "save_memory", &json!({"text": text})).unwrap();
    let saved = texts.map(save);
    let ids: Vec<&Value> = saved.iter().map(|saved| &saved["memory"]["id"]).collect();
    let pairs = |door: &dyn Door| {
        let listed = door.call("bob", "list_pairs", &json!({})).unwrap();
        let pairs = listed["items"].as_array().unwrap().clone();
        pairs.into_iter().map(|pair| pair["newer"]["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(pairs(&server), [ids[3].clone(), ids[1].clone()]);
    assert_eq!(pairs(&Cli(&home)), pairs(&server));
    let (told, said) = Mcp::over_http(&home, &server).with("bob", async |client| {
        let told = ask(client, "list_pairs", json!({})).await.0;
        let listed: Value = serde_json::from_str(&told).unwrap();
        let pair = &listed["items"][0];
        let answer = json!({"newer": pair["newer"]["id"], "older": pair["older"]["id"], "answer": "repeats"});
        (told, ask(client, "answer_pairs", json!({"answers": [answer]})).await)
    });
    assert!(told.contains("not instructions") && said.0.contains("noted"), "{told} {said:?}");
    assert_eq!(pairs(&server), [ids[1].clone()]);
    let browser = signed_in(&home, &server);
    let page = browser.get("contradictions?status=near+pairs").body;
    assert!(page.contains("after 30 seconds") && page.contains("value=\"replaces\""), "{page}");
    let fields =
        [("newer", ids[1]), ("older", ids[0])].map(|(name, id)| (name, id.as_str().unwrap()));
    let [newer, older] = fields;
    let sent = browser.send_form("answer_pair", &[newer, older, ("answer", "contradicts")]);
    assert_eq!(sent.status, 303, "{}", sent.body);
    assert_eq!(pairs(&server), Vec::<Value>::new());
    let (newer, older) = (ids[1].as_str().unwrap(), ids[0].as_str().unwrap());
    let answer = ["contradictions", "answer", newer, older, "neither", "--workspace", WORKSPACE];
    let run = home.run(&answer);
    assert!(String::from_utf8_lossy(&run.stdout).contains("was answered before"), "{run:?}");
}
