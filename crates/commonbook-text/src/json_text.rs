//! JSON as clients and other programs write it, before a parser reads it.
//!
//! A client cuts a text between two halves of an emoji, or writes a line break into a string as it is.
//! A parser refuses the whole value for that.

use std::borrow::Cow;

use crate::decode::text_of_bytes;

/// Letters of an escape by its code: `\ud83d`.
const ESCAPE_CHARS: usize = 6;

/// How a lone half of a letter is written instead.
const REPLACEMENT_ESCAPE: &str = "\\ufffd";

/// The JSON text of some bytes: UTF-8 without a byte order mark. In its strings a lone surrogate is U+FFFD, and
/// a control character is escaped, or absent if it is not a tab or a line end.
#[must_use]
pub fn json_text(bytes: &[u8]) -> Cow<'_, str> {
    let text = text_of_bytes(bytes);
    match mended(&text) {
        Some(text) => Cow::Owned(text),
        None => text,
    }
}

/// A text with its strings mended, if one of them needs it.
fn mended(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut written, mut copied) = (String::new(), 0);
    let (mut index, mut in_string) = (0, false);
    while let Some(byte) = bytes.get(index) {
        let (length, instead) = match byte {
            b'"' => {
                in_string = !in_string;
                (1, None)
            }
            b'\\' if in_string => escape_at(&bytes[index..]),
            0..0x20 if in_string => (1, Some(control_escape(*byte))),
            _ => (1, None),
        };
        if let Some(instead) = instead {
            written.push_str(&text[copied..index]);
            written.push_str(instead);
            copied = index + length;
        }
        index += length;
    }
    (copied > 0).then(|| written + &text[copied..])
}

/// The length of the escape at the beginning of a text, and what stands for it if it is half a letter.
fn escape_at(text: &[u8]) -> (usize, Option<&'static str>) {
    let half = |unit: Option<u16>, first: u16| unit.is_some_and(|unit| unit & 0xfc00 == first);
    let unit = escape_unit(text);
    let next = text.get(ESCAPE_CHARS..).and_then(escape_unit);
    match unit {
        _ if half(unit, 0xd800) && half(next, 0xdc00) => (2 * ESCAPE_CHARS, None),
        _ if half(unit, 0xd800) || half(unit, 0xdc00) => (ESCAPE_CHARS, Some(REPLACEMENT_ESCAPE)),
        Some(_) => (ESCAPE_CHARS, None),
        None => (2, None),
    }
}

/// The code of an escape by its code.
fn escape_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..ESCAPE_CHARS - 2)?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}

fn control_escape(byte: u8) -> &'static str {
    match byte {
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn half_an_emoji_a_line_break_and_foreign_bytes_make_no_request_unreadable() {
        let table: [(&[u8], Value); 12] = [
            (br#"{"t":"cut \ud83d here"}"#, json!({"t": "cut \u{fffd} here"})),
            (br#"{"t":"\ude00 back"}"#, json!({"t": "\u{fffd} back"})),
            (br#"["\uD83D\uD83D\uDE00", "\ud83d"]"#, json!(["\u{fffd}😀", "\u{fffd}"])),
            (br#"["\ud83d\u0041", "\ud83d\n"]"#, json!(["\u{fffd}A", "\u{fffd}\n"])),
            // An escaped backslash before a `u` is no escape by its code.
            (br#"["\\ud83d", "C:\\"]"#, json!(["\\ud83d", "C:\\"])),
            (br#"{"\udc00":1}"#, json!({"\u{fffd}": 1})),
            (b"[\"two\nlines\tand\x07 a bell\x1b[0m\"]", json!(["two\nlines\tand a bell[0m"])),
            (b"\n[\t1 ]\r\n", json!([1])),
            (
                b"[\"caf\xe9\", \"\xed\xa0\xbd\"]",
                json!(["caf\u{fffd}", "\u{fffd}\u{fffd}\u{fffd}"]),
            ),
            (b"\xef\xbb\xbf{}", json!({})),
            (b"\xff\xfe[\x001\x00]\x00", json!([1])),
            ("[\"😀 é\"]".as_bytes(), json!(["😀 é"])),
        ];
        for (bytes, value) in table {
            let text = json_text(bytes);
            assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value), "{text}");
        }
        for broken in [r#"{"t":"\u12"}"#, r#"{"t":"\"#, r#"{"t":"\ud8"#, r"\ud83d"] {
            assert_eq!(json_text(broken.as_bytes()), broken);
        }
    }

    proptest::proptest! {
        #[test]
        fn what_a_program_writes_stays_as_it_is(texts: Vec<String>, code in 0xd800_u16..0xe000) {
            let written = serde_json::to_string(&texts)?;
            proptest::prop_assert_eq!(json_text(written.as_bytes()), written.as_str());
            let escapes: Vec<String> = texts.iter().map(|text| {
                text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
            }).collect();
            let escaped = format!("[\"{}\"]", escapes.join("\",\""));
            proptest::prop_assert_eq!(json_text(escaped.as_bytes()), escaped.as_str());
            let lone = format!("[\"a\\u{code:04x}b\"]");
            let read: Vec<String> = serde_json::from_str(&json_text(lone.as_bytes()))?;
            proptest::prop_assert_eq!(read, ["a\u{fffd}b"]);
        }
    }
}
