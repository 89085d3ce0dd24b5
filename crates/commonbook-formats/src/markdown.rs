//! Markdown: its blocks below their headings, the tags and links in its text, and parts of a long note.

use std::collections::HashSet;
use std::sync::LazyLock;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex::Regex;

/// Links of a note that are kept.
const LINKS_MAX: usize = 50;

/// A list item, a paragraph, or another block that says something by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoteBlock {
    /// The line at which it begins, counted from 1.
    pub line: usize,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    pub text: String,
    is_item: bool,
}

impl NoteBlock {
    /// Whether the text announces a list.
    fn introduces(&self) -> bool {
        !self.is_item && self.text.trim_end_matches(['*', '_', ' ']).ends_with(':')
    }
}

static ITEM_MARK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?").expect("the tests compile it")
});

/// The blocks of a text. Code belongs to the block before it, and a list item begins with the paragraph
/// that announces the list, if that ends with a colon. Comments are left out.
pub(crate) fn blocks(text: &str) -> Vec<NoteBlock> {
    read_blocks(text).blocks
}

/// The blocks of a text, and the lines of its comments, which are left out.
pub(crate) fn blocks_and_comments(text: &str) -> (Vec<NoteBlock>, Vec<usize>) {
    let reader = read_blocks(text);
    (reader.blocks, reader.comments)
}

fn read_blocks(text: &str) -> NoteBlockReader<'_> {
    let mut reader = NoteBlockReader { text, ..NoteBlockReader::default() };
    let mut depth = 0_usize;
    let options = Options::ENABLE_TABLES;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::List(_)) if depth == 0 => {
                reader.begin_list();
                depth = 1;
            }
            Event::End(TagEnd::List(_)) if depth == 1 => {
                reader.list_depth = None;
                depth = 0;
            }
            Event::Start(Tag::Item) if depth == 1 && reader.list_depth.is_some() => {
                reader.push_item(range.start, &text[range]);
                depth += 1;
            }
            Event::Start(tag) => {
                if depth == 0 {
                    reader.push_block(&tag, range.start, &text[range]);
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    reader
}

#[derive(Default)]
struct NoteBlockReader<'t> {
    text: &'t str,
    blocks: Vec<NoteBlock>,
    /// The lines at which comments begin.
    comments: Vec<usize>,
    headings: Vec<(u8, String)>,
    /// Set within a list.
    list_depth: Option<()>,
    intro: Option<String>,
    /// How far lines were counted, and the line there.
    counted: (usize, usize),
}

impl NoteBlockReader<'_> {
    fn line_at(&mut self, offset: usize) -> usize {
        let (from, line) = self.counted;
        let new = self.text[from..offset].bytes().filter(|byte| *byte == b'\n').count();
        self.counted = (offset, line + new);
        line + new + 1
    }

    fn push(&mut self, start: usize, text: &str, is_item: bool) {
        let line = self.line_at(start);
        let headings = self.headings.iter().map(|(_, heading)| heading.clone()).collect();
        if !text.trim().is_empty() {
            self.blocks.push(NoteBlock { line, headings, text: text.trim().to_owned(), is_item });
        }
    }

    fn is_in_section(&self, block: &NoteBlock) -> bool {
        block.headings.iter().eq(self.headings.iter().map(|(_, heading)| heading))
    }

    fn begin_list(&mut self) {
        self.list_depth = Some(());
        let announces =
            self.blocks.last().is_some_and(|last| last.introduces() && self.is_in_section(last));
        self.intro = if announces { self.blocks.pop().map(|block| block.text) } else { None };
    }

    fn push_item(&mut self, start: usize, source: &str) {
        let source = source.trim_start();
        let indent = ITEM_MARK.find(source).map_or(0, |mark| mark.end());
        let mut text = String::new();
        for (index, line) in source.lines().enumerate() {
            let line = match index {
                0 => &line[indent.min(line.len())..],
                _ => {
                    let blanks = line.len() - line.trim_start().len();
                    &line[blanks.min(indent.min(4))..]
                }
            };
            text.push_str(line);
            text.push('\n');
        }
        let text = match &self.intro {
            Some(intro) if !text.trim().is_empty() => format!("{intro} {text}"),
            _ => text,
        };
        self.push(start, &text, true);
    }

    fn push_block(&mut self, tag: &Tag<'_>, start: usize, source: &str) {
        match tag {
            Tag::Heading { level, .. } => {
                let level = *level as u8;
                let text = source.lines().next().unwrap_or_default();
                let text = text.trim_start_matches('#').trim().trim_end_matches('#').trim();
                self.headings.retain(|(above, _)| *above < level);
                self.headings.push((level, text.to_owned()));
            }
            Tag::CodeBlock(_) => match self.blocks.last() {
                Some(last) if self.is_in_section(last) => {
                    if let Some(last) = self.blocks.last_mut() {
                        last.text.push('\n');
                        last.text.push_str(source.trim_end());
                    }
                }
                _ => self.push(start, source, false),
            },
            Tag::HtmlBlock => {
                let line = self.line_at(start);
                for comment in COMMENT.find_iter(source) {
                    let before = &source.as_bytes()[..comment.start()];
                    self.comments.push(line + before.iter().filter(|byte| **byte == b'\n').count());
                }
                self.push(start, &COMMENT.replace_all(source, ""), false);
            }
            _ => self.push(start, source, false),
        }
    }
}

static COMMENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)<!--.*?(?:-->|$)").expect("the tests compile it"));

/// The lines outside of code, with their numbers.
pub(crate) fn plain_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => return Some((index + 1, line)),
            _ => {}
        }
        None
    })
}

/// The tags `#word` of a text, without their mark; not those in code, headings or links.
pub(crate) fn hashtags(text: &str) -> Vec<String> {
    static TAG: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:^|[\s(])#([\p{L}\p{N}_/-]*[\p{L}_/-][\p{L}\p{N}_/-]*)")
            .expect("the tests compile it")
    });
    static CODE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"`[^`]*`").expect("the tests compile it"));
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    for (_, line) in plain_lines(text) {
        for tag in TAG.captures_iter(&CODE.replace_all(line, "")) {
            let tag = tag[1].trim_end_matches('/').to_owned();
            if known.insert(tag.clone()) {
                found.push(tag);
            }
        }
    }
    found
}

/// The targets of the links `[[Target]]` of a text, each once; without aliases, headings and embedded files.
pub(crate) fn wiki_links(text: &str) -> Vec<String> {
    static LINK: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(!?)\[\[([^\[\]|#^]+)(?:[#^][^\[\]|]*)?(?:\|[^\[\]]*)?\]\]")
            .expect("the tests compile it")
    });
    let mut found: Vec<String> = Vec::new();
    for (_, line) in plain_lines(text) {
        for link in LINK.captures_iter(line).filter(|link| link[1].is_empty()) {
            let target = link[2].trim().to_owned();
            if !target.is_empty() && !found.contains(&target) && found.len() < LINKS_MAX {
                found.push(target);
            }
        }
    }
    found
}

/// A part of a long text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotePart<'t> {
    pub line: usize,
    /// The heading at its beginning.
    pub heading: Option<&'t str>,
    pub text: &'t str,
}

/// The text as one part if it is short enough, else cut before headings, and where a section is still too
/// long, before paragraphs and lines.
pub(crate) fn parts(text: &str, bytes_max: usize) -> Vec<NotePart<'_>> {
    if text.len() <= bytes_max {
        return vec![NotePart { line: 1, heading: None, text }];
    }
    let mut cuts = vec![0];
    let mut offset = 0;
    let plain: Vec<usize> = plain_lines(text).map(|(number, _)| number).collect();
    let mut last_line_end = 0;
    let mut is_after_blank = false;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let from = *cuts.last().unwrap_or(&0);
        let is_plain = plain.binary_search(&(index + 1)).is_ok();
        let is_full = offset + line.len() - from > bytes_max;
        let is_half_full = (offset - from) * 2 > bytes_max;
        if offset > from
            && ((is_plain && line.starts_with('#')) || (is_after_blank && is_half_full) || is_full)
        {
            cuts.push(offset);
        }
        // A line that is too long by itself.
        let mut from = *cuts.last().unwrap_or(&0);
        while offset + line.len() - from > bytes_max {
            let mut end = from + bytes_max;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            cuts.push(end);
            from = end;
        }
        offset += line.len();
        last_line_end = offset;
        is_after_blank = line.trim().is_empty();
    }
    cuts.push(last_line_end);
    let mut line = 1;
    let mut found = Vec::new();
    for cut in cuts.windows(2) {
        let text = &text[cut[0]..cut[1]];
        let heading = text.lines().next().filter(|line| line.starts_with('#'));
        let heading = heading.map(|heading| heading.trim_start_matches('#').trim());
        if !text.trim().is_empty() {
            found.push(NotePart { line, heading, text });
        }
        line += text.bytes().filter(|byte| *byte == b'\n').count();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stand_below_their_headings() {
        let text = "# Project\n\nIntro text\nin two lines.\n\n## Rules\n- Use tabs\n- [x] Test first\n  with pytest\n  - nested\n\
            1. One\n\n<!-- hidden -->\n\n### Build\nRun:\n\n```sh\nmake\n```\n\n**Always:**\n\n- lint\n- format\n\n> quoted\n\n## Rules two\n```\nalone\n```\n";
        let found: Vec<(usize, String, String)> = blocks(text)
            .into_iter()
            .map(|block| (block.line, block.headings.join("/"), block.text))
            .collect();
        let row = |line, headings: &str, text: &str| (line, headings.to_owned(), text.to_owned());
        let expected = [
            row(3, "Project", "Intro text\nin two lines."),
            row(7, "Project/Rules", "Use tabs"),
            row(8, "Project/Rules", "Test first\nwith pytest\n- nested"),
            row(11, "Project/Rules", "One"),
            row(16, "Project/Rules/Build", "Run:\n```sh\nmake\n```"),
            row(24, "Project/Rules/Build", "**Always:** lint"),
            row(25, "Project/Rules/Build", "**Always:** format"),
            row(27, "Project/Rules/Build", "> quoted"),
            row(30, "Project/Rules two", "```\nalone\n```"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn tags_and_links_are_found_outside_of_code() {
        let text = "# Heading\nWe use #sqlite and #db/wal, (#x) not #12 or a#b.\n```\n#code [[Code]]\n```\n`#inline` [[A|alias]] [[B#part]] ![[c.png]] [[A]]";
        assert_eq!(hashtags(text), ["sqlite", "db/wal", "x"]);
        assert_eq!(wiki_links(text), ["A", "B"]);
    }

    #[test]
    fn a_long_text_is_cut_before_headings_and_loses_nothing() {
        let text = format!(
            "start\n\n# One\n{}\n\n# Two\nb\n```\n# code\n```\n{}",
            "a\n".repeat(10),
            "ü".repeat(40)
        );
        let found = parts(&text, 30);
        assert_eq!(
            found.iter().map(|part| part.text).collect::<String>().replace('\n', ""),
            text.replace('\n', "")
        );
        assert!(found.iter().all(|part| part.text.len() <= 30), "{found:?}");
        assert_eq!(found[1].heading, Some("One"));
        assert_eq!((found[1].line, found[0].line), (3, 1));
        assert_eq!(parts("short", 30).len(), 1);
    }
}
