//! The terms of the index: each word with the key of its audience as a prefix.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::index::facts::KEY_BYTES;

/// The tokenizer's name in the schema.
pub(super) const TOKENIZER_NAME: &str = "audience";

/// A tokenizer for a text that begins with an audience's key. It prefixes every word with the key,
/// so that the words of each audience are separate in dictionary and postings.
#[derive(Clone, Default)]
pub(super) struct AudienceTokenizer {
    token: Token,
}

/// The token stream of [`AudienceTokenizer`].
pub(super) struct AudienceTokens<'t> {
    key: &'t str,
    rest: &'t str,
    token: &'t mut Token,
}

impl Tokenizer for AudienceTokenizer {
    type TokenStream<'t> = AudienceTokens<'t>;

    fn token_stream<'t>(&'t mut self, text: &'t str) -> AudienceTokens<'t> {
        self.token.reset();
        let (key, rest) = text.split_at_checked(KEY_BYTES).unwrap_or_default();
        AudienceTokens { key, rest, token: &mut self.token }
    }
}

impl TokenStream for AudienceTokens<'_> {
    fn advance(&mut self) -> bool {
        let Some((word, rest)) = self.rest.split_once(' ') else { return false };
        self.rest = rest;
        self.token.position = self.token.position.wrapping_add(1);
        self.token.text.clear();
        self.token.text.push_str(self.key);
        self.token.text.push_str(word);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
