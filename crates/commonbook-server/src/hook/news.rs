//! News for an agent that a hook speaks to: quarantine notices, and what other agents wrote.

use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::id::RandomIds;
use commonbook::model::cursor::ChangesResponse;
use commonbook::model::memory::QuarantineNotice;
use commonbook::prompt::new_fence;
use commonbook::prompt::news::news_text;

/// The changes as an agent reads them; empty where there are none to report.
pub(super) fn render_changes(changes: ChangesResponse) -> String {
    let mut parts: Vec<String> = changes.quarantined.iter().map(quarantine_notice).collect();
    let now = SystemClock.now();
    let news = news_text(changes, &new_fence(&RandomIds::default(), now), now);
    parts.extend(Some(news).filter(|news| !news.is_empty()));
    parts.join("\n\n")
}

/// The notice to an author that one of its memories was quarantined. It repeats nothing of the text.
fn quarantine_notice(memory: &QuarantineNotice) -> String {
    format!("The memory {} of {} is quarantined. {}", memory.id, memory.owner, memory.hint)
}
