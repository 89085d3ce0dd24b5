//! What is given to a command elsewhere than in its flags: words, a file, standard input.

use std::io::Read;

use clap::ArgMatches;
use commonbook::base::error::{Error, Result};
use commonbook::base::limits;
use serde_json::Value;

/// Words that were given one by one, as one text.
pub(super) fn join_words(values: &[&String]) -> String {
    values.iter().map(|value| value.as_str()).collect::<Vec<_>>().join(" ")
}

/// The list in the file that a field names.
///
/// # Errors
/// `invalid` for a file that cannot be read, or is no JSON.
pub(super) fn read_json_list(matches: &ArgMatches, field: &str) -> Result<Value> {
    let path = matches.get_one::<String>(field).map_or("-", String::as_str);
    let text = match path {
        "-" => read_standard_input()?.into_bytes(),
        path => std::fs::read(path)
            .map_err(|error| Error::invalid("FILE", format!("{path} cannot be read: {error}")))?,
    };
    commonbook::base::input::json(&text)
}

/// All of standard input.
///
/// # Errors
/// `invalid` where it breaks off, or is not UTF-8.
pub(super) fn read_standard_input() -> Result<String> {
    let mut bytes = Vec::new();
    let limit = limits::BODY_BYTES as u64;
    std::io::stdin()
        .lock()
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::invalid("-", format!("standard input broke off: {error}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Error::invalid("-", format!("standard input is not UTF-8 from byte {place} on"))
    })
}
