//! Normalisation: a text as a model reads it, without tricks that hide words from a search.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Minimum invisible characters between two letters that are no accident of a browser.
const STRAY_LIMIT: usize = 3;
/// Minimum variation selectors in a row that no emoji needs.
const SELECTOR_LIMIT: usize = 4;
/// A text in lower case and compatibility form (NFKD), with single blanks, without accents, invisible
/// characters and marks of emphasis. Letters of other scripts that look Latin are Latin in words
/// with Latin letters.
pub(super) struct NormalizedText {
    pub(super) text: String,
    /// Whether the text has characters that hide something.
    pub(super) hides: bool,
}

impl NormalizedText {
    pub(super) fn of(text: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(text.len()), hides: false };
        let (mut rest, mut strays, mut alike) = (text, 0, false);
        while !rest.is_empty() {
            let plain = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
            let before = rest[..plain].bytes().next_back();
            folded.push_plain(&rest[..plain]);
            rest = &rest[plain..];
            let other = rest.bytes().position(|byte| byte.is_ascii()).unwrap_or(rest.len());
            let (seen, unseen) = folded.without_hidden(&rest[..other]);
            rest = &rest[other..];
            // An invisible character between two letters hides the word from a search.
            let inside = [before, rest.bytes().next()];
            if seen.is_empty()
                && inside.iter().flatten().filter(|b| b.is_ascii_alphanumeric()).count() == 2
            {
                strays += unseen;
            }
            for letter in
                seen.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase)
            {
                alike |= likeness(letter).is_some();
                folded.push(plain_mark(letter));
            }
        }
        folded.hides |= strays >= STRAY_LIMIT;
        // Isolates separate a text of the other direction; without one, they only mislead.
        folded.hides |= text.contains(is_isolate) && !text.contains(is_right_to_left);
        folded.text.make_ascii_lowercase();
        if alike {
            folded.text = latin(&folded.text);
        }
        folded
    }

    /// Appends ASCII letters, a word at a time.
    fn push_plain(&mut self, plain: &str) {
        let mut from = 0;
        for (index, byte) in plain.bytes().enumerate() {
            if matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'*' | b'`') {
                self.text.push_str(&plain[from..index]);
                self.push(char::from(byte));
                from = index + 1;
            }
        }
        self.text.push_str(&plain[from..]);
    }

    /// Appends a letter. Of white space the first character counts, or a line end if there is one;
    /// marks of emphasis are left out.
    fn push(&mut self, letter: char) {
        match letter {
            '*' | '`' => {}
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                if self.text.ends_with(' ') {
                    self.text.pop();
                }
                if !self.text.ends_with('\n') {
                    self.text.push('\n');
                }
            }
            _ if letter.is_whitespace() => {
                if !self.text.ends_with([' ', '\n']) {
                    self.text.push(' ');
                }
            }
            _ => self.text.push(letter),
        }
    }

    /// Returns the visible text of a stretch without ASCII, with tag characters as the letters they
    /// encode, and the count of invisible characters; sets `hides` if they hide something.
    fn without_hidden(&mut self, stretch: &str) -> (String, usize) {
        let mut seen = String::with_capacity(stretch.len());
        let (mut unseen, mut selectors, mut flag) = (0, 0, false);
        for c in stretch.chars() {
            selectors = if is_selector(c) { selectors + 1 } else { 0 };
            self.hides |= selectors >= SELECTOR_LIMIT;
            match c {
                // A black flag with tags is the flag of England, Scotland or Wales.
                '\u{1f3f4}' => {
                    flag = true;
                    seen.push(c);
                }
                '\u{e0000}'..='\u{e007f}' if flag => flag = c != '\u{e007f}',
                '\u{e0000}'..='\u{e007f}' => {
                    self.hides = true;
                    let stands_for = char::from_u32(u32::from(c) - 0xe0000);
                    seen.extend(stands_for.filter(|c| !c.is_ascii_control()));
                }
                // An override reverses letters; a text in Arabic or Hebrew needs none.
                '\u{202d}' | '\u{202e}' => self.hides = true,
                // A soft hyphen allows a line break in a long word.
                '\u{ad}' => {}
                _ if is_invisible(c) => unseen += 1,
                _ => {
                    flag = false;
                    seen.push(c);
                }
            }
        }
        (seen, unseen)
    }
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether a character begins or ends a text of another direction.
fn is_isolate(c: char) -> bool {
    matches!(c, '\u{2066}'..='\u{2069}')
}

/// Whether a character belongs to a script from right to left.
fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Whether a character is invisible: joiners, marks of direction, selectors and fillers.
pub(super) fn is_invisible(c: char) -> bool {
    is_selector(c)
        || matches!(c,
            '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202c}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}')
}

/// Returns the ASCII form of typographic quotes and dashes.
fn plain_mark(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{b4}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{ab}' | '\u{bb}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        // Small capitals, which no compatibility form folds.
        'ᴀ' => 'a',
        'ʙ' => 'b',
        'ᴄ' => 'c',
        'ᴅ' => 'd',
        'ᴇ' => 'e',
        'ꜰ' => 'f',
        'ɢ' => 'g',
        'ʜ' => 'h',
        'ɪ' => 'i',
        'ᴊ' => 'j',
        'ᴋ' => 'k',
        'ʟ' => 'l',
        'ᴍ' => 'm',
        'ɴ' => 'n',
        'ᴏ' => 'o',
        'ᴘ' => 'p',
        'ʀ' => 'r',
        'ꜱ' => 's',
        'ᴛ' => 't',
        'ᴜ' => 'u',
        'ᴠ' => 'v',
        'ᴡ' => 'w',
        'ʏ' => 'y',
        'ᴢ' => 'z',
        _ => c,
    }
}

/// Replaces letters that look Latin by Latin ones, in words that have Latin letters too.
fn latin(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        if part.contains(|c: char| c.is_ascii_lowercase()) {
            folded.extend(part.chars().map(|c| likeness(c).unwrap_or(c)));
        } else {
            folded.push_str(part);
        }
    }
    folded
}

/// Returns the Latin letter that a small letter of Cyrillic, Greek or Armenian looks like.
pub(super) fn likeness(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' => 'a',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ё' | 'ε' => 'e',
        'һ' | 'հ' => 'h',
        'і' | 'ι' | 'ı' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ո' | 'п' | 'η' => 'n',
        'о' | 'ο' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'ս' | 'υ' | 'ц' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        _ => return None,
    })
}

/// Decodes base64, in either alphabet; letters that make no whole byte are lost.
pub(super) fn from_base64(letters: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(letters.len() / 4 * 3 + 3);
    let (mut held, mut bits) = (0_u32, 0);
    for letter in letters {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            _ => 63,
        };
        held = (held << 6) | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    bytes
}
