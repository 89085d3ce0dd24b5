//! Lists: cases and handoffs as headlines for an agent.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::base::page::Page;
use crate::model::case::{Case, CaseStatus};
use crate::model::handoff::Handoff;
use crate::prompt::block::PromptBlock;
use crate::prompt::headlines::{HeadlineItem, headline_section};
use crate::prompt::item::PromptItem;
use commonbook_text::fence::Fence;
use commonbook_text::headline::headline;
use commonbook_text::sanitize::shown_name;

/// Tokens of the frame of a list.
const FRAME_TOKENS: usize = 120;

/// Tokens that each line of a list adds to what the list may have.
const LINE_TOKENS: usize = 48;

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
            handle: case.key.to_string(),
            ..PromptItem::named(case.key.as_str(), "case", &case.opened_by, case.changed_at)
        };
        HeadlineItem {
            item: status.into_iter().chain([entries]).fold(item, PromptItem::with_note),
            words: headline(&case.title),
        }
    });
    list_text("Cases:", items.collect(), page, &HashMap::new(), fence, now)
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
        HeadlineItem {
            item: item
                .with_note(format!("to {}", shown_name(to.as_str())))
                .with_note(status.to_string()),
            words: headline(task),
        }
    });
    list_text("Handoffs:", items.collect(), page, handles, fence, now)
}

/// These headlines in a block, with the cursor of the next page and the number of those without room.
fn list_text<T>(
    lead: &str,
    mut items: Vec<HeadlineItem>,
    page: &Page<T>,
    handles: &HashMap<String, String>,
    fence: &Fence,
    now: Timestamp,
) -> String {
    if items.is_empty() {
        return String::new();
    }
    for named in &mut items {
        named.item.set_handles(handles);
    }
    let room = (LINE_TOKENS * items.len()).max(LINES_TOKENS_MIN);
    let section = headline_section("", &items, room, now);
    let left = items.len() - section.entries.len();
    let left = (left > 0).then(|| format!("{left} more have no room here: ask with a lower limit."));
    let next = page.next.clone().map(|next| format!("More: the same call with cursor {}.", String::from(next)));
    let mut block = PromptBlock {
        lead: lead.to_owned(),
        sections: vec![section],
        next_step: left.into_iter().chain(next).collect::<Vec<_>>().join(" "),
        ..PromptBlock::default()
    };
    block.render_within(room + FRAME_TOKENS, fence, now).text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::page::PageCursor;
    use commonbook_text::tokens;

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
}
