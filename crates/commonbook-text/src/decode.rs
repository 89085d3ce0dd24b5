//! Bytes as text: what programs and systems put before and between the letters.

use std::borrow::Cow;

/// The text of some bytes, without a byte order mark. Bytes that are not UTF-8 become U+FFFD; UTF-16
/// with its mark is read as that.
#[must_use]
pub fn text_of_bytes(bytes: &[u8]) -> Cow<'_, str> {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf16_text(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf16_text(rest, u16::from_be_bytes)),
        _ => String::from_utf8_lossy(bytes),
    }
}

/// The text of a file that a program reads strictly: as [`text_of_bytes`]; `None` where bytes are not text.
#[must_use]
pub fn strict_text_of_bytes(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let is_marked = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    (is_marked || std::str::from_utf8(bytes).is_ok()).then(|| text_of_bytes(bytes))
}

fn utf16_text(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks(2).map(|pair| match pair {
        [first, second] => unit([*first, *second]),
        _ => 0xfffd,
    });
    char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_however_its_bytes_are_written() {
        let le = |text: &str| -> Vec<u8> {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            units.flat_map(u16::to_le_bytes).collect()
        };
        let be = |text: &str| -> Vec<u8> {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            units.flat_map(u16::to_be_bytes).collect()
        };
        let table: [(Vec<u8>, &str); 9] = [
            (b"plain".to_vec(), "plain"),
            ("\u{feff}Grüße".into(), "Grüße"),
            (le("naïve 🦭"), "naïve 🦭"),
            (be("naïve 🦭"), "naïve 🦭"),
            // A page of the nineties, half an emoji as bytes, and a text that ends in a letter.
            (b"caf\xe9".to_vec(), "caf\u{fffd}"),
            (b"\xed\xa0\xbd!".to_vec(), "\u{fffd}\u{fffd}\u{fffd}!"),
            ([le("a"), vec![0x62]].concat(), "a\u{fffd}"),
            (vec![0xff, 0xfe, 0x3d, 0xd8], "\u{fffd}"),
            (Vec::new(), ""),
        ];
        for (bytes, text) in table {
            assert_eq!(text_of_bytes(&bytes), text, "{bytes:?}");
            let is_text = bytes.starts_with(&[0xff]) || !text.contains('\u{fffd}');
            assert_eq!(strict_text_of_bytes(&bytes).is_some(), is_text, "{bytes:?}");
        }
    }
}
