//! Bytes of a file as UTF-8: what Windows programs write as UTF-16 is decoded while it is read.

use std::io::{self, Read};

/// Bytes that are read at once.
const BLOCK_BYTES: usize = 64 << 10;

/// The order of the two bytes of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

/// A reader of UTF-8, also of a source in UTF-16. UTF-16 begins with its byte order mark, or with a letter of ASCII.
/// A half character becomes U+FFFD.
pub struct Utf8Reader<R> {
    source: R,
    order: Option<ByteOrder>,
    /// Bytes that are read and not handed out: of the source, or decoded.
    pending: Vec<u8>,
    position: usize,
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
        let mut reader =
            Self { source, order, pending: Vec::new(), position: 0, odd: None, half: None };
        match order {
            None => reader.pending = start,
            Some(_) if is_mark => {}
            Some(order) => reader.decode(&start, order),
        }
        Ok(reader)
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
            let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.pending.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    fn fill(&mut self, order: ByteOrder) -> io::Result<()> {
        (self.pending, self.position) = (Vec::new(), 0);
        let mut block = vec![0; BLOCK_BYTES];
        while self.pending.is_empty() {
            let count = self.source.read(&mut block)?;
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
            match self.order {
                None => return self.source.read(buffer),
                Some(order) => self.fill(order)?,
            }
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
        for short in ["", "a", "ab"] {
            assert_eq!(read(short.as_bytes()), short);
        }
    }
}
