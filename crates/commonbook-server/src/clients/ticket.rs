//! Tickets: prove which sub-agent calls a tool.
//!
//! MCP does not say which agent of a client calls. The client's hook knows it before the call, and adds
//! a ticket to the arguments, signed with a key from the home folder that no model sees. The process
//! that runs the call removes the ticket, and trusts it if the signature is right.

use std::collections::BTreeMap;
use std::path::Path;

use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::home_key::{HomeKey, hex, parse_hex};
use commonbook::model::agent::Agent;
use commonbook::model::caller::{Caller, CallerProof};
use commonbook::model::workspace::Workspace;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

/// The argument that carries a ticket.
pub(crate) const TICKET_ARGUMENT: &str = "commonbook_ticket";

/// The lifetime of a ticket: a person may have to allow the call first.
const TICKET_LIFETIME: SignedDuration = SignedDuration::from_mins(10);

/// Maximum size of a ticket that is parsed; valid ones are shorter.
const TICKET_BYTES_MAX: usize = 2_048;

/// The content of a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallTicket {
    /// The agent that calls.
    pub(crate) agent: Agent,
    /// The session that it calls in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// The fingerprint of its call.
    pub(crate) call: String,
    /// The time at which it expires.
    pub(crate) until: Timestamp,
}

/// A call of a tool, before the client makes it and when it arrives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolCall<'c> {
    /// The workspace of the call.
    pub(crate) workspace: &'c Workspace,
    /// The name of the tool, without the prefix of a client.
    pub(crate) tool: &'c str,
    /// The arguments; the fingerprint leaves out a ticket among them.
    pub(crate) arguments: &'c Map<String, Value>,
}

impl ToolCall<'_> {
    /// A hash of the call that does not depend on the order of the arguments.
    fn fingerprint(&self) -> String {
        let mut arguments = self.arguments.clone();
        arguments.remove(TICKET_ARGUMENT);
        let arguments = canonical(&Value::Object(arguments));
        let whole = serde_json::json!([self.workspace.as_str(), self.tool, arguments]);
        hex(&Sha256::digest(whole.to_string()))
    }
}

/// The canonical form of a value: sorted keys, no nulls, whole numbers as integers.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            let sorted: BTreeMap<&String, Value> =
                fields.map(|(name, value)| (name, canonical(value))).collect();
            sorted.into_iter().map(|(name, value)| (name.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Number(number) => {
            // `5` and `5.0` are the same number, and differ from a text.
            let whole = number.as_i64().map(|whole| whole.to_string());
            let text = whole.or_else(|| number.as_f64().map(|float| float.to_string()));
            Value::from(format!("number {}", text.unwrap_or_default()))
        }
        _ => value.clone(),
    }
}

impl CallTicket {
    /// A ticket for a call of this agent in this session.
    pub(crate) fn new(agent: Agent, session: Option<String>, call: ToolCall<'_>) -> Self {
        Self {
            agent,
            session,
            call: call.fingerprint(),
            until: SystemClock.now() + TICKET_LIFETIME,
        }
    }

    /// The ticket as text: its content and its signature.
    pub(crate) fn to_signed_text(&self, key: &HomeKey) -> String {
        let content = serde_json::to_string(self).unwrap_or_default();
        format!("{}.{}", hex(content.as_bytes()), hex(&key.sign(&content)))
    }

    /// The content of a ticket, if this key has signed it and it has not expired.
    ///
    /// # Errors
    /// `unauthenticated`, with the reason.
    fn read(text: &str, key: &HomeKey, now: Timestamp) -> Result<Self> {
        let invalid =
            |reason: &str| Error::new(ErrorKind::Unauthenticated, format!("the ticket {reason}"));
        let parts = (text.len() <= TICKET_BYTES_MAX).then(|| text.split_once('.')).flatten();
        let parts = parts
            .and_then(|(content, signature)| Some((parse_hex(content)?, parse_hex(signature)?)));
        let parts = parts
            .and_then(|(content, signature)| Some((String::from_utf8(content).ok()?, signature)));
        let (content, signature) = parts.ok_or_else(|| invalid("is malformed"))?;
        if !bool::from(key.sign(&content).as_slice().ct_eq(&signature)) {
            return Err(invalid("is signed with another key"));
        }
        let ticket: Self = serde_json::from_str(&content)
            .map_err(|error| invalid("has unknown content").with_cause(error))?;
        if ticket.until < now {
            return Err(invalid("has expired"));
        }
        Ok(ticket)
    }
}

/// Takes the ticket off the arguments of a call; the caller is the agent that it names, where that
/// is the caller itself or below it, and where it was made for this call in the caller's workspace.
/// With a ticket that is worth nothing, or none, it stays who it is.
pub(crate) fn redeem_ticket(
    caller: Caller,
    tool: &str,
    arguments: &mut Map<String, Value>,
    home: Option<&Path>,
) -> Caller {
    let Some(ticket) = arguments.shift_remove(TICKET_ARGUMENT) else { return caller };
    let call = ToolCall { workspace: &caller.workspace, tool, arguments };
    match check_ticket(&caller, call, &ticket, home) {
        Ok(ticket) => caller_of_ticket(caller, ticket),
        Err(error) => {
            tracing::warn!(agent = %caller.agent, %error, "ignoring a ticket");
            caller
        }
    }
}

fn check_ticket(
    caller: &Caller,
    call: ToolCall<'_>,
    ticket: &Value,
    home: Option<&Path>,
) -> Result<CallTicket> {
    let unknown = || Error::new(ErrorKind::Unauthenticated, "this home has no key for tickets");
    let key = home.map(HomeKey::read).transpose()?.flatten().ok_or_else(unknown)?;
    let ticket = CallTicket::read(ticket.as_str().unwrap_or_default(), &key, SystemClock.now())?;
    if ticket.agent != caller.agent && !ticket.agent.is_child_of(&caller.agent) {
        let message = format!("the ticket names {}, which is not a child", ticket.agent);
        return Err(Error::new(ErrorKind::Forbidden, message));
    }
    if !bool::from(ticket.call.as_bytes().ct_eq(call.fingerprint().as_bytes())) {
        let message = format!("the ticket belongs to another call than this one of {}", call.tool);
        return Err(Error::new(ErrorKind::Forbidden, message));
    }
    Ok(ticket)
}

fn caller_of_ticket(caller: Caller, ticket: CallTicket) -> Caller {
    let narrower = ticket.agent != caller.agent;
    let proof = match caller.proof {
        CallerProof::Token { id, scopes, bound, asserted } => {
            CallerProof::Token { id, scopes, bound, asserted: asserted || narrower }
        }
        CallerProof::Word => CallerProof::Word,
    };
    let session = caller.session.or(ticket.session);
    Caller { agent: ticket.agent, session, proof, ..caller }
}

#[cfg(test)]
mod tests {
    use commonbook::model::caller::EntryPoint;
    use serde_json::json;

    use super::*;

    fn agent(name: &str) -> Agent {
        name.parse().unwrap()
    }

    fn caller(name: &str) -> Caller {
        let agent = commonbook::model::agent::AgentName { agent: agent(name), device: None };
        Caller::new(Some(agent), Workspace::fallback(), EntryPoint::Mcp)
    }

    /// The caller of a call by `claude-code` with this ticket.
    fn caller_name(ticket: &str, home: &Path) -> String {
        let mut arguments = json!({"text": "tea", TICKET_ARGUMENT: ticket});
        let arguments = arguments.as_object_mut().unwrap();
        let caller = redeem_ticket(caller("claude-code"), "save_memory", arguments, Some(home));
        assert_eq!(json!(arguments), json!({"text": "tea"}), "it goes no further");
        caller.agent.to_string()
    }

    /// A ticket for a save of this text, by this agent.
    fn made(name: &str, session: Option<&str>) -> CallTicket {
        let arguments = Map::from_iter([("text".to_owned(), json!("tea"))]);
        let workspace = Workspace::fallback();
        let call = ToolCall { workspace: &workspace, tool: "save_memory", arguments: &arguments };
        CallTicket::new(agent(name), session.map(str::to_owned), call)
    }

    #[test]
    fn a_ticket_holds_for_its_own_call_in_its_own_workspace_alone() {
        let home = tempfile::tempdir().unwrap();
        let key = HomeKey::open(home.path()).unwrap();
        let given = json!({"text": "tea", "metadata": {"a": 1, "b": [5.0, null]}, "title": null});
        let (here, elsewhere) = (Workspace::fallback(), "elsewhere".parse().unwrap());
        let call = ToolCall {
            workspace: &here,
            tool: "save_memory",
            arguments: given.as_object().unwrap(),
        };
        let child = agent("claude-code/engineer");
        let ticket = CallTicket::new(child.clone(), None, call).to_signed_text(&key);
        let arrives = |tool: &str, workspace: &Workspace, arguments: Value| {
            let mut arguments = arguments;
            arguments[TICKET_ARGUMENT] = json!(ticket);
            let caller = Caller { workspace: workspace.clone(), ..caller("claude-code") };
            let arguments = arguments.as_object_mut().unwrap();
            redeem_ticket(caller, tool, arguments, Some(home.path())).agent
        };
        // As a client may write the same: other order, whole numbers, nothing for nothing.
        let same = json!({"metadata": {"b": [5, null], "a": 1.0}, "text": "tea"});
        for same in [given.clone(), same] {
            assert_eq!(arrives("save_memory", &here, same), child);
        }
        let parent = agent("claude-code");
        assert_eq!(arrives("save_memory", &elsewhere, given.clone()), parent, "elsewhere");
        assert_eq!(arrives("update_memory", &here, given.clone()), parent, "another tool");
        for (field, value) in [("text", json!("coffee")), ("sharing", json!("private"))] {
            let mut other = given.clone();
            other[field] = value;
            assert_eq!(arrives("save_memory", &here, other), parent, "{field}");
        }
    }

    #[test]
    fn a_ticket_of_this_home_names_the_child_and_its_session() {
        let home = tempfile::tempdir().unwrap();
        let key = HomeKey::open(home.path()).unwrap();
        let ticket = made("claude-code/engineer", Some("ses_1")).to_signed_text(&key);
        assert_eq!(caller_name(&ticket, home.path()), "claude-code/engineer");
        let mut arguments = Map::from_iter([
            ("text".into(), json!("tea")),
            (TICKET_ARGUMENT.into(), json!(ticket)),
        ]);
        let caller = caller("claude-code");
        let narrow = redeem_ticket(caller, "save_memory", &mut arguments, Some(home.path()));
        assert_eq!(narrow.session.as_deref(), Some("ses_1"));
    }

    #[test]
    fn a_ticket_that_is_worth_nothing_leaves_the_caller_who_it_is() {
        let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let key = HomeKey::open(home.path()).unwrap();
        let child = || made("claude-code/engineer", None);
        let good = child().to_signed_text(&key);
        let (said, signature) = good.split_once('.').unwrap();
        let forged =
            hex(serde_json::to_string(&child()).unwrap().replace("engineer", "qa").as_bytes());
        let past = SystemClock.now() - SignedDuration::from_secs(1);
        let bad = [
            String::new(),
            "engineer".to_owned(),
            said.to_owned(),
            format!("{said}."),
            format!("{said}.{}", &signature[2..]),
            format!("{forged}.{signature}"),
            CallTicket { until: past, ..child() }.to_signed_text(&key),
            child().to_signed_text(&HomeKey::open(other.path()).unwrap()),
            made("codex/engineer", None).to_signed_text(&key),
            made("claude-codex", None).to_signed_text(&key),
            "é.é".to_owned(),
            "a".repeat(1 << 20),
        ];
        for ticket in bad {
            assert_eq!(caller_name(&ticket, home.path()), "claude-code", "{ticket:.80}");
        }
        let without = tempfile::tempdir().unwrap();
        assert_eq!(
            caller_name(&good, without.path()),
            "claude-code",
            "another home has another key"
        );
        let mut arguments = Map::from_iter([(TICKET_ARGUMENT.to_owned(), json!({"agent": "x"}))]);
        redeem_ticket(caller("claude-code"), "save_memory", &mut arguments, None);
        assert!(arguments.is_empty());
    }
}
