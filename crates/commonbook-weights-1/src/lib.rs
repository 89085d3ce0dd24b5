//! Part 1 of 3 of the weights of all-MiniLM-L6-v2 in eight bits, as `make_weights.py` of commonbook-model writes them.

/// The bytes, for commonbook-model.
pub static PART: &[u8] = include_bytes!("../part.bin");
