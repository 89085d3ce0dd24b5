//! Bytes of a file as UTF-8: what Windows programs write as UTF-16 is decoded while it is read.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// Bytes that are read at once.
const BLOCK_BYTES: usize = 64 << 10;

/// The order of the two bytes of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

/// How many times a reader has written U+FFFD so far; it stays readable while the reader goes on.
#[derive(Debug, Clone, Default)]
pub struct ReplacementCount(Rc<Cell<u64>>);

impl ReplacementCount {
    /// The number so far.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.get()
    }

    fn add(&self, count: u64) {
        self.0.set(self.0.get() + count);
    }
}

/// A reader of UTF-8, also of a source in UTF-16. UTF-16 begins with its byte order mark, or with a letter of ASCII.
/// Bytes that are not UTF-8, and a half character, become U+FFFD and are counted.
pub struct Utf8Reader<R> {
    source: R,
    replaced: ReplacementCount,
    order: Option<ByteOrder>,
    /// Bytes that are read and not handed out: of the source, or decoded.
    pending: Vec<u8>,
    position: usize,
    /// The beginning of a letter of UTF-8.
    cut: Vec<u8>,
    /// An odd byte, and the first half of a character.
    odd: Option<u8>,
    half: Option<u16>,
}

impl<R: Read> Utf8Reader<R> {
    /// Looks at the first two bytes of a source.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn new(mut source: R) -> io::Result<Self> {
        let mut start = Vec::new();
        source.by_ref().take(2).read_to_end(&mut start)?;
        let (order, is_mark) = match start[..] {
            [0xff, 0xfe] => (Some(ByteOrder::Little), true),
            [0xfe, 0xff] => (Some(ByteOrder::Big), true),
            [1..=0x7f, 0] => (Some(ByteOrder::Little), false),
            [0, 1..=0x7f] => (Some(ByteOrder::Big), false),
            _ => (None, false),
        };
        let mut reader = Self {
            source,
            replaced: ReplacementCount::default(),
            order,
            pending: Vec::new(),
            position: 0,
            cut: Vec::new(),
            odd: None,
            half: None,
        };
        match order {
            None => reader.cut = start,
            Some(_) if is_mark => {}
            Some(order) => reader.decode(&start, order),
        }
        Ok(reader)
    }

    /// The number of replacements, which grows while the source is read.
    pub fn replaced(&self) -> ReplacementCount {
        self.replaced.clone()
    }

    /// Hands on what is UTF-8; the beginning of a letter at the end waits for the rest, unless there is none.
    fn replace(&mut self, bytes: &[u8], is_end: bool) {
        let mut bytes = [&std::mem::take(&mut self.cut), bytes].concat();
        loop {
            let Err(error) = std::str::from_utf8(&bytes) else {
                self.pending.append(&mut bytes);
                return;
            };
            let rest = bytes.split_off(error.valid_up_to());
            self.pending.append(&mut bytes);
            let wrong = match error.error_len() {
                Some(length) => length,
                None if is_end => rest.len(),
                None => {
                    self.cut = rest;
                    return;
                }
            };
            self.pending.extend_from_slice("\u{fffd}".as_bytes());
            self.replaced.add(1);
            bytes = rest[wrong..].to_vec();
        }
    }

    fn decode(&mut self, bytes: &[u8], order: ByteOrder) {
        let mut units = Vec::with_capacity(bytes.len() / 2 + 2);
        units.extend(self.half.take());
        for byte in bytes {
            match self.odd.take() {
                None => self.odd = Some(*byte),
                Some(first) => units.push(match order {
                    ByteOrder::Little => u16::from_le_bytes([first, *byte]),
                    ByteOrder::Big => u16::from_be_bytes([first, *byte]),
                }),
            }
        }
        if units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.half = units.pop();
        }
        self.push(&units);
    }

    fn push(&mut self, units: &[u16]) {
        for letter in char::decode_utf16(units.iter().copied()) {
            let letter = letter.unwrap_or_else(|_| {
                self.replaced.add(1);
                char::REPLACEMENT_CHARACTER
            });
            self.pending.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        (self.pending, self.position) = (Vec::new(), 0);
        let mut block = vec![0; BLOCK_BYTES];
        while self.pending.is_empty() {
            let count = self.source.read(&mut block)?;
            let Some(order) = self.order else {
                self.replace(&block[..count], count == 0);
                if count == 0 {
                    break;
                }
                continue;
            };
            if count > 0 {
                self.decode(&block[..count], order);
                continue;
            }
            // What the source ends with in the middle of a character.
            if self.odd.take().is_some() | self.half.take().is_some() {
                self.push(&[0xdc00]);
            }
            break;
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf8Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position == self.pending.len() {
            self.fill()?;
        }
        let rest = &self.pending[self.position..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.position += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that gives a byte at a time.
    struct Drops<'b>(&'b [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(buffer.len()).min(1);
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn read(bytes: &[u8]) -> String {
        let mut text = String::new();
        let mut reader = Utf8Reader::new(Drops(bytes)).expect("a reader");
        reader.read_to_string(&mut text).expect("UTF-8");
        text
    }

    #[test]
    fn utf_16_is_read_in_both_orders_with_and_without_its_mark() {
        let text = "{\"name\": \"Zoë 🚀\"}\n";
        let units: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        for bytes in [text.as_bytes(), &little, &big] {
            assert_eq!(read(bytes), text);
        }
        assert_eq!(read(&[&[0xff, 0xfe], &little[..]].concat()), text);
        assert_eq!(read(&[&[0xfe, 0xff], &big[..]].concat()), text);
        assert_eq!(
            read(&[&[0xff, 0xfe], &little[..little.len() - 1]].concat()).pop(),
            Some('\u{fffd}')
        );
        for short in ["", "a", "ab", "ß", "🚀"] {
            assert_eq!(read(short.as_bytes()), short);
        }
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_replaced_and_counted() {
        for (bytes, text, count) in [
            (&b"t\xe9te"[..], "t\u{fffd}te", 1),
            (b"caf\xe9", "caf\u{fffd}", 1),
            (b"\x93quoted\x94 \x80 5", "\u{fffd}quoted\u{fffd} \u{fffd} 5", 3),
            ("Zoë \u{fffd} 🚀".as_bytes(), "Zoë \u{fffd} 🚀", 0),
            (&"🚀".as_bytes()[..3], "\u{fffd}", 1),
        ] {
            let mut reader = Utf8Reader::new(Drops(bytes)).expect("a reader");
            let (mut found, replaced) = (String::new(), reader.replaced());
            reader.read_to_string(&mut found).expect("UTF-8");
            assert_eq!((found.as_str(), replaced.get()), (text, count));
            assert_eq!(found, String::from_utf8_lossy(bytes));
        }
    }
}
