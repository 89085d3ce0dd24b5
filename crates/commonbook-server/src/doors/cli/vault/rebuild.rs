//! `rebuild`: makes the memories of a workspace again from its vault.

use std::path::PathBuf;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::home_key::HomeKey;
use commonbook::model::origin::TextOrigin;
use commonbook_vault::folder::{DiskSteps, VaultFolder};
use commonbook_vault::rebuild::{RebuildTrust, rebuild_lines};
use commonbook_vault::settings::VaultSettings;
use commonbook_vault::state::{PageSums, VaultState};
use commonbook_vault::writer::VaultWriter;
use indicatif::ProgressBar;
use serde_json::json;

use super::{AdoptedVault, BookSource, VaultPlace, VaultRegistry};
use crate::background::follow;
use crate::calls::output::{count_text, print_json, print_line, print_note};

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
    /// Imports what the vault holds, and prints how much that was.
    ///
    /// # Errors
    /// `not_found` if the folder is no vault; `invalid` if some lines were refused: all others are there.
    pub(crate) fn run(&self, place: &VaultPlace<'_>, as_json: bool) -> Result<()> {
        let root =
            std::fs::canonicalize(&self.from_vault).unwrap_or_else(|_| self.from_vault.clone());
        let folder = VaultFolder::new(&root, Box::new(DiskSteps));
        let settings = VaultSettings::new(place.caller.workspace.clone());
        settings.check(&VaultSettings::read(&folder)?)?;
        let home = place.config.home()?;
        let registry = VaultRegistry::read(home)?;
        if registry.find(&root).is_none() {
            VaultRegistry::set(home, &root, AdoptedVault::new(settings.clone()))?;
        }
        let writer = VaultWriter::of_home(&HomeKey::open(home)?).key();
        let pages = PageSums::read(&VaultState::of(home, &root))?;
        let rebuild = rebuild_lines(&folder, self.with_history, &RebuildTrust { writer, pages })?;
        for note in &rebuild.notes {
            print_note(&format!("{}: {}", note.path, note.reason));
        }
        let all = rebuild.own.len() + rebuild.others.len();
        let progress = ProgressBar::new(all as u64);
        let (mut refused, mut imported) = (Vec::new(), 0_u64);
        let own = rebuild.own.chunks(CHUNK_LINES).map(|chunk| (chunk, TextOrigin::ThisHome));
        let others = rebuild.others.chunks(CHUNK_LINES).map(|chunk| (chunk, TextOrigin::File));
        for (chunk, origin) in own.chain(others) {
            let results = place.source.import_lines_of(origin, chunk.to_vec())?;
            for (line, result) in chunk.iter().zip(results) {
                match result.error {
                    Some(error) => refused.push((line.clone(), error)),
                    None => imported += 1,
                }
            }
            progress.inc(chunk.len() as u64);
        }
        progress.finish_and_clear();
        if !rebuild.others.is_empty() {
            let others = count_text(rebuild.others.len() as u64, "line is", "lines are");
            print_note(&format!(
                "{others} of others, since this home has not signed them: `human` there is `import/human`, \
                 and nothing of them is a rule"
            ));
        }
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
