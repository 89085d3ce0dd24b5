//! The pages on what agents do: events over time, what each received, cases with what is unread, and lists
//! in forms.

use serde_json::{Value, json};

use crate::dashboard::{Browser, between, signed_in, text_of};
use crate::world::{Cli, Door, Home, Server};

/// The part of a page with this id, as text.
fn part(browser: &Browser<'_>, page: &str, id: &str) -> String {
    let body = browser.get(page).body;
    text_of(&between(&body, &format!("id=\"{id}\""), "</section>"))
}

#[test]
fn what_one_wrote_oneself_is_not_unread() {
    let home = Home::new();
    let server = Server::start(&home);
    let cli = Cli(&home);
    cli.call("ann", "open_case", &json!({"key": "outage", "title": "Outage"})).unwrap();
    let browser = signed_in(&home, &server);
    let own = [("key", "outage"), ("summary", "I saw it first"), ("back", "/dashboard")];
    assert_eq!(browser.send_form("append_entry", &own).status, 303);
    assert!(!part(&browser, "cases", "cases").contains("unread"));
    assert!(!part(&browser, "cases/outage", "log").contains("unread"));
    let append = |agent: &str, summary: &str| {
        let entries = json!({"key": "outage", "entries": [{"summary": summary}]});
        cli.call(agent, "append_entries", &entries).unwrap();
    };
    append("ann", "The gateway is down");
    assert_eq!(browser.send_form("append_entry", &own).status, 303);
    assert!(part(&browser, "cases", "cases").contains("1 unread"));
    let log = part(&browser, "cases/outage", "log");
    assert_eq!(log.matches("unread").count(), 1, "{log}");
    let unread = |agent: &str| {
        let counts = cli.call(agent, "count_unread", &json!({"cases": ["outage"]})).unwrap();
        counts["items"][0].clone()
    };
    assert_eq!(unread("ann"), json!({"case": "outage", "mark": 0, "unread": 2}));
    assert_eq!(unread("bob"), json!({"case": "outage", "mark": 0, "unread": 3}));
    cli.call("bob", "mark_read", &json!({"case": "outage", "position": 2})).unwrap();
    assert_eq!(unread("bob"), json!({"case": "outage", "mark": 2, "unread": 1}));
    let missing = cli.call("bob", "count_unread", &json!({"cases": ["nowhere"]})).unwrap_err();
    assert_eq!(missing["kind"], "not_found");
}

#[test]
fn the_branches_of_an_old_case_are_found_behind_many_newer_cases() {
    let home = Home::new();
    let server = Server::start(&home);
    let cli = Cli(&home);
    cli.call("ann", "open_case", &json!({"key": "old", "title": "Old"})).unwrap();
    server.call("ann", "branch_case", &json!({"key": "old", "name": "try"})).unwrap();
    for number in 0..101 {
        let case = json!({"key": format!("new-{number}"), "title": "New"});
        server.call("ann", "open_case", &case).unwrap();
    }
    let browser = signed_in(&home, &server);
    let facts = browser.get("cases/old").body;
    assert!(facts.contains("/cases/old.try\""), "{facts}");
    let branches = cli.call("ann", "list_branches", &json!({"key": "old"})).unwrap();
    let keys: Vec<&Value> =
        branches["items"].as_array().unwrap().iter().map(|case| &case["key"]).collect();
    assert_eq!(keys, ["old.try"]);
    let none = cli.call("ann", "list_branches", &json!({"key": "new-1"})).unwrap();
    assert_eq!(none, json!({"items": [], "next": null}));
}
