//! A model behind an endpoint, through OpenAI's `POST /v1/chat/completions`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use commonbook::base::error::{Error, Result};
use commonbook_embed::client::{EndpointAddress, EndpointClient};

/// The time limit for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum size of a response.
const CHAT_RESPONSE_BYTES_MAX: u64 = 256 * 1024;

/// A model behind an endpoint.
#[derive(Debug)]
pub(crate) struct ChatModel {
    client: EndpointClient,
}

impl ChatModel {
    /// The model at this address. Sends no request yet.
    pub(crate) fn at(address: EndpointAddress) -> Self {
        Self { client: EndpointClient::new(address, CONNECT_TIMEOUT) }
    }

    /// The answer to one message under these instructions.
    ///
    /// # Errors
    /// `unavailable` if the endpoint cannot be reached, is too slow, or answers no completion.
    pub(crate) fn answer(&self, system: &str, user: &str, within: Duration) -> Result<String> {
        let message = |role, content| ChatMessage { role, content };
        let request = ChatRequest {
            model: &self.client.address().model,
            messages: [message("system", system), message("user", user)],
            stream: false,
        };
        let body = self
            .client
            .send_request(&request, within, CHAT_RESPONSE_BYTES_MAX)
            .map_err(|failure| failure.error)?;
        let answer: ChatResponse = serde_json::from_slice(&body).map_err(|cause| {
            // The error class only: the message of the library could repeat the response.
            self.invalid_response(&format!(
                "with something that is not a completion ({:?} error)",
                cause.classify()
            ))
        })?;
        let choice = answer.choices.into_iter().next();
        let text = choice.and_then(|choice| choice.message.content);
        text.ok_or_else(|| self.invalid_response("no text"))
    }

    fn invalid_response(&self, what: &str) -> Error {
        let error = self.client.permanent_failure(&format!("answered {what}")).error;
        error.hint("Check that the model in config.json supports chat completions.").into()
    }
}

/// The request. It sets neither a temperature nor a token limit: some models refuse one of them.
#[derive(Serialize)]
struct ChatRequest<'a> {
    model: &'a str,
    messages: [ChatMessage<'a>; 2],
    stream: bool,
}

#[derive(Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Deserialize)]
struct ChatResponse {
    choices: Vec<ChatChoice>,
}

#[derive(Deserialize)]
struct ChatChoice {
    message: ChatResponseMessage,
}

#[derive(Deserialize)]
struct ChatResponseMessage {
    content: Option<String>,
}
