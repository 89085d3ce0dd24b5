//! Completion: what may be meant by the beginning of an argument, of what the caller may see.

use commonbook::base::error::{Error, Result};
use commonbook::verbs::CompletionList;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::{prompt, resource};
use crate::call::CompletionVerb;

/// The verb that completes what is asked about; none for an argument that nothing completes.
///
/// # Errors
/// `invalid` for a prompt or a template that is not offered, or an argument that it has not.
pub(super) fn completion_verb(asked: &CompleteRequestParams) -> Result<Option<CompletionVerb>> {
    let argument = &asked.argument.name;
    let found = match &asked.r#ref {
        Reference::Prompt(prompt) => prompt::argument_completion(&prompt.name, argument),
        Reference::Resource(template) => resource::variable_completion(&template.uri, argument),
        _ => None,
    };
    found.ok_or_else(|| {
        Error::invalid("argument", format!("there is no argument {argument} to complete here"))
            .hint("prompts/list and resources/templates/list tell the arguments.")
    })
}

/// Completions as the protocol has them.
pub(super) fn completion_result(found: CompletionList) -> CompleteResult {
    let info = CompletionInfo::with_pagination(found.values, None, found.more);
    CompleteResult::new(info.unwrap_or_default())
}
