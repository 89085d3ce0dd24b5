//! A BERT for sentence embeddings: its tokenizer, its forward pass, and the weights of all-MiniLM-L6-v2.
//!
//! Weights are bytes with a scale for each row of a matrix; the bundled ones are read where they lie in the program. One
//! thread computes one text. The same text gives the same vector on every machine, whatever was encoded before.

mod bundled;
mod float;
mod linear;
mod network;
mod product;
mod rows;
mod vocabulary;
mod wordpiece;

use std::ops::Range;

use network::Network;
use wordpiece::WordPieceTokenizer;

/// A loaded model: turns a text into a vector.
#[derive(Debug)]
pub struct Encoder {
    tokenizer: WordPieceTokenizer,
    network: Network,
}

/// The result for one text.
#[derive(Debug, Clone)]
pub struct Encoding {
    /// The text's vector: the mean over all tokens, of length one.
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
    /// Creates the encoder of the bundled model, all-MiniLM-L6-v2: English, 384 numbers, 256 tokens of a text.
    ///
    /// Costs about a millisecond and a megabyte of memory; of the weights, the system loads the pages that a text needs.
    #[must_use]
    pub fn bundled() -> Self {
        bundled::encoder()
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
        let ends = (self.tokenizer.beginning(), self.tokenizer.end());
        let tokens: Vec<u32> = std::iter::once(ends.0)
            .chain(pieces.iter().map(|piece| piece.token))
            .chain(std::iter::once(ends.1))
            .collect();
        let states = self.network.states(&tokens);
        let vector = float::unit_mean(&states, self.dimension());
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
