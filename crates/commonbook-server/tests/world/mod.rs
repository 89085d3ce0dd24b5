//! The world of the tests: a home, the program, and its three doors behind one face.

#[path = "../../../commonbook/tests/postgres/homes.rs"]
#[expect(dead_code, reason = "each test executable uses its own part of the homes")]
mod homes;
pub(crate) mod http_client;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use commonbook::base::clock::{Clock as _, SystemClock};
use commonbook::base::hash::sha256;
use commonbook::base::id::handle;
use commonbook::prompt::recorded::{RECORDED_FIELD, RECORDED_NOTE};
use http_client::HttpClient;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation,
    ProgressNotificationParam, ProtocolVersion, ResourceUpdatedNotificationParam,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, RoleClient, RunningService,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub(crate) const WORKSPACE: &str = "story";

/// The response of a door, or the `error` of its error body.
pub(crate) type Answer = Result<Value, Value>;

/// One way to call the verbs.
pub(crate) trait Door {
    /// Calls a verb as this agent, with these fields.
    fn call(&self, agent: &str, verb: &str, fields: &Value) -> Answer;
}

/// Variables of the program that a test sets itself, or not at all; without their prefix.
const CLEARED_VARIABLES: [&str; 10] = [
    "AGENT_ID",
    "DATABASE",
    "HOSTS",
    "LOG",
    "RATE",
    "SANDBOX",
    "TOKEN",
    "URL",
    "USER_ID",
    "WORKSPACE",
];

/// A home folder of its own, and a database of its own if the tests use PostgreSQL.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Does what `commonbook memory agree` does at a terminal, which tests do not have: agrees to this
    /// text of a project's standing memory file, from its first heading or item on.
    pub(crate) fn agree(&self, file: &Path, text: &str) {
        let folder = self.path().join("agreements");
        fs::create_dir_all(&folder).unwrap();
        let name = sha256(&fs::canonicalize(file).unwrap().to_string_lossy());
        fs::write(folder.join(name), sha256(text)).unwrap();
    }

    /// The program on this home, without settings from the environment.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_commonbook"));
        for name in CLEARED_VARIABLES {
            command.env_remove(format!("COMMONBOOK_{name}"));
        }
        if homes::is_wanted() {
            command.env("COMMONBOOK_DATABASE", homes::way_of_store(self.path()));
        }
        command.env_remove("COMMONBOOK");
        // A test has no terminal, and does what a person does.
        command.env("COMMONBOOK_PERSON", "1");
        // Vectors come in the background: with them, responses would depend on their time.
        command.env("COMMONBOOK_EMBEDDER", "off");
        command.env("COMMONBOOK_HOME", self.path()).current_dir(self.path()).args(arguments);
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.program(arguments).output().unwrap()
    }

    /// Runs the program as a person does, at a terminal, where all that it prints is one output.
    pub(crate) fn run_at_terminal(&self, arguments: &[&str]) -> Output {
        // A terminal of no width is one whose width is unknown.
        self.run_at_columns(0, arguments)
    }

    /// The same at a terminal of this width.
    pub(crate) fn run_at_columns(&self, columns: u16, arguments: &[&str]) -> Output {
        let program = self.program(arguments);
        let words = std::iter::once(program.get_program()).chain(program.get_args());
        let words = words.map(|word| format!("'{}'", word.to_str().unwrap()));
        let line = words.collect::<Vec<String>>().join(" ");
        let line = format!("stty cols {columns}; {line}");
        let mut terminal = Command::new("script");
        terminal.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => terminal.env(name, value),
                None => terminal.env_remove(name),
            };
        }
        if let Some(folder) = program.get_current_dir() {
            terminal.current_dir(folder);
        }
        terminal.output().unwrap()
    }

    /// Runs the program with this on its standard input.
    pub(crate) fn feed(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut command = self.program(arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }
}

/// A running server.
pub(crate) struct Server {
    child: Child,
    /// The session that its calls name.
    session: Option<&'static str>,
    pub(crate) url: String,
    agent: ureq::Agent,
}

impl Server {
    pub(crate) fn start(home: &Home) -> Self {
        Self::of(home, &[])
    }

    /// A server with these additional arguments.
    pub(crate) fn of(home: &Home, arguments: &[&str]) -> Self {
        let own = ["serve", "--port", "0", "--tools", "full"];
        Self::from(home.program(&[&own, arguments].concat()))
    }

    /// A server with this rate limit for each agent.
    pub(crate) fn at_the_rate(home: &Home, rate: &str) -> Self {
        Self::with_setting(home, "COMMONBOOK_RATE", rate)
    }

    /// A server with this in its environment.
    pub(crate) fn with_setting(home: &Home, name: &str, value: &str) -> Self {
        let mut command = home.program(&["serve", "--port", "0", "--tools", "full"]);
        command.env(name, value);
        Self::from(command)
    }

    /// A server that this command starts.
    pub(crate) fn from(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().rsplit(' ').next().unwrap().to_owned();
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(60)))
            .build();
        Self { child, session: None, url, agent: config.into() }
    }

    /// The same, called within this session: no call begins one, and no event says so.
    pub(crate) fn naming(mut self, session: &'static str) -> Self {
        self.session = Some(session);
        self
    }

    /// Sends a request unchanged; returns the response, as JSON if it is JSON.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<(u16, Value), ureq::Error> {
        let response = self.exchange(method, path, headers, body)?;
        let status = response.status().as_u16();
        let text = String::from_utf8(response.into_body()).unwrap();
        Ok((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }

    /// Sends a request unchanged; returns the whole response, with its headers.
    pub(crate) fn exchange(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<ureq::http::Response<Vec<u8>>, ureq::Error> {
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let says_form = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if !body.is_empty() && !says_form {
            request = request.header("Content-Type", "application/json");
        }
        let (head, mut body) = self.agent.run(request.body(body).unwrap())?.into_parts();
        Ok(ureq::http::Response::from_parts(head, body.read_to_vec()?))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end; returns whether it succeeded.
    pub(crate) fn ended(mut self) -> bool {
        self.child.wait().unwrap().success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The OpenAPI document of a server, with each type in the place of its references.
pub(crate) fn openapi(server: &Server) -> Value {
    fn inline(value: &Value, document: &Value) -> Value {
        let named = value["$ref"].as_str().and_then(|name| document.pointer(&name[1..]));
        match (named, value) {
            (Some(named), _) => inline(named, document),
            (None, Value::Object(fields)) => {
                let fields =
                    fields.iter().map(|(name, field)| (name.clone(), inline(field, document)));
                Value::Object(fields.collect())
            }
            (None, Value::Array(items)) => {
                items.iter().map(|item| inline(item, document)).collect()
            }
            _ => value.clone(),
        }
    }
    let (_, document) = server.send("GET", "/openapi.json", &[], b"").unwrap();
    json!({"paths": inline(&document["paths"], &document)})
}

/// The method and the path of a verb.
#[expect(clippy::too_many_lines, reason = "a table, a row for each verb")]
fn route(verb: &str) -> (&'static str, &'static str) {
    match verb {
        "save_memory" => ("POST", "/v1/memories"),
        "list_memories" => ("GET", "/v1/memories"),
        "search_memory" => ("GET", "/v1/memories/search"),
        "get_memory" => ("GET", "/v1/memories/{id}"),
        "update_memory" => ("PATCH", "/v1/memories/{id}"),
        "delete_memory" => ("DELETE", "/v1/memories/{id}"),
        "diff_memories" => ("GET", "/v1/memories/diff"),
        "memory_history" => ("GET", "/v1/memories/{id}/history"),
        "restore_memory" => ("POST", "/v1/memories/{id}/restore"),
        "purge_memory" => ("POST", "/v1/memories/{id}/purge"),
        "retract_memory" => ("POST", "/v1/memories/{id}/retract"),
        "who_knows" => ("GET", "/v1/knowledge"),
        "undo_operation" => ("POST", "/v1/operations/{operation_id}/undo"),
        "get_memory_stats" => ("GET", "/v1/stats"),
        "list_agents" => ("GET", "/v1/agents"),
        "get_agent" => ("GET", "/v1/agents/{name}"),
        "list_events" => ("GET", "/v1/events"),
        "changes_since" => ("GET", "/v1/changes"),
        "mark_read" => ("POST", "/v1/changes/mark"),
        "resume_session" => ("POST", "/v1/sessions/{session}/resume"),
        "create_checkpoint" => ("POST", "/v1/checkpoints"),
        "checkpoint_and_summarise" => ("POST", "/v1/checkpoints/summarise"),
        "list_checkpoints" => ("GET", "/v1/checkpoints"),
        "archive_checkpoint" => ("POST", "/v1/checkpoints/{checkpoint}/archive"),
        "delete_checkpoint" => ("DELETE", "/v1/checkpoints/{checkpoint}"),
        "digest_case" => ("POST", "/v1/cases/{key}/digest"),
        "create_handoff" => ("POST", "/v1/handoffs"),
        "list_handoffs" => ("GET", "/v1/handoffs"),
        "get_handoff" => ("GET", "/v1/handoffs/{handoff}"),
        "accept_handoff" => ("POST", "/v1/handoffs/{handoff}/accept"),
        "complete_handoff" => ("POST", "/v1/handoffs/{handoff}/complete"),
        "reject_handoff" => ("POST", "/v1/handoffs/{handoff}/reject"),
        "withdraw_handoff" => ("POST", "/v1/handoffs/{handoff}/withdraw"),
        "get_collaborations" => ("GET", "/v1/collaborations"),
        "get_context" => ("POST", "/v1/context"),
        "get_briefing" => ("POST", "/v1/briefing"),
        "list_contexts" => ("GET", "/v1/contexts"),
        "explain_context" => ("GET", "/v1/contexts/{context}"),
        "learn" => ("POST", "/v1/learnings"),
        "appeal_memory" => ("POST", "/v1/memories/{id}/appeal"),
        "resolve_entity" => ("POST", "/v1/entities/resolve"),
        "find_entity" => ("GET", "/v1/entities/find"),
        "get_entity" => ("GET", "/v1/entities/{entity}"),
        "list_entities" => ("GET", "/v1/entities"),
        "entity_mentions" => ("GET", "/v1/entities/{entity}/mentions"),
        "merge_entities" => ("POST", "/v1/entities/merge"),
        "unmerge_entities" => ("POST", "/v1/entities/{source}/unmerge"),
        "rename_entity" => ("POST", "/v1/entities/{entity}/rename"),
        "delete_entity" => ("POST", "/v1/entities/{entity}/delete"),
        "restore_entity" => ("POST", "/v1/entities/{entity}/restore"),
        "remove_relation" => ("POST", "/v1/relations/remove"),
        "list_reviews" => ("GET", "/v1/entities/reviews"),
        "decide_review" => ("POST", "/v1/entities/reviews/{review_id}"),
        "detect_contradictions" => ("GET", "/v1/contradictions"),
        "judge_contradictions" => ("POST", "/v1/contradictions/judge"),
        "list_pairs" => ("GET", "/v1/contradictions/pairs"),
        "answer_pairs" => ("POST", "/v1/contradictions/pairs"),
        "get_contradiction" => ("GET", "/v1/contradictions/{contradiction}"),
        "resolve_contradiction" => ("POST", "/v1/contradictions/{contradiction}/resolve"),
        "reopen_contradiction" => ("POST", "/v1/contradictions/{contradiction}/reopen"),
        "list_outdated" => ("GET", "/v1/outdated"),
        "acknowledge_outdated" => ("POST", "/v1/outdated/{id}/acknowledge"),
        "add_relation" => ("POST", "/v1/relations"),
        "graph_query" => ("GET", "/v1/graph"),
        "start_session" => ("POST", "/v1/sessions"),
        "list_sessions" => ("GET", "/v1/sessions"),
        "get_session" => ("GET", "/v1/sessions/{session}"),
        "touch_session" => ("POST", "/v1/sessions/{session}/touch"),
        "end_session" => ("POST", "/v1/sessions/{session}/end"),
        "list_standing" => ("GET", "/v1/standing"),
        "read_standing" => ("GET", "/v1/standing/{role}"),
        "add_standing" => ("POST", "/v1/standing/{role}/items"),
        "remove_standing" => ("DELETE", "/v1/standing/{role}/items"),
        "clean_standing" => ("POST", "/v1/standing/{role}/clean"),
        "standing_history" => ("GET", "/v1/standing/{role}/versions"),
        "restore_standing" => ("POST", "/v1/standing/{role}/restore"),
        "open_case" => ("POST", "/v1/cases"),
        "list_cases" => ("GET", "/v1/cases"),
        "get_case" => ("GET", "/v1/cases/{key}"),
        "append_entries" => ("POST", "/v1/cases/{key}/entries"),
        "read_case" => ("GET", "/v1/cases/{key}/entries"),
        "get_case_context" => ("GET", "/v1/cases/{key}/context"),
        "close_case" => ("POST", "/v1/cases/{key}/close"),
        "archive_case" => ("POST", "/v1/cases/{key}/archive"),
        "update_case" => ("PATCH", "/v1/cases/{key}"),
        "branch_case" => ("POST", "/v1/cases/{key}/branch"),
        "merge_case" => ("POST", "/v1/cases/{key}/merge"),
        "list_proposals" => ("GET", "/v1/cases/{key}/proposals"),
        "decide_proposal" => ("POST", "/v1/cases/{key}/decide"),
        "reopen_case" => ("POST", "/v1/cases/{key}/reopen"),
        "consolidate_memory" => ("POST", "/v1/consolidations"),
        "forget_memory" => ("POST", "/v1/memories/{id}/forget"),
        "forget_memories" => ("POST", "/v1/memories/forget"),
        "list_certificates" => ("GET", "/v1/certificates"),
        "get_certificate" => ("GET", "/v1/certificates/{certificate}"),
        "allow_forgotten" => ("POST", "/v1/certificates/{certificate}/allow"),
        other => panic!("no route for {other}"),
    }
}

impl Door for Server {
    fn call(&self, agent: &str, verb: &str, fields: &Value) -> Answer {
        let (method, path) = route(verb);
        let mut fields = fields.as_object().unwrap().clone();
        // A read sets no mark over REST: that is a separate call.
        if method == "GET" && fields.remove("mark") == Some(json!(true)) {
            let answer = self.call(agent, verb, &Value::Object(fields.clone()))?;
            let through = ["through", "next", "context_version"].map(|name| &answer[name]);
            let through = through.into_iter().find(|place| place.is_u64()).unwrap();
            let mut mark = json!({"position": through});
            if let Some(case) = fields.get("key").or(fields.get("case")) {
                mark["case"] = case.clone();
            }
            self.call(agent, "mark_read", &mark)?;
            return Ok(answer);
        }
        let mut path = path.to_owned();
        let placed = [
            "id",
            "name",
            "operation_id",
            "key",
            "session",
            "checkpoint",
            "entity",
            "source",
            "review_id",
            "handoff",
            "context",
            "contradiction",
            "certificate",
            "role",
        ];
        for name in placed {
            if path.contains(&format!("{{{name}}}")) {
                let id = text(&fields.remove(name).unwrap());
                // A blank is `+` in a form alone.
                let id: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
                let id = id.replace('+', "%20");
                path = path.replace(&format!("{{{name}}}"), &id);
            }
        }
        let mut headers =
            vec![("X-Commonbook-Agent", agent), ("X-Commonbook-Workspace", WORKSPACE)];
        headers.extend(self.session.map(|session| ("X-Commonbook-Session", session)));
        let key = fields.remove("idempotency_key").map(|key| text(&key));
        if let Some(key) = &key {
            headers.push(("Idempotency-Key", key));
        }
        let body = match method {
            "GET" | "DELETE" => {
                path = format!("{path}?{}", query(&fields));
                String::new()
            }
            _ => Value::Object(fields).to_string(),
        };
        let (status, answer) = self.send(method, &path, &headers, body.as_bytes()).unwrap();
        if status < 300 { Ok(answer) } else { Err(answer["error"].clone()) }
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn pairs(fields: &Map<String, Value>) -> Vec<(String, String)> {
    let pairs_of = |(name, value): (&String, &Value)| match value {
        Value::Array(items) => items.iter().map(|item| (name.clone(), text(item))).collect(),
        value => vec![(name.clone(), text(value))],
    };
    fields.iter().flat_map(pairs_of).collect()
}

fn query(fields: &Map<String, Value>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs(fields)).finish()
}

/// The command line, a process for each call.
pub(crate) struct Cli<'h>(pub(crate) &'h Home);

/// Tells one story through REST, each way of MCP and the command line, in a home of its own. The story gets a
/// name for each door.
pub(crate) fn through_every_door(story: impl Fn(&dyn Door, &str)) {
    let home = Home::new();
    let server = Server::start(&home);
    story(&server, "rest");
    for (mcp, name) in
        Mcp::every_way(&home, &server).into_iter().zip(["one", "two", "three", "four"])
    {
        story(&mcp.offering("full"), name);
    }
    story(&Cli(&home), "cli");
}

/// The command of a verb, and its fields without a flag.
#[expect(clippy::too_many_lines, reason = "a table, a row for each verb")]
fn command(verb: &str) -> (&'static str, &'static [&'static str]) {
    match verb {
        "save_memory" => ("save", &["text"]),
        "search_memory" => ("search", &["query"]),
        "get_memory" => ("show", &["id"]),
        "list_memories" => ("list", &[]),
        "update_memory" => ("update", &["id"]),
        "delete_memory" => ("delete", &["id"]),
        "restore_memory" => ("restore", &["id"]),
        "appeal_memory" => ("appeal", &["id"]),
        "purge_memory" => ("purge", &["id"]),
        "memory_history" => ("history", &["id"]),
        "retract_memory" => ("retract", &["id"]),
        "who_knows" => ("knowledge", &[]),
        "undo_operation" => ("undo", &["operation_id"]),
        "get_memory_stats" => ("stats", &[]),
        "list_agents" => ("agents", &[]),
        "get_agent" => ("agent show", &["name"]),
        "list_events" => ("events", &[]),
        "get_event_rates" => ("rates", &[]),
        "changes_since" => ("changes", &[]),
        "mark_read" => ("mark", &["position"]),
        "resume_session" => ("resume", &["session"]),
        "create_checkpoint" => ("checkpoint", &[]),
        "checkpoint_and_summarise" => ("summarise", &["summary"]),
        "list_checkpoints" => ("checkpoints", &["session"]),
        "archive_checkpoint" => ("session archive-checkpoint", &["checkpoint"]),
        "delete_checkpoint" => ("session delete-checkpoint", &["checkpoint"]),
        "digest_case" => ("case digest", &["key"]),
        "create_handoff" => ("handoff create", &["to", "task"]),
        "list_handoffs" => ("handoff list", &[]),
        "get_handoff" => ("handoff show", &["handoff"]),
        "accept_handoff" => ("handoff accept", &["handoff"]),
        "complete_handoff" => ("handoff complete", &["handoff", "result"]),
        "reject_handoff" => ("handoff reject", &["handoff", "reason"]),
        "withdraw_handoff" => ("handoff withdraw", &["handoff", "reason"]),
        "get_collaborations" => ("handoff graph", &[]),
        "get_context" => ("context", &["task"]),
        "get_briefing" => ("briefing", &["prompt"]),
        "list_contexts" => ("contexts", &[]),
        "explain_context" => ("explain", &["context"]),
        "learn" => ("learn", &["message"]),
        "resolve_entity" => ("entity resolve", &["type", "value"]),
        "find_entity" => ("entity find", &["type", "value"]),
        "get_entity" => ("entity show", &["entity"]),
        "list_entities" => ("entity list", &[]),
        "entity_mentions" => ("entity mentions", &["entity"]),
        "merge_entities" => ("entity merge", &["source", "target"]),
        "unmerge_entities" => ("entity unmerge", &["source"]),
        "rename_entity" => ("entity rename", &["entity", "value"]),
        "delete_entity" => ("entity delete", &["entity"]),
        "restore_entity" => ("entity restore", &["entity"]),
        "remove_relation" => ("entity unrelate", &["from", "type", "to"]),
        "list_reviews" => ("entity reviews", &[]),
        "decide_review" => ("entity decide", &["review_id", "judgement"]),
        "detect_contradictions" => ("contradictions list", &[]),
        "judge_contradictions" => ("contradictions judge", &[]),
        "list_pairs" => ("contradictions pairs", &[]),
        "answer_pair" => ("contradictions answer", &["newer", "older", "answer"]),
        "answer_pairs" => ("contradictions answers", &["answers"]),
        "get_contradiction" => ("contradictions show", &["contradiction"]),
        "resolve_contradiction" => ("contradictions resolve", &["contradiction", "resolution"]),
        "reopen_contradiction" => ("contradictions reopen", &["contradiction"]),
        "list_outdated" => ("outdated list", &[]),
        "acknowledge_outdated" => ("outdated acknowledge", &["id"]),
        "add_relation" => ("entity relate", &["from", "type", "to"]),
        "graph_query" => ("entity graph", &["from"]),
        "start_session" => ("session start", &[]),
        "list_sessions" => ("session list", &[]),
        "get_session" => ("session show", &["session"]),
        "touch_session" => ("session touch", &["session"]),
        "end_session" => ("session end", &["session"]),
        "list_standing" => ("memory status", &[]),
        "read_standing" => ("memory show", &["role"]),
        "add_standing" => ("memory add", &["role", "text"]),
        "remove_standing" => ("memory remove", &["role", "text"]),
        "clean_standing" => ("memory clean", &["role"]),
        "standing_history" => ("memory history", &["role"]),
        "restore_standing" => ("memory restore", &["role", "version"]),
        "open_case" => ("case open", &["key"]),
        "list_cases" => ("case list", &[]),
        "list_branches" => ("case branches", &["key"]),
        "count_unread" => ("case unread", &["cases"]),
        "get_case" => ("case show", &["key"]),
        "append_entries" => ("case batch", &["key", "entries"]),
        "read_case" => ("case read", &["key"]),
        "get_case_context" => ("case context", &["key"]),
        "close_case" => ("case close", &["key"]),
        "archive_case" => ("case archive", &["key"]),
        "update_case" => ("case update", &["key"]),
        "branch_case" => ("case branch", &["key", "name"]),
        "merge_case" => ("case merge", &["key"]),
        "list_proposals" => ("case proposals", &["key"]),
        "decide_proposal" => ("case decide", &["key", "number", "decision"]),
        "reopen_case" => ("case reopen", &["key"]),
        "consolidate_memory" => ("consolidate", &[]),
        "forget_memory" => ("forget", &["id"]),
        "list_certificates" => ("forgotten", &[]),
        "allow_forgotten" => ("allow", &["certificate"]),
        other => panic!("no command for {other}"),
    }
}

impl Door for Cli<'_> {
    fn call(&self, agent: &str, verb: &str, fields: &Value) -> Answer {
        let (command, positional) = command(verb);
        let mut fields = fields.as_object().unwrap().clone();
        // At the command line a child calls by its own name.
        let below = fields.remove("agent").map(|role| format!("{agent}/{}", text(&role)));
        let agent = below.as_deref().unwrap_or(agent);
        let flags = ["--json", "--agent", agent, "--workspace", WORKSPACE];
        let mut arguments: Vec<String> = command.split(' ').chain(flags).map(Into::into).collect();
        for name in ["entries", "answers"] {
            let Some(list) = fields.get_mut(name) else { continue };
            // A list of objects is given as a file.
            std::fs::write(self.0.path().join("list.json"), list.to_string()).unwrap();
            *list = json!("list.json");
        }
        let own = positional.iter().filter_map(|name| fields.remove(*name));
        let own = own.flat_map(|value| match value {
            Value::Array(items) => items.iter().map(text).collect(),
            value => vec![text(&value)],
        });
        let own: Vec<String> = own.collect();
        for (name, value) in pairs(&fields) {
            let flag = match name.as_str() {
                "memory_type" => "type".to_owned(),
                "topics" => "topic".to_owned(),
                "entities" => "entity".to_owned(),
                "labels" => "label".to_owned(),
                other => other.replace('_', "-"),
            };
            // A flag that is set has no value.
            arguments.push(match fields[&name] {
                Value::Bool(true) => format!("--{flag}"),
                _ => format!("--{flag}={value}"),
            });
        }
        arguments.push("--".to_owned());
        arguments.extend(own);
        let output = self.0.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let printed = if output.status.success() { output.stdout } else { output.stderr };
        let value: Value = serde_json::from_slice(&printed)
            .unwrap_or_else(|_| panic!("{verb}: {}", String::from_utf8_lossy(&printed)));
        if output.status.success() { Ok(value) } else { Err(value["error"].clone()) }
    }
}

/// MCP, a connection for each agent, which stays open as those of real clients do: over stdio to a child, or over HTTP to a server; in the era of
/// sessions by default.
pub(crate) struct Mcp<'h> {
    /// The connection of each agent that called a verb.
    clients: RefCell<BTreeMap<String, Client>>,
    home: &'h Home,
    url: Option<String>,
    runtime: Runtime,
    era: ClientLifecycleMode,
    token: Option<String>,
    tools: &'static str,
}

/// A client, and the channels for its notifications.
pub(crate) struct Listener {
    me: ClientConfig,
    updates: UnboundedSender<String>,
    progress: UnboundedSender<ProgressNotificationParam>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        self.me.clone()
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        drop(self.updates.send(params.uri));
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        drop(self.progress.send(params));
    }
}

/// A connected client with its notifications: the changed URIs, and progress.
pub(crate) struct Client {
    service: RunningService<RoleClient, Listener>,
    pub(crate) updates: UnboundedReceiver<String>,
    pub(crate) progress: UnboundedReceiver<ProgressNotificationParam>,
}

impl std::ops::Deref for Client {
    type Target = RunningService<RoleClient, Listener>;

    fn deref(&self) -> &Self::Target {
        &self.service
    }
}

impl<'h> Mcp<'h> {
    pub(crate) fn over_stdio(home: &'h Home) -> Self {
        Self::by(home, None)
    }

    pub(crate) fn over_http(home: &'h Home, server: &Server) -> Self {
        Self::by(home, Some(format!("{}/mcp?workspace={WORKSPACE}", server.url)))
    }

    fn by(home: &'h Home, url: Option<String>) -> Self {
        let (runtime, era) = (Runtime::new().unwrap(), ClientLifecycleMode::Initialize);
        let clients = RefCell::default();
        Self { clients, home, url, runtime, era, token: None, tools: "full" }
    }

    /// The same, showing this token over HTTP.
    pub(crate) fn showing(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// The same over stdio, with these tools.
    pub(crate) fn offering(mut self, tools: &'static str) -> Self {
        self.tools = tools;
        self
    }

    /// The same, in the era without sessions.
    pub(crate) fn stateless(mut self) -> Self {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        self.era = ClientLifecycleMode::Discover { preferred_versions };
        self
    }

    /// Both ways, each in both eras.
    pub(crate) fn every_way(home: &'h Home, server: &Server) -> [Self; 4] {
        [
            Self::over_stdio(home),
            Self::over_http(home, server),
            Self::over_stdio(home).stateless(),
            Self::over_http(home, server).stateless(),
        ]
    }

    /// The kind of its connection, for messages.
    pub(crate) fn way(&self) -> String {
        format!("{} {:?}", if self.url.is_some() { "HTTP" } else { "stdio" }, self.era)
    }

    pub(crate) fn is_stateless(&self) -> bool {
        self.era != ClientLifecycleMode::Initialize
    }

    /// Connects as a client of this name, and runs `act` on it.
    pub(crate) fn with<T>(&self, agent: &str, act: impl AsyncFnOnce(&mut Client) -> T) -> T {
        self.runtime.block_on(async {
            let mut client = self.connect(agent).await;
            let answer = act(&mut client).await;
            client.service.cancel().await.unwrap();
            answer
        })
    }

    async fn connect(&self, agent: &str) -> Client {
        let me = Implementation::new(agent, "1.0");
        let me = ClientConfig::new(ClientCapabilities::default(), me);
        let ((tell, updates), (advance, progress)) = (unbounded_channel(), unbounded_channel());
        let me = Listener { me, updates: tell, progress: advance };
        let era = self.era.clone();
        let service = match &self.url {
            Some(url) => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.clone());
                config.auth_header.clone_from(&self.token);
                let transport = StreamableHttpClientTransport::with_client(HttpClient, config);
                me.serve_with_lifecycle(transport, era).await
            }
            None => {
                let arguments = ["mcp", "--tools", self.tools, "--workspace", WORKSPACE];
                let command = tokio::process::Command::from(self.home.program(&arguments));
                me.serve_with_lifecycle(TokioChildProcess::new(command).unwrap(), era).await
            }
        };
        Client { service: service.unwrap(), updates, progress }
    }

    /// Closes the connections of all agents.
    pub(crate) fn close(&self) {
        for (_, client) in std::mem::take(&mut *self.clients.borrow_mut()) {
            drop(self.runtime.block_on(client.service.cancel()));
        }
    }
}

impl Drop for Mcp<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

impl Door for Mcp<'_> {
    fn call(&self, agent: &str, verb: &str, fields: &Value) -> Answer {
        let mut request = CallToolRequestParams::new(verb.to_owned());
        request.arguments = fields.as_object().cloned();
        request.arguments.get_or_insert_default().insert("verbose".to_owned(), json!(true));
        let result = {
            let mut clients = self.clients.borrow_mut();
            let client = clients
                .entry(agent.to_owned())
                .or_insert_with(|| self.runtime.block_on(self.connect(agent)));
            self.runtime.block_on(client.call_tool(request)).unwrap()
        };
        let text = &result.content[0].as_text().unwrap().text;
        if result.is_error == Some(true) {
            assert_eq!(result.structured_content, None, "{}: {text}", self.way());
            let error = result.meta.unwrap().0["commonbook/error"].clone();
            for part in ["kind", "message", "field", "hint", "code"] {
                let part = error[part].as_str().unwrap_or_default();
                assert!(text.contains(part), "{}: {part:?} is not in {text:?}", self.way());
            }
            return Err(error);
        }
        let mut structured = result.structured_content.unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), structured, "text says it all");
        without_note(&mut structured);
        Ok(structured)
    }
}

/// Takes the note of an answer for models off it; the rest is the answer of REST.
pub(crate) fn without_note(answer: &mut Value) {
    let fields = answer.as_object_mut().unwrap();
    let first = fields.keys().next().map(String::as_str);
    assert!(first == Some(RECORDED_FIELD) || !fields.contains_key(RECORDED_FIELD), "{fields:?}");
    if let Some(note) = fields.shift_remove(RECORDED_FIELD) {
        assert_eq!(note, RECORDED_NOTE);
    }
}

/// The prefixes of ids of stored things.
const IDS: [&str; 9] = ["mem_", "ses_", "act_", "chk_", "rel_", "rev_", "hnd_", "ctx_", "con_"];

/// A response without everything that differs between doors and runs: ids become `#1`, `#2` …
/// in the order of their first occurrence, times become `T`.
pub(crate) fn plain(value: &Value, ids: &mut Vec<String>) -> Value {
    match value {
        Value::String(text) if IDS.iter().any(|kind| text.starts_with(kind)) => {
            let place = ids.iter().position(|id| id == text).unwrap_or_else(|| {
                ids.push(text.clone());
                ids.len() - 1
            });
            json!(format!("#{}", place + 1))
        }
        Value::String(text) => {
            let is_time = |word: &str| {
                word.parse::<jiff::Timestamp>().is_ok()
                    || word.parse::<jiff::civil::Date>().is_ok()
                    || (word.contains(':') && word.parse::<jiff::civil::Time>().is_ok())
            };
            let text =
                without_days(&without_nonces(&without_way_to_open(without_way_to_appeal(text))));
            let timeless = text.split(' ').map(|word| if is_time(word) { "T" } else { word });
            let timeless = timeless.collect::<Vec<_>>().join(" ");
            // A headline says its minute if the line above has another one.
            let timeless = timeless.replace(", T > ", " > ").replace(" T > ", " > ");
            let named = ids.iter().enumerate().fold(timeless, |text, (place, id)| {
                let name = format!("#{}", place + 1);
                let handle = handle(id);
                let text = if text == handle { name.clone() } else { text.replace(id, &name) };
                text.replace(&format!("#{handle}"), &name)
            });
            json!(named)
        }
        Value::Array(items) => items.iter().map(|item| plain(item, ids)).collect(),
        Value::Object(fields) => {
            // The items of a text give their ids to its handles.
            fields.get("items").map(|items| plain(items, ids));
            // Ids and the marks of a context vary in tokens; the standing of a memory,
            // and with it the score, depends on its age on the day of the test.
            let differing = [
                "how",
                "door",
                "client",
                "request_id",
                "disk_bytes",
                "score",
                "standing",
                "tokens",
                "p50_seconds",
                "p95_seconds",
                "max_seconds",
                "milliseconds",
                "seconds",
                "plan",
                "sha256",
                "prompt_tokens_after",
                // The command line has no tools.
                "by_command",
                // A database alone names it.
                "history",
                // Counted in the background, and by a server alone.
                "usage",
                "bus",
            ];
            let kept = fields.iter().filter(|(name, _)| !differing.contains(&name.as_str()));
            let plain = |(name, value): (&String, &Value)| match value {
                Value::String(hint) if name == "hint" => {
                    (name.clone(), plain(&json!(without_own_words(hint)), ids))
                }
                _ => (name.clone(), plain(value, ids)),
            };
            Value::Object(kept.map(plain).collect())
        }
        other => other.clone(),
    }
}

/// A hint without the names of commands, tools and routes, which differ from door to door.
fn without_own_words(hint: &str) -> String {
    hint.split('`').enumerate().map(|(n, part)| if n % 2 == 1 { "`…`" } else { part }).collect()
}

/// A hint about a quarantine, without the parts that differ from door to door.
fn without_way_to_appeal(text: &str) -> &str {
    let ways = [" Reword it with an update", " Append a reworded entry"];
    ways.iter().find_map(|way| text.split_once(way)).map_or(text, |(alike, _)| alike)
}

/// A text without the way to open a headline, which the command line names as a command.
fn without_way_to_open(text: &str) -> String {
    let text = text.replace("(get_memory, several handles)", "(…)");
    text.replace("(`commonbook show A B C`)", "(…)")
        .replace(" (`commonbook search`)", "")
        .replace("resuming that session", "`commonbook resume`")
}

/// A text with the days of this run replaced, so that it is the same on each day.
fn without_days(text: &str) -> String {
    let now = SystemClock.now();
    let yesterday = now - jiff::SignedDuration::from_hours(24);
    [yesterday, now].iter().fold(without_times(text), |text, at| {
        text.replace(&format!(" {}", at.strftime("%-d %b")), " DAY")
            .replace(&format!("begun {}", at.strftime("%Y-%m-%d")), "begun DAY")
    })
}

/// A text without the times of day in the heads of its items: `#10 ann, 22:04, in case retries > …`. A head that
/// repeats the time of the one before has none.
fn without_times(text: &str) -> String {
    let is_time = |word: &str| {
        let digits = word.trim_end_matches(',').split_once(':');
        digits.is_some_and(|parts| {
            [parts.0, parts.1].iter().all(|part| part.len() == 2 && part.parse::<u8>().is_ok())
        })
    };
    let head = |line: &str| {
        let mut words: Vec<&str> = Vec::new();
        for word in line.split(' ') {
            match is_time(word) {
                false => words.push(word),
                true if word.ends_with(',') => {}
                true => {
                    let last = words.pop().map(|last| last.trim_end_matches(','));
                    words.extend(last);
                }
            }
        }
        words.join(" ")
    };
    let lines = text.split('\n').map(|line| match line.starts_with('#') {
        true => head(line),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A text whose fences have no nonce.
fn without_nonces(text: &str) -> String {
    ["<commonbook-", "</commonbook-"].iter().fold(text.to_owned(), |text, begin| {
        let mut parts = text.split(begin);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            let (_, rest) = part.split_once('>').unwrap_or((part, ""));
            format!("{text}{begin}N>{rest}")
        })
    })
}

/// A text that nobody has saved yet: a save of an equal text saves nothing.
pub(crate) fn new_text() -> String {
    (0..12).map(|_| fastrand::alphabetic()).collect()
}
