//! How people read contexts, receipts and learnings.

use commonbook::base::page::Page;
use commonbook::model::learning::LearnResult;
use commonbook::prompt::briefing::Briefing;
use commonbook::prompt::context::choose::CandidateReceipt;
use commonbook::prompt::context::{AgentContext, ContextExplanation, ContextSummary};
use serde_json::Value;

use super::layout::{
    memory_glance, minute, one_line, print_facts, print_next_page, print_table, second, short, show,
};
use super::lookup::ViewLookup;
use super::show::{print_quarantine_hint, print_superseded};
use crate::calls::hint::{HintDoor, translate};
use crate::calls::output::{count_text, print_line, print_note};

pub(super) fn context(response: &Value) {
    show(response, |context: &AgentContext| {
        match context.text.is_empty() {
            true => print_line("No memory shares a word with this task; search in your own words"),
            false => print_line(&context.text),
        }
        for warning in &context.warnings {
            let warning = translate(warning, HintDoor::CommandLine("commonbook context"));
            print_note(&format!("note: {warning}"));
        }
        let figures = &context.diagnostics;
        print_note(&format!(
            "{} in full, {} as headlines of {} candidates, {} tokens; `commonbook explain {}` shows why",
            figures.injected_count,
            figures.headline_count,
            figures.candidate_count,
            context.tokens,
            short(&context.id)
        ));
    });
}

pub(super) fn briefing(response: &Value) {
    show(response, |briefing: &Briefing| {
        match briefing.text.is_empty() {
            true => print_line("Nothing new to tell this session"),
            false => print_line(&briefing.text),
        }
        for id in &briefing.contexts {
            print_note(&format!("`commonbook explain {}` shows the choice", short(id)));
        }
    });
}

pub(super) fn list(response: &Value, lookup: &ViewLookup<'_>) {
    show(response, |page: &Page<ContextSummary>| {
        if page.items.is_empty() {
            lookup.print_empty("No contexts");
            return;
        }
        let row = |context: &ContextSummary| {
            vec![
                short(&context.id),
                minute(context.at),
                context.origin.to_string(),
                context.items.to_string(),
                context.tokens.to_string(),
                context.agent.to_string(),
            ]
        };
        let columns = ["id", "at", "told by", "items", "tokens", "agent"];
        print_table(&columns, page.items.iter().map(row));
        print_next_page("--cursor", page.next.as_ref());
    });
}

pub(super) fn show_explained_context(response: &Value) {
    show(response, |explanation: &ContextExplanation| {
        let ContextExplanation { id, agent, at, sequence, milliseconds, receipt, .. } = explanation;
        let figures = &receipt.diagnostics;
        let standing = explanation.standing.as_ref();
        let standing =
            standing.map(|file| format!("{} ({}, {} bytes)", file.file, file.source, file.bytes));
        let left_out = Some(receipt.standing_left_out).filter(|count| *count > 0);
        let left_out = left_out.map(|count| count_text(count, "item", "items"));
        print_line(&format!("{} for {agent}, {}", short(id), second(*at)));
        print_facts(&[
            ("query", one_line(&receipt.query)),
            ("told by", receipt.origin.to_string()),
            ("session", receipt.session.clone().unwrap_or_default()),
            ("user", figures.resolved_user_id.clone().unwrap_or_default()),
            ("standing memory", standing.unwrap_or_default()),
            ("left out of it", left_out.unwrap_or_default()),
            (
                "tokens",
                format!(
                    "{} of the budget of {}; the prompt has {}, {} with the context",
                    receipt.tokens,
                    receipt.tokens_max(),
                    figures.prompt_tokens_before,
                    figures.prompt_tokens_after
                ),
            ),
            (
                "limits",
                format!(
                    "in full from relevance {}, at most {} memories",
                    receipt.threshold, receipt.maximum
                ),
            ),
            ("agents", figures.source_agents.join(", ")),
            ("types", figures.memory_types.join(", ")),
            ("built", format!("in {milliseconds} ms, at sequence {sequence} of the journal")),
        ]);
        if !receipt.candidates.is_empty() {
            print_line("");
            let columns = ["id", "source", "type", "author", "score", "tokens", "outcome"];
            print_table(&columns, receipt.candidates.iter().map(candidate_row));
        }
        if let Some(replay) = &explanation.replay {
            print_line(match replay.same {
                true => "A replay gives the same context",
                false => "A replay gives another context:",
            });
            replay.differences.iter().for_each(|line| print_line(&format!("  {line}")));
        }
    });
}

fn candidate_row(candidate: &CandidateReceipt) -> Vec<String> {
    vec![
        short(&candidate.id),
        candidate.source.to_string(),
        candidate.memory_type.clone(),
        candidate.author.clone(),
        candidate.score.map(|score| format!("{score:.2}")).unwrap_or_default(),
        candidate.tokens.map(|tokens| tokens.to_string()).unwrap_or_default(),
        candidate.omission_text(),
    ]
}

pub(super) fn show_learnings(response: &Value) {
    show(response, |learned: &LearnResult| {
        for memory in &learned.learnings {
            print_line(&format!("Learned {}: {}", short(&memory.id), memory_glance(memory)));
        }
        print_superseded(&learned.superseded);
        learned.hints.iter().for_each(|hint| print_quarantine_hint(Some(hint)));
        if learned.repeated > 0 {
            print_line(&format!("{} already known", learned.repeated));
        }
        if let Some(id) = &learned.conversation {
            print_line(&format!("Saved the conversation as {}", short(id)));
        }
        if let Some(standing) = &learned.standing {
            print_line(&format!("Added {} to {}", standing.added, standing.file));
            standing.warnings.iter().for_each(|text| print_note(&format!("warning: {text}")));
        }
        learned.left_out.iter().for_each(|text| print_note(&format!("left out: {text}")));
        let nothing =
            learned.learnings.is_empty() && learned.repeated == 0 && learned.conversation.is_none();
        if nothing && learned.left_out.is_empty() {
            print_line("No learning found");
        }
    });
}
