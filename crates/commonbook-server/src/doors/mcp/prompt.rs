//! Prompts: texts that a person selects by name; a verb writes each text.

use std::sync::LazyLock;

use commonbook::Commonbook;
use commonbook::verbs::names;
use rmcp::model::{GetPromptResult, Prompt, PromptArgument};
use serde_json::Value;

use super::answer;
use crate::calls::call::CompletionVerb;
use crate::calls::hint::{HintDoor, translate};
use crate::calls::verb::{self, ToolSelection, Verb};

/// A prompt: a verb whose request holds the arguments, and whose response holds the text.
pub(super) struct PromptOffer {
    name: &'static str,
    title: &'static str,
    pub(super) verb: &'static Verb,
    /// The instruction below the text.
    instruction: &'static str,
    completes: &'static [(&'static str, CompletionVerb)],
}

/// Every prompt.
static PROMPT_OFFERS: LazyLock<Vec<PromptOffer>> = LazyLock::new(|| {
    let offer = |name, title, verb: &str, instruction, completes| {
        Some(PromptOffer { name, title, verb: verb::find(verb)?, instruction, completes })
    };
    let offers: [Option<PromptOffer>; 3] = [
        offer(
            "recall",
            "Recall what is known about a task",
            names::RECALL,
            "",
            &[("topic", Commonbook::complete_topic), ("agent", Commonbook::complete_agent)],
        ),
        offer(
            "handoff",
            "Accept a handoff",
            names::ACCEPT_HANDOFF,
            "\n\nYou have accepted this handoff. Do the task, then call complete_handoff.",
            &[("handoff", Commonbook::complete_handoff_id)],
        ),
        offer(
            "summarise_case",
            "Summarise a case",
            names::GET_CASE_CONTEXT,
            "\n\nSummarise this case in at most 512 characters: decisions, open \
             questions, next steps. Append the summary to the case with \
             append_entries, as an entry of kind milestone.",
            &[("key", Commonbook::complete_case)],
        ),
    ];
    offers.into_iter().flatten().collect()
});

/// The prompt of this name.
pub(super) fn find_prompt(name: &str) -> Option<&'static PromptOffer> {
    PROMPT_OFFERS.iter().find(|offer| offer.name == name)
}

/// Every prompt as a client sees it.
pub(super) fn prompts() -> Vec<Prompt> {
    PROMPT_OFFERS.iter().map(PromptOffer::prompt).collect()
}

/// The verb that completes this argument of a prompt, or `Some(None)` if no verb does. Returns `None`
/// if the prompt does not exist or has no such argument.
pub(super) fn argument_completion(name: &str, argument: &str) -> Option<Option<CompletionVerb>> {
    let offer = find_prompt(name)?;
    offer.verb.call.fields().find(|(field, _)| *field == argument)?;
    let verb = offer.completes.iter().find(|(field, _)| *field == argument);
    Some(verb.map(|(_, verb)| *verb))
}

impl PromptOffer {
    fn prompt(&self) -> Prompt {
        let argument = |(name, schema): (&str, &Value)| {
            let about = schema["description"].as_str().unwrap_or_default();
            PromptArgument::new(name)
                .with_description(about.replace('\n', " "))
                .with_required(self.verb.call.requires(name))
        };
        let arguments = self.verb.call.fields().map(argument).collect();
        let about = self.verb.call.verb_description().replace('\n', " ");
        Prompt::new(self.name, Some(about), Some(arguments)).with_title(self.title)
    }

    /// The response of the verb as the message of a person to a model with these tools.
    pub(super) fn prompt_result(&self, response: &Value, tools: &ToolSelection) -> GetPromptResult {
        let instruction = translate(self.instruction, HintDoor::Mcp(tools));
        GetPromptResult::new(vec![answer::prompt_message(response, &instruction)])
            .with_description(self.title)
    }
}
