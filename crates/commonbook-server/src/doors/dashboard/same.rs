//! How to do through other doors what a page does: `curl`, MCP and the command line.

use commonbook::base::error::Result;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::request::{PageRequest, SameCall, path_segment};
use crate::calls::verb::{self, Verb};

impl SameCall {
    fn curl(&self, request: &PageRequest, verb: &Verb) -> Result<Option<String>> {
        let Some(route) = &verb.route else { return Ok(None) };
        let fields = self.request.as_object().cloned().unwrap_or_default();
        let mut path = route.path.to_owned();
        let mut rest = Map::new();
        for (name, value) in fields {
            let place = format!("{{{name}}}");
            match path.contains(&place) {
                true => path = path.replace(&place, &path_segment(&plain(&value))),
                false => drop(rest.insert(name, value)),
            }
        }
        let workspace = request.workspace()?;
        let mut line = "curl -s".to_owned();
        if route.method != axum::http::Method::GET {
            line += &format!(" -X {}", route.method);
        }
        let takes_body =
            [axum::http::Method::POST, axum::http::Method::PATCH].contains(&route.method);
        let mut url = format!("{}{path}", request.origin);
        if !takes_body && !rest.is_empty() {
            let mut query = form_urlencoded::Serializer::new(String::new());
            for (name, value) in &rest {
                match value {
                    Value::Array(items) => {
                        query.extend_pairs(items.iter().map(|item| (name, plain(item))));
                    }
                    value => drop(query.append_pair(name, &plain(value))),
                }
            }
            url += &format!("?{}", query.finish());
        }
        line += &format!(" {}", quoted(&url));
        line += &format!(" \\\n  -H 'X-Commonbook-Workspace: {workspace}'");
        if request.needs_token() {
            line += " -H \"Authorization: Bearer $COMMONBOOK_TOKEN\"";
        }
        if takes_body {
            let body = Value::Object(rest).to_string();
            line += &format!(" \\\n  -H 'Content-Type: application/json' -d {}", quoted(&body));
        }
        Ok(Some(line))
    }

    fn command_line(&self, request: &PageRequest) -> Result<Option<String>> {
        if self.command.is_empty() {
            return Ok(None);
        }
        let words = self.command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let workspace = request.workspace()?;
        Ok(Some(format!("commonbook {words} --workspace {}", quoted(workspace.as_str()))))
    }
}

/// A value as text in a URL.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A word as the shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%,+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The calls of a page through the other doors.
///
/// # Errors
/// As [`PageRequest::caller`].
pub(super) fn section(request: &PageRequest, calls: &[SameCall]) -> Result<Markup> {
    let mut blocks = Vec::new();
    for call in calls {
        let Some(verb) = verb::find(call.verb) else { continue };
        let tool = verb.tool.map(|tier| {
            let arguments = json!({"name": verb.name, "arguments": call.request});
            (tier.name(), arguments.to_string())
        });
        blocks.push((call.command_line(request)?, call.curl(request, verb)?, tool));
    }
    Ok(html! {
        @if !blocks.is_empty() {
            details class="same" {
                summary { "The same from the command line, REST and MCP" }
                @for (command, curl, tool) in &blocks {
                    dl {
                        @if let Some(command) = command { dt { "Command line" } dd { pre { code { (command) } } } }
                        @if let Some(curl) = curl { dt { "REST" } dd { pre { code { (curl) } } } }
                        @if let Some((tier, tool)) = tool {
                            dt { "MCP tool" @if *tier != "core" { " (--tools " (tier) ")" } }
                            dd { pre { code { (tool) } } }
                        }
                    }
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_as_the_shell_needs_it() {
        let table = [
            ("mem_1", "mem_1"),
            ("two words", "'two words'"),
            ("", "''"),
            ("it's", r"'it'\''s'"),
            ("$(rm)", "'$(rm)'"),
            ("--limit", "--limit"),
        ];
        for (word, expected) in table {
            assert_eq!(quoted(word), expected);
        }
    }
}
