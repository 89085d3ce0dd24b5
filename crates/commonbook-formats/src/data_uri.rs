//! Data URIs: a file inside a text becomes its kind and its length.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Characters of data from which on they are a file, and no example of the syntax.
const DATA_CHARS_MIN: usize = 64;

static DATA_URI: LazyLock<Regex> = LazyLock::new(|| {
    // Data in base64, in hexadecimal escapes, or written out up to what ends it in Markdown or HTML.
    Regex::new(&format!(
        r#"(?i)\bdata:([\w.+-]+/[\w.+-]+)?((?:;[\w.+-]+=[^;,\s"']*)*)(?:(;base64),([a-z0-9+/=_%-]{{{DATA_CHARS_MIN},}})|,([^\s"'<>)\]]{{{DATA_CHARS_MIN},}}))"#
    ))
    .expect("the tests compile it")
});

/// The text with the kind and the length of each embedded file in its place.
pub(crate) fn without_data_uris(text: &str) -> Cow<'_, str> {
    if !text.contains("data:") && !text.contains("DATA:") {
        return Cow::Borrowed(text);
    }
    DATA_URI.replace_all(text, |found: &Captures<'_>| {
        let kind = found.get(1).map_or("text/plain", |kind| kind.as_str());
        let bytes = match (found.get(4), found.get(5)) {
            (Some(data), _) => data.as_str().trim_end_matches('=').len() * 3 / 4,
            (None, Some(data)) => escaped_bytes(data.as_str()),
            (None, None) => 0,
        };
        format!("data:{kind} ({bytes} bytes)")
    })
}

/// The bytes of a text in which `%41` stands for one.
fn escaped_bytes(data: &str) -> usize {
    data.len() - 2 * data.bytes().filter(|byte| *byte == b'%').count().min(data.len() / 3)
}

#[cfg(test)]
mod tests {
    use super::*;

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
