//! The pages, in the order of the navigation.

mod agents;
mod agreements;
mod cases;
mod contexts;
mod contradictions;
mod entities;
mod find;
mod handoffs;
mod health;
mod knowledge;
mod memories;
mod now;
mod open_work;
mod review;
mod standing;
mod vaults;

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::Caller;
use commonbook::verbs::names;
use serde_json::{Value, json};

use super::request::DashboardPage;
use crate::calls::verb;

/// Every page.
pub(super) const PAGES: &[DashboardPage] = &[
    DashboardPage {
        path: "now",
        title: "Now",
        key: "n",
        begins_group: false,
        show: now::show,
        show_item: None,
    },
    DashboardPage {
        path: "memories",
        title: "Memories",
        key: "m",
        begins_group: false,
        show: memories::show,
        show_item: Some(memories::show_memory),
    },
    DashboardPage {
        path: "cases",
        title: "Cases",
        key: "c",
        begins_group: true,
        show: cases::show,
        show_item: Some(cases::show_case),
    },
    DashboardPage {
        path: "handoffs",
        title: "Handoffs",
        key: "h",
        begins_group: false,
        show: handoffs::show,
        show_item: Some(handoffs::show_handoff),
    },
    DashboardPage {
        path: "entities",
        title: "Entities",
        key: "e",
        begins_group: false,
        show: entities::show,
        show_item: Some(entities::show_entity),
    },
    DashboardPage {
        path: "contexts",
        title: "Contexts",
        key: "x",
        begins_group: true,
        show: contexts::show,
        show_item: Some(contexts::show_context),
    },
    DashboardPage {
        path: "knowledge",
        title: "Who knows what",
        key: "w",
        begins_group: false,
        show: knowledge::show,
        show_item: None,
    },
    DashboardPage {
        path: "contradictions",
        title: "Contradictions",
        key: "d",
        begins_group: true,
        show: contradictions::show,
        show_item: Some(contradictions::show_contradiction),
    },
    DashboardPage {
        path: "review",
        title: "Review",
        key: "r",
        begins_group: false,
        show: review::show,
        show_item: None,
    },
    DashboardPage {
        path: "standing",
        title: "Standing memory",
        key: "s",
        begins_group: true,
        show: standing::show,
        show_item: Some(standing::show_role),
    },
    DashboardPage {
        path: "agreements",
        title: "Agreements",
        key: "t",
        begins_group: false,
        show: agreements::show,
        show_item: None,
    },
    DashboardPage {
        path: "vaults",
        title: "Vaults",
        key: "v",
        begins_group: false,
        show: vaults::show,
        show_item: None,
    },
    DashboardPage {
        path: "agents",
        title: "Agents",
        key: "a",
        begins_group: false,
        show: agents::show,
        show_item: Some(agents::show_agent),
    },
    DashboardPage {
        path: "health",
        title: "Health",
        key: "l",
        begins_group: false,
        show: health::show,
        show_item: None,
    },
    DashboardPage {
        path: "find",
        title: "Find",
        key: "",
        begins_group: false,
        show: find::show,
        show_item: None,
    },
];

/// The receipt of a context as JSON, as every door returns it.
///
/// # Errors
/// As the verb `explain_context`.
pub(super) fn read_receipt(book: &Commonbook, caller: &Caller, context: &str) -> Result<Value> {
    let unknown = || Error::new(ErrorKind::Internal, "no verb explains a context");
    let verb = verb::find(names::EXPLAIN_CONTEXT).ok_or_else(unknown)?;
    verb.call.run(book, caller, json!({"context": context}))
}
