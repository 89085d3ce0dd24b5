//! Lists: cases and handoffs as headlines for an agent.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::base::page::Page;
use crate::model::case::{Case, CaseStatus};
use crate::model::handoff::Handoff;
use crate::prompt::block::{PromptBlock, PromptSection};
use crate::prompt::headlines::{HeadlineItem, headline_section};
use crate::prompt::item::PromptItem;
use commonbook_text::fence::Fence;
use commonbook_text::headline::headline;
use commonbook_text::sanitize::{shown_label, shown_name};
use commonbook_text::tokens;

/// Tokens of the frame of a list.
const FRAME_TOKENS: usize = 120;

/// Tokens that each line of a list adds to what the list may have.
const LINE_TOKENS: usize = 48;

/// Tokens of the result of a handoff: more than most have.
const RESULT_TOKENS_MAX: usize = 400;

/// Tokens that the lines of any list may have: names can be long.
const LINES_TOKENS_MIN: usize = 400;

/// A page of cases as headlines: key, author, time of the last change, status, entries and title. The text
/// is empty without cases.
#[must_use]
pub fn case_list_text(page: &Page<Case>, fence: &Fence, now: Timestamp) -> String {
    let items = page.items.iter().map(|case| {
        let entries = match case.version {
            1 => "1 entry".to_owned(),
            count => format!("{count} entries"),
        };
        let status = (case.status != CaseStatus::Open).then(|| case.status.to_string());
        let item = PromptItem {
            handle: shown_label(case.key.as_str()),
            ..PromptItem::named(case.key.as_str(), "case", &case.opened_by, case.changed_at)
        };
        HeadlineItem {
            item: status.into_iter().chain([entries]).fold(item, PromptItem::with_note),
            words: headline(&case.title),
        }
    });
    let none = PromptSection::default();
    list_text("Cases:", &items.collect::<Vec<_>>(), none, page, &HashMap::new(), fence, now)
}

/// A page of handoffs as headlines: handle, source, time, target, status and task. `handles` has the longer
/// handles by id. The text is empty without handoffs.
#[must_use]
pub fn handoff_list_text(
    page: &Page<Handoff>,
    handles: &HashMap<String, String>,
    fence: &Fence,
    now: Timestamp,
) -> String {
    let items = page.items.iter().map(|handoff| {
        let Handoff { id, from, to, task, status, created_at, .. } = handoff;
        let item = PromptItem::new(*id, "handoff", from, *created_at, String::new());
        let to = format!("to {}", shown_name(to.as_str()));
        HeadlineItem {
            item: item.with_note(to).with_note(status.to_string()),
            words: headline(task),
        }
    });
    let results = page.items.iter().filter_map(|handoff| {
        let (note, ended_at) = (handoff.note.clone()?, handoff.ended_at?);
        let item = PromptItem::new(handoff.id, handoff.status.name(), &handoff.to, ended_at, note);
        Some(item.shortened(RESULT_TOKENS_MAX, None).into())
    });
    let results = PromptSection::new("How they ended:", results.collect());
    list_text("Handoffs:", &items.collect::<Vec<_>>(), results, page, handles, fence, now)
}

/// These headlines in a block, with what stands below them, the cursor of the next page and the number of those without room.
fn list_text<T>(
    lead: &str,
    items: &[HeadlineItem],
    below: PromptSection,
    page: &Page<T>,
    handles: &HashMap<String, String>,
    fence: &Fence,
    now: Timestamp,
) -> String {
    if items.is_empty() {
        return String::new();
    }
    let room = (LINE_TOKENS * items.len()).max(LINES_TOKENS_MIN);
    let section = headline_section("", items, room, now);
    let left = items.len() - section.entries.len();
    let left =
        (left > 0).then(|| format!("{left} more have no room here: ask with a lower limit."));
    let next = page
        .next
        .clone()
        .map(|next| format!("More: the same call with cursor {}.", String::from(next)));
    let mut block = PromptBlock {
        lead: lead.to_owned(),
        sections: vec![section, below],
        next_step: left.into_iter().chain(next).collect::<Vec<_>>().join(" "),
        ..PromptBlock::default()
    };
    let below = tokens::count(&block.sections[1].render(now));
    block.set_handles(handles);
    block.render_within(room + below + FRAME_TOKENS, fence, now).text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::id::CountingIds;
    use crate::base::page::PageCursor;

    fn now() -> Timestamp {
        "2026-11-28T16:30:00Z".parse().expect("a time")
    }

    fn case(number: usize, title: &str) -> Case {
        serde_json::from_value(json!({
            "workspace": "w", "key": format!("incident-{number}"), "title": title, "status": "open",
            "version": number, "opened_by": format!("agent-{}", number % 3),
            "opened_at": "2026-11-20T10:00:00Z", "changed_at": "2026-11-28T16:05:00Z",
        }))
        .expect("a case")
    }

    #[test]
    fn a_list_of_cases_is_a_headline_each_and_says_how_to_read_on() {
        let title = "Once more: the orders page is very slow for customers of the north and nobody \
                     knows why exactly, see the thread of last week in the channel of the team";
        let items: Vec<Case> = (1..=30).map(|number| case(number, title)).collect();
        let page = Page { items, next: Some(PageCursor::of(&[30])) };
        let text = case_list_text(&page, &Fence::from_bits(7), now());
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(lines.len(), 30, "{text}");
        assert!(
            lines[0].starts_with("#incident-1 agent-1, 16:05, 1 entry > the orders page is"),
            "{text}"
        );
        assert!(lines.iter().all(|line| !line.contains("last week")), "{text}");
        assert!(text.contains("-- More: the same call with cursor c1e."), "{text}");
        assert!(tokens::count(&text) <= 30 * LINE_TOKENS + FRAME_TOKENS, "{text}");
        let closed = Case { status: CaseStatus::Closed, ..case(2, "x") };
        let page = Page { items: vec![closed], next: None };
        let text = case_list_text(&page, &Fence::from_bits(7), now());
        assert!(text.contains(", closed, 2 entries > x\n") && !text.contains("-- "), "{text}");
        let none = Page { items: Vec::new(), next: None };
        assert_eq!(case_list_text(&none, &Fence::from_bits(7), now()), "");
    }

    #[test]
    fn a_list_of_handoffs_tells_results() {
        let handoff = |status: &str, note: Option<&str>| -> Handoff {
            let id = crate::base::id::HandoffId::new(&CountingIds::default(), now());
            serde_json::from_value(json!({
                "id": id, "workspace": "w", "from": "analyst", "to": "developer",
                "task": "Hey, please fix the query of the orders page. It is slow since Monday.",
                "kind": "sequential", "status": status, "chain": id, "depth": 1, "note": note,
                "memories": [], "entities": [], "tokens": 9, "created_at": "2026-11-28T16:05:00Z",
                "expires_at": "2026-11-29T16:05:00Z", "version": 1,
                "ended_at": note.map(|_| now()),
            }))
            .expect("a handoff")
        };
        let ended = handoff("completed", Some("The index was missing.\nIt is there now."));
        let page = Page { items: vec![handoff("pending", None), ended], next: None };
        let text = handoff_list_text(&page, &HashMap::new(), &Fence::from_bits(7), now());
        assert!(text.contains(" analyst, 16:05, to developer, pending > "), "{text}");
        assert!(
            text.contains(" developer, 28 Nov, completed\n> The index was missing.\n> It is"),
            "{text}"
        );
        assert_eq!(text.matches("The index").count(), 1, "{text}");
    }
}
