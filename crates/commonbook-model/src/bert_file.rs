//! The network of a file of safetensors, its matrices rounded to bytes.

use crate::float::Normalisation;
use crate::linear::Linear;
use crate::network::{Layer, Network};
use crate::rows::{RowTable, WordTable};
use crate::tensors::TensorFile;

/// The sizes of a BERT, as its `config.json` has them.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkShape {
    /// Words of the vocabulary (`vocab_size`).
    pub words: usize,
    /// Positions that a token can have (`max_position_embeddings`).
    pub positions: usize,
    /// Segments of a text (`type_vocab_size`).
    pub segments: usize,
    /// Numbers of a hidden state (`hidden_size`).
    pub dimension: usize,
    /// Numbers between the two linear steps of a layer (`intermediate_size`).
    pub inner: usize,
    /// Layers (`num_hidden_layers`).
    pub layers: usize,
    /// Heads of attention (`num_attention_heads`); divides `dimension`.
    pub heads: usize,
    /// What a normalisation adds to the variance (`layer_norm_eps`).
    pub epsilon: f32,
}

impl NetworkShape {
    /// Reads the network for texts of this many tokens.
    ///
    /// # Errors
    /// The reason why the file has no such network.
    pub(crate) fn read(&self, file: &[u8], tokens_max: usize) -> Result<Network, String> {
        let tensors = TensorFile::read(file)?;
        let bare = tensors.has("embeddings.LayerNorm.weight");
        let prefix = if bare { "" } else { "bert." };
        NetworkReader { shape: self, tensors, prefix }.network(tokens_max)
    }
}

struct NetworkReader<'a> {
    shape: &'a NetworkShape,
    tensors: TensorFile<'a>,
    /// What stands before all names.
    prefix: &'static str,
}

impl NetworkReader<'_> {
    fn network(&self, tokens_max: usize) -> Result<Network, String> {
        let shape = self.shape;
        let table = |name: &str, rows: usize| {
            let name = format!("embeddings.{name}_embeddings.weight");
            self.tensor(&name, &[rows, shape.dimension])
        };
        let words = table("word", shape.words)?;
        let words = WordTable::new(vec![RowTable::rounded(&words, shape.dimension)]);
        let mut positions = table("position", shape.positions)?;
        positions.truncate(tokens_max * shape.dimension);
        let mut segment = table("token_type", shape.segments)?;
        segment.truncate(shape.dimension);
        let normalisation = self.normalisation("embeddings.LayerNorm")?;
        let layers =
            (0..shape.layers).map(|number| self.layer(number)).collect::<Result<_, _>>()?;
        let positions = RowTable::rounded(&positions, shape.dimension);
        Ok(Network::new(words, &positions, &segment, normalisation, layers))
    }

    fn layer(&self, number: usize) -> Result<Layer, String> {
        let (dimension, inner) = (self.shape.dimension, self.shape.inner);
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        let attention = ["query", "key", "value"].map(|part| format!("attention.self.{part}"));
        let attention = attention.each_ref().map(|part| name(part));
        Ok(Layer {
            heads: self.shape.heads,
            attention: self.linear(&attention, dimension, dimension)?,
            attention_output: self.linear(
                &[name("attention.output.dense")],
                dimension,
                dimension,
            )?,
            attention_normalisation: self.normalisation(&name("attention.output.LayerNorm"))?,
            wide: self.linear(&[name("intermediate.dense")], inner, dimension)?,
            narrow: self.linear(&[name("output.dense")], dimension, inner)?,
            normalisation: self.normalisation(&name("output.LayerNorm"))?,
        })
    }

    /// Matrices of the same input as one.
    fn linear(&self, names: &[String], rows: usize, columns: usize) -> Result<Linear, String> {
        let (mut weights, mut shifts) = (Vec::new(), Vec::new());
        for name in names {
            weights.extend(self.tensor(&format!("{name}.weight"), &[rows, columns])?);
            shifts.extend(self.tensor(&format!("{name}.bias"), &[rows])?);
        }
        Ok(Linear::rounded(&weights, columns, shifts))
    }

    fn normalisation(&self, name: &str) -> Result<Normalisation, String> {
        let numbers = |part: &str| self.tensor(&format!("{name}.{part}"), &[self.shape.dimension]);
        let (scale, shift) = (numbers("weight")?, numbers("bias")?);
        Ok(Normalisation { scale, shift, epsilon: self.shape.epsilon })
    }

    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        self.tensors.tensor(&format!("{}{name}", self.prefix), shape)
    }
}
