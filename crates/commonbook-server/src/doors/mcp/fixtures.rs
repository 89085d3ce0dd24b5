//! The fixtures that the official MCP conformance suite calls by name, in front of our own door.
//!
//! What is not a fixture goes on to the door, so that the suite sees our router, our checks of who
//! calls and from where, our tools, resources and prompts, and the answers that it wants. They are
//! compiled for tests alone: `.ci/conformance` starts them as the test below.

mod content;
mod input;

use std::sync::{Arc, Mutex};
use std::time::Duration;

#[expect(deprecated, reason = "the session era has it, and the suite asks for it")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ServerConfig, ServerNotification, ServerRequest, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext, SubscriptionSink};
use rmcp::{ServerHandler, model::CallToolResult};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::McpDoor;
use content::{
    PNG, elicitation, fixed_answer, image, question, resource, sampling, text, tools, with_choices,
    with_defaults,
};
use input::{find_input_response, name_question, require, with_input};

type FixtureContext = RequestContext<RoleServer>;
type FixtureResult<T> = Result<T, ErrorData>;

/// The pause after which a notification has gone its way, before the next or the answer.
const NOTIFICATION_PAUSE: Duration = Duration::from_millis(50);

/// The fixtures in front of the door.
pub(crate) struct FixtureDoor {
    door: McpDoor,
    listeners: Arc<Mutex<Vec<SubscriptionSink>>>,
}

impl FixtureDoor {
    /// The fixtures in front of this door.
    pub(crate) fn wrap_door(door: McpDoor) -> Self {
        Self { door, listeners: Arc::default() }
    }

    /// The same door for another connection. A listener receives the notifications of all connections.
    pub(crate) fn for_connection(&self) -> Self {
        Self { door: self.door.for_connection(), listeners: Arc::clone(&self.listeners) }
    }

    fn listeners(&self) -> Vec<SubscriptionSink> {
        self.listeners.lock().map(|all| all.clone()).unwrap_or_default()
    }
}

/// A value of the protocol from how it is on the wire.
fn from_wire<T: DeserializeOwned>(value: Value) -> FixtureResult<T> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(format!("a fixture is wrong: {error}"), None))
}

/// A finished answer. Only the stateless era has `resultType`, and rmcp takes it off elsewhere; but
/// it does not put it on what was not made by its own constructors.
fn finished_from_wire<T: DeserializeOwned>(mut value: Value) -> FixtureResult<T> {
    value["resultType"] = "complete".into();
    from_wire(value)
}

/// Asks the client within a call, which only the session era allows.
async fn ask(context: &FixtureContext, request: Value) -> FixtureResult<CallToolResponse> {
    let request: ServerRequest = from_wire(request)?;
    let told = match context.peer.send_request(request).await {
        Ok(answer) => serde_json::to_value(answer).unwrap_or_default().to_string(),
        Err(error) => {
            let why = text(&format!("The client does not answer: {error}"));
            return finish(json!({"content": [why], "isError": true}));
        }
    };
    say(&format!("The client answered {told}"))
}

async fn notify(context: &FixtureContext, notification: Value) -> FixtureResult<()> {
    let notification: ServerNotification = from_wire(notification)?;
    // A client that has gone away is no failure of the fixture.
    drop(context.peer.send_notification(notification).await);
    tokio::time::sleep(NOTIFICATION_PAUSE).await;
    Ok(())
}

async fn log(context: &FixtureContext, level: &str, line: &str) -> FixtureResult<()> {
    let params = json!({"level": level, "logger": "fixtures", "data": line});
    notify(context, json!({"method": "notifications/message", "params": params})).await
}

fn finish(result: Value) -> FixtureResult<CallToolResponse> {
    finished_from_wire::<CallToolResult>(result).map(Into::into)
}

fn say(line: &str) -> FixtureResult<CallToolResponse> {
    finish(json!({"content": [text(line)]}))
}

impl FixtureDoor {
    async fn behave(
        &self,
        request: &CallToolRequestParams,
        context: &FixtureContext,
    ) -> Option<FixtureResult<CallToolResponse>> {
        if let Err(error) = self.door.caller(context) {
            return Some(Err(self.door.error_data(&error, &[])));
        }
        let argument = |name: &str| {
            let given = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
            given.and_then(Value::as_str).unwrap_or("?").to_owned()
        };
        if let Some(answer) = fixed_answer(&request.name) {
            return Some(finish(answer));
        }
        Some(match &*request.name {
            "test_tool_with_logging" => self.logs(context).await,
            "test_tool_with_progress" => self.progresses(context).await,
            "test_sampling" => ask(context, sampling(&argument("prompt"))).await,
            "test_elicitation" => {
                let fields = json!({
                    "username": {"type": "string", "description": "User's response"},
                    "email": {"type": "string", "description": "User's email address"},
                });
                let required = json!(["username", "email"]);
                ask(context, elicitation(&argument("message"), &fields, &required)).await
            }
            "test_elicitation_sep1034_defaults" => ask(context, with_defaults()).await,
            "test_elicitation_sep1330_enums" => ask(context, with_choices()).await,
            "test_missing_capability" => {
                let can = context.meta.client_capabilities().unwrap_or_default();
                if can.sampling.is_some() {
                    say("The capability is declared.")
                } else {
                    from_wire(json!({"sampling": {}}))
                        .and_then(|needs| Err(ErrorData::missing_required_client_capability(needs)))
                }
            }
            "test_streaming_elicitation" => {
                require(&[("user_name", name_question())], None).map(Into::into)
            }
            // It logs only for a request that asks for it.
            "test_logging_tool" => {
                if let Some(level) = context.meta.log_level() {
                    let level = serde_json::to_value(level).unwrap_or_default();
                    if let Err(error) = log(context, level.as_str()?, "You asked for it.").await {
                        return Some(Err(error));
                    }
                }
                say("Done.")
            }
            "test_trigger_tool_change" => {
                for listener in self.listeners() {
                    drop(listener.notify_tool_list_changed().await);
                }
                say("Told.")
            }
            "test_trigger_prompt_change" => {
                for listener in self.listeners() {
                    drop(listener.notify_prompt_list_changed().await);
                }
                say("Told.")
            }
            name if name.starts_with("test_input_required_result_") => with_input(request, context),
            _ => return None,
        })
    }

    async fn logs(&self, context: &FixtureContext) -> FixtureResult<CallToolResponse> {
        for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            log(context, "info", line).await?;
        }
        say("Done.")
    }

    async fn progresses(&self, context: &FixtureContext) -> FixtureResult<CallToolResponse> {
        let token = context.meta.get_progress_token();
        for progress in [0, 50, 100] {
            if let Some(token) = &token {
                let params = json!({"progressToken": token, "progress": progress, "total": 100});
                let progress = json!({"method": "notifications/progress", "params": params});
                notify(context, progress).await?;
            }
        }
        say("Done.")
    }
}

impl ServerHandler for FixtureDoor {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.door.get_info();
        let capabilities = json!({
            "tools": {"listChanged": true},
            "prompts": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true},
            "logging": {},
            "completions": {},
        });
        info.capabilities = from_wire(capabilities).unwrap_or_default();
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: FixtureContext,
    ) -> FixtureResult<InitializeResult> {
        let mut result = self.door.initialize(request, context).await?;
        result.capabilities = self.get_info().capabilities;
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name).or_else(|| self.door.get_tool(name))
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: FixtureContext,
    ) -> FixtureResult<ListToolsResult> {
        let mut list = self.door.list_tools(page, context).await?;
        list.tools.extend(tools());
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: FixtureContext,
    ) -> FixtureResult<CallToolResponse> {
        match self.behave(&request, &context).await {
            Some(answer) => answer,
            None => self.door.call_tool(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: FixtureContext,
    ) -> FixtureResult<ListResourcesResult> {
        let mut list = self.door.list_resources(page, context).await?;
        let all = json!([
            {"uri": "test://static-text", "name": "Text", "description": "A text.", "mimeType": "text/plain"},
            {"uri": "test://static-binary", "name": "Image", "description": "An image.", "mimeType": "image/png"},
        ]);
        list.resources.extend(from_wire::<Vec<_>>(all)?);
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        context: FixtureContext,
    ) -> FixtureResult<ListResourceTemplatesResult> {
        let mut list = self.door.list_resource_templates(page, context).await?;
        let all = json!([{
            "uriTemplate": "test://template/{id}/data", "name": "Data",
            "description": "What belongs to an id.", "mimeType": "application/json",
        }]);
        list.resource_templates.extend(from_wire::<Vec<_>>(all)?);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: FixtureContext,
    ) -> FixtureResult<ReadResourceResponse> {
        let uri = &*request.uri;
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let content = match (uri, id) {
            ("test://static-text", _) => json!({
                "uri": uri, "mimeType": "text/plain",
                "text": "This is the content of the static text resource.",
            }),
            ("test://static-binary", _) => {
                json!({"uri": uri, "mimeType": "image/png", "blob": PNG})
            }
            (_, Some(id)) => {
                let data =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
            }
            _ => return self.door.read_resource(request, context).await,
        };
        finished_from_wire::<ReadResourceResult>(json!({"contents": [content]})).map(Into::into)
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: FixtureContext) -> FixtureResult<()> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: FixtureContext,
    ) -> FixtureResult<()> {
        Ok(())
    }

    #[expect(deprecated, reason = "the session era has it, and the suite asks for it")]
    async fn set_level(&self, _: SetLevelRequestParams, _: FixtureContext) -> FixtureResult<()> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        context: FixtureContext,
    ) -> FixtureResult<ListPromptsResult> {
        let mut list = self.door.list_prompts(page, context).await?;
        let argument = |name: &str| json!({"name": name, "required": true});
        let prompt = |name: &str, arguments: Value| json!({"name": name, "description": "A fixture.", "arguments": arguments});
        let all = json!([
            prompt("test_simple_prompt", json!([])),
            prompt("test_prompt_with_arguments", json!([argument("arg1"), argument("arg2")])),
            prompt("test_prompt_with_embedded_resource", json!([argument("resourceUri")])),
            prompt("test_prompt_with_image", json!([])),
            prompt("test_input_required_result_prompt", json!([])),
        ]);
        list.prompts.extend(from_wire::<Vec<_>>(all)?);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: FixtureContext,
    ) -> FixtureResult<GetPromptResponse> {
        let argument = |name: &str| {
            let given = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
            given.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let contents = match &*request.name {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (one, two) = (argument("arg1"), argument("arg2"));
                vec![text(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
            }
            "test_prompt_with_embedded_resource" => vec![
                resource(
                    &argument("resourceUri"),
                    "text/plain",
                    "Embedded resource content for testing.",
                ),
                text("Please process the embedded resource above."),
            ],
            "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
            "test_input_required_result_prompt" => {
                match find_input_response(request.input_responses.as_ref(), "user_context") {
                    Some(answer) => vec![text(&answer["content"]["context"].to_string())],
                    None => {
                        let asked = question("Which context?", "context", "string");
                        return require(&[("user_context", asked)], None).map(Into::into);
                    }
                }
            }
            _ => return self.door.get_prompt(request, context).await,
        };
        let messages: Vec<_> =
            contents.iter().map(|content| json!({"role": "user", "content": content})).collect();
        finished_from_wire::<GetPromptResult>(json!({"messages": messages})).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: FixtureContext,
    ) -> FixtureResult<CompleteResult> {
        if !request.r#ref.as_prompt_name().is_some_and(|name| name.starts_with("test_")) {
            return self.door.complete(request, context).await;
        }
        finished_from_wire(
            json!({"completion": {"values": ["test"], "total": 1, "hasMore": false}}),
        )
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> FixtureResult<()> {
        if let Ok(mut all) = self.listeners.lock() {
            all.push(context.sink().clone());
        }
        self.door.listen(context).await
    }
}

#[test]
#[ignore = "serves until a signal: .ci/conformance runs the official suite against it"]
fn the_server_of_the_official_suite_ends_with_success() {
    let arguments = ["commonbook", "serve", "--port", "0", "--tools", "full"];
    let ended = crate::run_program(&arguments.map(Into::into));
    assert_eq!(ended, std::process::ExitCode::SUCCESS);
}
