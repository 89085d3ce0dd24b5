//! A BERT for sentence embeddings: its tokenizer, its forward pass, and the weights of all-MiniLM-L6-v2.
//!
//! Weights are bytes with a scale for each row of a matrix; the bundled ones are read where they lie in the program. One
//! thread computes one text. The same text gives the same vector on every machine, whatever was encoded before.

mod bert_file;
mod bundled;
mod charsmap;
mod float;
mod linear;
mod network;
mod product;
mod projection;
mod rows;
mod tensors;
mod tokenizer;
mod unigram;
mod vocabulary;
mod word;
mod wordpiece;

use std::ops::Range;

pub use bert_file::NetworkShape;
use network::Network;
pub use projection::{PROJECTED_DIMENSION, project};
use tokenizer::Tokenizer;

/// A loaded model: turns a text into a vector.
#[derive(Debug)]
pub struct Encoder {
    tokenizer: Tokenizer,
    network: Network,
    pooling: Pooling,
}

/// The way from the states of all tokens to one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The mean of the states.
    Mean,
    /// The state of the first token, the mark of the beginning.
    First,
}

/// A file that is no model, or one of another kind: the reason, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    /// The tokenizer's file.
    Tokenizer(String),
    /// The weights' file.
    Weights(String),
}

/// The result for one text.
#[derive(Debug, Clone)]
pub struct Encoding {
    /// The text's vector, of length one.
    pub vector: Vec<f32>,
    /// The pieces of words that the model has read, in order: those of a long text are of its beginning.
    pub pieces: Vec<Piece>,
    states: Vec<f32>,
}

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The number in the vocabulary.
    pub token: u32,
    /// The bytes of the text that the piece stands for; they begin and end between characters.
    pub bytes: Range<usize>,
}

impl Encoder {
    /// The name of the bundled model.
    pub const BUNDLED_NAME: &str = "all-MiniLM-L6-v2";

    /// The revision of the bundled model: it changes with the weights, their rounding, the tokenizer and the
    /// projection of states.
    pub const BUNDLED_REVISION: &str = "8-bit-1";

    /// Numbers of a vector of the bundled model.
    pub const BUNDLED_DIMENSION: usize = bundled::DIMENSION;

    /// Creates the encoder of the bundled model, all-MiniLM-L6-v2: English, 384 numbers, 256 tokens of a text.
    ///
    /// Costs about a millisecond and a megabyte of memory; of the weights, the system loads the pages that a text needs.
    #[must_use]
    pub fn bundled() -> Self {
        bundled::encoder()
    }

    /// Reads an encoder from the files of a model: `tokenizer.json` with WordPiece or Unigram, and `model.safetensors` in 32 or
    /// 16 bits. Its matrices are rounded to bytes; the files need not stay. Of a text, `tokens_max` tokens count, the two
    /// marks among them; at least two.
    ///
    /// # Errors
    /// Which file does not fit, and why.
    pub fn read(
        shape: &NetworkShape,
        tokens_max: usize,
        pooling: Pooling,
        tokenizer: &[u8],
        weights: &[u8],
    ) -> Result<Self, ReadError> {
        let tokenizer = Tokenizer::read(tokenizer).map_err(ReadError::Tokenizer)?;
        let words = tokenizer.vocabulary().len();
        if words > shape.words {
            let reason = format!("it has {words} pieces, and the model has {}", shape.words);
            return Err(ReadError::Tokenizer(reason));
        }
        let network = shape.read(weights, tokens_max).map_err(ReadError::Weights)?;
        Ok(Self { tokenizer, network, pooling })
    }

    /// Returns the count of numbers in a vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.network.dimension()
    }

    /// Encodes a text. The model reads the beginning of a long text; a text without words has a vector too.
    #[must_use]
    pub fn encode(&self, text: &str) -> Encoding {
        let pieces = self.tokenizer.pieces(text, self.network.tokens_max() - 2);
        let tokens: Vec<u32> = std::iter::once(self.tokenizer.beginning)
            .chain(pieces.iter().map(|piece| piece.token))
            .chain(std::iter::once(self.tokenizer.end))
            .collect();
        let states = self.network.states(&tokens);
        let vector = match self.pooling {
            Pooling::Mean => float::unit_mean(&states, self.dimension()),
            Pooling::First => float::unit(states[..self.dimension()].to_vec()),
        };
        Encoding { vector, pieces, states }
    }
}

impl Encoding {
    /// Returns the last hidden state of the piece at this index: as many numbers as the vector has, of any length.
    ///
    /// # Panics
    /// If the index is that of no piece.
    #[must_use]
    pub fn state(&self, index: usize) -> &[f32] {
        assert!(index < self.pieces.len(), "there are {} pieces", self.pieces.len());
        // The first state is that of the mark of the beginning.
        let dimension = self.vector.len();
        &self.states[(index + 1) * dimension..][..dimension]
    }
}

#[cfg(test)]
mod tests;
