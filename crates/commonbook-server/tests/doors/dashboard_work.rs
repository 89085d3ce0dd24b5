//! The pages on what agents do: events over time, what each received, cases with what is unread, and lists
//! in forms.

use serde_json::{Value, json};

use crate::doors::dashboard::{Browser, between, save, signed_in, signed_in_with, text_of};
use crate::doors::tokens::token;
use crate::world::{Cli, Door, Home, Server};

/// The part of a page with this id, as text.
fn part(browser: &Browser<'_>, page: &str, id: &str) -> String {
    let body = browser.get(page).body;
    text_of(&between(&body, &format!("id=\"{id}\""), "</section>"))
}

#[test]
fn events_are_counted_over_an_hour_a_day_or_a_week_as_far_as_the_reader_sees_them() {
    let home = Home::new();
    let server = Server::start(&home);
    for number in 0..3 {
        save(&home, "ann", &json!({"text": format!("The gate number {number} is blue")}));
    }
    save(&home, "ann", &json!({"text": "Ann's own plan", "sharing": "private"}));
    let (ann, _) = token(&home, &["ann"]);
    let (eve, _) = token(&home, &["eve"]);
    let (of_ann, of_eve) = (signed_in_with(&server, &ann), signed_in_with(&server, &eve));
    for (query, words) in [
        ("now", "the last hour"),
        ("now?period=day", "the last 24 hours"),
        ("now?period=week", "the last 7 days"),
    ] {
        let (own, other) = (part(&of_ann, query, "rates"), part(&of_eve, query, "rates"));
        assert!(own.contains(words), "{own}");
        assert!(own.contains("memory.saved 4 "), "{own}");
        assert!(other.contains("memory.saved 3 "), "{other}");
        let body = of_ann.get(query).body;
        let rates = between(&body, "id=\"rates\"", "</section>");
        assert_eq!(rates.matches("aria-current=\"true\"").count(), 1, "{rates}");
        assert!(rates.contains("<rect class=\"series-0\""), "{rates}");
    }
    let wrong = of_ann.get("now?period=year");
    assert_eq!(wrong.status, 400, "{}", wrong.body);
    assert!(wrong.body.contains("Choose hour, day or week"), "{}", wrong.body);
}

#[test]
fn rates_are_the_same_at_the_command_line() {
    let home = Home::new();
    let cli = Cli(&home);
    assert_eq!(cli.call("ann", "get_event_rates", &json!({})).unwrap()["items"], json!([]));
    save(&home, "ann", &json!({"text": "The gate is blue"}));
    let rates = cli.call("ann", "get_event_rates", &json!({"period": "week"})).unwrap();
    assert_eq!(rates["step_seconds"], 7_200);
    let saved =
        &rates["items"].as_array().unwrap().iter().find(|item| item["kind"] == "memory.saved");
    let counts: Vec<u64> = serde_json::from_value(saved.unwrap()["counts"].clone()).unwrap();
    assert_eq!((counts.len(), counts.iter().sum::<u64>()), (84, 1));
    let printed = String::from_utf8(home.run(&["rates"]).stdout).unwrap();
    assert!(printed.contains("No events") || printed.contains("memory.saved"), "{printed}");
    let error = cli.call("ann", "get_event_rates", &json!({"period": "year"})).unwrap_err();
    assert_eq!((&error["kind"], &error["field"]), (&json!("invalid"), &json!("period")));
}

#[test]
fn what_each_agent_received_is_on_a_time_line_and_in_a_table() {
    let home = Home::new();
    let server = Server::start(&home);
    save(&home, "ann", &json!({"text": "We deploy the shop on Fridays", "topics": ["deploy"]}));
    let cli = Cli(&home);
    cli.call("bob", "get_context", &json!({"task": "deploy the shop"})).unwrap();
    cli.call("carol", "get_context", &json!({"task": "deploy the shop"})).unwrap();
    let browser = signed_in(&home, &server);
    let contexts = cli.call("bob", "list_contexts", &json!({})).unwrap();
    let context = &contexts["items"][0];
    let body = browser.get("now").body;
    let section = between(&body, "id=\"contexts\"", "</section>");
    assert_eq!(section.matches("<circle class=\"node\"").count(), 2, "{section}");
    let link = format!("/contexts/{}\"", context["id"].as_str().unwrap());
    assert_eq!(section.matches(&link).count(), 2, "a dot and a row lead to the receipt: {section}");
    let text = text_of(&section);
    let row =
        format!("bob context {} {} {}", context["items"], context["tokens"], context["bytes"]);
    assert!(text.contains(&row), "{row}: {text}");
    assert!(text.contains("carol"), "{text}");
}

#[test]
fn an_item_of_a_list_in_a_form_may_contain_a_comma() {
    let home = Home::new();
    let server = Server::start(&home);
    let browser = signed_in(&home, &server);
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("preview", "true").append_pair("to", "bob").append_pair("task", "Ship it");
    query.append_pair("decisions_made", "REST, not gRPC\r\n\r\nNo retries");
    query.append_pair("active_files", "src/a,b.rs");
    let page = browser.get(&format!("handoffs?{}", query.finish())).body;
    assert!(
        page.contains("REST, not gRPC") && page.contains("name=\"decisions_made.lines\""),
        "{page}"
    );
    let sent = browser.send_form(
        "create_handoff",
        &[
            ("to", "bob"),
            ("task", "Ship it"),
            ("decisions_made.lines", "REST, not gRPC\r\n\r\nNo retries"),
            ("active_files.lines", "src/a,b.rs"),
            ("next_steps.lines", ""),
            ("back", "/dashboard/w/x/handoffs/{id}"),
        ],
    );
    assert_eq!(sent.status, 303, "{}", sent.body);
    let list = Cli(&home).call("bob", "list_handoffs", &json!({})).unwrap();
    let handoff = &list["items"][0];
    assert_eq!(handoff["decisions_made"], json!(["REST, not gRPC", "No retries"]));
    assert_eq!(handoff["active_files"], json!(["src/a,b.rs"]));
    let open = [("title", "Outage"), ("key", "outage"), ("back", "/dashboard")];
    assert_eq!(browser.send_form("open_case", &open).status, 303);
    let labels = |text: &str| {
        let fields = [("key", "outage"), ("labels.lines", text), ("back", "/dashboard")];
        assert_eq!(browser.send_form("update_case", &fields).status, 303);
        let case = Cli(&home).call("bob", "get_case", &json!({"key": "outage"})).unwrap();
        case.get("labels").cloned().unwrap_or(json!([]))
    };
    assert_eq!(labels("db, eu\r\nurgent"), json!(["db, eu", "urgent"]));
    assert_eq!(labels(""), json!([]), "an empty list removes them");
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

#[test]
fn the_history_of_an_entity_tells_merges_from_statements() {
    let home = Home::new();
    let server = Server::start(&home);
    let state = |value: &str| {
        let stated = json!({"type": "tool", "value": value, "context": "A tool of the team"});
        let stated = server.call("ann", "resolve_entity", &stated).unwrap();
        stated["entity"]["id"].as_str().unwrap().to_owned()
    };
    let (target, source) = (state("TypeScript"), state("Flow checker"));
    (0..3).for_each(|_| drop(state("TypeScript")));
    let browser = signed_in(&home, &server);
    let list = part(&browser, "entities", "entities");
    assert!(!list.contains("merge"), "statements are no merges: {list}");
    let merge = json!({"source": source, "target": target});
    server.call("ann", "merge_entities", &merge).unwrap();
    let merged = part(&browser, &format!("entities/{target}"), "merge");
    assert_eq!(merged.matches(" ann ").count().min(1), 1, "{merged}");
    assert!(
        browser.get(&format!("entities/{target}")).body.contains("unmerge_entities"),
        "{merged}"
    );
}

#[test]
fn the_depth_of_a_neighbourhood_has_a_limit_that_the_page_names() {
    let home = Home::new();
    let server = Server::start(&home);
    let state = |value: &str| {
        let stated = json!({"type": "tool", "value": value});
        let stated = server.call("ann", "resolve_entity", &stated).unwrap();
        stated["entity"]["id"].as_str().unwrap().to_owned()
    };
    let ids: Vec<String> = ["Alpha", "Bravo", "Charlie", "Delta", "Echo"].map(state).to_vec();
    for pair in ids.windows(2) {
        let relation = json!({"from": pair[0], "type": "depends_on", "to": pair[1]});
        server.call("ann", "add_relation", &relation).unwrap();
    }
    let browser = signed_in(&home, &server);
    for (depth, expected) in [("1", 1), ("2", 2), ("3", 3), ("9", 3), ("0", 1), ("x", 1)] {
        let graph = part(&browser, &format!("entities/{}?depth={depth}", ids[0]), "graph");
        let found = ["Bravo", "Charlie", "Delta", "Echo"];
        let found = found.iter().filter(|name| graph.contains(**name)).count();
        assert_eq!(found, expected, "{depth}: {graph}");
        assert!(graph.contains("at most 3"), "{graph}");
    }
}
