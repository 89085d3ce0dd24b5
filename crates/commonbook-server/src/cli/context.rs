//! Contexts, why they are as they are, and what was learned, as people read them.

use commonbook::model::learning::LearnResult;
use commonbook::prompt::context::choose::CandidateReceipt;
use commonbook::prompt::context::{AgentContext, ContextExplanation};
use serde_json::Value;

use super::show::{memory_glance, print_quarantine_hint, show, table};
use crate::output::{print_line, print_note};

pub(super) fn context(answer: &Value) {
    show(answer, |context: &AgentContext| {
        match context.text.is_empty() {
            true => print_line("Nothing is known yet that would help with it"),
            false => print_line(&context.text),
        }
        for warning in &context.warnings {
            print_note(&format!("warning: the standing memory has {warning}"));
        }
        let (told, of) = (context.diagnostics.injected_count, context.diagnostics.candidate_count);
        let tokens = context.tokens;
        print_note(&format!(
            "{told} of {of} told in {tokens} tokens; why: commonbook explain {}",
            context.id
        ));
    });
}

pub(super) fn show_explained_context(answer: &Value) {
    show(answer, |told: &ContextExplanation| {
        let ContextExplanation { id, agent, at, sequence, milliseconds, receipt, .. } = told;
        let figures = &receipt.diagnostics;
        print_line(&format!("{id} for {agent}, {}", at.strftime("%F %H:%M:%S")));
        print_line(&format!("query         {}", receipt.query.replace('\n', " ")));
        if let Some(user) = &figures.resolved_user_id {
            print_line(&format!("user          {user}"));
        }
        if let Some(file) = &told.standing {
            print_line(&format!(
                "standing      {} ({}, {} bytes)",
                file.file, file.source, file.bytes
            ));
        }
        let (before, after) = (figures.prompt_tokens_before, figures.prompt_tokens_after);
        print_line(&format!(
            "tokens        {before} before, {after} after; {} of {} were used",
            receipt.tokens, receipt.budget
        ));
        print_line(&format!(
            "bounds        threshold {}, maximum {}",
            receipt.threshold, receipt.maximum
        ));
        print_line(&format!("agents        {}", figures.source_agents.join(", ")));
        print_line(&format!("types         {}", figures.memory_types.join(", ")));
        print_line(&format!(
            "made          in {milliseconds} ms, at place {sequence} of the journal"
        ));
        if !receipt.candidates.is_empty() {
            let head = ["id", "source", "type", "author", "score", "tokens", "what became of it"];
            print_line(&format!(
                "\n{}",
                table(&head, receipt.candidates.iter().map(considered_row))
            ));
        }
        if let Some(replay) = &told.replay {
            print_line(match replay.same {
                true => "Built again, it is the same",
                false => "Built again, it is another",
            });
            replay.differences.iter().for_each(|it| print_line(&format!("  {it}")));
        }
    });
}

fn considered_row(one: &CandidateReceipt) -> Vec<String> {
    let figure = |it: Option<String>| it.unwrap_or_default();
    vec![
        one.id.clone(),
        one.source.to_string(),
        one.memory_type.clone(),
        one.author.clone(),
        figure(one.score.map(|score| format!("{score:.2}"))),
        figure(one.tokens.map(|tokens| tokens.to_string())),
        one.omission_text(),
    ]
}

pub(super) fn show_learnings(answer: &Value) {
    show(answer, |back: &LearnResult| {
        for memory in &back.learnings {
            print_line(&format!("Learned {}: {}", memory.id, memory_glance(memory)));
        }
        back.hints.iter().for_each(|hint| print_quarantine_hint(Some(hint)));
        if back.repeated > 0 {
            print_line(&format!("{} known already", back.repeated));
        }
        if let Some(id) = &back.conversation {
            print_line(&format!("Kept the conversation as {id}"));
        }
        if let Some(standing) = &back.standing {
            print_line(&format!("{} came to {}", standing.added, standing.file));
            standing.warnings.iter().for_each(|it| print_note(&format!("warning: {it}")));
        }
        back.left_out.iter().for_each(|it| print_note(&format!("left out: {it}")));
        if back.learnings.is_empty() && back.repeated == 0 && back.conversation.is_none() {
            print_line("Nothing in it asks to be remembered");
        }
    });
}
