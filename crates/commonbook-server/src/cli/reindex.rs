//! `reindex`: builds the search index anew from the journal, and finds entities anew.

use commonbook::Commonbook;
use commonbook::base::error::Result;
use indicatif::HumanCount;
use serde_json::json;

use crate::{follow, output};

/// Builds the search index anew from the journal, and finds the entities of all memories anew; vectors
/// that are there are kept.
#[derive(Debug, clap::Args)]
pub(crate) struct ReindexCommand {
    /// Throw the vectors away too, and embed everything anew
    #[arg(long)]
    vectors: bool,
    /// Leave embedding to a server, or to a later run
    #[arg(long)]
    later: bool,
}

impl ReindexCommand {
    /// Builds it, and tells what it holds then.
    ///
    /// # Errors
    /// `conflict` while another process writes the index, `unavailable` when it cannot be written.
    pub(crate) fn run(&self, book: &Commonbook, as_json: bool) -> Result<()> {
        let (index, store) = (book.index(), book.store());
        if self.vectors {
            index.forget_vectors()?;
        }
        let words = follow::with_word_progress(|told| index.rebuild(store, told))?;
        book.forget_mentions()?;
        follow::find_mentions_with_progress(book)?;
        let done = if self.later { Some(words) } else { follow::update_index(book)? };
        let done = done.unwrap_or(words);
        if as_json {
            output::print_json(&json!({"memories": done.memories, "waiting": done.waiting}));
            return Ok(());
        }
        let memories = HumanCount(done.memories);
        output::print_line(&match done.waiting {
            0 => format!("{memories} memories in the search index"),
            n => format!(
                "{memories} memories in the search index, {} of them without a vector yet",
                HumanCount(n)
            ),
        });
        Ok(())
    }
}
