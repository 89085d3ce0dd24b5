//! The pages, in the order of the navigation.

mod find;
mod memories;
mod now;

use commonbook::base::error::Result;

use super::PageContent;
use super::request::PageRequest;

/// A page of the dashboard.
pub(super) struct DashboardPage {
    /// Its part of the path.
    pub(super) path: &'static str,
    pub(super) title: &'static str,
    /// The letter that leads to it, behind `g`; empty if it is not in the navigation.
    pub(super) key: &'static str,
    /// Whether the navigation separates it from the page before.
    pub(super) begins_group: bool,
    pub(super) show: fn(&PageRequest) -> Result<PageContent>,
    /// Shows one thing of the page, which the path names.
    pub(super) show_item: Option<fn(&PageRequest, &str) -> Result<PageContent>>,
}

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
        path: "find",
        title: "Find",
        key: "",
        begins_group: false,
        show: find::show,
        show_item: None,
    },
];
