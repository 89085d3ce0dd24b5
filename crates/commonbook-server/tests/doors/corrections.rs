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
