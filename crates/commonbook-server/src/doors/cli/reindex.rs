//! `reindex`: rebuilds the search index from the journal, and extracts entities again.

use commonbook::Commonbook;
use commonbook::base::error::Result;
use indicatif::HumanCount;
use serde_json::json;

use crate::background::follow;
use crate::calls::output;

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
}

impl ReindexCommand {
    /// Rebuilds the index, and prints how many memories it holds.
    ///
    /// # Errors
    /// `conflict` if another process writes the index, `unavailable` if it cannot be written.
    pub(crate) fn run(&self, book: &Commonbook, as_json: bool) -> Result<()> {
        let (index, store) = (book.index(), book.store());
        if self.vectors {
            index.forget_vectors()?;
        }
        let words = follow::with_word_progress(|progress| index.rebuild(store, progress))?;
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
