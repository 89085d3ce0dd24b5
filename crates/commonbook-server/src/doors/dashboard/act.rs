//! A form calls a verb of the registry, as the person or agent that signed in.

use std::path::PathBuf;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::access;
use commonbook::model::caller::Caller;
use commonbook::model::token::TokenScope;
use commonbook::verbs::names;
use commonbook_vault::writer::WriterKey;
use serde_json::Value;

use super::door::{DashboardDoor, FormRequest, check_form, read_form};
use super::request::{
    BACK_FIELD, BULK_FIELD, CHANGED_PARAMETER, DONE_PARAMETER, EACH_SUFFIX, FORM_TOKEN_FIELD,
    LINES_SUFFIX, is_form_verb, items_on_lines, own_path,
};
use super::response::{add_page_headers, page_response};
use super::{entry, layout};
use crate::background::vaults::VaultRegistry;
use crate::calls::call::run_cancellable;
use crate::calls::verb;
use crate::http::http_error::RequestId;

/// Calls the verb that the form names, and leads back to its page.
pub(super) async fn act(
    State(door): State<DashboardDoor>,
    Path((workspace, verb)): Path<(String, String)>,
    id: RequestId,
    request: Request,
) -> Response {
    let SignedForm { form, caller, back } = match signed_form(&door, &id, &workspace, request).await
    {
        Ok(signed) => signed,
        Err(refusal) => return *refusal,
    };
    match call_verbs(&door, &caller, &verb, form).await {
        // The secret of a token is shown once, and never stands in a URL.
        Ok(answer) if answer["secret"].is_string() => {
            let secret = answer["secret"].as_str().unwrap_or_default();
            let page = layout::secret(secret, &back).into_string();
            page_response(page, StatusCode::OK, None)
        }
        Ok(answer) => redirect(&target_after(&back, &verb, &answer)),
        // The page says so, and shows what it is now.
        Err(error) if verb == names::AGREE_STANDING && error.kind == ErrorKind::Conflict => {
            redirect(&format!("{}?{CHANGED_PARAMETER}=1", back.split('?').next().unwrap_or(&back)))
        }
        Err(error) => door.error_page(&error, &id),
    }
}

/// Accepts a vault that the home knows, or the key of a home that writes it, as `vault accept` does; the
/// next pass of the vault uses it.
pub(super) async fn accept_vault(
    State(door): State<DashboardDoor>,
    Path(workspace): Path<String>,
    id: RequestId,
    request: Request,
) -> Response {
    let SignedForm { form, caller, back } = match signed_form(&door, &id, &workspace, request).await
    {
        Ok(signed) => signed,
        Err(refusal) => return *refusal,
    };
    match accept(&door, caller, &form).await {
        Ok(()) => redirect(&back),
        Err(error) => door.error_page(&error, &id),
    }
}

/// A form of a page, who sent it, and the page that it leads back to.
struct SignedForm {
    form: FormRequest,
    caller: Caller,
    back: String,
}

/// The form of a request, checked and signed in; otherwise the page that says why not.
async fn signed_form(
    door: &DashboardDoor,
    id: &RequestId,
    workspace: &str,
    request: Request,
) -> std::result::Result<SignedForm, Box<Response>> {
    let refused = |error| Box::new(door.error_page(&error, id));
    let form = read_form(door, request).await.map_err(refused)?;
    check_form(door, &form).map_err(refused)?;
    let caller = match door.signed_in_caller(&form.parts, workspace).await {
        Ok(caller) => caller,
        Err(error) => return Err(Box::new(entry::refusal(door, &error, &form.parts.uri))),
    };
    let back = form.value(BACK_FIELD).and_then(own_path).unwrap_or("/dashboard").to_owned();
    Ok(SignedForm { form, caller, back })
}

async fn accept(door: &DashboardDoor, caller: Caller, form: &FormRequest) -> Result<()> {
    access::require_scope(&caller, TokenScope::Admin)?;
    door.rates.admit(&caller, true)?;
    let home = door.config.home()?.to_owned();
    let folder = PathBuf::from(form.value("folder").unwrap_or_default());
    let writer = form.value("writer").map(|key| key.trim().parse::<WriterKey>());
    let writer = writer.transpose().map_err(|error| error.with_field("writer"))?;
    let accepted = move |caller: &Caller| {
        VaultRegistry::accept_known(&home, &folder, &caller.workspace, writer.as_slice())
    };
    run_cancellable(caller, accepted).await.map(drop)
}

fn redirect(target: &str) -> Response {
    let mut response = Redirect::to(target).into_response();
    add_page_headers(response.headers_mut());
    response
}

/// Calls the verb once, or once for each row that the form chose, in their order; returns the last response.
///
/// # Errors
/// Those of the verb. The calls before a refused one are done, and the message says how many.
async fn call_verbs(
    door: &DashboardDoor,
    caller: &Caller,
    name: &str,
    form: FormRequest,
) -> Result<Value> {
    let mut calls = calls_of(form.pairs).into_iter();
    let total = calls.len();
    let Some(first) = calls.next() else {
        return Err(Error::invalid(EACH_SUFFIX.trim_start_matches('.'), "no row is selected")
            .hint("Select the rows on the page first."));
    };
    let mut answer = call_verb(door, caller.clone(), name, first).await?;
    for (done, pairs) in (1..).zip(calls) {
        answer = call_verb(door, caller.clone(), name, pairs).await.map_err(|error| Error {
            message: format!("{done} of {total} are done, then: {}", error.message),
            ..error
        })?;
    }
    Ok(answer)
}

/// The fields of each call that a form asks for: one call, or one for each value of the field with the
/// suffix [`EACH_SUFFIX`]. None if the form has rows to choose, and none is chosen.
fn calls_of(pairs: Vec<(String, String)>) -> Vec<Vec<(String, String)>> {
    let (chosen, fields): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|(name, _)| name.ends_with(EACH_SUFFIX));
    let is_bulk = fields.iter().any(|(name, _)| name == BULK_FIELD);
    let fields: Vec<_> = fields.into_iter().filter(|(name, _)| name != BULK_FIELD).collect();
    if chosen.is_empty() && !is_bulk {
        return vec![fields];
    }
    let call = |(name, value): (String, String)| {
        let name = name.trim_end_matches(EACH_SUFFIX).to_owned();
        fields.iter().cloned().chain([(name, value)]).collect()
    };
    chosen.into_iter().map(call).collect()
}

async fn call_verb(
    door: &DashboardDoor,
    caller: Caller,
    name: &str,
    pairs: Vec<(String, String)>,
) -> Result<Value> {
    let verb = verb::find(name).filter(|_| is_form_verb(name));
    let verb = verb.ok_or_else(|| Error::not_found(format!("no form calls {name:?}")))?;
    // What no route of REST does is a person's, as at the command line.
    if verb.route.is_none() {
        access::require_scope(&caller, TokenScope::Admin)?;
    }
    door.config.admit(verb)?;
    door.rates.admit(&caller, true)?;
    let own = [FORM_TOKEN_FIELD, BACK_FIELD];
    let fields = pairs.into_iter();
    // A browser sends every input of a form, also those left empty; and a text with \r\n.
    let fields = fields.filter(|(name, value)| {
        let is_set = !value.is_empty() || name.ends_with(LINES_SUFFIX);
        !own.contains(&name.as_str()) && is_set
    });
    let fields = fields.map(|(name, value)| (name, value.replace("\r\n", "\n")));
    let call = verb.call.clone();
    let (lists, fields): (Vec<_>, Vec<_>) =
        fields.partition(|(name, _)| name.ends_with(LINES_SUFFIX));
    let mut request = call.parse_pairs(fields);
    for (name, text) in lists {
        let items = items_on_lines(&text).map(Value::from).collect();
        request.insert(name.trim_end_matches(LINES_SUFFIX).to_owned(), Value::Array(items));
    }
    let request = Value::Object(request);
    let book = door.book.clone();
    run_cancellable(caller, move |caller| call.run(&book, caller, request)).await
}

/// The page after an act: `{id}` in `back` is the id of what the act made.
fn target_after(back: &str, verb: &str, answer: &Value) -> String {
    let made = ["/memory/id", "/handoff/id", "/case/key", "/entity/id", "/id", "/key"];
    let made = made.iter().find_map(|pointer| answer.pointer(pointer)?.as_str());
    let back = back.replace("{id}", made.unwrap_or_default());
    let (path, query) = back.split_once('?').unwrap_or((&back, ""));
    let pairs = form_urlencoded::parse(query.as_bytes());
    let pairs = pairs.filter(|(name, _)| name != DONE_PARAMETER);
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs).append_pair(DONE_PARAMETER, verb);
    format!("{path}?{}", query.finish())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_form_calls_its_verb_once_or_once_for_each_chosen_row() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let table = [
            (vec![pair("id", "a")], vec![vec![pair("id", "a")]]),
            (
                vec![
                    pair("bulk", "1"),
                    pair("id.each", "a"),
                    pair("reason", "r"),
                    pair("id.each", "b"),
                ],
                vec![
                    vec![pair("reason", "r"), pair("id", "a")],
                    vec![pair("reason", "r"), pair("id", "b")],
                ],
            ),
            (vec![pair("bulk", "1"), pair("reason", "r")], vec![]),
        ];
        for (pairs, expected) in table {
            assert_eq!(calls_of(pairs), expected);
        }
    }

    #[test]
    fn after_an_act_its_page_says_what_was_done() {
        let answer = json!({"memory": {"id": "mem_1"}});
        let target = |back: &str| target_after(back, "save_memory", &answer);
        assert_eq!(
            target("/dashboard/w/a/memories/{id}"),
            "/dashboard/w/a/memories/mem_1?done=save_memory"
        );
        assert_eq!(
            target("/dashboard/w/a/now?q=x&done=old"),
            "/dashboard/w/a/now?q=x&done=save_memory"
        );
    }
}
