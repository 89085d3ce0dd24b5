//! Input of a command besides its options: words, a file, standard input.

use std::io::Read;

use clap::ArgMatches;
use commonbook::base::error::{Error, Result};
use commonbook::base::limits;
use commonbook_text::decode::text_of_bytes;
use serde_json::Value;

/// Joins words that the shell split into one text.
pub(super) fn join_words(words: &[&String]) -> String {
    words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ")
}

/// Reads a JSON list from the file that a field names, or from standard input for `-`.
///
/// # Errors
/// `invalid` if the file cannot be read or is not JSON.
pub(super) fn read_json_list(matches: &ArgMatches, field: &str) -> Result<Value> {
    let path = matches.get_one::<String>(field).map_or("-", String::as_str);
    let text = match path {
        "-" => read_standard_input()?.into_bytes(),
        path => std::fs::read(path)
            .map_err(|error| Error::invalid("FILE", format!("cannot read {path}: {error}")))?,
    };
    commonbook::base::input::json(&text)
}

/// Reads standard input to its end, at most one byte over the limit of a request; without a byte order
/// mark.
///
/// # Errors
/// `invalid` if it cannot be read.
pub(super) fn read_standard_input() -> Result<String> {
    let mut bytes = Vec::new();
    let limit = limits::BODY_BYTES as u64;
    std::io::stdin()
        .lock()
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::invalid("-", format!("cannot read standard input: {error}")))?;
    Ok(text_of_bytes(&bytes).into_owned())
}
