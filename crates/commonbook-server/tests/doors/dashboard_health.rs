//! The page Health: what doctor says, slow calls, followers, and webhooks with their dead letters.

use serde_json::{Value, json};

use crate::doors::dashboard::{between, save, signed_in, signed_in_with, text_of};
use crate::doors::tokens::token;
use crate::doors::webhooks::{HttpReceiver, add, hasty_server};
use crate::world::{Cli, Door, Home, Server, WORKSPACE};

#[test]
fn health_shows_the_lines_of_doctor_that_a_server_can_check() {
    let home = Home::new();
    let settings = r#"{"context": {"agents": {"*": {"budget": 900}}}}"#;
    std::fs::write(home.path().join("config.json"), settings).unwrap();
    let server = Server::start(&home);
    save(&home, "ann", &json!({"text": "Ann likes tea"}));
    let browser = signed_in(&home, &server);
    let doctor = home.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let page = text_of(&browser.get("health").body);
    for what in ["workspaces", "schema", "model", "contexts", "handoffs", "process"] {
        let checks = report["checks"].as_array().unwrap();
        let line = checks.iter().find(|check| check["what"] == what).expect(what);
        let line = format!("{what} {}", line["found"].as_str().unwrap());
        assert!(page.contains(&line.replace('"', "&quot;")), "{line}: {page}");
    }
    for part in ["integrity", "disk", "are free", "index its files", "every check passed"] {
        // A follower may be writing; a node holds what was searched.
        let is_index = ["written", "a search builds"].iter().any(|text| page.contains(text));
        let is_there = page.contains(part) || (part.starts_with("index") && is_index);
        assert!(is_there, "{part}: {page}");
    }
    assert!(page.contains("A server cannot look at everything"), "{page}");
    // The check of a whole file runs since the start; a database is read by doctor alone.
    let is_in_database =
        report["checks"].as_array().unwrap().iter().any(|check| check["what"] == "database");
    let integrity = match is_in_database {
        true => "integrity `commonbook doctor` reads every row of the database",
        false => "integrity The store is intact",
    };
    while !text_of(&browser.get("health").body).contains(integrity) {}
}

#[test]
fn health_says_that_the_settings_changed_and_how_to_repair_it() {
    let home = Home::new();
    let server = Server::start(&home);
    let browser = signed_in(&home, &server);
    std::fs::write(home.path().join("config.json"), r#"{"digest": {}}"#).unwrap();
    let page = text_of(&browser.get("health").body);
    assert!(page.contains("began before config.json changed"), "{page}");
    assert!(page.contains("1 check failed") && page.contains("Restart it"), "{page}");
}

#[test]
fn health_lists_slow_calls_by_verb_and_door_and_says_nothing_of_them() {
    let home = Home::new();
    let server = Server::start(&home);
    let browser = signed_in(&home, &server);
    let fields = json!({"text": "A heliotrope grows here", "sharing": "private"});
    server.call("quokka", "save_memory", &fields).unwrap();
    let page = browser.get("health").body;
    let slow = between(&page, "id=\"slow\"", "</section>");
    let row = text_of(&slow);
    assert!(row.contains("save_memory rest"), "{row}");
    for hidden in ["quokka", "heliotrope", WORKSPACE] {
        assert!(!row.contains(hidden), "{row}");
    }
    let hour = between(&page, "id=\"hour\"", "</section>");
    assert_eq!(hour.matches("<figure class=\"plot\">").count(), 4, "{hour}");
    for part in ["Calls a minute", "failed", "Slowest call of each minute", "save_memory 1 0 "] {
        assert!(text_of(&hour).contains(part), "{part}: {hour}");
    }
    assert!(!text_of(&hour).contains("quokka"), "{hour}");
    let followers = text_of(&between(&page, "id=\"followers\"", "</section>"));
    // The tests run without a model: nothing waits for one.
    let off = "they are compared by words: the model is off";
    assert!(followers.contains(off) && !followers.contains("wait for their vector"), "{followers}");
    for part in ["index", "mentions", "contradictions", "Index position", "events read"] {
        assert!(followers.contains(part), "{part}: {followers}");
    }
}

#[test]
fn health_shows_the_home_to_an_administrator_alone() {
    let home = Home::new();
    let server = Server::start(&home);
    save(&home, "ann", &json!({"text": "Ann likes tea"}));
    let (reader, _) = token(&home, &["ann", "--scope", "read", "--scope", "write"]);
    let (admin, _) = token(&home, &["chief", "--scope", "read", "--scope", "admin"]);
    let page = |secret: &str| signed_in_with(&server, secret).get("health").body;
    let of_admin = page(&admin);
    for part in ["id=\"home\"", "id=\"followers\"", "id=\"slow\""] {
        assert!(of_admin.contains(part), "{part}");
        assert!(!page(&reader).contains(part), "{part}");
    }
}

#[test]
fn a_dead_letter_is_sent_again_from_the_page() {
    let home = Home::new();
    let server = hasty_server(&home);
    let receiver = HttpReceiver::start();
    let filter = ["--events", "memory.saved", "--workspace", WORKSPACE];
    let (id, _) = add(&home, &receiver.url, &filter);
    let lost = save(&home, "ann", &json!({"text": "The gate is blue"}));
    let browser = signed_in(&home, &server);
    for _ in 0..8 {
        receiver.next().answer("500 Internal Server Error");
    }
    save(&home, "ann", &json!({"text": "The gate is red"}));
    // The next event arrives after the dead letter is stored.
    receiver.next().answer("200 OK");
    let page = text_of(&browser.get("health").body);
    assert!(page.contains(&receiver.url) && page.contains("Dead letters 1"), "{page}");
    assert!(page.contains("answered 500") && page.contains("Retry all"), "{page}");
    let back = [("webhook_id", id.as_str()), ("back", "/dashboard/w/x/health")];
    let sent = std::thread::scope(|scope| {
        let form = scope.spawn(|| browser.send_form("retry_delivery", &back));
        let arrival = receiver.next();
        assert_eq!(arrival.event()["subject"], json!(lost));
        arrival.answer("200 OK");
        form.join().unwrap()
    });
    assert_eq!(sent.location, "/dashboard/w/x/health?done=retry_delivery");
    assert!(text_of(&browser.get("health").body).contains("Dead letters 0"));
    let shown = Cli(&home).call("ann", "list_memories", &json!({})).unwrap();
    assert_eq!(shown["items"].as_array().unwrap().len(), 2);
}
