//! The blocks of a Markdown message: headings, paragraphs, list items, tables and code.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Pairs of quotation marks; a text between them on one line is a quotation.
const QUOTATION_MARKS: [(char, char); 5] =
    [('"', '"'), ('„', '“'), ('“', '”'), ('«', '»'), ('「', '」')];

/// A block of a message. Quotations, indented code and HTML are no blocks.
pub(super) struct MarkdownBlock {
    pub(super) kind: BlockKind,
    /// The lists around it, its own included.
    pub(super) depth: usize,
    /// Its lines without indentation.
    pub(super) lines: Vec<MarkdownLine>,
    /// The cells of a table by row, the head first.
    pub(super) rows: Vec<Vec<String>>,
}

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// A heading of this level, the highest being 1.
    Heading(u8),
    Paragraph,
    /// The first paragraph of a list item.
    Item,
    Table,
    /// A block of code in no programming language.
    PlainCode,
}

/// A line of a block.
pub(super) struct MarkdownLine {
    pub(super) text: String,
    /// The text with `x` for each byte of code and of quotations, so that a place in one is the
    /// same place in the other.
    pub(super) masked: String,
}

/// Collects the blocks of a message while its events are read.
struct BlockReader<'a> {
    text: &'a str,
    /// The message with `x` in place of inline code.
    masked: String,
    blocks: Vec<MarkdownBlock>,
    kind: BlockKind,
    depth: usize,
    quotes: usize,
    /// The inline text that is not in a block yet.
    inline: Option<Range<usize>>,
    /// The rows of the table so far.
    rows: Vec<Vec<String>>,
}

/// The blocks of a message, in order.
pub(super) fn markdown_blocks(text: &str) -> Vec<MarkdownBlock> {
    let events: Vec<(Event<'_>, Range<usize>)> =
        Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter().collect();
    let mut masked = text.as_bytes().to_vec();
    for (_, code) in events.iter().filter(|(event, _)| matches!(event, Event::Code(_))) {
        masked[code.clone()].iter_mut().filter(|byte| **byte != b'\n').for_each(|b| *b = b'x');
    }
    let masked = String::from_utf8(masked).unwrap_or_else(|_| text.to_owned());
    let mut reader = BlockReader {
        text,
        masked,
        blocks: Vec::new(),
        kind: BlockKind::Paragraph,
        depth: 0,
        quotes: 0,
        inline: None,
        rows: Vec::new(),
    };
    let mut code: Option<String> = None;
    for (event, range) in events {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                reader.end_block();
                let plain = matches!(&kind, CodeBlockKind::Fenced(language)
                    if matches!(language.trim().to_lowercase().as_str(), "" | "text" | "txt" | "markdown" | "md"));
                code = plain.then(String::new);
                reader.kind = BlockKind::PlainCode;
            }
            Event::End(TagEnd::CodeBlock) => {
                reader.push_code(code.take().unwrap_or_default());
            }
            Event::Text(part) if reader.kind == BlockKind::PlainCode => {
                if let Some(code) = &mut code {
                    code.push_str(&part);
                }
            }
            event => reader.read(&event, range),
        }
    }
    reader.end_block();
    reader.blocks
}

impl BlockReader<'_> {
    fn read(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => {
                self.end_block();
                self.quotes += 1;
            }
            Event::End(TagEnd::BlockQuote(_)) => {
                self.end_block();
                self.quotes = self.quotes.saturating_sub(1);
            }
            Event::Start(Tag::List(_)) => {
                self.end_block();
                self.depth += 1;
            }
            Event::End(TagEnd::List(_)) => {
                self.end_block();
                self.depth = self.depth.saturating_sub(1);
            }
            Event::Start(Tag::Item) => {
                self.end_block();
                self.kind = BlockKind::Item;
            }
            Event::Start(Tag::Heading { level, .. }) => {
                self.end_block();
                self.kind = BlockKind::Heading(*level as u8);
            }
            Event::Start(Tag::Table(_)) => self.end_block(),
            Event::Start(Tag::TableHead | Tag::TableRow) => self.rows.push(Vec::new()),
            Event::End(TagEnd::TableCell) => {
                let cell = self.inline.take().map(|cell| self.text[cell].trim().to_owned());
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell.unwrap_or_default());
                }
            }
            Event::End(TagEnd::Table) => self.end_table(),
            Event::Start(Tag::TableCell) | Event::End(TagEnd::TableHead | TagEnd::TableRow) => {}
            // The first paragraph of an item is the item.
            Event::Start(Tag::Paragraph) => {}
            // What stands in a block of HTML may be a comment, or what a page says.
            Event::Html(_) | Event::End(TagEnd::HtmlBlock) => {}
            Event::Start(Tag::HtmlBlock)
            | Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item)
            | Event::Rule => self.end_block(),
            _ => {
                let inline = self.inline.get_or_insert(range.clone());
                *inline = inline.start.min(range.start)..inline.end.max(range.end);
            }
        }
    }

    fn end_block(&mut self) {
        let kind = std::mem::replace(&mut self.kind, BlockKind::Paragraph);
        let inline = self.inline.take().filter(|_| self.quotes == 0);
        // An empty heading ends the section above it.
        let Some(range) = inline else {
            if matches!(kind, BlockKind::Heading(_)) {
                self.push(kind, Vec::new(), Vec::new());
            }
            return;
        };
        let lines = self.text[range.clone()].lines().zip(self.masked[range].lines());
        let lines = lines.map(|(text, masked)| MarkdownLine {
            text: text.trim().to_owned(),
            masked: without_quotations(masked.trim()),
        });
        self.push(kind, lines.collect(), Vec::new());
    }

    fn end_table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        if self.quotes == 0 {
            self.push(BlockKind::Table, Vec::new(), rows);
        }
    }

    fn push(&mut self, kind: BlockKind, lines: Vec<MarkdownLine>, rows: Vec<Vec<String>>) {
        self.blocks.push(MarkdownBlock { kind, depth: self.depth, lines, rows });
    }

    fn push_code(&mut self, code: String) {
        self.kind = BlockKind::Paragraph;
        if self.quotes == 0 && !code.is_empty() {
            let line = MarkdownLine { text: code, masked: String::new() };
            self.push(BlockKind::PlainCode, vec![line], Vec::new());
        }
    }
}

/// The line with `x` for each byte of its quotations.
pub(super) fn without_quotations(line: &str) -> String {
    let mut masked = line.to_owned();
    for (open, close) in QUOTATION_MARKS {
        let mut from = 0;
        while let Some(start) = masked[from..].find(open).map(|at| from + at) {
            let inside = start + open.len_utf8();
            let Some(length) = masked[inside..].find(close) else { break };
            let end = inside + length + close.len_utf8();
            masked.replace_range(start..end, &"x".repeat(end - start));
            from = end;
        }
    }
    masked
}
