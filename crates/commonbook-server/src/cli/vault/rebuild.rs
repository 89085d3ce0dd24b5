//! `rebuild`: makes the memories of a workspace again from its vault.

use std::path::PathBuf;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook_vault::folder::{DiskSteps, VaultFolder};
use commonbook_vault::rebuild::rebuild_lines;
use commonbook_vault::settings::VaultSettings;
use commonbook_vault::source::VaultSource as _;
use indicatif::ProgressBar;
use serde_json::json;

use super::{BookSource, VaultPlace, VaultRegistry};
use crate::follow;
use crate::output::{count_text, print_json, print_line, print_note};

/// Lines that share one transaction.
const CHUNK_LINES: usize = 500;

/// Makes the memories of a workspace again from the files of its vault: with their owners, cases, handoffs,
/// entities and decisions. What is there already stays as it is.
#[derive(Debug, clap::Args)]
pub(crate) struct RebuildCommand {
    /// Folder of the vault
    #[arg(long, value_name = "DIR")]
    from_vault: PathBuf,
    /// Read the earlier revisions too
    #[arg(long)]
    with_history: bool,
    /// Leave embedding to a server or to `commonbook reindex`
    #[arg(long)]
    later: bool,
}

impl RebuildCommand {
    /// The folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.from_vault.clone()
    }

    /// Imports what the vault holds, and prints how much that was.
    ///
    /// # Errors
    /// `not_found` if the folder is no vault; `invalid` if some lines were refused: all others are there.
    pub(crate) fn run(&self, place: &VaultPlace<'_>, as_json: bool) -> Result<()> {
        let folder = VaultFolder::new(&self.from_vault, Box::new(DiskSteps));
        let settings = VaultSettings::read(&folder)?;
        let rebuild = rebuild_lines(&folder, self.with_history)?;
        for note in &rebuild.notes {
            print_note(&format!("{}: {}", note.path, note.reason));
        }
        let progress = ProgressBar::new(rebuild.lines.len() as u64);
        let (mut refused, mut imported) = (Vec::new(), 0_u64);
        for chunk in rebuild.lines.chunks(CHUNK_LINES) {
            for (line, result) in chunk.iter().zip(place.source.import_lines(chunk.to_vec())?) {
                match result.error {
                    Some(error) => refused.push((line.clone(), error)),
                    None => imported += 1,
                }
            }
            progress.inc(chunk.len() as u64);
        }
        progress.finish_and_clear();
        let root =
            std::fs::canonicalize(&self.from_vault).unwrap_or_else(|_| self.from_vault.clone());
        VaultRegistry::add(place.config.home()?, &root, &settings.workspace)?;
        if let BookSource::Home { book, .. } = &place.source
            && !self.later
            && let Err(error) = follow::update_index(book)
        {
            print_note(&format!("the search index is not up to date: {error}"));
        }
        for (line, error) in refused.iter().take(20) {
            let id = line.get("id").or_else(|| line.get("record")).cloned().unwrap_or_default();
            print_note(&format!("{id}: {}", error.message));
        }
        let left_out = rebuild.notes.len() + refused.len();
        match as_json {
            true => print_json(&json!({"imported": imported, "left_out": left_out})),
            false => print_line(&format!(
                "{} into workspace {}, {left_out} left out",
                count_text(imported, "line", "lines"),
                settings.workspace
            )),
        }
        match refused.len() {
            0 => Ok(()),
            count => Err(Error::new(ErrorKind::Invalid, format!("{count} lines were refused"))
                .hint("The notes above say why. All other lines are in the store.")),
        }
    }
}
