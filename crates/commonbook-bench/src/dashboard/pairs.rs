//! Pairs of large texts: the page of a memory, and its history at the command line, compare two revisions. Each
//! kind of text becomes each other kind, so that no pair may cost the square of its words.

use std::path::Path;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook_server::child::{ChildServer, program_command, step_error};
use commonbook_server::output::print_line;
use serde_json::{Value, json};

use super::super::synthetic::MAIN_WORKSPACE;
use super::super::timed_step::TimedStep;
use super::SignedIn;

/// The agent of the pairs.
const AUTHOR: &str = "pairs";

/// Reads the page and the history of a memory for each pair of kinds, and prints the slowest of each kind.
///
/// # Errors
/// The error of the failing step.
pub(super) fn measure(browser: &SignedIn<'_>, home: &Path) -> Result<()> {
    let texts = large_texts();
    print_line(&format!(
        "\n{} pairs of texts of {} KiB, by the earlier one",
        texts.len() * (texts.len() - 1),
        limits::TEXT_BYTES / 1024
    ));
    TimedStep::print_head();
    for (kind, older) in &texts {
        let mut page = TimedStep::new(format!("page: {kind}"));
        let mut history = TimedStep::new(format!("commonbook history: {kind}"));
        for (_, newer) in texts.iter().filter(|(other, _)| other != kind) {
            let id = save_both(browser.server, older, newer)?;
            page.time(|| browser.read(&format!("memories/{id}")))?;
            let arguments = ["history", &id, "--workspace", MAIN_WORKSPACE];
            let output = history.time(|| {
                let run = program_command(home, &arguments)?.output();
                run.map_err(|error| step_error("the history was not read", error))
            })?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(Error::new(ErrorKind::Unavailable, said));
            }
        }
        page.print();
        history.print();
    }
    Ok(())
}

/// Saves a text, and changes it into another; returns the id.
fn save_both(server: &ChildServer, older: &str, newer: &str) -> Result<String> {
    let call = |method: &str, path: &str, body: &Value| {
        let (status, answer) = server.call(method, path, AUTHOR, MAIN_WORKSPACE, body)?;
        match status {
            200 | 201 => Ok(answer),
            _ => Err(Error::new(ErrorKind::Unavailable, format!("{path}: {status}: {answer}"))),
        }
    };
    let saved = call("POST", "/v1/memories", &json!({"text": older}))?;
    let id = saved["memory"]["id"].as_str().unwrap_or_default().to_owned();
    call("PATCH", &format!("/v1/memories/{id}"), &json!({"text": newer}))?;
    Ok(id)
}

/// Texts of the greatest length, each hard to compare in a way of its own.
fn large_texts() -> Vec<(&'static str, String)> {
    let of = |part: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        for number in 0.. {
            let next = part(number);
            if text.len() + next.len() > limits::TEXT_BYTES {
                break;
            }
            text.push_str(&next);
        }
        text
    };
    let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
    let sentence = |number: usize| format!("Valve {number} of the north line opens at noon. ");
    let backwards = || {
        let sentences = of(&sentence);
        let mut sentences: Vec<&str> = sentences.split_inclusive(". ").collect();
        sentences.reverse();
        sentences.concat()
    };
    vec![
        ("one word again and again", of(&|_| "a ".to_owned())),
        ("letters in turn", of(&|number| format!("{} ", letter(number)))),
        ("letters in another turn", of(&|number| format!("{} ", letter(number * 7 + number / 26)))),
        ("one word of all", of(&|number| letter(number).to_string())),
        ("sentences", of(&sentence)),
        ("the same sentences backwards", backwards()),
        ("sentences without an end", of(&|number| format!("valve {number} opens at noon and "))),
        ("one sentence again and again", of(&|_| "The valve opens at noon. ".to_owned())),
        ("lines", of(&|number| format!("- {number}\n"))),
        (
            "letters without spaces between words",
            of(&|number| {
                char::from_u32(0x4e00 + (number % 500) as u32).unwrap_or('\u{4e00}').to_string()
            }),
        ),
    ]
}
