//! Inputs for a target: its corpus, and what becomes of it when it is cut, mixed and damaged.

use fastrand::Rng;

/// What parsers stumble over, wherever it comes to stand.
const ODD: [&[u8]; 22] = [
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

/// Inputs without end.
pub(crate) struct Inputs {
    corpus: Vec<Vec<u8>>,
    given: usize,
    random: Rng,
}

impl Inputs {
    /// From the lines of this corpus; others in every run when `anew`.
    pub(crate) fn new(corpus: &str, anew: bool) -> Self {
        let corpus: Vec<Vec<u8>> = corpus.lines().map(|line| line.as_bytes().to_vec()).collect();
        assert!(!corpus.is_empty(), "a corpus has a line at least");
        let random = if anew { Rng::new() } else { Rng::with_seed(17) };
        Self { corpus, given: 0, random }
    }

    /// The next input: first each line as it is.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        self.given += 1;
        if let Some(line) = self.corpus.get(self.given - 1) {
            return line.clone();
        }
        let mut input = self.line().to_vec();
        for _ in 0..self.random.usize(1..6) {
            self.change(&mut input);
        }
        input
    }

    fn line(&mut self) -> &[u8] {
        let place = self.random.usize(..self.corpus.len());
        &self.corpus[place]
    }

    /// A stretch of an input.
    fn stretch(&mut self, length: usize) -> std::ops::Range<usize> {
        let from = self.random.usize(..=length);
        from..self.random.usize(from..=length)
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let stretch = self.stretch(input.len());
        let place = stretch.start;
        match self.random.u8(..8) {
            0 => drop(input.drain(stretch)),
            1 => {
                let odd = ODD[self.random.usize(..ODD.len())];
                drop(input.splice(place..place, odd.iter().copied()));
            }
            2 if place < input.len() => input[place] ^= 1 << self.random.u8(..8),
            3 if place < input.len() => input[place] = self.random.u8(..),
            4 => {
                // The same again, often: lengths beyond limits.
                let again = input[stretch].repeat(self.random.usize(1..40));
                drop(input.splice(place..place, again));
            }
            5 => {
                let other = self.line().to_vec();
                let part = self.stretch(other.len());
                drop(input.splice(stretch, other[part].iter().copied()));
            }
            6 => {
                let letter: char = self.random.char(..);
                let mut bytes = [0; 4];
                let letter = letter.encode_utf8(&mut bytes).as_bytes();
                drop(input.splice(place..place, letter.iter().copied()));
            }
            _ => input.truncate(place.max(1)),
        }
    }
}
