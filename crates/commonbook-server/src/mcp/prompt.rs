//! Prompts: what a person asks for by name, one entry each; the text comes from a verb.

use std::sync::LazyLock;

use commonbook::Commonbook;
use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use crate::call::{Call, Complete};

/// A prompt: a verb whose request is its arguments, and whose answer has its text.
pub(super) struct Offer {
    name: &'static str,
    title: &'static str,
    pub(super) call: Call,
    /// What is asked of the reader of the text, below it.
    asks: &'static str,
    completes: &'static [(&'static str, Complete)],
}

/// Every prompt.
static OFFERS: LazyLock<Vec<Offer>> = LazyLock::new(|| {
    vec![
        Offer {
            name: "recall",
            title: "What is known about a task",
            call: Call::of(Commonbook::recall),
            asks: "",
            completes: &[
                ("topic", Commonbook::complete_topic),
                ("agent", Commonbook::complete_agent),
            ],
        },
        Offer {
            name: "handoff",
            title: "Take work that was handed over",
            call: Call::of(Commonbook::accept_handoff),
            asks: "\n\nYou have accepted it. Do what the task says, then say complete_handoff.",
            completes: &[("handoff", Commonbook::complete_handoff_id)],
        },
        Offer {
            name: "summarise_case",
            title: "Sum a case up",
            call: Call::of(Commonbook::get_case_context),
            asks: "\n\nSum up where this case stands: what was decided, what is open, what comes \
                   next. Say it in at most 512 characters, and append it to the case with \
                   append_entries, as an entry of the kind milestone.",
            completes: &[("key", Commonbook::complete_case)],
        },
    ]
});

/// The prompt of this name.
pub(super) fn named(name: &str) -> Option<&'static Offer> {
    OFFERS.iter().find(|offer| offer.name == name)
}

/// Every prompt as a client sees it.
pub(super) fn prompts() -> Vec<Prompt> {
    OFFERS.iter().map(Offer::prompt).collect()
}

/// The verb that completes this argument of a prompt, if there is one; nothing for what is no
/// argument of any.
pub(super) fn completing(name: &str, argument: &str) -> Option<Option<Complete>> {
    let offer = named(name)?;
    offer.call.fields().find(|(field, _)| *field == argument)?;
    let verb = offer.completes.iter().find(|(field, _)| *field == argument);
    Some(verb.map(|(_, verb)| *verb))
}

impl Offer {
    fn prompt(&self) -> Prompt {
        let argument = |(name, schema): (&str, &Value)| {
            let about = schema["description"].as_str().unwrap_or_default();
            PromptArgument::new(name)
                .with_description(about.replace('\n', " "))
                .with_required(self.call.requires(name))
        };
        let arguments = self.call.fields().map(argument).collect();
        let about = self.call.about().replace('\n', " ");
        Prompt::new(self.name, Some(about), Some(arguments)).with_title(self.title)
    }

    /// What the verb answered, as the message that a person would send.
    pub(super) fn result(&self, answer: &Value) -> GetPromptResult {
        let text = format!("{}{}", answer["text"].as_str().unwrap_or_default(), self.asks);
        GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
            .with_description(self.title)
    }
}
