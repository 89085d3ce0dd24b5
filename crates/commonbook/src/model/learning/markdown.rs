//! The blocks of a Markdown message: headings, paragraphs, list items and code.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Pairs of quotation marks; a text between them on one line is a quotation.
const QUOTATION_MARKS: [(char, char); 4] = [('"', '"'), ('“', '”'), ('«', '»'), ('「', '」')];

/// A block of a message. Quotations and indented code are no blocks.
pub(super) struct MarkdownBlock {
    pub(super) kind: BlockKind,
    /// The lists around it, its own included.
    pub(super) depth: usize,
    /// Its lines without indentation.
    pub(super) lines: Vec<MarkdownLine>,
}

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Heading,
    Paragraph,
    /// The first paragraph of a list item.
    Item,
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
}

/// The blocks of a message, in order.
pub(super) fn markdown_blocks(text: &str) -> Vec<MarkdownBlock> {
    let events: Vec<(Event<'_>, Range<usize>)> =
        Parser::new_ext(text, Options::empty()).into_offset_iter().collect();
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
            Event::Start(Tag::Heading { .. }) => {
                self.end_block();
                self.kind = BlockKind::Heading;
            }
            // The first paragraph of an item is the item.
            Event::Start(Tag::Paragraph) => {}
            Event::Start(Tag::HtmlBlock)
            | Event::End(
                TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::HtmlBlock | TagEnd::Item,
            )
            | Event::Rule => self.end_block(),
            _ => {
                let inline = self.inline.get_or_insert(range.clone());
                *inline = inline.start.min(range.start)..inline.end.max(range.end);
            }
        }
    }

    fn end_block(&mut self) {
        let kind = std::mem::replace(&mut self.kind, BlockKind::Paragraph);
        let Some(range) = self.inline.take().filter(|_| self.quotes == 0) else {
            return;
        };
        let lines = self.text[range.clone()].lines().zip(self.masked[range].lines());
        let lines = lines.map(|(text, masked)| MarkdownLine {
            text: text.trim().to_owned(),
            masked: without_quotations(masked.trim()),
        });
        self.blocks.push(MarkdownBlock { kind, depth: self.depth, lines: lines.collect() });
    }

    fn push_code(&mut self, code: String) {
        self.kind = BlockKind::Paragraph;
        if self.quotes == 0 && !code.is_empty() {
            let line = MarkdownLine { text: code, masked: String::new() };
            let (kind, depth) = (BlockKind::PlainCode, self.depth);
            self.blocks.push(MarkdownBlock { kind, depth, lines: vec![line] });
        }
    }
}

/// The line with `x` for each byte of its quotations.
fn without_quotations(line: &str) -> String {
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
