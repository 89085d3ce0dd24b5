//! The question to the person, by a client that can ask one (`elicitation/create`): whether agents may
//! receive the standing memory that came with the project.
//!
//! The answer comes from the client's response alone, never from an argument of a tool. The call that
//! begins the question does not wait for it: what the person agrees to is in the next context.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::agent::Agent;
use commonbook::model::caller::Caller;
use commonbook::model::standing::{AgreeStanding, AgreedFile};
use commonbook::prompt::consent::consent_question;
use commonbook::verbs::names;
use rmcp::model::ServerRequest;
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::{Value, json};

use crate::calls::call::run_blocking;

/// The tools that tell an agent its standing memory.
const TELLING_TOOLS: [&str; 2] = [names::GET_BRIEFING, names::GET_CONTEXT];

/// How long a question waits for its answer.
const ANSWER_TIME: Duration = Duration::from_secs(600);

/// The field of the form.
const ANSWER_FIELD: &str = "agree";

/// The texts that a connection has asked its person about, by their SHA-256: each once, whatever the
/// answer.
#[derive(Debug, Clone, Default)]
pub(super) struct AskedTexts(Arc<Mutex<BTreeSet<String>>>);

impl AskedTexts {
    /// Notes a text; `false` if it was asked about before.
    fn note(&self, sum: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(sum.to_owned())
    }
}

/// Asks the person in the background, if a tool has told a caller its standing memory, some of its
/// project waits, and the client can show a form.
pub(super) fn ask_in_background(
    book: &Commonbook,
    asked: &AskedTexts,
    context: &RequestContext<RoleServer>,
    caller: &Caller,
    tool: &str,
) {
    // A client without a handshake is of the era in which a server asks nothing by itself.
    let client = context.peer.peer_info();
    let form = client.and_then(|client| client.capabilities.elicitation.clone());
    let can_ask = form.is_some_and(|form| form.form.is_some() || form.url.is_none());
    if !can_ask || caller.project.is_none() || !TELLING_TOOLS.contains(&tool) {
        return;
    }
    let (book, asked, peer) = (book.clone(), asked.clone(), context.peer.clone());
    let person = Caller { agent: Agent::human(), ..caller.clone() };
    let role = caller.agent.role().to_owned();
    tokio::spawn(async move {
        if let Err(error) = ask(&book, &asked, &peer, &person, &role).await {
            tracing::debug!(%error, "the client did not answer whether agents receive a file");
        }
    });
}

/// Asks about each text of a role that waits, one after the other.
async fn ask(
    book: &Commonbook,
    asked: &AskedTexts,
    peer: &Peer<RoleServer>,
    person: &Caller,
    role: &str,
) -> Result<()> {
    let look = AgreeStanding { dry_run: true, ..AgreeStanding::default() };
    let waiting = agree(book, person, look).await?;
    for file in waiting.into_iter().filter(|file| file.role == role) {
        let Some(question) = consent_question(&file) else { continue };
        if asked.note(&file.sha256) && is_agreed(peer, &question).await? {
            let (file, sha256) = (Some(file.file), Some(file.sha256));
            agree(book, person, AgreeStanding { dry_run: false, file, sha256 }).await?;
        }
    }
    Ok(())
}

async fn agree(
    book: &Commonbook,
    person: &Caller,
    request: AgreeStanding,
) -> Result<Vec<AgreedFile>> {
    let (book, person) = (book.clone(), person.clone());
    run_blocking(move || Ok(book.agree_standing(&person, &request)?.items)).await
}

/// Whether the person accepts the form with its one field set.
async fn is_agreed(peer: &Peer<RoleServer>, question: &str) -> Result<bool> {
    let failed = |reason: String| Error::new(ErrorKind::Unavailable, reason);
    let field = json!({"type": "boolean", "title": "Agents may receive it", "default": false});
    let schema = json!({
        "type": "object",
        "properties": {ANSWER_FIELD: field},
        "required": [ANSWER_FIELD],
    });
    let request = json!({
        "method": "elicitation/create",
        "params": {"mode": "form", "message": question, "requestedSchema": schema},
    });
    let request: ServerRequest =
        serde_json::from_value(request).map_err(|error| failed(error.to_string()))?;
    let answer = tokio::time::timeout(ANSWER_TIME, peer.send_request(request)).await;
    let answer = answer.map_err(|_| failed("no answer in time".to_owned()))?;
    let answer = answer.map_err(|error| failed(error.to_string()))?;
    let answer = serde_json::to_value(answer).map_err(|error| failed(error.to_string()))?;
    Ok(answer["action"] == "accept" && answer["content"][ANSWER_FIELD] == Value::Bool(true))
}
