//! `doctor`: looks the home through, and says what is wrong and what to do.

use commonbook::Commonbook;
use commonbook::error::{Error, ErrorKind, Result};
use indicatif::{HumanBytes, ProgressBar};
use serde_json::json;

use crate::config::Config;
use crate::output;

/// Looks the store through for damage.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {}

impl Doctor {
    /// Tells what it finds.
    ///
    /// # Errors
    /// `unavailable` when the store is damaged, newer, or cannot be opened.
    pub(crate) fn run(
        &self,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
        as_json: bool,
    ) -> Result<()> {
        let path = config.store()?;
        if !path.exists() {
            let told = format!("Nothing is kept in {} yet", path.display());
            match as_json {
                true => output::json(&json!({"store": path, "findings": [], "note": told})),
                false => output::line(&told),
            }
            return Ok(());
        }
        let book = open()?;
        let progress = ProgressBar::new_spinner().with_message("looking through the store");
        progress.enable_steady_tick(std::time::Duration::from_millis(100));
        let findings = book.store().check();
        let spoilt = book.index().check();
        progress.finish_and_clear();
        let (findings, spoilt) = (findings?, spoilt?);
        let bytes = book.store().disk_bytes()?;
        let workspaces = book.store().read(|tx| tx.workspaces())?;
        if as_json {
            output::json(&json!({
                "store": path, "disk_bytes": bytes, "workspaces": workspaces, "findings": findings,
                "index_findings": spoilt,
            }));
        } else {
            output::line(&format!("store       {} ({})", path.display(), HumanBytes(bytes)));
            let names: Vec<_> = workspaces.iter().map(ToString::to_string).collect();
            output::line(&format!("workspaces  {}", names.join(", ")));
            for finding in &findings {
                output::line(&format!("damage      {finding}"));
            }
            for finding in &spoilt {
                output::line(&format!("index       {finding}; `commonbook reindex` mends it"));
            }
        }
        if findings.is_empty() {
            if !as_json {
                output::line("The store is whole");
            }
            return Ok(());
        }
        Err(Error::new(ErrorKind::Unavailable, format!("{} findings of damage", findings.len()))
            .hint("Stop every commonbook process, and restore the file from a copy or an export."))
    }
}
