//! Prompts: what a person asks for by name, one entry each; the text comes from a verb.

use std::sync::LazyLock;

use commonbook::Commonbook;
use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use crate::call::{CompletionVerb, JsonVerb};

/// A prompt: a verb whose request is its arguments, and whose answer has its text.
pub(super) struct PromptOffer {
    name: &'static str,
    title: &'static str,
    pub(super) call: JsonVerb,
    /// What is asked of the reader of the text, below it.
    asks: &'static str,
    completes: &'static [(&'static str, CompletionVerb)],
}

/// Every prompt.
static PROMPT_OFFERS: LazyLock<Vec<PromptOffer>> = LazyLock::new(|| {
    vec![
        PromptOffer {
            name: "recall",
            title: "What is known about a task",
            call: JsonVerb::of(Commonbook::recall),
            asks: "",
            completes: &[
                ("topic", Commonbook::complete_topic),
                ("agent", Commonbook::complete_agent),
            ],
        },
        PromptOffer {
            name: "handoff",
            title: "Take work that was handed over",
            call: JsonVerb::of(Commonbook::accept_handoff),
            asks: "\n\nYou have accepted it. Do what the task says, then say complete_handoff.",
            completes: &[("handoff", Commonbook::complete_handoff_id)],
        },
        PromptOffer {
            name: "summarise_case",
            title: "Sum a case up",
            call: JsonVerb::of(Commonbook::get_case_context),
            asks: "\n\nSum up where this case stands: what was decided, what is open, what comes \
                   next. Say it in at most 512 characters, and append it to the case with \
                   append_entries, as an entry of the kind milestone.",
            completes: &[("key", Commonbook::complete_case)],
        },
    ]
});

/// The prompt of this name.
pub(super) fn find_prompt(name: &str) -> Option<&'static PromptOffer> {
    PROMPT_OFFERS.iter().find(|offer| offer.name == name)
}

/// Every prompt as a client sees it.
pub(super) fn prompts() -> Vec<Prompt> {
    PROMPT_OFFERS.iter().map(PromptOffer::prompt).collect()
}

/// The verb that completes this argument of a prompt, if there is one; nothing for what is no
/// argument of any.
pub(super) fn argument_completion(name: &str, argument: &str) -> Option<Option<CompletionVerb>> {
    let offer = find_prompt(name)?;
    offer.call.fields().find(|(field, _)| *field == argument)?;
    let verb = offer.completes.iter().find(|(field, _)| *field == argument);
    Some(verb.map(|(_, verb)| *verb))
}

impl PromptOffer {
    fn prompt(&self) -> Prompt {
        let argument = |(name, schema): (&str, &Value)| {
            let about = schema["description"].as_str().unwrap_or_default();
            PromptArgument::new(name)
                .with_description(about.replace('\n', " "))
                .with_required(self.call.requires(name))
        };
        let arguments = self.call.fields().map(argument).collect();
        let about = self.call.verb_description().replace('\n', " ");
        Prompt::new(self.name, Some(about), Some(arguments)).with_title(self.title)
    }

    /// What the verb answered, as the message that a person would send.
    pub(super) fn prompt_result(&self, answer: &Value) -> GetPromptResult {
        let text = format!("{}{}", answer["text"].as_str().unwrap_or_default(), self.asks);
        GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
            .with_description(self.title)
    }
}
