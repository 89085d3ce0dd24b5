//! `demo`: two agents share a memory, by real calls through each door, in a temporary home.

use std::path::Path;
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::verbs::names;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

use crate::calls::output::print_line;
use crate::system::child::{ChildServer, program_command, step_error};

const WORKSPACE: &str = "demo";
const FIRST_AGENT: &str = "claude-code";
const SECOND_AGENT: &str = "gemini-cli";

/// How long the demo waits until the server has loaded the model and embedded two texts.
const EMBEDDING_TIMEOUT: Duration = Duration::from_secs(60);

/// Shows two agents that share a memory, in a temporary home.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoCommand {}

impl DemoCommand {
    /// Runs the demo.
    ///
    /// # Errors
    /// `unavailable` if a call fails, `internal` if its response is not the expected one.
    pub(crate) fn run(&self) -> Result<()> {
        let home = tempfile::tempdir()
            .map_err(|error| step_error("cannot create a temporary home", error))?;
        let server = ChildServer::start(home.path())?;
        print_line(&format!("Started a server with an empty home at {}", server.url()));

        let id = first_agent_saves(home.path())?;
        second_agent_finds(&server, &id)?;
        second_agent_is_refused(&server, &id)?;
        second_agent_saves_its_own(&server)?;
        paraphrase_finds_memory(&server, &id)?;
        journal_shows_both(&server)?;
        command_line_lists_both(home.path())?;

        print_line(
            "\nTwo agents used one memory, each under its own name. Next: connect your client with \
             `commonbook setup CLIENT`.",
        );
        Ok(())
    }
}

fn print_step(number: u8, text: &str) {
    print_line(&format!("\n{number}. {text}"));
}

fn print_detail(text: &str) {
    print_line(&format!("   {text}"));
}

fn check_step(holds: bool, expectation: &str, response: &Value) -> Result<()> {
    if holds {
        return Ok(());
    }
    let message = format!("the demo expected that {expectation}; the response is {response}");
    Err(Error::new(ErrorKind::Internal, message))
}

fn first_agent_saves(home: &Path) -> Result<String> {
    print_step(
        1,
        &format!(
            "{FIRST_AGENT} starts `commonbook mcp` and saves a decision with the tool save_memory"
        ),
    );
    let arguments = json!({
        "text": "The payment service retries three times with exponential backoff, because the bank's gateway drops about one call in fifty.",
        "memory_type": "decision",
        "topics": ["payments", "retries"],
        "importance": "high",
    });
    print_detail(&format!("“{}”", arguments["text"].as_str().unwrap_or_default()));
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|error| step_error("cannot start the runtime", error))?;
    let saved = runtime.block_on(call_tool(home, names::SAVE_MEMORY, &arguments))?;
    let id = saved["memory"]["id"].as_str().unwrap_or_default().to_owned();
    check_step(
        saved["memory"]["owner"] == FIRST_AGENT && !id.is_empty(),
        "the first agent saves a memory",
        &saved,
    )?;
    print_detail(&format!("saved as {id}, owned by {}", saved["memory"]["owner"]));
    Ok(id)
}

/// Starts `commonbook mcp` and calls one tool, as a client does.
async fn call_tool(home: &Path, tool: &'static str, arguments: &Value) -> Result<Value> {
    let command = program_command(home, &["mcp", "--workspace", WORKSPACE])?;
    let transport = TokioChildProcess::new(tokio::process::Command::from(command))
        .map_err(|error| step_error("the MCP server did not start", error))?;
    let config =
        ClientConfig::new(ClientCapabilities::default(), Implementation::new(FIRST_AGENT, "demo"));
    let client =
        config.serve(transport).await.map_err(|error| step_error("MCP did not connect", error))?;
    let mut request = CallToolRequestParams::new(tool);
    // The demo is a program: it takes the answer as JSON.
    request.arguments = arguments.as_object().cloned();
    request.arguments.get_or_insert_default().insert("verbose".to_owned(), Value::Bool(true));
    let answer = client.call_tool(request).await;
    let answer = answer.map_err(|error| step_error("the tool did not answer", error))?;
    client.cancel().await.map_err(|error| step_error("MCP did not close", error))?;
    Ok(answer.structured_content.unwrap_or_default())
}

fn second_agent_finds(server: &ChildServer, id: &str) -> Result<()> {
    print_step(2, &format!("{SECOND_AGENT} searches over REST"));
    print_detail("GET /v1/memories/search?q=How often do we retry a payment?");
    let path = "/v1/memories/search?q=How+often+do+we+retry+a+payment%3F";
    let (status, answer) = server.call("GET", path, SECOND_AGENT, WORKSPACE, &Value::Null)?;
    let hit = &answer["hits"][0]["memory"];
    check_step(status == 200 && hit["id"] == *id, "the second agent finds the memory", &answer)?;
    print_detail(&format!("found {id} by {}, {} of {}", hit["owner"], 1, answer["total"]));
    Ok(())
}

fn second_agent_is_refused(server: &ChildServer, id: &str) -> Result<()> {
    print_step(
        3,
        &format!("{SECOND_AGENT} tries to change the memory of {FIRST_AGENT}, and is refused"),
    );
    print_detail(&format!("PATCH /v1/memories/{id}"));
    let change = json!({"text": "The payment service retries five times."});
    let path = format!("/v1/memories/{id}");
    let (status, answer) = server.call("PATCH", &path, SECOND_AGENT, WORKSPACE, &change)?;
    let error = &answer["error"];
    check_step(
        status == 403 && error["code"] == "ownership_mismatch",
        "the server refuses the change",
        &answer,
    )?;
    print_detail(&format!(
        "{status} {}: {}",
        error["code"],
        error["message"].as_str().unwrap_or_default()
    ));
    print_detail(error["hint"].as_str().unwrap_or_default());
    Ok(())
}

fn second_agent_saves_its_own(server: &ChildServer) -> Result<()> {
    print_step(4, &format!("{SECOND_AGENT} saves its own version"));
    print_detail("POST /v1/memories");
    let own = json!({
        "text": "Since the gateway was replaced in October, the payment service needs five retries at month's end.",
        "memory_type": "learning",
        "topics": ["payments", "retries"],
    });
    let (status, answer) = server.call("POST", "/v1/memories", SECOND_AGENT, WORKSPACE, &own)?;
    check_step(
        status == 201 && answer["memory"]["owner"] == SECOND_AGENT,
        "the second agent saves its own version",
        &answer,
    )?;
    print_detail(&format!(
        "saved as {}, owned by {}",
        answer["memory"]["id"].as_str().unwrap_or_default(),
        answer["memory"]["owner"]
    ));
    Ok(())
}

/// Searches for the memory in other words, as soon as it has a vector.
fn paraphrase_finds_memory(server: &ChildServer, id: &str) -> Result<()> {
    print_step(
        5,
        "A search in other words finds the memory by meaning, with the model in the binary",
    );
    let question = "what happens when a credit card charge fails";
    print_detail(&format!("GET /v1/memories/search?q={question}"));
    let path = format!("/v1/memories/search?q={}", question.replace(' ', "+"));
    let begun = Instant::now();
    let answer = loop {
        let (_, answer) = server.call("GET", &path, SECOND_AGENT, WORKSPACE, &Value::Null)?;
        // Embedding follows the save; a response without a notice used vectors.
        if answer["notice"].is_null() || begun.elapsed() > EMBEDDING_TIMEOUT {
            break answer;
        }
        std::thread::yield_now();
    };
    let hits = answer["hits"].as_array().cloned().unwrap_or_default();
    let by_meaning = |hit: &&Value| hit["matched"].to_string().contains("vector");
    let hit = hits.iter().filter(by_meaning).find(|hit| hit["memory"]["id"] == *id);
    let hit = hit.cloned().unwrap_or_default();
    check_step(!hit.is_null(), "a search by meaning finds the memory", &answer)?;
    print_detail(&format!("found {id}, matched by {}", hit["matched"]));
    Ok(())
}

fn journal_shows_both(server: &ChildServer) -> Result<()> {
    print_step(6, "The journal shows who did what");
    let path = "/v1/events?events=memory.saved";
    print_detail(&format!("GET {path}"));
    let (status, answer) = server.call("GET", path, SECOND_AGENT, WORKSPACE, &Value::Null)?;
    let events = answer["items"].as_array().cloned().unwrap_or_default();
    let actors: Vec<&Value> = events.iter().map(|event| &event["actor"]).collect();
    check_step(
        status == 200 && actors == [FIRST_AGENT, SECOND_AGENT],
        "the journal has one saved memory of each agent",
        &answer,
    )?;
    for event in &events {
        let word = |field: &str| event[field].as_str().unwrap_or_default();
        print_detail(&format!(
            "{}  {:<12} by {:<11} {}",
            event["sequence"],
            word("kind"),
            word("actor"),
            word("subject")
        ));
    }
    Ok(())
}

fn command_line_lists_both(home: &Path) -> Result<()> {
    print_step(7, "A person lists both memories: commonbook list");
    let listing = program_command(home, &["list", "--workspace", WORKSPACE])?
        .output()
        .map_err(|error| step_error("the command line did not start", error))?;
    let text = String::from_utf8_lossy(&listing.stdout);
    let both = [FIRST_AGENT, SECOND_AGENT].iter().all(|agent| text.contains(agent));
    check_step(
        listing.status.success() && both,
        "the command line lists both memories",
        &json!(text),
    )?;
    text.lines().for_each(|row| print_detail(row.trim_end()));
    Ok(())
}
