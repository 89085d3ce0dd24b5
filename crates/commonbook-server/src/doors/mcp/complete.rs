//! Completion: values for the prefix of an argument, from what the caller may see.

use commonbook::base::error::{Error, Result};
use commonbook::verbs::CompletionList;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::{prompt, resource};
use crate::calls::call::CompletionVerb;

/// The verb that completes an argument; `None` if no verb does.
///
/// # Errors
/// `invalid` if the prompt or template does not exist or has no such argument.
pub(super) fn completion_verb(request: &CompleteRequestParams) -> Result<Option<CompletionVerb>> {
    let argument = &request.argument.name;
    let found = match &request.r#ref {
        Reference::Prompt(prompt) => prompt::argument_completion(&prompt.name, argument),
        Reference::Resource(template) => resource::variable_completion(&template.uri, argument),
        _ => None,
    };
    found.ok_or_else(|| {
        Error::invalid(
            "argument",
            format!("{argument} is not an argument of this prompt or template"),
        )
        .hint("List the arguments with prompts/list or resources/templates/list.")
    })
}

/// Completions in the form of MCP.
pub(super) fn completion_result(found: CompletionList) -> CompleteResult {
    let info = CompletionInfo::with_pagination(found.values, None, found.more);
    CompleteResult::new(info.unwrap_or_default())
}
