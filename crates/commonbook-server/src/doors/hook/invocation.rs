//! Runs the steps of a hook event: calls verbs, and collects text for the agent.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result, unless_unwritable};
use commonbook::base::home_key::HomeKey;
use commonbook::model::agent::Agent;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::checkpoint::{ResumeSession, ResumeSessionResult};
use commonbook::prompt::briefing::{Briefing, GetBriefing};
use commonbook::prompt::context::{AgentContext, GetContext};
use commonbook::verbs::names;
use commonbook::verbs::project_context;
use commonbook_text::echo::without_contexts;
use commonbook_text::sanitize::one_line;
use serde_json::Value;

use super::progress::HookProgress;
use super::record::{HookRecord, client_session, session_of};
use super::spool::{HookSpool, may_succeed_later};
use super::verbs::{StoreOpener, VerbClient};
use super::{
    HookClient, HookEvent, HookInput, HookResponse, commands, delegation_response, question,
};
use crate::clients::remote::ServerAddress;
use crate::clients::rules::rules_where_off;
use crate::clients::ticket::{self, CallTicket, ToolCall};
use crate::doors::hook::steps::{HookStep, hook_steps};
use crate::http::caller::{CallerClaims, resolve_caller};
use crate::settings::config::Config;
use crate::settings::project::check_switch;
use crate::system::atomic;

/// The time that user commands must leave for the built-in steps.
const OWN_STEPS_RESERVE: Duration = Duration::from_millis(600);

/// How a sub-agent leaves what it learned.
const LEARNING_NOTE: &str = "A line `Remember: …` in your final message is kept for other agents: say there what \
    the next one at such a task must know.";

/// One call of a hook.
pub(super) struct HookInvocation<'c> {
    input: HookInput,
    /// The client, in the workspace of its folder.
    client: Caller,
    config: &'c Config,
    verbs: VerbClient<'c>,
    progress: &'c HookProgress,
    /// The texts for the agent, in order.
    texts: Vec<String>,
    /// The ticket for the arguments of the tool.
    ticket: Option<String>,
    /// Whether the agent is asked what it learned.
    is_asked: bool,
}

impl<'c> HookInvocation<'c> {
    /// Runs all steps, and returns the output for the client, with the invocation if there was something
    /// to do.
    ///
    /// # Errors
    /// The error that prevents every step; the log reports the errors of single steps.
    pub(super) fn answer(
        input: HookInput,
        claims: &CallerClaims,
        config: &'c Config,
        open: StoreOpener,
        end: Instant,
        progress: &'c HookProgress,
    ) -> Result<(String, Option<Self>)> {
        if input.moment == HookEvent::Other || input.moment == HookEvent::SubagentStart {
            return Ok((HookResponse::Nothing.render(&input), None));
        }
        let local_config = config_around(&input, config);
        match check_switch(&local_config) {
            Err(off) if off.kind == ErrorKind::Forbidden => {
                let response = response_where_off(&off, &input, claims, local_config)?;
                return Ok((response.render(&input), None));
            }
            switched => switched?,
        }
        if let (HookEvent::SessionStart, Some(error)) = (input.moment, &config.home_error) {
            tracing::error!(error = %error.message, "the hook has no home");
            return Ok((HookResponse::Context(notice_of(error)).render(&input), None));
        }
        progress.begin(input.moment);
        let near = local_config.nearest_workspace();
        let (address, local_config) =
            ServerAddress::with_name(local_config, Some(input.client.name()))?;
        let client = resolve_caller(
            &claims_of(&input, claims),
            &local_config,
            near.clone().ok().flatten(),
            EntryPoint::Hook,
        )?
        .in_project(local_config.project());
        if let Err(error) = near {
            let url = address.map(|address| address.url);
            if let Some(record) = HookRecord::of(&input, &client, url) {
                progress.keep(&record.unplaced(local_config.folder));
            }
            return Err(error);
        }
        let commands = match &config.home {
            Some(home) => commands::read_user_commands(home)
                .inspect_err(
                    |error| tracing::warn!(%error, "ignoring the user commands of hooks.json"),
                )
                .unwrap_or_default(),
            None => Vec::new(),
        };
        let verbs = VerbClient::new(config, address, open);
        let mut invocation = Self {
            input,
            client,
            config,
            verbs,
            progress,
            texts: Vec::new(),
            ticket: None,
            is_asked: false,
        };
        for step in hook_steps(invocation.input.moment, &commands)? {
            if let Err(error) = invocation.run_step(&step, end) {
                let cause = error.cause.as_ref().map(tracing::field::display);
                let event = &invocation.input.event;
                tracing::warn!(%event, ?step, %error, cause, "a step of a hook failed");
            }
        }
        let line = invocation.combined_response().render(&invocation.input);
        Ok((line, Some(invocation)))
    }

    fn run_step(&mut self, step: &HookStep<'_>, end: Instant) -> Result<()> {
        match step {
            HookStep::Memory => self.give_memory(),
            HookStep::Learning => self.record_work(),
            HookStep::Command(command) => {
                // A delegated task is for the agent that gets it.
                let target = (self.input.moment == HookEvent::Delegation)
                    .then(|| self.input.target_agent(&self.client.agent));
                let agent =
                    target.flatten().unwrap_or_else(|| self.input.agent(&self.client.agent));
                let output =
                    commands::run(command, &self.input, agent.as_str(), end - OWN_STEPS_RESERVE)?;
                self.texts.extend(output.context.filter(|context| !context.trim().is_empty()));
                let task = output.task.filter(|task| !task.trim().is_empty());
                if let Some((delegation, task)) = self.input.delegation.as_mut().zip(task) {
                    delegation.task = task;
                }
                Ok(())
            }
        }
    }

    /// Gives the agent its context.
    fn give_memory(&mut self) -> Result<()> {
        match self.input.moment {
            HookEvent::SessionStart => self.begin_client_session(),
            HookEvent::Prompt => self.brief_for_prompt(),
            HookEvent::Delegation => self.delegate(),
            HookEvent::OwnCall => self.sign(),
            _ => Ok(()),
        }
    }

    /// Records the work of the agent, after what earlier hooks could not write.
    fn record_work(&mut self) -> Result<()> {
        let url = self.verbs.url().map(str::to_owned);
        let Some(mut record) = HookRecord::of(&self.input, &self.client, url) else {
            return Ok(());
        };
        self.progress.keep(&record);
        record.complete()?;
        if record.is_report {
            // An agent that can be asked what it learned knows it better than a rule.
            let is_due = self.question_is_due();
            let warn = |error: &_| tracing::warn!(%error, "whether to ask is not known");
            record.is_report = !is_due.inspect_err(warn).unwrap_or_default();
        }
        self.progress.keep(&record);
        self.drain_spool(None);
        let written = record.write(&mut self.verbs);
        if !written.as_ref().is_err_and(|error| may_succeed_later(error, self.config)) {
            self.progress.forget();
        }
        if written? == Some(0) && self.question_is_due()? {
            self.is_asked = question::note_asked(self.config.home()?, &self.input)?;
        }
        Ok(())
    }

    /// Whether the agent is to be asked what it learned: its run was long and saved nothing, and nobody asked before.
    fn question_is_due(&self) -> Result<bool> {
        let agent = self.input.agent(&self.client.agent);
        let settings = self.config.learning()?;
        Ok(self.config.preferences()?.settings(&agent).auto_inject
            && question::is_due(&self.input, &settings)?
            && !question::was_asked(self.config.home()?, &self.input))
    }

    /// Writes what earlier hooks could not write.
    pub(super) fn drain_spool(&mut self, end: Option<Instant>) {
        if let Some(home) = &self.config.home {
            HookSpool::of(home).drain(self.config, &mut self.verbs, end);
        }
    }

    /// Says once what was given up of what hooks had to write.
    fn tell_loss(&mut self) {
        let loss = self.config.home.as_ref().and_then(|home| HookSpool::of(home).take_loss());
        self.texts.extend(loss.map(|loss| loss.to_string()));
    }

    /// The response of all steps together.
    fn combined_response(&self) -> HookResponse {
        let text = self.texts.join("\n\n");
        match (self.input.moment, &self.input.tool, &self.ticket) {
            (HookEvent::Delegation, ..) => delegation_response(&self.input, &text),
            (HookEvent::OwnCall, Some(tool), Some(ticket)) => {
                let mut arguments = tool.arguments.clone();
                arguments.insert(ticket::TICKET_ARGUMENT.to_owned(), Value::from(ticket.as_str()));
                HookResponse::Arguments(arguments)
            }
            (HookEvent::OwnCall, ..) => HookResponse::Nothing,
            _ if self.is_asked => HookResponse::Question(question::QUESTION),
            _ if text.is_empty() => HookResponse::Nothing,
            _ => HookResponse::Context(text),
        }
    }

    /// The session of the client: the existing one, or a new one; none where the store can only be read.
    fn session(&mut self) -> Result<Option<String>> {
        let session = session_of(&mut self.verbs, &self.client, self.input.session.as_deref());
        Ok(unless_unwritable(session)?.flatten())
    }

    /// Starts the session, and briefs the agent; for a resumed session also on what it contains.
    fn begin_client_session(&mut self) -> Result<()> {
        self.drain_spool(None);
        self.tell_loss();
        let session = self.session()?;
        if let (Some("resume" | "compact"), Some(session)) = (self.input.reason.as_deref(), session)
        {
            let resume = ResumeSession { session: Some(session), ..ResumeSession::default() };
            let caller = &self.client;
            let resumed =
                self.verbs.call::<ResumeSessionResult>(names::RESUME_SESSION, caller, &resume)?;
            // A session without memories has nothing to resume.
            if !resumed.memories.is_empty() {
                self.texts.push(resumed.text);
            }
        }
        // opencode shows the agent nothing at this event: its first prompt begins the briefing.
        if self.input.client == HookClient::Opencode {
            return Ok(());
        }
        let restart = self.input.reason.as_deref() != Some("resume");
        self.brief(GetBriefing { restart, ..GetBriefing::default() })
    }

    /// Adds what the agent should know for the prompt of its user.
    fn brief_for_prompt(&mut self) -> Result<()> {
        let prompt = self.input.prompt.clone();
        self.brief(GetBriefing { prompt, ..GetBriefing::default() })
    }

    /// Adds a briefing of the agent in its session.
    fn brief(&mut self, request: GetBriefing) -> Result<()> {
        let request = GetBriefing {
            client_session: client_session(self.input.session.as_deref()),
            ..request
        };
        let briefing = self.verbs.call::<Briefing>(names::GET_BRIEFING, &self.client, &request)?;
        self.texts.extend(Some(briefing.text).filter(|text| !text.is_empty()));
        match request.prompt {
            Some(_) => Ok(()),
            None => self.add_project_context(&self.client.clone(), ""),
        }
    }

    /// Adds the standing memory of the project for an agent whose memories are on a server elsewhere.
    fn add_project_context(&mut self, caller: &Caller, task: &str) -> Result<()> {
        if self.verbs.url().is_some() {
            let (home, preferences) = (self.config.home()?, self.config.preferences()?);
            self.texts.extend(project_context(caller, home, task, &preferences)?);
        }
        Ok(())
    }

    /// Adds the context of the sub-agent that receives a delegated task.
    fn delegate(&mut self) -> Result<()> {
        let Some(delegation) = &self.input.delegation else { return Ok(()) };
        let task = without_contexts(&delegation.task).into_owned();
        let target = self.input.target_agent(&self.client.agent);
        let has_note = delegation.task.contains(LEARNING_NOTE);
        let caller = self.client.clone().narrow_to(target.as_ref().map(Agent::as_str))?;
        let request = GetContext { task, ..GetContext::default() };
        let context = self.verbs.call::<AgentContext>(names::GET_CONTEXT, &caller, &request)?;
        self.texts.extend(Some(context.text).filter(|text| !text.is_empty()));
        self.add_project_context(&caller, &request.task)?;
        // A sub-agent has not read the instructions of the client or of the server.
        if !has_note && self.config.preferences()?.settings(&caller.agent).auto_inject {
            self.texts.push(LEARNING_NOTE.to_owned());
        }
        Ok(())
    }

    /// Signs the call of a Commonbook tool with its agent and session.
    fn sign(&mut self) -> Result<()> {
        // Codex accepts changed arguments only with a decision, which stays with the user: its main
        // agent needs no ticket, since Codex names the session in each call.
        if self.input.client == HookClient::Codex && self.input.subagent.is_none() {
            return Ok(());
        }
        let session = self.session()?;
        let agent = self.input.agent(&self.client.agent);
        let Some((tool, arguments)) = self.input.own_tool() else { return Ok(()) };
        let home = self.config.home()?;
        atomic::create_folders(home)?;
        let key = HomeKey::open(home)?;
        let call = ToolCall { workspace: &self.client.workspace, tool, arguments };
        self.ticket = Some(CallTicket::new(agent, session, call).to_signed_text(&key));
        Ok(())
    }
}

/// One line about what keeps Commonbook from a session.
fn notice_of(error: &Error) -> String {
    let hint = error.hint.as_deref().unwrap_or_default();
    one_line(&format!("{}. {hint}", error.message))
}

/// The response where Commonbook is off: the hook writes nothing. What a project's file says may be a
/// stranger's word, so that the agent reads it, and beside it the rules of the person.
fn response_where_off(
    off: &Error,
    input: &HookInput,
    claims: &CallerClaims,
    config: Config,
) -> Result<HookResponse> {
    if config.switch.is_some() {
        return Ok(HookResponse::Nothing);
    }
    let (address, config) = ServerAddress::with_name(config, Some(input.client.name()))?;
    let client = resolve_caller(&claims_of(input, claims), &config, None, EntryPoint::Hook)?;
    let rules = |agent: Option<Agent>, task: &str| {
        let caller = client.clone().narrow_to(agent.as_ref().map(Agent::as_str))?;
        Ok::<_, Error>(rules_where_off(&config, address.as_ref(), &caller, task))
    };
    match input.moment {
        HookEvent::Delegation => {
            let task = input.delegation.as_ref().map_or("", |delegation| &delegation.task);
            let rules = rules(input.target_agent(&client.agent), &without_contexts(task))?;
            Ok(delegation_response(input, &rules.unwrap_or_default()))
        }
        _ if input.begins_session() => {
            let texts = [Some(notice_of(off)), rules(None, "")?];
            let texts: Vec<String> = texts.into_iter().flatten().collect();
            Ok(HookResponse::Context(texts.join("\n\n")))
        }
        _ => Ok(HookResponse::Nothing),
    }
}

/// The claims of the client of a hook.
fn claims_of(input: &HookInput, claims: &CallerClaims) -> CallerClaims {
    let name = (input.client.name().to_owned(), String::new());
    CallerClaims { client: Some(name), ..claims.clone() }
}

/// The configuration in the folder of a hook: the one that its client opened, if that is around it.
fn config_around(input: &HookInput, config: &Config) -> Config {
    let folder = input.cwd.as_ref().map(PathBuf::from).or_else(|| config.folder.clone());
    let is_inside = |opened: &&PathBuf| {
        folder.as_ref().is_none_or(|folder| folder.starts_with(opened) || !folder.exists())
    };
    let opened = input.client.folder_variable().and_then(|name| config.opened_folder(name));
    match opened.filter(is_inside) {
        Some(opened) => config.clone().in_opened_folder(Some(opened.clone())),
        // A session starts in the folder of its project; later events come from folders below it.
        None if input.moment == HookEvent::SessionStart => config.clone().in_opened_folder(folder),
        None => Config { folder, ..config.clone() },
    }
}
