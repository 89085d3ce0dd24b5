//! How people read contradictions.

use commonbook::base::page::Page;
use commonbook::model::contradiction::judging::JudgeResult;
use commonbook::model::contradiction::{
    AnswerOutcome, AnswerPairsResult, AnsweredPair, Contradiction, ContradictionMark,
    ContradictionSide, FindingSource, NearPair, PairSide, ResolveContradictionResult,
};
use commonbook::verbs::names;
use serde_json::Value;

use super::layout::{minute, one_line, print_record, short, show, show_page_or};
use super::lineage::print_stale;
use super::lookup::ViewLookup;
use crate::calls::output::{print_line, print_note};

pub(super) fn list(response: &Value, lookup: &ViewLookup<'_>) {
    let empty = || print_no_contradictions(lookup);
    show_page_or(response, empty, |contradictions: &[Contradiction]| {
        for contradiction in contradictions {
            let [older, newer] = &contradiction.memories;
            let sides = [older, newer].map(|side| format!("{}: {}", side.owner, side_line(side)));
            let facts = [
                short(&contradiction.id),
                contradiction.kind.to_string(),
                confidence_text(contradiction),
            ];
            print_line(&sides[0]);
            print_record(&sides[1], &facts);
        }
        print_note(
            "`commonbook contradictions show ID` shows one; `commonbook contradictions resolve ID \
             keep_newer` resolves it",
        );
    });
}

/// Resolved contradictions that a note counts.
const RESOLVED_COUNTED_MAX: u32 = 100;

/// Prints where the list looked; if only open ones were looked for, also how many are resolved.
fn print_no_contradictions(lookup: &ViewLookup<'_>) {
    if lookup.request.contains_key("status") {
        return lookup.print_empty("No contradictions");
    }
    lookup.print_empty("No open contradictions");
    let mut resolved = lookup.request.clone();
    resolved.insert("status".to_owned(), "resolved".into());
    resolved.insert("limit".to_owned(), RESOLVED_COUNTED_MAX.into());
    let found: Option<Page<Contradiction>> =
        lookup.get(names::DETECT_CONTRADICTIONS, resolved.into());
    if let Some(Page { items, next }) = found.filter(|found| !found.items.is_empty()) {
        let more = if next.is_some() { " or more" } else { "" };
        print_note(&format!("{}{more} resolved: `--status resolved` lists them", items.len()));
    }
}

/// Near pairs, each side on its line.
pub(super) fn show_pairs(response: &Value, lookup: &ViewLookup<'_>) {
    let empty = || lookup.print_empty("No pairs without an answer");
    show_page_or(response, empty, |pairs: &[NearPair]| {
        for NearPair { newer, older } in pairs {
            for (name, side) in [("newer", newer), ("older", older)] {
                let PairSide { id, owner, at, says, .. } = side;
                print_line(&format!("{name} {} {owner}, {}: {says}", short(id), minute(*at)));
            }
            print_line("");
        }
        print_note(
            "`commonbook contradictions answer NEWER OLDER contradicts|repeats|replaces|neither` \
             answers one",
        );
    });
}

/// What answers about pairs did.
pub(super) fn show_answers(response: &Value) {
    show(response, |result: &AnswerPairsResult| {
        for AnsweredPair { newer, older, outcome } in &result.pairs {
            let outcome = match outcome {
                AnswerOutcome::Recorded => "recorded",
                AnswerOutcome::Superseded => "the older one is superseded",
                AnswerOutcome::Noted => "recorded; it merges nothing, since neither is yours",
                AnswerOutcome::AnsweredBefore => "was answered before",
            };
            print_line(&format!("{} {}: {outcome}", short(newer), short(older)));
        }
    });
}

/// What the endpoint answered about open pairs.
pub(super) fn show_judgements(response: &Value) {
    show(response, |result: &JudgeResult| {
        for contradiction in &result.contradictions {
            for side in &contradiction.memories {
                print_line(&format!("{}: {}", side.owner, side_line(side)));
            }
            let facts = [short(&contradiction.id), contradiction.kind.to_string()];
            print_record(&confidence_text(contradiction), &facts);
        }
        let (found, JudgeResult { compatible, unclear, .. }) =
            (result.contradictions.len(), result);
        print_line(&format!(
            "{found} contradictions, {compatible} pairs that can both hold, {unclear} without an answer"
        ));
        result.notice.iter().for_each(|notice| print_note(notice));
        print_note("`commonbook contradictions list` lists what is open");
    });
}

pub(super) fn show_resolution(response: &Value) {
    show_contradiction(response);
    show(response, |resolved: &ResolveContradictionResult| print_stale(&resolved.stale));
}

pub(super) fn show_contradiction(response: &Value) {
    show(response, |contradiction: &Contradiction| {
        let Contradiction { id, status, kind, reason, .. } = contradiction;
        let (id, confidence) = (short(id), confidence_text(contradiction));
        print_line(&format!("{id}: {status}, {kind}, {confidence}"));
        print_line(&format!("{reason}."));
        for side in &contradiction.memories {
            print_line(&format!("{} by {}, {}", short(&side.id), side.owner, minute(side.at)));
            print_line(&format!("  {}", side_line(side)));
        }
        if let Some(resolved) = &contradiction.resolved {
            let (agent, at) = (&resolved.resolved_by, minute(resolved.resolved_at));
            print_line(&format!("{agent} resolved it with {}, {at}", resolved.resolution));
            if let Some(context) = &resolved.context {
                print_line(&format!("Both hold: {context}"));
            }
            if let Some(memory) = resolved.kept {
                print_line(&format!("Still holds: {}", short(&memory)));
            }
            print_note(&format!("`commonbook contradictions reopen {id}` takes that back"));
        }
    });
}

/// The contradictions of a memory, for the line below it.
pub(super) fn mark_texts(marks: &[ContradictionMark]) -> Vec<String> {
    let texts = marks.iter().map(|mark| {
        let other = format!("{} ({})", short(&mark.other), mark.owner);
        match (&mark.context, &mark.stated_by) {
            (None, _) if mark.found_by == FindingSource::Endpoint => {
                format!("contradicts {other}: {}, judged by the endpoint", mark.status)
            }
            (None, Some(agent)) => format!("contradicts {other}: {}, says {agent}", mark.status),
            (None, None) => format!("contradicts {other}: {}", mark.status),
            (Some(context), _) => format!("holds beside {other}: {}", one_line(context)),
        }
    });
    texts.collect()
}

/// A memory on one line.
fn side_line(side: &ContradictionSide) -> String {
    let text = one_line(&side.text);
    match &side.title {
        Some(title) => format!("{title}: {text}"),
        None => text,
    }
}

fn confidence_text(contradiction: &Contradiction) -> String {
    let sure = format!("{:.0} % sure", contradiction.confidence * 100.0);
    match contradiction.found_by {
        FindingSource::Rules => sure,
        FindingSource::Endpoint => format!("{sure}, judged by the endpoint"),
        FindingSource::Person => "an edit crossed another change".to_owned(),
        FindingSource::Agent => format!("{sure}, found by {}", contradiction.finder()),
    }
}
