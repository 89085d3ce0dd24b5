//! Decoding: other readings of a text that a model would understand.
//!
//! One reading resolves escapes, entities, tags, spaced letters and digits for letters; hex,
//! base64 and base32 are decoded by themselves. Each step is linear in the text, and a text without signs of
//! an encoding costs nothing.

use crate::injection::normalize::from_base64;
use crate::injection::separators::parted_sentences;

/// Maximum stretches of base64, base32 and hex that are decoded, and maximum letters of each.
const STRETCHES_MAX: usize = 64;
const STRETCH_BYTES_MAX: usize = 4096;
/// Minimum letters of base64, base32 or hex that can encode a sentence.
const STRETCH_LETTERS_MIN: usize = 24;
/// Minimum spaced letters that are a word and not an enumeration.
const SPELLED_LETTERS_MIN: usize = 6;
/// Minimum words like `1gn0r3` in a text that uses digits for letters.
const LEET_WORDS_MIN: usize = 2;

/// Returns other readings of a text: repaired, reversed, rotated by 13 letters; only those that the
/// text shows signs of.
pub(super) fn readings(text: &str) -> Vec<String> {
    let mut readings = Vec::new();
    let mended = mend_text(text);
    if mended != text {
        readings.push(mended);
    }
    readings.extend(joined_cells(text));
    readings.extend(parted_sentences(text));
    if text.contains('<') {
        readings.extend(tags_as_blanks(text));
    }
    let small = text.to_ascii_lowercase();
    let has = |signs: &[&str]| signs.iter().any(|sign| small.contains(sign));
    if has(&["snoitcurtsni", "tpmorp", "suoiverp", "erongi", "terces", "resu eht"]) {
        readings.push(text.chars().rev().collect());
    }
    if has(&["vtaber", "vafgehpgvba", "cerivbhf", "frperg", "flfgrz", "cebzcg"]) {
        readings.push(text.chars().map(rotate_letter).collect());
    }
    readings
}

/// Returns the cells of a table as one line, without numbers and rules; `None` without a table.
fn joined_cells(text: &str) -> Option<String> {
    let rows = text.lines().filter(|line| line.trim_start().starts_with('|'));
    let cells = rows.flat_map(|row| row.split('|').map(str::trim));
    let words: Vec<&str> =
        cells.filter(|cell| cell.contains(|c: char| c.is_alphabetic())).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Rotates a letter by 13.
fn rotate_letter(c: char) -> char {
    let turn = |first: u8| char::from((c as u8 - first + 13) % 26 + first);
    match c {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        _ => c,
    }
}

/// Resolves escapes and entities, removes tags, joins spaced letters, and replaces digits for letters.
fn mend_text(text: &str) -> String {
    let unescaped = if text.contains(['\\', '%', '&']) { unescape(text) } else { text.to_owned() };
    let bare = if unescaped.contains('<') { without_tags(&unescaped) } else { unescaped };
    let spelled = join_spelled_letters(&bare);
    let whole = if splits_words(&spelled) { join_split_words(&spelled) } else { spelled };
    if is_leet(&whole) { replace_leet(&whole) } else { whole }
}

/// Resolves `\u0041`, `\x41`, `%41`, `&#65;` and `&#x41;`. Bytes above ASCII do not change.
pub fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let (mut rest, mut within) = (text, false);
    while let Some(at) = rest.find(['\\', '%', '&']) {
        plain.push_str(&rest[..at]);
        within &= at == 0;
        let sign = &rest[at..];
        match parse_escape(sign) {
            Some((letter, length)) => {
                // A word that begins with an escape is resolved by itself.
                if !within && plain.ends_with([' ', '"', '\'', '=']) {
                    plain.push('\n');
                }
                within = true;
                plain.push(letter);
                rest = &sign[length..];
            }
            None => {
                within = false;
                plain.push_str(&sign[..1]);
                rest = &sign[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// Returns the letter of an escape at the beginning, and the length of the escape.
fn parse_escape(sign: &str) -> Option<(char, usize)> {
    let hex = |from: usize, digits: usize| {
        let number = u32::from_str_radix(sign.get(from..from + digits)?, 16).ok()?;
        let letter = char::from_u32(number).filter(|c| !c.is_control() || *c == '\n')?;
        Some((letter, from + digits))
    };
    // A text that was escaped twice has two backslashes.
    let slashes = sign.bytes().take(2).take_while(|byte| *byte == b'\\').count();
    match sign.as_bytes() {
        [b'%', ..] => hex(1, 2).filter(|(letter, _)| letter.is_ascii()),
        [b'&', b'#', b'x' | b'X', ..] => {
            let end = sign.bytes().take(10).position(|byte| byte == b';')?;
            hex(3, end - 3).map(|(letter, length)| (letter, length + 1))
        }
        [b'&', b'#', ..] => {
            let end = sign.bytes().take(10).position(|byte| byte == b';')?;
            let number = sign.get(2..end)?.parse().ok()?;
            Some((char::from_u32(number).filter(|c| !c.is_control())?, end + 1))
        }
        [b'&', ..] => {
            let named = [("&quot;", '"'), ("&nbsp;", ' ')];
            named.iter().find(|(name, _)| sign.starts_with(name)).map(|(name, c)| (*c, name.len()))
        }
        _ => match sign.as_bytes().get(slashes) {
            Some(b'u') => hex(slashes + 1, 4),
            Some(b'x') => hex(slashes + 1, 2).filter(|(letter, _)| letter.is_ascii()),
            _ => None,
        },
    }
}

/// A text with a blank for each tag; `None` without a tag.
fn tags_as_blanks(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let (mut rest, mut has_tag) = (text, false);
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        let length = tag_length(&rest[at..]);
        has_tag |= length.is_some();
        plain.push(if length.is_some() { ' ' } else { '<' });
        rest = &rest[at + length.unwrap_or(1)..];
    }
    plain.push_str(rest);
    has_tag.then_some(plain)
}

/// Removes tags within words; another one is a blank.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let before = rest[..at].bytes().next_back().is_some_and(|byte| byte.is_ascii_alphabetic());
        let tag = &rest[at..];
        let mut end = 0;
        // Several tags in a row are one gap.
        while let Some(length) =
            tag[end..].starts_with('<').then(|| tag_length(&tag[end..])).flatten()
        {
            end += length;
        }
        let after = tag[end..].bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
        plain.push_str(&rest[..at]);
        match end {
            0 => plain.push('<'),
            _ if before && after => {}
            _ => plain.push(' '),
        }
        rest = &tag[end.max(1)..];
    }
    plain.push_str(rest);
    plain
}

/// Returns the length of a short tag, like `<b>` or `</i>`, at the beginning.
fn tag_length(text: &str) -> Option<usize> {
    let end = text.bytes().take(40).position(|byte| byte == b'>')?;
    let name = text[1..end].trim_start_matches('/');
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!').then_some(end + 1)
}

/// Joins spaced letters (`i g n o r e`, `i.g.n.o.r.e`); a wider gap, or a sign other than the one
/// between the letters, separates two words.
fn join_spelled_letters(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let alone = |at: usize| {
        letters.get(at).is_some_and(|c| c.is_alphanumeric())
            && (at == 0 || !letters[at - 1].is_alphanumeric())
            && letters.get(at + 1).is_none_or(|c| !c.is_alphanumeric())
    };
    let mut plain = String::with_capacity(text.len());
    let mut at = 0;
    while at < letters.len() {
        if !alone(at) {
            plain.push(letters[at]);
            at += 1;
            continue;
        }
        let (mut word, mut count, mut end) = (String::from(letters[at]), 1, at + 1);
        let mut usual: Option<char> = None;
        loop {
            let gap = letters[end..].iter().take(4).take_while(|c| !c.is_alphanumeric()).count();
            if gap == 0 || gap > 3 || !alone(end + gap) {
                break;
            }
            let sign = letters[end];
            if gap > 1 || *usual.get_or_insert(sign) != sign {
                word.push(' ');
            }
            word.push(letters[end + gap]);
            count += 1;
            end += gap + 1;
        }
        if count >= SPELLED_LETTERS_MIN {
            plain.push_str(&word);
        } else {
            plain.extend(&letters[at..end]);
        }
        at = end;
    }
    plain
}

/// Whether words may be split by hyphens or low lines.
fn splits_words(text: &str) -> bool {
    let inside = |at: usize| {
        let bytes = text.as_bytes();
        let letter = |index: Option<usize>| {
            index.and_then(|index| bytes.get(index)).is_some_and(u8::is_ascii_alphabetic)
        };
        letter(at.checked_sub(1)) && letter(Some(at + 1))
    };
    let hyphens = text.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'-' | b'_'));
    hyphens.filter(|(at, _)| inside(*at)).take(2).count() == 2
}

/// Removes hyphens and low lines between letters.
fn join_split_words(text: &str) -> String {
    let mut letters = text.chars().peekable();
    let mut plain = String::with_capacity(text.len());
    while let Some(c) = letters.next() {
        let before = plain.ends_with(|c: char| c.is_alphabetic());
        let after = letters.peek().is_some_and(|c| c.is_alphabetic());
        if !(matches!(c, '-' | '_') && before && after) {
            plain.push(c);
        }
    }
    plain
}

/// Whether a text uses digits for letters: two words have a digit between letters.
fn is_leet(text: &str) -> bool {
    let leet = |word: &&str| {
        let bytes = word.as_bytes();
        bytes.len() >= 4
            && bytes.len() <= 16
            && bytes.iter().all(u8::is_ascii_alphanumeric)
            && bytes.windows(3).any(|letters| {
                letters[0].is_ascii_alphabetic()
                    && letters[1].is_ascii_digit()
                    && letters[2].is_ascii_alphabetic()
            })
    };
    text.split_whitespace().filter(leet).take(LEET_WORDS_MIN).count() == LEET_WORDS_MIN
}

fn replace_leet(text: &str) -> String {
    let letter = |c| match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        _ => c,
    };
    text.chars().map(letter).collect()
}

/// The bytes of base64, in either alphabet, and of its padding.
const BASE64: [bool; 256] = {
    let mut letters = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        letters[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=');
        byte += 1;
    }
    letters
};

/// Returns the texts in base64, base32 or hex within a text, with their ranges: at most `STRETCHES_MAX`, each
/// decoded twice if it was encoded twice.
pub fn decode_stretches(text: &str) -> impl Iterator<Item = (std::ops::Range<usize>, String)> + '_ {
    let mut from = 0;
    let stretches = text.as_bytes().split(|byte| !BASE64[usize::from(*byte)]).map(move |stretch| {
        let start = from;
        from += stretch.len() + 1;
        (start, stretch)
    });
    let long = stretches.filter(|(_, stretch)| stretch.len() >= STRETCH_LETTERS_MIN);
    long.take(STRETCHES_MAX).filter_map(|(at, stretch)| {
        // Before the last `=` inside is the name of the value.
        let end = stretch.iter().rposition(|byte| *byte != b'=')? + 1;
        let start = stretch[..end].iter().rposition(|byte| *byte == b'=').map_or(0, |at| at + 1);
        let letters = &stretch[start..end.min(start + STRETCH_BYTES_MAX)];
        let plain = readable_text(letters)?;
        let twice = plain.bytes().all(|byte| BASE64[usize::from(byte)]);
        let again =
            if twice { self::readable_text(plain.trim_end_matches('=').as_bytes()) } else { None };
        Some((at + start..at + stretch.len(), again.unwrap_or(plain)))
    })
}

/// Decodes hex, base64 or base32, if the result is a readable text.
pub fn readable_text(letters: &[u8]) -> Option<String> {
    let readable = |bytes: Vec<u8>| {
        let plain = String::from_utf8(bytes).ok()?;
        let control = plain.contains(|c: char| c.is_control() && !c.is_whitespace());
        (!control && !plain.is_empty()).then_some(plain)
    };
    if letters.len().is_multiple_of(2) && letters.iter().all(u8::is_ascii_hexdigit) {
        let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or_default() as u8;
        return readable(
            letters.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect(),
        );
    }
    readable(from_base64(letters)).or_else(|| readable(from_base32(letters)?))
}

/// The bytes of base32 in letters of one case; `None` if a letter belongs to no base32.
fn from_base32(letters: &[u8]) -> Option<Vec<u8>> {
    let first = if letters.iter().any(u8::is_ascii_lowercase) { b'a' } else { b'A' };
    let mut bytes = Vec::with_capacity(letters.len() / 8 * 5 + 5);
    let (mut held, mut bits) = (0_u32, 0);
    for letter in letters {
        let five = match letter {
            b'2'..=b'7' => letter - b'2' + 26,
            _ => letter.checked_sub(first).filter(|place| *place < 26)?,
        };
        held = (held << 5) | u32::from(five);
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    Some(bytes)
}
