//! `GET /metrics`: what every door called, and the figures of the home, as a scraper reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::doors::stream::Stream;
use crate::doors::tokens::token;
use crate::world::{Door, Home, Mcp, Server, WORKSPACE, new_text};

/// The names of all labels.
const LABELS: [&str; 13] = [
    "client", "door", "event", "follower", "for", "kind", "le", "origin", "outcome", "state",
    "status", "verb", "version",
];

/// One scrape, as a scraper has parsed it.
struct ParsedScrape {
    text: String,
    samples: Vec<Sample>,
}

/// One line of a scrape: `name{label="value",…} number`, or `name number`.
#[derive(Debug)]
struct Sample {
    metric: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

impl Sample {
    fn of(line: &str) -> Self {
        let (name, value) = line.rsplit_once(' ').unwrap();
        let (metric, labels) = match name.split_once('{') {
            Some((metric, labels)) => (metric, labels.strip_suffix("\"}").unwrap()),
            None => (name, ""),
        };
        let pair = |label: &str| {
            let (name, value) = label.split_once("=\"").unwrap();
            (name.to_owned(), value.to_owned())
        };
        let labels = labels.split("\",").filter(|label| !label.is_empty()).map(pair).collect();
        Self { metric: metric.to_owned(), labels, value: value.parse().unwrap() }
    }
}

impl ParsedScrape {
    fn of(server: &Server) -> Self {
        let response = server.exchange("GET", "/metrics", &[], b"").unwrap();
        assert_eq!(response.status(), 200);
        let kind = response.headers()["content-type"].to_str().unwrap();
        assert_eq!(kind, "text/plain; version=0.0.4; charset=utf-8");
        let text = String::from_utf8(response.into_body()).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let samples = lines.map(Sample::of).collect();
        Self { text, samples }
    }

    /// The sum of the samples of this metric that have these labels.
    fn sum(&self, metric: &str, labels: &[(&str, &str)]) -> f64 {
        let metric = format!("commonbook_{metric}");
        let fits = |sample: &&Sample| {
            let has = |(name, value): &(&str, &str)| {
                sample.labels.get(*name).is_some_and(|own| own == value)
            };
            sample.metric == metric && labels.iter().all(has)
        };
        self.samples.iter().filter(fits).map(|sample| sample.value).sum()
    }

    /// The types of all metrics, by name.
    fn types(&self) -> BTreeMap<&str, &str> {
        let types = self.text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        types.filter_map(|line| line.split_once(' ')).collect()
    }
}

/// The output of a command, which succeeds.
fn run(home: &Home, arguments: &[&str]) {
    let output = home.run(&[arguments, &["--workspace", WORKSPACE, "--agent", "ann"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A hook of Claude Code.
fn hook(home: &Home, event: &str, input: &Value) {
    let mut whole = json!({"session_id": "own-1", "cwd": home.path(), "hook_event_name": event});
    whole.as_object_mut().unwrap().extend(input.as_object().unwrap().clone());
    let output = home.feed(&["hook", "claude-code", event], whole.to_string().as_bytes());
    assert!(output.status.success());
}

/// The number of hooks with these labels that have reported.
fn hook_count(server: &Server, labels: &[(&str, &str)]) -> f64 {
    ParsedScrape::of(server).sum("hook_duration_seconds_count", labels)
}

/// A server that every door has called.
fn called_through_every_door() -> (Home, Server) {
    let home = Home::new();
    let server = Server::start(&home);
    let text = || json!({"text": new_text()});
    server.call("ann", "save_memory", &text()).unwrap();
    server.call("ann", "save_memory", &text()).unwrap();
    server.call("ann", "save_memory", &json!({"text": ""})).unwrap_err();
    let mcp = Mcp::over_http(&home, &server);
    mcp.call("ann", "save_memory", &text()).unwrap();
    run(&home, &["save", "Tea", &new_text()]);
    server.call("ann", "get_context", &json!({"task": "Make some tea"})).unwrap();
    hook(&home, "UserPromptSubmit", &json!({"prompt": "Make some tea"}));
    drop(mcp);
    // A hook does not wait until its report is read.
    while hook_count(&server, &[]) < 1.0 {}
    (home, server)
}

#[test]
fn each_call_is_counted_by_verb_door_and_outcome() {
    let (_home, server) = called_through_every_door();
    let scrape = ParsedScrape::of(&server);
    let calls = |labels: &[(&str, &str)]| scrape.sum("requests_total", labels);
    let saves =
        |door, outcome| calls(&[("verb", "save_memory"), ("door", door), ("outcome", outcome)]);
    assert_eq!((saves("rest", "ok"), saves("rest", "invalid")), (2.0, 1.0));
    assert_eq!((saves("mcp", "ok"), saves("cli", "ok")), (1.0, 1.0));
    assert_eq!(calls(&[("verb", "get_briefing"), ("door", "hook"), ("outcome", "ok")]), 1.0);
    let timed = [("verb", "save_memory"), ("door", "rest")];
    assert_eq!(scrape.sum("request_duration_seconds_count", &timed), 3.0);
    assert!(scrape.sum("request_duration_seconds_sum", &timed) > 0.0);
    assert_eq!(scrape.sum("requests_running", &[]), 0.0);
    let responses =
        |status| ParsedScrape::of(&server).sum("http_responses_total", &[("status", status)]);
    assert!(responses("201") >= 2.0 && responses("400") >= 1.0);
    let before = responses("404");
    server.send("GET", "/nowhere", &[], b"").unwrap();
    assert_eq!(responses("404"), before + 1.0);
}

#[test]
fn the_figures_of_the_home_follow_what_happens() {
    let home = Home::new();
    let server = Server::start(&home);
    let before = ParsedScrape::of(&server);
    assert_eq!(before.sum("journal_events", &[]), 0.0);
    // It opens the store itself: its calls are its own, and its events are those of the home.
    let stdio = Mcp::over_stdio(&home);
    stdio.call("ann", "save_memory", &json!({"text": "The river gate opens at seven"})).unwrap();
    // Its headline says less than the text.
    let text = "The river gate has a new lock, which its keeper oils every morning before the boats come up";
    let text = format!("{text} the river, and twice on Sundays");
    server.call("ann", "save_memory", &json!({"text": text})).unwrap();
    let stream = Stream::open(&server, "ann", "");
    let task = json!({"task": "Open the river gate", "max_memories": 1});
    let context = server.call("ann", "get_context", &task).unwrap();
    let after = ParsedScrape::of(&server);
    assert_eq!(after.sum("events_total", &[("kind", "memory.saved")]), 2.0);
    assert_eq!(after.sum("requests_total", &[("verb", "save_memory")]), 1.0);
    assert!(after.sum("journal_events", &[]) >= 3.0 && after.sum("store_bytes", &[]) > 1e4);
    assert_eq!(after.sum("workspaces", &[]), 1.0);
    assert_eq!(after.sum("streams_open", &[]), 1.0);
    // A follower may be writing at the moment of one scrape; the queue empties when it is done.
    while ParsedScrape::of(&server).sum("writer_queue_length", &[]) > 0.0 {}
    // The search of the context has read both saves.
    assert!(after.sum("index_position_events", &[]) >= 2.0);
    assert_eq!(after.sum("index_memories", &[]), 2.0);
    assert_eq!(after.sum("index_unembedded_memories", &[]), 2.0, "the embedder is off");
    let followers = after.samples.iter().filter_map(|sample| sample.labels.get("follower"));
    let followers: BTreeSet<&str> = followers.map(String::as_str).collect();
    assert_eq!(followers, BTreeSet::from(["contradictions", "digests", "index", "mentions"]));
    let told = [("origin", "context")];
    let of =
        |outcome| after.sum("context_items_total", &[("origin", "context"), ("outcome", outcome)]);
    let candidates = context["diagnostics"]["candidate_count"].as_f64().unwrap();
    assert_eq!((of("told"), of("left_out")), (1.0, candidates - 1.0));
    assert!(candidates > 1.0, "{context}");
    assert_eq!(after.sum("context_tokens_count", &told), 1.0);
    let tokens = after.sum("context_tokens_sum", &told);
    assert!(tokens > 0.0 && tokens <= context["tokens"].as_f64().unwrap(), "{tokens}");
    drop(stream);
    let again = ParsedScrape::of(&server);
    assert_eq!(again.sum("events_total", &[("kind", "memory.saved")]), 2.0, "counted once");
}

#[test]
fn a_hook_reports_its_time_unless_it_has_nothing_to_do() {
    let (home, server) = called_through_every_door();
    let own = [("client", "claude-code"), ("event", "prompt"), ("outcome", "ok")];
    assert_eq!((hook_count(&server, &own), hook_count(&server, &[])), (1.0, 1.0));
    hook(&home, "Notification", &json!({"message": "Waiting"}));
    run(&home, &["stats"]);
    hook(&home, "SessionStart", &json!({"source": "startup"}));
    while hook_count(&server, &[("event", "session_start")]) < 1.0 {}
    assert_eq!(hook_count(&server, &[]), 2.0, "a notification concerns no memory");
}

#[test]
fn every_series_has_help_and_a_type_and_is_documented() {
    let (_home, server) = called_through_every_door();
    let scrape = ParsedScrape::of(&server);
    let types = scrape.types();
    let helps = scrape.text.lines().filter_map(|line| line.strip_prefix("# HELP "));
    let helps: BTreeMap<&str, &str> = helps.filter_map(|line| line.split_once(' ')).collect();
    assert_eq!(types.keys().collect::<Vec<_>>(), helps.keys().collect::<Vec<_>>());
    let lines = scrape.text.lines().filter(|line| !line.starts_with('#'));
    let mut series = BTreeSet::new();
    for line in lines {
        let name = line.split(['{', ' ']).next().unwrap();
        let parts = ["_bucket", "_sum", "_count"];
        let whole = parts.iter().find_map(|part| name.strip_suffix(part));
        let whole = whole.filter(|whole| types.get(whole) == Some(&"histogram"));
        assert!(types.contains_key(whole.unwrap_or(name)), "{line}");
        let (labelled, number) = line.rsplit_once(' ').unwrap();
        assert!(series.insert(labelled) && number.parse::<f64>().is_ok(), "{line}");
    }
    for (name, kind) in &types {
        assert!(name.starts_with("commonbook_"), "{name}");
        assert_eq!(*kind == "counter", name.ends_with("_total"), "{name} is a {kind}");
    }
    let documents = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operating.md");
    let documents = std::fs::read_to_string(documents).unwrap();
    let rows = documents.lines().filter_map(|line| line.strip_prefix("| `commonbook_"));
    let documented: BTreeSet<String> =
        rows.map(|row| format!("commonbook_{}", row.split(['`', '{']).next().unwrap())).collect();
    assert_eq!(types.keys().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(), documented);
}

/// Sends a line to the socket of the home, and waits until the server hangs up.
fn send_to_socket(home: &Home, line: &str) {
    let socket = UnixStream::connect(home.path().join("server.sock")).unwrap();
    let mut lines = BufReader::new(socket);
    lines.read_line(&mut String::new()).unwrap();
    lines.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    drop(lines.read_to_end(&mut Vec::new()));
}

#[test]
fn no_label_has_a_name_or_a_text_of_a_caller() {
    let home = Home::new();
    let server = Server::start(&home);
    let headers = [
        ("X-Commonbook-Agent", "evil-agent"),
        ("X-Commonbook-Workspace", "evil-workspace"),
        ("X-Commonbook-User", "evil-user"),
        ("X-Commonbook-Session", "evil-session"),
        ("User-Agent", "evil-client"),
    ];
    let save = json!({
        "text": "evil-text\n# TYPE evil counter\nevil{a=\"b\"} 1", "topics": ["evil-topic"],
        "title": "evil-title", "metadata": {"evil-key": "evil-value"},
    });
    let send = |method: &str, path: &str, body: &Value| {
        server.send(method, path, &headers, body.to_string().as_bytes()).unwrap()
    };
    assert_eq!(send("POST", "/v1/memories", &save).0, 201);
    assert_eq!(send("POST", "/v1/memories", &json!({"evil-field": 1})).0, 400);
    assert_eq!(send("POST", "/v1/context", &json!({"task": "evil-task"})).0, 200);
    for path in ["/evil-path", "/v1/agents/evil-name", "/v1/memories/search?query=evil-query"] {
        server.send("GET", path, &headers, b"").unwrap();
    }
    server.send("GET", "/v1/stats", &[("X-Commonbook-Agent", "evil name\"}")], b"").unwrap();
    let mcp = Mcp::over_http(&home, &server);
    mcp.call("evil-mcp", "save_memory", &json!({"text": "evil-mcp-text"})).unwrap();
    drop(mcp);
    let evil = ["--workspace", "evil-workspace", "--agent", "evil-cli"];
    home.run(&[&["save", "evil-cli-text"], &evil[..]].concat());
    hook(&home, "UserPromptSubmit", &json!({"prompt": "evil-prompt", "evil": "evil"}));
    let report = |client: &str, event: &str| {
        json!({"client": client, "event": event, "failed": false, "microseconds": 1}).to_string()
    };
    send_to_socket(&home, &report("evil-client", "prompt"));
    send_to_socket(&home, &report("claude-code", "evil-event"));
    send_to_socket(&home, &json!({"verb": "evil-verb", "caller": {}, "request": {}}).to_string());
    while hook_count(&server, &[]) < 1.0 {}
    let scrape = ParsedScrape::of(&server);
    assert!(!scrape.text.contains("evil"), "{}", scrape.text);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    for sample in &scrape.samples {
        for (name, value) in &sample.labels {
            assert!(LABELS.contains(&name.as_str()), "{sample:?}");
            assert!(value.chars().all(is_name), "{sample:?}");
        }
    }
    assert_eq!(scrape.sum("hook_duration_seconds_count", &[]), 1.0, "the one true report");
}

#[test]
fn with_tokens_only_the_scope_admin_reads_metrics() {
    let home = Home::new();
    let server = Server::start(&home);
    let (admin, _) = token(&home, &["prometheus", "--scope", "admin"]);
    let (agent, _) = token(&home, &["rook"]);
    let (bound, _) = token(&home, &["crow", "--scope", "admin", "--workspace", "x"]);
    let scrape = |secret: Option<&str>| {
        let bearer = secret.map(|secret| format!("Bearer {secret}"));
        let headers: Vec<_> =
            bearer.iter().map(|bearer| ("Authorization", bearer.as_str())).collect();
        server.send("GET", "/metrics", &headers, b"").unwrap()
    };
    let (status, text) = scrape(Some(&admin));
    assert_eq!(status, 200);
    assert!(text.as_str().unwrap().contains("commonbook_store_bytes"), "{text}");
    assert_eq!(scrape(None).0, 401);
    for secret in [&agent, &bound] {
        let (status, refused) = scrape(Some(secret));
        assert_eq!((status, &refused["error"]["kind"]), (403, &json!("forbidden")), "{refused}");
        assert!(refused["error"]["hint"].as_str().unwrap().contains("admin"), "{refused}");
    }
}
