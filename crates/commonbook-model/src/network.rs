//! The forward pass of a BERT: layers of attention and two linear steps, each normalised after its sum.

use std::array::from_fn;

use crate::float::{self, LANES, Normalisation};
use crate::linear::Linear;
use crate::rows::{RowTable, WordTable};

/// The network between the tokens and their last hidden states.
#[derive(Debug)]
pub(crate) struct Network {
    words: WordTable,
    /// What each position adds to a word's vector: its own vector and that of the first segment.
    positions: Vec<f32>,
    normalisation: Normalisation,
    layers: Vec<Layer>,
}

/// One layer.
#[derive(Debug)]
pub(crate) struct Layer {
    /// Parts of a vector that attend apart from each other.
    pub(crate) heads: usize,
    /// Query, key and value, one after another.
    pub(crate) attention: Linear,
    pub(crate) attention_output: Linear,
    pub(crate) attention_normalisation: Normalisation,
    pub(crate) wide: Linear,
    pub(crate) narrow: Linear,
    pub(crate) normalisation: Normalisation,
}

impl Network {
    /// Creates the network. A text has as many tokens as there are positions, at most.
    pub(crate) fn new(
        words: WordTable,
        positions: &RowTable,
        segment: &[f32],
        normalisation: Normalisation,
        mut layers: Vec<Layer>,
    ) -> Self {
        let positions = (0..positions.rows())
            .flat_map(|index| positions.row(index).zip(segment).map(|(x, segment)| x + segment))
            .collect();
        for layer in &mut layers {
            // Scores are products of queries and keys by the root of a head's size: the queries bring it with them.
            let dimension = segment.len();
            let root = ((dimension / layer.heads) as f32).sqrt();
            layer.attention.stretch(0..dimension, 1.0 / root);
        }
        Self { words, positions, normalisation, layers }
    }

    /// Numbers of a hidden state.
    pub(crate) fn dimension(&self) -> usize {
        self.normalisation.scale.len()
    }

    /// Tokens of a text.
    pub(crate) fn tokens_max(&self) -> usize {
        self.positions.len() / self.dimension()
    }

    /// The last hidden states of the tokens, one after another.
    pub(crate) fn states(&self, tokens: &[u32]) -> Vec<f32> {
        let words = tokens.iter().flat_map(|token| self.words.row(*token));
        let mut states: Vec<f32> = words.zip(&self.positions).map(|(x, add)| x + add).collect();
        self.normalisation.apply(&mut states);
        self.layers.iter().fold(states, |states, layer| layer.apply(&states))
    }
}

impl Layer {
    fn apply(&self, states: &[f32]) -> Vec<f32> {
        let mut attended = self.attention_output.apply(&self.attended(states));
        float::add(&mut attended, states);
        self.attention_normalisation.apply(&mut attended);
        let mut wide = self.wide.apply(&attended);
        float::gelu(&mut wide);
        let mut states = self.narrow.apply(&wide);
        float::add(&mut states, &attended);
        self.normalisation.apply(&mut states);
        states
    }

    /// What each token takes from all, in each head by the likeness of its query to their keys.
    fn attended(&self, states: &[f32]) -> Vec<f32> {
        let dimension = self.normalisation.scale.len();
        let tokens = states.len() / dimension;
        let all = self.attention.apply(states);
        let size = dimension / self.heads;
        let (columns, width) = (tokens.next_multiple_of(LANES), size.next_multiple_of(LANES));
        let mut attended = vec![0.0; states.len()];
        let mut queries = vec![0.0; tokens * size];
        // Keys lie crosswise, a row for each of their numbers; what goes beyond tokens and sizes is zero.
        let mut keys = vec![0.0; size * columns];
        let mut values = vec![0.0; columns * width];
        for head in 0..self.heads {
            for (token, row) in all.chunks_exact(3 * dimension).enumerate() {
                let [query, key, value] =
                    from_fn(|part| &row[part * dimension + head * size..][..size]);
                queries[token * size..][..size].copy_from_slice(query);
                for (index, x) in key.iter().enumerate() {
                    keys[index * columns + token] = *x;
                }
                values[token * width..][..size].copy_from_slice(value);
            }
            let mut weights = float::multiply(&queries, size, &keys, columns);
            float::softmax(&mut weights, columns, tokens);
            let sums = float::multiply(&weights, columns, &values, width);
            for (to, from) in attended.chunks_exact_mut(dimension).zip(sums.chunks_exact(width)) {
                to[head * size..][..size].copy_from_slice(&from[..size]);
            }
        }
        attended
    }
}
