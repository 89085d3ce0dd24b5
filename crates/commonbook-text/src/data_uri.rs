//! Data URIs: a file inside a text becomes its kind and its length.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Characters of data from which on they are a file, and no example of the syntax.
const DATA_CHARS_MIN: usize = 64;
/// Characters of a line of data that goes on in the next line.
const WRAPPED_CHARS_MIN: usize = 40;

static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)\bdata:([\w.+-]+/[\w.+-]+)?((?:;[ \t]*[\w.+-]+(?:=(?:"[^"\n]*"|'[^'\n]*'|[^;,\s"']*))?)*),"#,
    )
    .expect("the tests compile it")
});

/// The text with the kind and the length of each embedded file in its place.
#[must_use]
pub fn without_data_uris(text: &str) -> Cow<'_, str> {
    let mut found = String::new();
    let mut done = 0;
    for header in HEADER.captures_iter(text) {
        let (start, end) = header.get(0).map_or((0, 0), |all| (all.start(), all.end()));
        if start < done {
            continue;
        }
        let is_base64 = header[2].to_lowercase().ends_with(";base64");
        let rest = &text[end..];
        let length = match is_base64 {
            true => base64_length(rest),
            false => written_length(rest, text[..start].chars().next_back()),
        };
        if length < DATA_CHARS_MIN {
            continue;
        }
        let data = &rest[..length];
        let bytes = match is_base64 {
            true => {
                data.bytes().filter(|byte| is_base64_byte(*byte) && *byte != b'=').count() * 3 / 4
            }
            false => escaped_bytes(data),
        };
        let kind = header.get(1).map_or("text/plain", |kind| kind.as_str());
        found.push_str(&text[done..start]);
        found.push_str(&format!("data:{kind} ({bytes} bytes)"));
        done = end + length;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    found.push_str(&text[done..]);
    Cow::Owned(found)
}

const fn is_base64_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'%')
}

fn base64_run(text: &str) -> usize {
    text.bytes().take_while(|byte| is_base64_byte(*byte)).count()
}

/// The bytes of base64 at the beginning of a text, with the lines on which it goes on.
fn base64_length(text: &str) -> usize {
    let mut length = base64_run(text);
    let mut line_length = length;
    let mut width = 0;
    loop {
        let rest = &text[length..];
        let next = rest.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n');
        let Some(next) = next.filter(|_| line_length.max(width) >= WRAPPED_CHARS_MIN) else {
            break;
        };
        let line = next.trim_start_matches([' ', '\t', '>']);
        let count = base64_run(line);
        let after = line[count..].trim_start_matches([' ', '\t', '\r']);
        let is_whole = after.is_empty() || after.starts_with(['\n', ')', '"', '\'', '>', ']', '<']);
        // A word below the data has neither their width nor their letters.
        let run = &line.as_bytes()[..count];
        let is_data = count >= WRAPPED_CHARS_MIN
            || !after.is_empty() && !after.starts_with('\n')
            || run.ends_with(b"=")
            || run.iter().any(|byte| !byte.is_ascii_lowercase()) && count > 8;
        if count == 0 || !is_whole || !is_data || (width > 0 && count > width) {
            break;
        }
        length += rest.len() - line.len() + count;
        // The first line has the header too.
        width = width.max(count);
        line_length = count;
        if count < width {
            break;
        }
    }
    length
}

/// The bytes of data that are written out: those of an element up to its end, those behind a quotation mark up to the
/// next one, else up to what ends them in Markdown or HTML.
fn written_length(text: &str, before: Option<char>) -> usize {
    let paragraph = text.find("\n\n").unwrap_or(text.len());
    let quote = before.filter(|mark| matches!(mark, '"' | '\'' | '`'));
    if text.starts_with('<') {
        let end = ["</svg>", "</html>"]
            .into_iter()
            .filter_map(|end| text[..paragraph].find(end).map(|start| start + end.len()));
        let quoted = quote.and_then(|mark| text[..paragraph].find(mark));
        if let Some(length) = end.min().or(quoted) {
            return length;
        }
    }
    let is_end = |letter: char| {
        letter.is_whitespace() || matches!(letter, '"' | '\'' | '<' | '>' | ')' | ']')
    };
    let plain = text.find(is_end).unwrap_or(text.len());
    match quote {
        Some(mark) if plain > 0 => {
            let quoted = text[..paragraph].find(mark);
            quoted.filter(|length| !text[..*length].contains('\n')).unwrap_or(plain)
        }
        _ => plain,
    }
}

/// The bytes of a text in which `%41` stands for one.
fn escaped_bytes(data: &str) -> usize {
    data.len() - 2 * data.bytes().filter(|byte| *byte == b'%').count().min(data.len() / 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text in lines of this width.
    fn wrapped(text: &str, width: usize) -> String {
        let mut lines = vec![text[..width - 22].to_owned()];
        let rest = text.as_bytes()[width - 22..].chunks(width);
        lines.extend(rest.map(|line| String::from_utf8_lossy(line).into_owned()));
        lines.join("\n")
    }

    #[test]
    fn an_embedded_file_becomes_its_kind_and_length() {
        let picture = "iVBORw0KGgo".repeat(3_000);
        let bytes = picture.len() * 3 / 4;
        let table = [
            (
                format!("![x](data:image/png;base64,{picture}) end"),
                format!("![x](data:image/png ({bytes} bytes)) end"),
            ),
            (
                format!("<img src=\"data:image/svg+xml;charset=utf-8;base64,{picture}==\">"),
                format!("<img src=\"data:image/svg+xml ({bytes} bytes)\">"),
            ),
            (
                format!("[a]: data:;base64,{picture}"),
                format!("[a]: data:text/plain ({bytes} bytes)"),
            ),
            (
                format!("url('data:text/css,{}')", "%41".repeat(40)),
                "url('data:text/css (40 bytes)')".to_owned(),
            ),
            (
                format!("![x](data:image/png;base64,{})\nend", wrapped(&picture, 76)),
                format!("![x](data:image/png ({bytes} bytes))\nend"),
            ),
            (
                format!(
                    "> logo: data:image/png;base64,{}\r\nend",
                    wrapped(&picture, 76).replace('\n', "\r\n> ")
                ),
                format!("> logo: data:image/png ({bytes} bytes)\r\nend"),
            ),
            (
                format!("data:image/png;base64,{}\nand words\nMore", &picture[..760]),
                "data:image/png (570 bytes)\nand words\nMore".to_owned(),
            ),
            (
                format!("[f](data:application/x;name=\"x y.bin\";base64,{picture})"),
                format!("[f](data:application/x ({bytes} bytes))"),
            ),
            (
                format!(
                    "<img src=\"data:image/svg+xml;utf8,<svg xmlns='http://a.b'>{}</svg>\"> end",
                    "<g/>".repeat(20)
                ),
                "<img src=\"data:image/svg+xml (110 bytes)\"> end".to_owned(),
            ),
            (
                format!("url(data:image/svg+xml,<svg a=\"b\">{}</svg>) end", "<g/>".repeat(20)),
                "url(data:image/svg+xml (97 bytes)) end".to_owned(),
            ),
            (
                format!("src='data:text/html, <p>{}</p>' end", "word ".repeat(20)),
                "src='data:text/html, <p>".to_owned() + &"word ".repeat(20) + "</p>' end",
            ),
            (
                "data:image/png;base64,AAAA is short".to_owned(),
                "data:image/png;base64,AAAA is short".to_owned(),
            ),
            (
                "The data: three rows, of which one counts".to_owned(),
                "The data: three rows, of which one counts".to_owned(),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(without_data_uris(&text), expected);
        }
    }
}
