//! What is done at each moment: which verbs are called, and what of their answers is told.

use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::base::error::{ErrorKind, Result};
use commonbook::base::limits;
use commonbook::model::agent::Agent;
use commonbook::model::caller::{Caller, EntryPoint, nearest_session_id};
use commonbook::model::checkpoint::{CheckpointKind, CreateCheckpoint, ResumeSession};
use commonbook::model::cursor::{ChangesSince, MarkRead};
use commonbook::model::learning::LearnRequest;
use commonbook::model::session::{EndSession, StartSession};
use commonbook::prompt::context::GetContext;
use commonbook_text::echo::without_contexts;
use serde_json::Value;

use super::verbs::{StoreOpener, VerbClient};
use super::{HookClient, HookEvent, HookInput, HookResponse, commands, delegation_response, news};
use crate::caller::{CallerClaims, resolve_caller};
use crate::config::Config;
use crate::hook::steps::{HookStep, hook_steps};
use crate::ticket::{self, CallTicket, TicketKey, ToolCall};

/// How long before the end a command of the user's own is broken off, so that time is left for us.
const OWN_STEPS_RESERVE: Duration = Duration::from_millis(600);

/// One call of a hook.
pub(super) struct HookInvocation<'c> {
    input: HookInput,
    /// The client itself, in the workspace of the folder that it works in.
    client: Caller,
    config: &'c Config,
    verbs: VerbClient<'c>,
    /// What the agent is given to read, in order.
    told: Vec<String>,
    /// What the arguments of the tool are given besides.
    ticket: Option<String>,
}

impl<'c> HookInvocation<'c> {
    /// What a client is answered, as it takes it.
    ///
    /// # Errors
    /// What went wrong where nothing at all could be done; of single steps the log tells.
    pub(super) fn answer(
        input: HookInput,
        heard: &CallerClaims,
        config: &'c Config,
        open: StoreOpener,
        end: Instant,
    ) -> Result<String> {
        if input.moment == HookEvent::Other || input.moment == HookEvent::SubagentStart {
            return Ok(HookResponse::Nothing.render(&input));
        }
        let folder = input.cwd.as_ref().map(Into::into).or_else(|| config.folder.clone());
        let around = Config { folder, ..config.clone() };
        let near = around.nearest_workspace()?;
        let named = Some((input.client.name().to_owned(), String::new()));
        let client = resolve_caller(
            &CallerClaims { client: named, ..heard.clone() },
            config,
            near,
            EntryPoint::Hook,
        )?
        .in_project(around.project());
        let commands = match &config.home {
            Some(home) => commands::read_user_commands(home)
                .inspect_err(|error| tracing::warn!(%error, "the user's commands are passed over"))
                .unwrap_or_default(),
            None => Vec::new(),
        };
        let verbs = VerbClient::new(config, open);
        let mut turn = Self { input, client, config, verbs, told: Vec::new(), ticket: None };
        for step in hook_steps(turn.input.moment, &commands)? {
            if let Err(error) = turn.run_step(&step, end) {
                let cause = error.cause.as_ref().map(tracing::field::display);
                let event = &turn.input.event;
                tracing::warn!(%event, ?step, %error, cause, "a step of a hook failed");
            }
        }
        Ok(turn.combined_response().render(&turn.input))
    }

    fn run_step(&mut self, step: &HookStep<'_>, end: Instant) -> Result<()> {
        match step {
            HookStep::Memory => self.give_memory(),
            HookStep::Learning => self.record_work(),
            HookStep::Command(command) => {
                let agent = self.input.agent(&self.client.agent);
                let said =
                    commands::run(command, &self.input, agent.as_str(), end - OWN_STEPS_RESERVE)?;
                self.told.extend(said.context.filter(|context| !context.trim().is_empty()));
                let task = said.task.filter(|task| !task.trim().is_empty());
                if let Some((delegation, task)) = self.input.delegation.as_mut().zip(task) {
                    delegation.task = task;
                }
                Ok(())
            }
        }
    }

    /// Gives the agent what it should know.
    fn give_memory(&mut self) -> Result<()> {
        match self.input.moment {
            HookEvent::SessionStart => self.begin_client_session(),
            HookEvent::Prompt => self.give_news(),
            HookEvent::Delegation => self.delegate(),
            HookEvent::OwnCall => self.sign(),
            _ => Ok(()),
        }
    }

    /// Takes in what the agent has done.
    fn record_work(&mut self) -> Result<()> {
        match self.input.moment {
            HookEvent::SubagentStop | HookEvent::TurnEnd => self.learn(),
            HookEvent::Compaction => self.checkpoint(),
            HookEvent::SessionEnd => self.end_client_session(),
            _ => Ok(()),
        }
    }

    /// The answer that everything makes together.
    fn combined_response(&self) -> HookResponse {
        let told = self.told.join("\n\n");
        match (self.input.moment, &self.input.tool, &self.ticket) {
            (HookEvent::Delegation, ..) => delegation_response(&self.input, &told),
            (HookEvent::OwnCall, Some(tool), Some(ticket)) => {
                let mut arguments = tool.arguments.clone();
                arguments.insert(ticket::TICKET_ARGUMENT.to_owned(), Value::from(ticket.as_str()));
                HookResponse::Arguments(arguments)
            }
            (HookEvent::OwnCall, ..) => HookResponse::Nothing,
            _ if told.is_empty() => HookResponse::Nothing,
            _ => HookResponse::Context(told),
        }
    }

    /// The id that the client has for its session, as it is kept: what no id can hold is mapped.
    fn client_session(&self) -> Option<String> {
        self.input.session.as_deref().and_then(nearest_session_id)
    }

    /// The session, by the id that the client has for it: the same one again, or a new one.
    fn session(&mut self) -> Result<Option<String>> {
        let Some(own) = self.client_session() else { return Ok(None) };
        let start = StartSession { client_session: Some(own), ..StartSession::default() };
        let caller = &self.client;
        let started =
            self.verbs.call("session start", caller, &start, Commonbook::start_session)?;
        Ok(Some(started.session.id.to_string()))
    }

    /// A session begins: its agent is given what it should know, and where it goes on, what it did.
    fn begin_client_session(&mut self) -> Result<()> {
        let session = self.session()?;
        if let (Some("resume" | "compact"), Some(session)) = (self.input.reason.as_deref(), session)
        {
            let resume = ResumeSession { session: Some(session), ..ResumeSession::default() };
            let caller = &self.client;
            let resumed = self.verbs.call("resume", caller, &resume, Commonbook::resume_session)?;
            // Of a session in which nothing was kept there is nothing to tell.
            if !resumed.memories.is_empty() {
                self.told.push(resumed.text);
            }
        }
        // There is no task yet to hold memories against: what holds for every task is told.
        let task = format!("Begin to work in {}", self.client.workspace);
        let begin = GetContext { task, threshold: Some(1.0), ..GetContext::default() };
        self.give_context(&self.client.clone(), &begin)
    }

    /// Tells what an agent should know.
    fn give_context(&mut self, caller: &Caller, request: &GetContext) -> Result<()> {
        let given = self.verbs.call("context", caller, request, Commonbook::get_context)?;
        self.told.extend(Some(given.text).filter(|text| !text.is_empty()));
        Ok(())
    }

    /// The user has said something: the agent is told what is new since it last looked.
    fn give_news(&mut self) -> Result<()> {
        let look = ChangesSince { limit: Some(limits::PAGE_MAX), ..ChangesSince::default() };
        let caller = &self.client;
        let changes = self.verbs.call("changes", caller, &look, Commonbook::changes_since)?;
        if changes.through > changes.after {
            // What is more than can be told is not told bit by bit with the prompts that follow.
            self.verbs.call("mark", caller, &MarkRead::default(), Commonbook::mark_read)?;
        }
        self.told.extend(Some(news::render_changes(changes)).filter(|text| !text.is_empty()));
        // No moment of this client comes before in which anything could be told.
        match self.input.prompt.as_deref().map(strip_controls) {
            Some(task) if self.input.client == HookClient::Opencode && !task.trim().is_empty() => {
                let caller = self.client.clone();
                self.give_context(&caller, &GetContext { task, ..GetContext::default() })
            }
            _ => Ok(()),
        }
    }

    /// A task is handed over: the other agent is given what it should know for it.
    fn delegate(&mut self) -> Result<()> {
        let Some(delegation) = &self.input.delegation else { return Ok(()) };
        let task = strip_controls(&without_contexts(&delegation.task));
        let target = self.input.target_agent(&self.client.agent);
        let caller = self.client.clone().narrow_to(target.as_ref().map(Agent::as_str))?;
        self.give_context(&caller, &GetContext { task, ..GetContext::default() })
    }

    /// One of our tools is called: whose call it is, and in which session, is signed.
    fn sign(&mut self) -> Result<()> {
        // These take other arguments only together with a decision, which is the user's where
        // there is no need for it.
        let decides = matches!(self.input.client, HookClient::Codex | HookClient::Copilot);
        if decides && self.input.subagent.is_none() {
            return Ok(());
        }
        let session = self.session()?;
        let agent = self.input.agent(&self.client.agent);
        let Some((tool, arguments)) = self.input.own_tool() else { return Ok(()) };
        let key = TicketKey::of(self.config.home()?)?;
        let call = ToolCall { workspace: &self.client.workspace, tool, arguments };
        self.ticket = Some(CallTicket::new(agent, session, call).to_signed_text(&key));
        Ok(())
    }

    /// An agent is done: what it says that it has learned is kept.
    fn learn(&mut self) -> Result<()> {
        let message = self.input.last_message.clone().unwrap_or_default();
        if message.trim().is_empty() {
            return Ok(());
        }
        let agent = self.input.agent(&self.client.agent);
        let prompt = self.input.prompt.clone();
        let learn = LearnRequest { message, prompt, ..LearnRequest::default() };
        let session = self.session()?;
        let caller = self.client.clone().narrow_to(Some(agent.as_str()))?;
        let caller = caller.in_session(session.as_deref())?;
        self.verbs.call("learn", &caller, &learn, Commonbook::learn).map(drop)
    }

    /// The conversation is about to be shortened: how far it has come is marked.
    fn checkpoint(&mut self) -> Result<()> {
        let Some(session) = self.session()? else { return Ok(()) };
        let checkpoint = CreateCheckpoint {
            session: Some(session),
            kind: CheckpointKind::Automatic,
            title: Some("Before the conversation was shortened".to_owned()),
            ..CreateCheckpoint::default()
        };
        let caller = &self.client;
        self.verbs.call("checkpoint", caller, &checkpoint, Commonbook::create_checkpoint).map(drop)
    }

    /// The session ends.
    fn end_client_session(&mut self) -> Result<()> {
        let Some(session) = self.client_session() else { return Ok(()) };
        let end = EndSession { session: Some(session), ..EndSession::default() };
        let caller = &self.client;
        match self.verbs.call("session end", caller, &end, Commonbook::end_session) {
            // It was never begun here, or has ended already.
            Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Conflict) => Ok(()),
            ended => ended.map(drop),
        }
    }
}

/// A text without control characters, which no request takes.
fn strip_controls(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
