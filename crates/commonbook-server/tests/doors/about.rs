//! What Alice's agent learns about the project reaches Bob's agent; what it learns about Alice does
//! not, on any surface.

use serde_json::{Value, json};

use crate::world::{Home, Server, WORKSPACE};

const PROJECT: &str = "The staging database listens on port 5433";
/// Words of the memories about Alice: none may reach Bob.
const SECRETS: [&str; 4] = ["marzipan", "zugspitze", "kestrel", "alice"];

/// An agent that works for a user, at the doors of one home.
struct Worker<'h> {
    home: &'h Home,
    server: &'h Server,
    agent: &'static str,
    user: &'static str,
}

impl Worker<'_> {
    fn rest(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let headers = [
            ("X-Commonbook-Agent", self.agent),
            ("X-Commonbook-User", self.user),
            ("X-Commonbook-Workspace", WORKSPACE),
        ];
        let body = if method == "GET" { String::new() } else { body.to_string() };
        self.server.send(method, path, &headers, body.as_bytes()).unwrap()
    }

    fn save(&self, fields: &Value) -> Value {
        let (status, saved) = self.rest("POST", "/v1/memories", fields);
        assert_eq!(status, 201, "{saved}");
        saved["memory"].clone()
    }

    /// What a command prints, and whether it succeeded.
    fn cli(&self, command: &[&str]) -> (bool, String) {
        let caller = ["--agent", self.agent, "--user", self.user, "--workspace", WORKSPACE];
        let output = self.home.run(&[command, &caller].concat());
        let shown = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(shown).unwrap())
    }

    /// The answer of a tool, over stdio.
    fn tool(&self, name: &str, arguments: &Value) -> String {
        let me = json!({"name": "test", "version": "1"});
        let lines = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
                {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": me}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": {"name": name, "arguments": arguments}}),
        ];
        let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let arguments = [
            "mcp",
            "--tools",
            "full",
            "--agent",
            self.agent,
            "--user",
            self.user,
            "--workspace",
            WORKSPACE,
        ];
        let output = self.home.feed(&arguments, input.as_bytes());
        let text = String::from_utf8(output.stdout).unwrap();
        let answer = text.lines().find(|line| line.contains("\"id\":2"));
        answer.unwrap_or_else(|| panic!("{name}: {text}")).to_owned()
    }

    /// Everything that the surfaces show of these memories, and of all that fits a question.
    fn everything(&self, ask: &str, ids: &[String]) -> String {
        let query = ask.replace(' ', "+");
        let mut shown = String::new();
        for path in [
            "/v1/memories",
            &format!("/v1/memories/search?q={query}"),
            "/v1/events?limit=100",
            "/v1/changes",
            "/v1/stats",
            "/v1/entities",
            "/v1/contradictions",
            "/v1/users",
            "/v1/agents",
            "/v1/sessions",
            "/v1/standing",
            "/v1/collaborations",
        ] {
            shown.push_str(&self.rest("GET", path, &Value::Null).1.to_string());
        }
        for (path, body) in
            [("/v1/context", json!({"task": ask})), ("/v1/briefing", json!({"prompt": ask}))]
        {
            shown.push_str(&self.rest("POST", path, &body).1.to_string());
        }
        for id in ids {
            for rest in ["", "/history"] {
                let path = format!("/v1/memories/{id}{rest}");
                shown.push_str(&self.rest("GET", &path, &Value::Null).1.to_string());
            }
            let path = format!("/v1/graph?from={id}");
            shown.push_str(&self.rest("GET", &path, &Value::Null).1.to_string());
            shown.push_str(&self.cli(&["show", id]).1);
        }
        for command in [&["search", ask][..], &["list"], &["events"], &["stats"]] {
            shown.push_str(&self.cli(command).1);
        }
        for (name, arguments) in [
            ("search_memory", json!({"query": ask})),
            ("list_memories", json!({"verbose": true})),
            ("get_context", json!({"task": ask})),
        ] {
            shown.push_str(&self.tool(name, &arguments));
        }
        shown.to_lowercase()
    }
}

#[test]
fn bobs_agent_finds_what_alices_learned_about_the_project_and_nothing_about_alice() {
    let home = Home::new();
    let server = Server::start(&home);
    let (home, server) = (&home, &server);
    let alice = Worker { home, server, agent: "claude-code", user: "alice" };
    let bob = Worker { home, server, agent: "gemini-cli", user: "bob" };
    let project = alice.save(&json!({"text": PROJECT}));
    assert_eq!((&project["about"], &project["user_id"]), (&json!("project"), &Value::Null));
    let saved = [
        json!({"text": "The user is fond of marzipan", "topics": ["marzipan"]}),
        json!({"text": "Climbed the Zugspitze in May", "entities": ["project:Zugspitze"]}),
        json!({"text": "The kestrel API key expires in 3 days", "about": "user"}),
        json!({"text": "The kestrel API key expires in 5 days", "about": "user"}),
    ];
    let memories: Vec<Value> = saved.iter().map(|fields| alice.save(fields)).collect();
    let ids: Vec<String> =
        memories.iter().map(|memory| memory["id"].as_str().unwrap().to_owned()).collect();
    assert!(memories.iter().all(|memory| memory["user_id"] == "alice"), "{memories:?}");
    // Alice's own agents see all of it, so the surfaces do show it.
    let seen = alice.everything("marzipan zugspitze kestrel", &ids);
    assert!(SECRETS.iter().all(|secret| seen.contains(secret)), "{seen}");
    let shown = bob.everything("sweets mountain bird key expires staging database port", &[]);
    let leaked: Vec<_> = SECRETS.iter().filter(|secret| shown.contains(*secret)).collect();
    assert!(leaked.is_empty(), "{leaked:?} in {shown}");
    assert!(ids.iter().all(|id| !shown.contains(&id.to_lowercase())), "{shown}");
    for id in &ids {
        for rest in ["", "/history"] {
            let path = format!("/v1/memories/{id}{rest}");
            assert_eq!(bob.rest("GET", &path, &Value::Null).0, 404, "{path}");
        }
        assert_ne!(bob.rest("GET", &format!("/v1/graph?from={id}"), &Value::Null).0, 200);
        assert!(!bob.cli(&["show", id]).0);
    }
    for secret in SECRETS {
        let path = format!("/v1/memories/search?q={secret}");
        let hits = bob.rest("GET", &path, &Value::Null).1;
        assert_eq!(hits["hits"], json!([]), "{secret}");
    }
    let found = |worker: &Worker<'_>| {
        let (_, found) = worker.rest("GET", "/v1/memories/search?q=staging+database", &Value::Null);
        found["hits"].to_string().contains(PROJECT)
    };
    assert!(
        found(&bob) && bob.tool("search_memory", &json!({"query": "staging"})).contains(PROJECT)
    );
    assert!(bob.cli(&["search", "staging", "database"]).1.contains(PROJECT));
    let context = bob.rest("POST", "/v1/context", &json!({"task": "Move the staging database"})).1;
    assert!(context["text"].as_str().unwrap().contains(PROJECT), "{context}");
}

#[test]
fn each_door_says_and_corrects_whom_a_memory_is_about() {
    let home = Home::new();
    let server = Server::start(&home);
    let (home, server) = (&home, &server);
    let alice = Worker { home, server, agent: "claude-code", user: "alice" };
    let bob = Worker { home, server, agent: "gemini-cli", user: "bob" };
    let lists = |worker: &Worker<'_>, text: &str| {
        worker.rest("GET", "/v1/memories?limit=100", &Value::Null).1.to_string().contains(text)
    };
    // The command line.
    let (_, shown) = alice.cli(&["save", "Berlin, since May"]);
    assert!(shown.contains("about alice"), "{shown}");
    let (_, shown) = alice.cli(&["save", "--about", "project", "Lisbon, since June"]);
    assert!(!shown.contains("about alice") && lists(&bob, "Lisbon"), "{shown}");
    let saved = alice.cli(&["save", "--json", "Oslo, since July"]).1;
    let id = serde_json::from_str::<Value>(&saved).unwrap()["memory"]["id"].clone();
    let id = id.as_str().unwrap();
    assert!(alice.cli(&["show", id]).1.contains("user alice") && !lists(&bob, "Oslo"));
    assert!(alice.cli(&["update", id, "--about", "project"]).0 && lists(&bob, "Oslo"));
    assert!(!bob.cli(&["update", id, "--about", "user"]).0);
    // REST.
    let path = format!("/v1/memories/{id}");
    let (status, changed) = alice.rest("PATCH", &path, &json!({"about": "user"}));
    assert_eq!((status, &changed["about"]), (200, &json!("user")));
    assert!(!lists(&bob, "Oslo"));
    let (status, refused) = alice.rest("PATCH", &path, &json!({"about": "nobody"}));
    assert_eq!(status, 400, "{refused}");
    let headers = [("X-Commonbook-Agent", "rook"), ("X-Commonbook-Workspace", WORKSPACE)];
    let body = json!({"text": "Rome, since August", "about": "user"}).to_string();
    let refused = server.send("POST", "/v1/memories", &headers, body.as_bytes()).unwrap();
    let error = &refused.1["error"];
    assert_eq!((refused.0, &error["field"]), (400, &json!("about")), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("X-Commonbook-User"), "{error}");
    // MCP.
    let saved = alice.tool("save_memory", &json!({"text": "Paris, since September"}));
    assert!(saved.contains(r#"\"about\":\"user\""#), "{saved}");
    let saved =
        alice.tool("save_memory", &json!({"text": "Vienna, since March", "about": "project"}));
    assert!(!saved.contains("about") && lists(&bob, "Vienna"), "{saved}");
    let changed = alice.tool("update_memory", &json!({"id": id, "about": "project"}));
    assert!(!changed.contains("isError\":true") && lists(&bob, "Oslo"), "{changed}");
}

#[test]
fn a_hook_learns_about_both_and_shows_each_to_its_own() {
    let home = Home::new();
    let server = Server::start(&home);
    let (home, server) = (&home, &server);
    let alice = Worker { home, server, agent: "claude-code", user: "alice" };
    let bob = Worker { home, server, agent: "gemini-cli", user: "bob" };
    let message = format!("Done.\n\nRemember: {PROJECT}\nRemember: The user is fond of marzipan\n");
    let (done, shown) = alice.cli(&["learn", &message]);
    assert!(done, "{shown}");
    let listed = bob.rest("GET", "/v1/memories", &Value::Null).1.to_string();
    assert!(listed.contains(PROJECT) && !listed.contains("marzipan"), "{listed}");
}
