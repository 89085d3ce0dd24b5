//! Normal forms of paths, URLs and tickets.

use crate::word_list::WordList;
use unicode_normalization::UnicodeNormalization;

/// Returns a path with `/`, without a line number, `./` and doubled slashes, in lower case: some file
/// systems cannot hold two files that differ in letter case alone.
pub(super) fn normalise_path(value: &str) -> String {
    let value = value.strip_prefix("file://").unwrap_or(value).trim_end_matches([',', ';']);
    let bare = without_line(value).replace('\\', "/");
    let root = if bare.starts_with('/') { "/" } else { "" };
    let parts = bare.split('/').filter(|part| !part.is_empty() && *part != ".");
    let path = parts.collect::<Vec<_>>().join("/");
    if !path.contains(|c: char| c.is_alphanumeric() || c == '~') {
        return String::new();
    }
    let path = format!("{root}{path}");
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    path.nfc().flat_map(char::to_lowercase).collect()
}

/// Removes a position in the file: `:42`, `:42:7`, `#L42`, `#L42-L50`.
fn without_line(path: &str) -> &str {
    let mut bare = match path.rsplit_once("#L") {
        Some((before, lines)) if lines.starts_with(|c: char| c.is_ascii_digit()) => before,
        _ => path,
    };
    for _ in 0..2 {
        bare = match bare.rsplit_once(':') {
            Some((before, line))
                if !before.is_empty()
                    && !line.is_empty()
                    && line.bytes().all(|b| b.is_ascii_digit() || b == b'-') =>
            {
                before
            }
            _ => bare,
        };
    }
    bare.trim_end_matches(':')
}

/// Returns host and path of a URL, without scheme, `www.`, default port, fragment, campaign parameters
/// and a last `/`. Letter case distinguishes paths, not hosts.
pub(super) fn normalise_url(value: &str) -> String {
    let value = value.trim_end_matches(['.', ',', ';', ')', '>']);
    let rest = value.split_once("://").map_or(value, |(_, rest)| rest);
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(host_end);
    let host = host.rsplit('@').next().unwrap_or(host).to_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let host = host.strip_suffix(":443").or(host.strip_suffix(":80")).unwrap_or(host);
    // `#/` begins the path of a page in single-page applications.
    let path = match path.split_once('#') {
        Some((before, after)) if !after.starts_with(['/', '!']) => before,
        _ => path,
    };
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let own = |pair: &&str| !pair.is_empty() && !pair.starts_with("utm_");
    let query: Vec<&str> = query.split('&').filter(own).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    if !host.contains(char::is_alphanumeric) {
        return String::new();
    }
    format!("{host}{}{mark}{}", path.trim_end_matches('/'), query.join("&"))
}

/// Words before the number of a ticket that are no part of it.
static TICKET_PREFIXES: WordList = WordList::new(include_str!("ticket_prefixes.txt"));

/// Returns the normal form of a ticket: `#12`, `owner/project#12`, `!12` or `PROJ-123`. GitHub numbers
/// tickets and pull requests together, so `PR 12` is `#12`.
pub(super) fn normalise_issue(value: &str) -> String {
    let value = value.trim_matches(|c: char| matches!(c, '(' | ')' | '[' | ']' | '.' | ',' | ':'));
    if let Some(found) = from_address(value) {
        return found;
    }
    let lower = value.to_lowercase();
    let words: Vec<&str> =
        lower.split_whitespace().skip_while(|word| TICKET_PREFIXES.contains(word)).collect();
    let bare = words.join(" ");
    let number = bare.strip_prefix("gh-").or(bare.strip_prefix('#')).unwrap_or(&bare);
    if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
        let number = number.trim_start_matches('0');
        return format!("#{}", if number.is_empty() { "0" } else { number });
    }
    if !bare.contains(char::is_alphanumeric) {
        return String::new();
    }
    let keyed = bare.split_once('-').is_some_and(|(key, number)| {
        key.bytes().all(|b| b.is_ascii_alphanumeric())
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit() || b == b'-')
    });
    if keyed { bare.to_uppercase() } else { bare }
}

/// Returns the ticket of a page on GitHub or GitLab.
fn from_address(value: &str) -> Option<String> {
    let (_, rest) = value.split_once("://")?;
    let parts: Vec<&str> = rest.split(['/', '?', '#']).filter(|part| *part != "-").collect();
    let [_, owner, project, kind, number, ..] = parts.as_slice() else { return None };
    let mark = match *kind {
        "issues" | "pull" => '#',
        "merge_requests" => '!',
        _ => return None,
    };
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| format!("{owner}/{project}{mark}{number}").to_lowercase())
}
