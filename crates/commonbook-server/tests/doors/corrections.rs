//! What two agents say differently, without topics, and what one agent corrects, through the doors.

use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use crate::world::{Home, Mcp, Server};

/// What one agent says, and what another one says.
const PAIRS: [(&str, &str); 20] = [
    ("The API timeout is 30 seconds", "The API timeout is 60 seconds"),
    ("The deploy needs three approvals", "The deploy needs five approvals"),
    ("`timeout: 30`", "`timeout: 60`"),
    ("The main database is PostgreSQL", "The main database is MySQL"),
    ("Ann leads the platform team", "Bert leads the platform team"),
    ("The backup runs weekly", "The backup runs daily"),
    ("The default branch is main", "The default branch is master"),
    ("The sprint review is on Fridays", "The sprint review is on Mondays"),
    ("Telemetry is enabled", "Telemetry is disabled"),
    ("The cleanup script is safe", "The cleanup script is unsafe"),
    ("The importer supports resuming", "The importer does not support resuming"),
    ("Never deploy on Sundays", "Deploy on Sundays"),
    ("Use tabs for indentation", "Use spaces for indentation"),
    ("The release is due on March 3", "The release is due on March 10"),
    ("Uploads are limited to 10 MB", "Uploads are limited to 1 GB"),
    ("The site is hosted on Vercel", "The site is hosted on Netlify"),
    ("package manager: npm", "package manager: pnpm"),
    ("The CLI is written in Rust", "The CLI is written in Go"),
    ("The field email is required", "The field email is optional"),
    ("The nightly job succeeds on ARM", "The nightly job fails on ARM"),
];

#[test]
fn twenty_plain_pairs_without_topics_are_found_over_http() {
    let home = Home::new();
    let server = Server::start(&home);
    let save = |agent: &str, text: &str| {
        let headers = [("X-Commonbook-Agent", agent), ("Content-Type", "application/json")];
        let body = json!({"text": text}).to_string();
        server.send("POST", "/v1/memories", &headers, body.as_bytes()).unwrap()
    };
    for (first, second) in PAIRS {
        assert_eq!(save("claude-code", first).0, 201, "{first}");
        assert_eq!(save("gemini-cli", second).0, 201, "{second}");
    }
    let eve = [("X-Commonbook-Agent", "eve")];
    let found = server.send("GET", "/v1/contradictions?limit=50", &eve, b"").unwrap().1;
    let texts: Vec<String> = found["items"].as_array().unwrap().iter().map(side_texts).collect();
    let missed: Vec<_> = PAIRS
        .iter()
        .filter(|(first, second)| !texts.contains(&format!("{first} | {second}")))
        .collect();
    assert!(missed.is_empty() && texts.len() == PAIRS.len(), "{missed:#?}\n{texts:#?}");
    let reasons = found.to_string();
    assert!(reasons.contains("claude-code says three, gemini-cli says five"), "{reasons}");
}

fn side_texts(found: &Value) -> String {
    let text = |side: usize| found["memories"][side]["text"].as_str().unwrap().to_owned();
    format!("{} | {}", text(0), text(1))
}

#[test]
fn a_correction_says_at_each_door_how_to_keep_both() {
    let home = Home::new();
    let save = |text: &str| {
        let output = home.run(&["save", "--agent", "ann", text]);
        assert!(output.status.success());
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    save("The deploy needs three approvals");
    let shown = save("The deploy needs five approvals");
    assert!(shown.contains("supersedes ") && shown.contains("commonbook restore "), "{shown}");
    assert!(save("The deploy needs five approvals").starts_with("Already saved"));
    let server = Server::start(&home);
    let ann = [("X-Commonbook-Agent", "ann"), ("Content-Type", "application/json")];
    let body = json!({"text": "The deploy needs six approvals"}).to_string();
    let saved = server.send("POST", "/v1/memories", &ann, body.as_bytes()).unwrap().1;
    let old = saved["superseded"][0].as_str().unwrap().to_owned();
    let route = format!("/v1/memories/{old}/restore");
    assert!(saved["hint"].as_str().unwrap().contains(&route), "{saved}");
    assert_eq!(server.send("POST", &route, &ann, b"{}").unwrap().0, 200);
    let mcp = Mcp::every_way(&home, &server).into_iter().next().unwrap();
    mcp.with("ann", async |client| {
        let save = async |text: &str| {
            let mut request = CallToolRequestParams::new("save_memory");
            request.arguments = json!({"text": text}).as_object().cloned();
            client.call_tool(request).await.unwrap()
        };
        save("The deploy needs six approvals").await;
        let answer = save("The deploy needs seven approvals").await;
        let shown = serde_json::to_string(&answer.content).unwrap();
        assert!(shown.contains("superseded") && shown.contains("restore"), "{shown}");
    });
}

/// Pairs of plain sentences without a topic, in the words of agents.
const MORE_PAIRS: [(&str, &str); 12] = [
    ("Editors can change the slug", "Editors cannot change the slug"),
    ("Spell checking is on by default", "Spell checking is off by default"),
    ("Every upload is scanned", "No upload is scanned"),
    ("Drafts live in cookies", "Drafts live in Redis"),
    ("The old route is removed in version 6", "The old route is dropped in version 7"),
    ("The download is checked with MD5", "The download is checked with SHA-512"),
    ("The exporter writes ten files per run", "The exporter writes thirty files per run"),
    ("An invitation expires after one day", "An invitation expires after 90 minutes"),
    ("Omar leads the search team", "The search team is led by Lena"),
    ("The steering group meets every two weeks", "The steering group meets once a month"),
    ("Scans are stored in S3", "Scans are stored on the local disk"),
    ("Only owners can delete a board", "Everyone can delete a board"),
];

#[test]
fn pairs_of_frequencies_groups_and_media_are_found_on_the_command_line() {
    let home = Home::new();
    for (first, second) in MORE_PAIRS {
        assert!(home.run(&["save", "--agent", "claude-code", first]).status.success());
        assert!(home.run(&["save", "--agent", "gemini-cli", second]).status.success());
    }
    let listed = home.run(&["contradictions", "list", "--limit", "50", "--json"]);
    let found: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let texts: Vec<String> = found["items"].as_array().unwrap().iter().map(side_texts).collect();
    let missed: Vec<_> = MORE_PAIRS
        .iter()
        .filter(|(first, second)| !texts.contains(&format!("{first} | {second}")))
        .collect();
    assert!(missed.is_empty() && texts.len() == MORE_PAIRS.len(), "{missed:#?}\n{texts:#?}");
}

fn shown(home: &Home, arguments: &[&str]) -> String {
    let output = home.run(arguments);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn a_learning_corrects_what_the_agent_saved_and_the_other_way_round() {
    let home = Home::new();
    shown(&home, &["save", "--agent", "amy", "The release is on Friday."]);
    let learned = shown(&home, &["learn", "--agent", "amy", "Remember: The release is on Monday."]);
    assert!(learned.contains("supersedes "), "{learned}");
    let saved = shown(&home, &["save", "--agent", "amy", "The release is on Tuesday."]);
    assert!(saved.contains("supersedes "), "{saved}");
    let found = home.run(&["contradictions", "list", "--json"]);
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(found["items"], json!([]));
}

#[test]
fn standing_memory_replaces_the_day_that_an_agent_corrects() {
    let home = Home::new();
    for text in [
        "The release is on Friday",
        "The dump starts on Sunday night",
        "The release is on Monday",
        "The dump starts on Monday night",
    ] {
        shown(&home, &["memory", "add", "dev", text, "--agent", "amy"]);
    }
    let file = shown(&home, &["memory", "show", "dev"]);
    for (stays, goes) in [("release is on Monday", "Friday"), ("on Monday night", "Sunday")] {
        assert!(file.contains(stays) && !file.contains(goes), "{file}");
    }
}

#[test]
fn a_full_file_says_how_full_it_is_and_how_to_go_on() {
    let home = Home::new();
    shown(&home, &["memory", "init", "pm"]);
    let listed = home.run(&["memory", "status", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let file = listed["items"][0]["file"].as_str().unwrap().to_owned();
    let items: String = (0..100).map(|item| format!("- Rule {item}\n")).collect();
    std::fs::write(&file, format!("# Agent Memory: pm\n\n## Rules\n{items}")).unwrap();
    let full = "100 of 100 items";
    let refused = shown(&home, &["memory", "add", "pm", "hello"]);
    assert!(refused.contains(full) && refused.contains("commonbook memory remove"), "{refused}");
    assert!(!refused.contains("Ask a person"), "the person is the one typing: {refused}");
    let refused = shown(&home, &["memory", "add", "pm", "hello", "--agent", "me"]);
    assert!(refused.contains(full) && refused.contains("Ask a person"), "{refused}");
}

#[test]
fn an_equal_text_without_a_name_is_saved_once() {
    let home = Home::new();
    assert!(shown(&home, &["save", "The gate is blue"]).starts_with("Saved"));
    assert!(shown(&home, &["save", "The gate is blue"]).starts_with("Already saved"));
}
