//! `reindex`: rebuilds the search index from the journal, and extracts entities again.

use std::path::Path;

use commonbook::Commonbook;
use commonbook::base::error::{Error, Result};
use indicatif::HumanCount;
use serde_json::json;

use super::settings::set_setting;
use crate::background::follow;
use crate::calls::output;
use crate::settings::config::Config;

/// Rebuilds the search index from the journal and extracts the entities of all memories again. Keeps
/// existing vectors.
#[derive(Debug, clap::Args)]
pub(crate) struct ReindexCommand {
    /// Delete the vectors too, and embed every memory again
    #[arg(long)]
    vectors: bool,
    /// Leave embedding to a server or to a later run
    #[arg(long)]
    later: bool,
    /// Embed with another model from now on: the folder of one, `bundled` or an address (sets `embedder` in
    /// config.json)
    #[arg(long, value_name = "FOLDER")]
    model: Option<String>,
}

impl ReindexCommand {
    /// Whether it changes config.json.
    pub(crate) fn changes_settings(&self) -> bool {
        self.model.is_some()
    }

    /// Rebuilds the index, and prints how many memories it holds.
    ///
    /// # Errors
    /// `conflict` if another process writes the index, `unavailable` if it cannot be written, `invalid` if
    /// the model cannot be read.
    pub(crate) fn run(
        &self,
        config: &Config,
        open: impl FnOnce(&Config) -> Result<Commonbook>,
        as_json: bool,
    ) -> Result<()> {
        let model = self.model.as_deref().map(lasting_name).transpose()?;
        let embedder = model.clone().or_else(|| config.embedder.clone());
        let config = Config { embedder, ..config.clone() };
        if model.is_some() {
            // A model that cannot be read is an error here; elsewhere, searches by words alone.
            follow::embedder(&config)?;
        }
        let book = &open(&config)?;
        let (index, store) = (book.index(), book.store());
        if self.vectors {
            index.forget_vectors()?;
        }
        let words = follow::with_word_progress(|progress| index.rebuild(store, progress))?;
        if let Some(model) = model {
            // From here on every process of the home embeds with it, also if this one ends early.
            set_setting(&config, "embedder", model.into())?;
        }
        book.forget_mentions()?;
        follow::find_mentions_with_progress(book)?;
        let progress = if self.later { None } else { follow::update_index(book)? };
        let progress = progress.unwrap_or(words);
        if as_json {
            output::print_json(
                &json!({"memories": progress.memories, "waiting": progress.waiting}),
            );
            return Ok(());
        }
        if index.is_of_node() {
            let note = "the files of the search index are removed; a search builds the index of its workspace";
            output::print_line(note);
            return Ok(());
        }
        let noun = if progress.memories == 1 { "memory" } else { "memories" };
        let memories = format!("{} {noun}", HumanCount(progress.memories));
        output::print_line(&match progress.waiting {
            0 => format!("{memories} in the search index"),
            waiting => format!(
                "{memories} in the search index, {} still without a vector",
                HumanCount(waiting)
            ),
        });
        Ok(())
    }
}

/// The name of an embedder that means the same in every folder: that of a folder is its absolute path.
///
/// # Errors
/// `invalid` if it is neither a folder nor the name or address of an embedder.
fn lasting_name(named: &str) -> Result<String> {
    if !Path::new(named).is_dir() {
        return Ok(named.to_owned());
    }
    let path = std::fs::canonicalize(named).map_err(|error| {
        Error::invalid("model", format!("the folder cannot be opened: {error}"))
    })?;
    path.into_os_string().into_string().map_err(|_| {
        Error::invalid("model", "the path of the folder is not UTF-8; expected one that is")
    })
}
