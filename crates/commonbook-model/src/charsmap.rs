//! The table by which a SentencePiece model makes characters plain, as its files hold it: a trie of characters in a double
//! array, and the texts that replace them.

/// The table of replacements.
#[derive(Debug)]
pub(crate) struct CharacterMap {
    units: Vec<u32>,
    /// The replacements, each ended by a zero.
    texts: Vec<u8>,
}

impl CharacterMap {
    /// Reads a table: the size of the trie in bytes, the trie, the texts. `None` if it is shorter than it says.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (size, rest) = bytes.split_first_chunk::<4>()?;
        let (trie, texts) = rest.split_at_checked(u32::from_le_bytes(*size) as usize)?;
        let (units, _) = trie.as_chunks::<4>();
        let units = units.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        Some(Self { units, texts: texts.to_vec() })
    }

    /// What replaces some characters; `None` if they stay. The shortest beginning that the table has decides.
    pub(crate) fn replacement(&self, characters: &str) -> Option<&str> {
        let mut place = offset(*self.units.first()?);
        for byte in characters.bytes() {
            place ^= usize::from(byte);
            let unit = *self.units.get(place)?;
            // An empty unit has the label 0; that of a unit with a value has its highest bit set, and is that of no byte.
            if byte == 0 || unit & 0x8000_00ff != u32::from(byte) {
                return None;
            }
            place ^= offset(unit);
            if unit >> 8 & 1 == 1 {
                let start = (self.units.get(place)? & 0x7fff_ffff) as usize;
                let text = self.texts.get(start..)?;
                let end = text.iter().position(|byte| *byte == 0)?;
                return std::str::from_utf8(&text[..end]).ok();
            }
        }
        None
    }
}

/// The distance from a unit to its children.
fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 1 << 9) >> 6)) as usize
}
