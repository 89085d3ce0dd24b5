//! Parts of pages: times, names, rows, chips, forms.

use commonbook::base::id;
use commonbook::base::page::PageCursor;
use commonbook::model::memory::{Importance, Memory, Sharing, Trust};
use commonbook::verbs::names;
use jiff::Timestamp;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::request::{BACK_FIELD, BULK_FIELD, EACH_SUFFIX, FORM_TOKEN_FIELD, PageRequest};
use crate::calls::words::memory_glance;

/// Handles that the page looks up in one text at most: a text of nothing else costs no more.
const LINKED_HANDLES_MAX: usize = 20;

/// A time. A script replaces the text by its age, and adds the local time to the title.
pub(super) fn time(at: Timestamp) -> Markup {
    let utc = at.strftime("%F %H:%M:%S UTC").to_string();
    html! { time datetime=(at.strftime("%FT%TZ")) title=(utc) { (at.strftime("%F %H:%M UTC")) } }
}

/// The last letters of an id, as every door takes them.
pub(super) fn handle(id: &impl std::fmt::Display) -> String {
    id::handle(&id.to_string()).to_owned()
}

/// A text in which the handle of each memory in sight, such as `#m94bhf5v`, leads to its page.
pub(super) fn linked_text(request: &PageRequest, text: &str) -> Markup {
    let is_memory = |handle: &str| {
        let now = json!({"id": handle, "at": request.now});
        request.call::<Value>(names::MEMORY_AT, now).is_ok()
    };
    text_with_links(text, &|handle| {
        is_memory(handle).then(|| request.item_path("memories", handle))
    })
}

/// A text in which each handle with a path is a link to it.
fn text_with_links(text: &str, path_of: &dyn Fn(&str) -> Option<String>) -> Markup {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (start, mark) in text.match_indices('#').take(LINKED_HANDLES_MAX) {
        let is_apart = !text[..start].ends_with(|c: char| c.is_alphanumeric());
        let rest = &text[start + mark.len()..];
        let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let letters = Some(&rest[..length]).filter(|_| is_apart);
        let handle = letters.and_then(id::parse_handle).filter(|handle| handle.len() == length);
        if let Some(path) = handle.and_then(|handle| path_of(&handle)) {
            let end = start + mark.len() + length;
            parts.push((&text[begin..start], path, &text[start..end]));
            begin = end;
        }
    }
    html! {
        @for (before, path, handle) in &parts { (before) a href=(path) { (handle) } }
        (text[begin..])
    }
}

/// An agent's name, which leads to its page.
pub(super) fn agent(request: &PageRequest, name: &impl std::fmt::Display) -> Markup {
    let name = name.to_string();
    html! { a class="agent" href=(request.item_path("agents", &name)) { (name) } }
}

/// A short fact of a thing.
pub(super) fn chip(text: &str, kind: &str) -> Markup {
    html! { span class={ "chip " (kind) } { (text) } }
}

/// What a reader must know of the origin of a memory or an entry.
pub(super) fn origin_chip(note: &str) -> Markup {
    chip(note, if note == Trust::Quarantined.name() { "bad" } else { "warn" })
}

/// What an empty list says: that there is nothing, and what to do.
pub(super) fn empty_list(nothing: &str, next_step: &str) -> Markup {
    html! { div class="empty" { p { (nothing) } p class="muted" { (next_step) } } }
}

/// A number with its name, as a tile.
pub(super) fn tile(number: &impl std::fmt::Display, name: &str, path: &str) -> Markup {
    html! { a class="tile" href=(path) { strong { (number) } span { (name) } } }
}

/// A memory as a row of a list, which leads to its page. What is quarantined has none.
pub(super) fn memory_row(request: &PageRequest, memory: &Memory, beside: &Markup) -> Markup {
    let path = request.item_path("memories", &memory.id.to_string());
    html! {
        li class="row" id=(memory.id) {
            @if memory.is_quarantined() {
                div class="row-main" { (memory_glance(memory)) }
            } @else {
                a class="row-main" href=(path) { (memory_glance(memory)) }
            }
            div class="row-facts" {
                code { (handle(&memory.id)) }
                (agent(request, &memory.owner))
                (time(memory.revised_at))
                (chip(memory.memory_type.as_str(), "type"))
                (memory_marks(memory))
                @for topic in &memory.topics {
                    a class="chip topic" href=(request.path_with("memories", &[("topic", topic)])) { (topic) }
                }
                (beside)
            }
        }
    }
}

/// What is out of the ordinary about a memory.
pub(super) fn memory_marks(memory: &Memory) -> Markup {
    html! {
        @match memory.importance {
            Importance::Critical => { (chip("critical", "bad")) }
            Importance::High => { (chip("high", "warn")) }
            Importance::Normal | Importance::Low => {}
        }
        @if memory.sharing == Sharing::Private { (chip("private", "quiet")) }
        @if let Some(note) = memory.origin_note() { (origin_chip(note)) }
        @if let Some(user) = &memory.user_id { (chip(&format!("about {user}"), "quiet")) }
        @if memory.superseded_by.is_some() { (chip("superseded", "quiet")) }
        @if memory.retraction.is_some() { (chip("retracted", "bad")) }
        @if memory.deleted_at.is_some() { (chip("deleted", "bad")) }
        @if memory.archived_at.is_some() { (chip("archived", "quiet")) }
    }
}

/// Leads to the next page of a list; a script appends it when the reader comes near.
pub(super) fn next_page(request: &PageRequest, next: Option<&PageCursor>) -> Markup {
    html! {
        @if let Some(next) = next {
            a class="more" rel="next" href=(request.here_with(&[("cursor", Some(&next.to_string()))])) { "Older" }
        }
    }
}

/// The fields of every form: its token, and where it leads.
pub(super) fn form_fields(request: &PageRequest, back: &str) -> Markup {
    html! {
        input type="hidden" name=(FORM_TOKEN_FIELD) value=(request.form_token);
        input type="hidden" name=(BACK_FIELD) value=(back);
    }
}

/// The form whose buttons act on every row that is chosen; its id.
pub(super) const BULK_FORM: &str = "bulk";

/// The box that chooses a row for the buttons of a [`bulk_form`].
pub(super) fn pick(field: &str, id: &impl std::fmt::Display, what: &str) -> Markup {
    html! {
        label class="pick" {
            input type="checkbox" form=(BULK_FORM) name={ (field) (EACH_SUFFIX) } value=(id) aria-label={ "Select: " (what) };
        }
    }
}

/// A form that sends the chosen rows to the verbs of its buttons.
pub(super) fn bulk_form(request: &PageRequest, buttons: &Markup) -> Markup {
    html! {
        form id=(BULK_FORM) class="bulk" method="post" aria-label="Acts on the selected rows" {
            (form_fields(request, &request.here_with(&[])))
            input type="hidden" name=(BULK_FIELD) value="1";
            button type="button" class="quiet pick-all" hidden { "Select all" }
            span class="picked muted" role="status" {}
            (buttons)
        }
    }
}

/// A button that calls a verb with fixed fields.
pub(super) fn act_button(
    request: &PageRequest,
    verb: &str,
    label: &str,
    fields: &[(&str, &str)],
    back: &str,
) -> Markup {
    html! {
        form class="inline" method="post" action=(request.act_path(verb)) {
            (form_fields(request, back))
            @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
            button type="submit" { (label) }
        }
    }
}

/// A choice of one of several values, for a form; the first may be empty.
pub(super) fn choice(name: &str, label: &str, values: &[&str], chosen: Option<&str>) -> Markup {
    let words = |value: &str| if value.is_empty() { "any".to_owned() } else { value.to_owned() };
    choice_in_words(name, label, values, &words, chosen)
}

/// The same, with the words that a reader sees for each value.
pub(super) fn choice_in_words(
    name: &str,
    label: &str,
    values: &[&str],
    words: &dyn Fn(&str) -> String,
    chosen: Option<&str>,
) -> Markup {
    html! {
        label { (label)
            select name=(name) {
                @for value in values {
                    option value=(value) selected[chosen.unwrap_or_default() == *value] { (words(value)) }
                }
            }
        }
    }
}

/// What a verb has done, in words: `update_memory` is `update memory: done`.
pub(super) fn verb_words(verb: &str) -> String {
    let known = crate::calls::verb::find(verb).map_or("act", |verb| verb.name);
    let words = known.replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}: done.", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_in_a_text_is_a_link_if_it_has_a_page_and_no_text_becomes_markup() {
        let path_of = |handle: &str| (handle == "m94bhf5v").then(|| format!("/m/{handle}"));
        let link = "<a href=\"/m/m94bhf5v\">#m94bhf5v</a>";
        let table = [
            ("see #m94bhf5v, and <b>", format!("see {link}, and &lt;b&gt;")),
            ("#m94bhf5v#m94bhf5v", format!("{link}#m94bhf5v")),
            ("#M94BHF5V", "<a href=\"/m/m94bhf5v\">#M94BHF5V</a>".to_owned()),
            ("#payments and page#m94bhf5v", "#payments and page#m94bhf5v".to_owned()),
            ("#m94bhf5vé #", "#m94bhf5vé #".to_owned()),
            ("", String::new()),
        ];
        for (text, expected) in table {
            assert_eq!(text_with_links(text, &path_of).into_string(), expected, "{text}");
        }
    }
}
