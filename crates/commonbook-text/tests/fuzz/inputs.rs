//! Inputs of a fuzz target: the lines of its corpus, then mutations of them.

use fastrand::Rng;

/// Byte sequences that often break parsers.
const ODD_SEQUENCES: [&[u8]; 22] = [
    b"\0",
    b"\x1b[31m",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    "\u{feff}".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{200b}".as_bytes(),
    "İ".as_bytes(),
    "ß".as_bytes(),
    "e\u{301}".as_bytes(),
    "👩‍👩‍👧".as_bytes(),
    b"\\ud800",
    b"\\u0000",
    b"18446744073709551616",
    b"-1",
    b"1e999",
    b"null",
    b"[[[[[[[[[[[[[[[[",
    b"\"\"",
    b"\r\n",
    b"9999-99-99T99:99:99Z",
];

/// An endless source of inputs.
pub(crate) struct Inputs {
    corpus: Vec<Vec<u8>>,
    returned: usize,
    random: Rng,
}

impl Inputs {
    /// Creates a source from the lines of a corpus; its mutations differ from run to run if
    /// `is_random`.
    pub(crate) fn new(corpus: &str, is_random: bool) -> Self {
        let corpus: Vec<Vec<u8>> = corpus.lines().map(|line| line.as_bytes().to_vec()).collect();
        assert!(!corpus.is_empty(), "a corpus has a line at least");
        let random = if is_random { Rng::new() } else { Rng::with_seed(17) };
        Self { corpus, returned: 0, random }
    }

    /// Returns the next input: each line of the corpus unchanged, then mutations.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        self.returned += 1;
        if let Some(line) = self.corpus.get(self.returned - 1) {
            return line.clone();
        }
        let mut input = self.line().to_vec();
        for _ in 0..self.random.usize(1..6) {
            self.change(&mut input);
        }
        input
    }

    fn line(&mut self) -> &[u8] {
        let index = self.random.usize(..self.corpus.len());
        &self.corpus[index]
    }

    /// A random range of an input.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let from = self.random.usize(..=length);
        from..self.random.usize(from..=length)
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let range = self.range(input.len());
        let start = range.start;
        match self.random.u8(..8) {
            0 => drop(input.drain(range)),
            1 => {
                let sequence = ODD_SEQUENCES[self.random.usize(..ODD_SEQUENCES.len())];
                drop(input.splice(start..start, sequence.iter().copied()));
            }
            2 if start < input.len() => input[start] ^= 1 << self.random.u8(..8),
            3 if start < input.len() => input[start] = self.random.u8(..),
            4 => {
                // Repetition reaches lengths beyond limits.
                let again = input[range].repeat(self.random.usize(1..40));
                drop(input.splice(start..start, again));
            }
            5 => {
                let line = self.line().to_vec();
                let part = self.range(line.len());
                drop(input.splice(range, line[part].iter().copied()));
            }
            6 => {
                let letter: char = self.random.char(..);
                let mut bytes = [0; 4];
                let letter = letter.encode_utf8(&mut bytes).as_bytes();
                drop(input.splice(start..start, letter.iter().copied()));
            }
            _ => input.truncate(start.max(1)),
        }
    }
}
