//! The bundled model, in the order in which `make_weights.py` writes its parts.

use std::borrow::Cow;

use commonbook_weights_1::PART as FIRST;
use commonbook_weights_2::PART as SECOND;
use commonbook_weights_3::PART as THIRD;

use crate::float::Normalisation;
use crate::linear::Linear;
use crate::network::{Layer, Network};
use crate::rows::{RowTable, WordTable};
use crate::tokenizer::{PieceTokenizer, Tokenizer};
use crate::vocabulary::Vocabulary;
use crate::wordpiece::WordPieceTokenizer;
use crate::{Encoder, Pooling};

/// Numbers of a vector.
pub(super) const DIMENSION: usize = 384;
const HEADS: usize = 12;
const INNER: usize = 1536;
const LAYERS: usize = 6;
const TOKENS_MAX: usize = 256;
const WORDS: usize = 30_522;
/// Word vectors of one chunk.
const CHUNK_WORDS: usize = 10_174;
const UNKNOWN: u32 = 100;
const BEGINNING: u32 = 101;
const END: u32 = 102;
const EPSILON: f32 = 1e-12;

/// Creates the encoder. The matrices stay where they are; what is small is copied.
pub(super) fn encoder() -> Encoder {
    let tokenizer = Tokenizer {
        pieces: PieceTokenizer::WordPiece(WordPieceTokenizer {
            vocabulary: Vocabulary::new(Cow::Borrowed(include_str!("vocabulary.txt")), true),
            unknown: UNKNOWN,
            word_letters_max: 100,
            lowercase: true,
            strip_accents: true,
        }),
        beginning: BEGINNING,
        end: END,
    };
    let mut parts = PartReader { rest: FIRST, next: [SECOND, THIRD].into_iter() };
    let chunks = (0..WORDS / CHUNK_WORDS).map(|_| parts.rows(CHUNK_WORDS)).collect();
    let words = WordTable::new(chunks);
    let positions = parts.rows(TOKENS_MAX);
    let segment = parts.numbers(DIMENSION);
    let normalisation = parts.normalisation();
    let layers = (0..LAYERS).map(|_| parts.layer()).collect();
    let network = Network::new(words, &positions, &segment, normalisation, layers);
    Encoder { tokenizer, network, pooling: Pooling::Mean }
}

/// Reads one part after another.
struct PartReader {
    rest: &'static [u8],
    next: std::array::IntoIter<&'static [u8], 2>,
}

impl PartReader {
    /// The next bytes. A part ends between two tensors.
    fn bytes(&mut self, count: usize) -> &'static [u8] {
        if self.rest.is_empty() {
            self.rest = self.next.next().unwrap_or_default();
        }
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        taken
    }

    fn numbers(&mut self, count: usize) -> Vec<f32> {
        let (numbers, _) = self.bytes(count * 4).as_chunks::<4>();
        numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    fn rows(&mut self, rows: usize) -> RowTable {
        let scales = self.numbers(rows);
        RowTable::new(scales, Cow::Borrowed(bytemuck::cast_slice(self.bytes(rows * DIMENSION))))
    }

    fn normalisation(&mut self) -> Normalisation {
        let scale = self.numbers(DIMENSION);
        Normalisation { scale, shift: self.numbers(DIMENSION), epsilon: EPSILON }
    }

    fn linear(&mut self, columns: usize, rows: usize) -> Linear {
        let scales = self.numbers(rows);
        let shifts = self.numbers(rows);
        let weights = Cow::Borrowed(bytemuck::cast_slice(self.bytes(rows * columns)));
        Linear::new(columns, scales, shifts, weights)
    }

    fn layer(&mut self) -> Layer {
        Layer {
            heads: HEADS,
            attention: self.linear(DIMENSION, 3 * DIMENSION),
            attention_output: self.linear(DIMENSION, DIMENSION),
            attention_normalisation: self.normalisation(),
            wide: self.linear(DIMENSION, INNER),
            narrow: self.linear(INNER, DIMENSION),
            normalisation: self.normalisation(),
        }
    }
}
