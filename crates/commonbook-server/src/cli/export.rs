//! `export`: every memory in sight, one JSON object a line, as `import` takes it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use commonbook::Commonbook;
use commonbook::caller::Caller;
use commonbook::error::{Error, ErrorKind, Result};
use commonbook::limits;
use commonbook::memory::{ListMemories, Order};
use indicatif::ProgressBar;

use super::import::Format;
use crate::output;

/// Writes every memory of the workspace that you may see, oldest first, as lines that `import`
/// takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// What the lines look like
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The file; standard output when there is none
    file: Option<PathBuf>,
}

impl Export {
    /// Writes the memories.
    ///
    /// # Errors
    /// `unavailable` when the file cannot be written.
    pub(crate) fn run(&self, book: &Commonbook, caller: &Caller) -> Result<()> {
        let Format::Jsonl = self.format;
        let mut out: Box<dyn Write> = match &self.file {
            None => Box::new(std::io::stdout().lock()),
            Some(path) => Box::new(File::create(path).map_err(broken)?),
        };
        let mut out = BufWriter::new(&mut out);
        let progress = match &self.file {
            None => ProgressBar::hidden(),
            Some(_) => ProgressBar::new_spinner().with_message("memories"),
        };
        let mut request = ListMemories {
            order: Order::Oldest,
            limit: Some(limits::PAGE_MAX),
            ..ListMemories::default()
        };
        let mut count = 0;
        loop {
            let page = book.list_memories(caller, &request)?;
            for memory in &page.items {
                serde_json::to_writer(&mut out, memory).map_err(|error| broken(error.into()))?;
                out.write_all(b"\n").map_err(broken)?;
                count += 1;
                progress.inc(1);
            }
            request.cursor = page.next;
            if request.cursor.is_none() {
                break;
            }
        }
        out.flush().map_err(broken)?;
        progress.finish_and_clear();
        output::note(&format!("{count} exported from {}", caller.workspace));
        Ok(())
    }
}

fn broken(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the export broke off: {error}"))
        .hint("Make room, or write to another file; an incomplete one is of no use.")
        .because(error)
}
