//! Obsidian vaults and other folders of Markdown notes: a note is a memory, under the name of its file.
//!
//! As Obsidian's help describes them: properties in the frontmatter (`tags`, `aliases`, dates), tags `#word`,
//! links `[[Target]]`. Attachments, `.obsidian` and `.trash` are no notes.

use crate::files::SourceFile;
use crate::markdown::{hashtags, wiki_links};
use crate::note::{MarkdownNote, note_rows};
use crate::{Progress, RowIterator, RowOutcome, SourceFormat};

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    note_rows(file, progress, |note| rows_of(file, note))
}

fn rows_of(file: &SourceFile, note: &MarkdownNote) -> Vec<RowOutcome> {
    if note.body.trim().is_empty() {
        return vec![RowOutcome::left_out(file, "the note has no text")];
    }
    let created = note.created();
    let mut read = vec!["tags", "tag", "topics", "title"];
    read.extend(created.as_ref().map(|(key, _)| *key));
    let title = note.text("title").unwrap_or_else(|| file.stem()).to_owned();
    note.rows(SourceFormat::Obsidian, file, &note.body, &title, |draft, part| {
        draft
            .with("memory_type", "semantic")
            .with(
                "created_at",
                created.as_ref().map_or_else(Default::default, |(_, at)| at.clone()),
            )
            .about(note.tags())
            .about(hashtags(part))
            .noting("links", wiki_links(part))
            .keeping(&note.fields, &read)
    })
}
