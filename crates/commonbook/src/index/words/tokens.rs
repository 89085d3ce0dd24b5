//! The terms of a text in the index: each word behind the key of those who read it.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::index::facts::KEY_BYTES;

/// What the tokenizer is called in the schema.
pub(super) const TOKENIZER_NAME: &str = "audience";

/// Makes terms of a text that begins with the key of an audience: that key before each word, so that
/// the words of each audience lie in dictionary and postings by themselves.
#[derive(Clone, Default)]
pub(super) struct AudienceTokenizer {
    token: Token,
}

/// What [`AudienceTokenizer`] reads from.
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
