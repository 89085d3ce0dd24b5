//! Contexts, why they are as they are, and what was learned, as people read them.

use commonbook::model::learning::LearnedBack;
use commonbook::prompt::context::choose::Considered;
use commonbook::prompt::context::{Context, Explained};
use serde_json::Value;

use super::show::{glance, set_apart, show, table};
use crate::output::{line, note};

pub(super) fn context(answer: &Value) {
    show(answer, |context: &Context| {
        match context.text.is_empty() {
            true => line("Nothing is known yet that would help with it"),
            false => line(&context.text),
        }
        for warning in &context.warnings {
            note(&format!("warning: the standing memory has {warning}"));
        }
        let (told, of) = (context.diagnostics.injected_count, context.diagnostics.candidate_count);
        let tokens = context.tokens;
        note(&format!(
            "{told} of {of} told in {tokens} tokens; why: commonbook explain {}",
            context.id
        ));
    });
}

pub(super) fn explained(answer: &Value) {
    show(answer, |told: &Explained| {
        let Explained { id, agent, at, sequence, milliseconds, receipt, .. } = told;
        let figures = &receipt.diagnostics;
        line(&format!("{id} for {agent}, {}", at.strftime("%F %H:%M:%S")));
        line(&format!("query         {}", receipt.query.replace('\n', " ")));
        if let Some(user) = &figures.resolved_user_id {
            line(&format!("user          {user}"));
        }
        if let Some(file) = &told.standing {
            line(&format!("standing      {} ({}, {} bytes)", file.file, file.source, file.bytes));
        }
        let (before, after) = (figures.prompt_tokens_before, figures.prompt_tokens_after);
        line(&format!(
            "tokens        {before} before, {after} after; {} of {} were used",
            receipt.tokens, receipt.budget
        ));
        line(&format!(
            "bounds        threshold {}, maximum {}",
            receipt.threshold, receipt.maximum
        ));
        line(&format!("agents        {}", figures.source_agents.join(", ")));
        line(&format!("types         {}", figures.memory_types.join(", ")));
        line(&format!("made          in {milliseconds} ms, at place {sequence} of the journal"));
        if !receipt.candidates.is_empty() {
            let head = ["id", "source", "type", "author", "score", "tokens", "what became of it"];
            line(&format!("\n{}", table(&head, receipt.candidates.iter().map(considered))));
        }
        if let Some(replay) = &told.replay {
            line(match replay.same {
                true => "Built again, it is the same",
                false => "Built again, it is another",
            });
            replay.differences.iter().for_each(|it| line(&format!("  {it}")));
        }
    });
}

fn considered(one: &Considered) -> Vec<String> {
    let figure = |it: Option<String>| it.unwrap_or_default();
    vec![
        one.id.clone(),
        one.source.to_string(),
        one.memory_type.clone(),
        one.author.clone(),
        figure(one.score.map(|score| format!("{score:.2}"))),
        figure(one.tokens.map(|tokens| tokens.to_string())),
        one.why(),
    ]
}

pub(super) fn learned(answer: &Value) {
    show(answer, |back: &LearnedBack| {
        for memory in &back.learnings {
            line(&format!("Learned {}: {}", memory.id, glance(memory)));
        }
        back.hints.iter().for_each(|hint| set_apart(Some(hint)));
        if back.repeated > 0 {
            line(&format!("{} known already", back.repeated));
        }
        if let Some(id) = &back.conversation {
            line(&format!("Kept the conversation as {id}"));
        }
        if let Some(standing) = &back.standing {
            line(&format!("{} came to {}", standing.added, standing.file));
            standing.warnings.iter().for_each(|it| note(&format!("warning: {it}")));
        }
        back.left_out.iter().for_each(|it| note(&format!("left out: {it}")));
        if back.learnings.is_empty() && back.repeated == 0 && back.conversation.is_none() {
            line("Nothing in it asks to be remembered");
        }
    });
}
