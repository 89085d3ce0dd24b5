//! A verb as every door calls it: JSON in, JSON out, with the schemas of both.

use std::sync::{Arc, LazyLock, OnceLock};

use commonbook::Commonbook;
use commonbook::base::cancellation::Cancellation;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::input::{self, EmptyText, FieldTypes, RequestForm};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::session::SessionUse;
use commonbook::verbs::{CompletionList, fit_key, was_begun_meanwhile};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::calls::observe::ObservedCall;

/// A shared value that is computed on first use: a command uses few of the schemas.
type SharedLazy<T> = Arc<LazyLock<T, fn() -> T>>;

/// A reference to the schema of a type, which the generator keeps with the types of its fields.
pub(crate) type TypeReference = fn(&mut SchemaGenerator) -> Schema;

/// The fields by which a request names a session itself.
const SESSION_FIELDS: [&str; 2] = ["session", "client_session"];

type VerbHandler = dyn Fn(&Commonbook, &Caller, Value, SessionUse) -> Result<Value> + Send + Sync;

/// A verb with the schemas of its request and answer. Cheap to clone.
#[derive(Clone)]
pub(crate) struct JsonVerb {
    /// Its name in the registry.
    name: &'static str,
    /// The JSON Schema of the request; its description says what the verb does.
    pub(crate) request: SharedLazy<Value>,
    /// The type of the request, by reference.
    pub(crate) request_type: TypeReference,
    /// The type of the answer, by reference.
    pub(crate) answer_type: TypeReference,
    /// What it does with a session that its caller does not name.
    pub(crate) session_use: SessionUse,
    /// What an empty text of an optional field means.
    pub(crate) empty: EmptyText,
    run: Arc<VerbHandler>,
    types: SharedLazy<FieldTypes>,
    form: Arc<OnceLock<RequestForm>>,
}

/// A verb that completes a prefix.
pub(crate) type CompletionVerb = fn(&Commonbook, &Caller, &str) -> Result<CompletionList>;

impl JsonVerb {
    /// The call of this verb.
    pub(crate) fn of<Q, A>(
        name: &'static str,
        verb: impl Fn(&Commonbook, &Caller, &Q) -> Result<A> + Send + Sync + 'static,
    ) -> Self
    where
        Q: DeserializeOwned + JsonSchema,
        A: Serialize + JsonSchema,
    {
        let run = move |book: &Commonbook, caller: &Caller, request: Value, usage: SessionUse| {
            let request = input::from_value(request)?;
            // After the request is parsed: a malformed one begins no session.
            run_in_session(book, caller, usage, &|caller| {
                serde_json::to_value(verb(book, caller, &request)?).map_err(encoding_error)
            })
        };
        Self {
            name,
            request: Arc::new(LazyLock::new(input::schema::<Q>)),
            request_type: SchemaGenerator::subschema_for::<Q>,
            answer_type: SchemaGenerator::subschema_for::<A>,
            session_use: SessionUse::Unused,
            empty: EmptyText::Absent,
            run: Arc::new(run),
            types: Arc::new(LazyLock::new(FieldTypes::of::<Q>)),
            form: Arc::default(),
        }
    }

    /// Runs the verb, and records the call. The ends of ids in its request stand for the ids.
    pub(crate) fn run(&self, book: &Commonbook, caller: &Caller, request: Value) -> Result<Value> {
        let observed = ObservedCall::begin(self.name, caller.door);
        let response = self.run_unobserved(book, caller, request);
        observed.end(&response);
        response
    }

    fn run_unobserved(&self, book: &Commonbook, caller: &Caller, request: Value) -> Result<Value> {
        let mut request = self.read(request, caller.door);
        let caller = book.in_known_session(caller)?;
        book.resolve_handles(&caller, &self.request, &mut request)?;
        // Here, since a dry run writes nothing and would accept any key.
        fit_key(request["idempotency_key"].as_str())?;
        let names_session = SESSION_FIELDS.iter().any(|field| request[*field].is_string());
        let usage = if names_session { SessionUse::Unused } else { self.session_use };
        let answer = (self.run)(book, &caller, request, usage)?;
        book.note_seen(&caller);
        Ok(answer)
    }

    /// A request in the form of its schema, from one as models and clients write it. To read it again
    /// changes nothing.
    pub(crate) fn read(&self, request: Value, door: EntryPoint) -> Value {
        // A person who types an empty text means it, and so does a script: a variable is not set.
        let empty = if door == EntryPoint::Cli { EmptyText::Kept } else { self.empty };
        self.form().read(request, empty)
    }

    /// A request of a client that has to send every field, without the fields that say nothing.
    pub(crate) fn read_filled(&self, request: Value) -> Value {
        // To delete by an empty filter would be to delete everything.
        let empty = if self.empty == EmptyText::Kept { EmptyText::Kept } else { EmptyText::Filler };
        self.form().read(request, empty)
    }

    /// Whether a field of the request is one of a few words.
    pub(crate) fn is_choice(&self, field: &str) -> bool {
        self.form().is_choice(field)
    }

    fn form(&self) -> &RequestForm {
        self.form.get_or_init(|| RequestForm::of(&self.request))
    }

    /// Whether a request has nothing but a list of objects in this field.
    pub(crate) fn is_list(&self, request: &Value, field: &str) -> bool {
        let alone = request.as_object().filter(|fields| fields.len() == 1);
        alone.is_some_and(|fields| fields.contains_key(field)) && {
            let read = self.read(request.clone(), EntryPoint::Mcp);
            read[field].as_array().is_some_and(|items| items.iter().all(Value::is_object))
        }
    }

    /// A request from pairs of text, typed by the schema.
    pub(crate) fn parse_pairs(&self, pairs: Vec<(String, String)>) -> Map<String, Value> {
        self.types.to_typed_values(pairs)
    }

    /// The description of the verb: that of its request.
    pub(crate) fn verb_description(&self) -> &str {
        self.request["description"].as_str().unwrap_or_default()
    }

    /// The fields of the request, each with its schema, in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        let fields = self.request["properties"].as_object().into_iter().flatten();
        fields.map(|(name, schema)| (name.as_str(), schema))
    }

    /// Whether the request takes an idempotency key.
    pub(crate) fn takes_key(&self) -> bool {
        self.fields().any(|(name, _)| name == "idempotency_key")
    }

    /// Whether the request requires this field.
    pub(crate) fn requires(&self, field: &str) -> bool {
        let required = self.request["required"].as_array();
        required.is_some_and(|names| names.iter().any(|name| name == field))
    }
}

/// Runs a verb in the session of its caller, which may begin with it.
fn run_in_session(
    book: &Commonbook,
    caller: &Caller,
    usage: SessionUse,
    verb: &dyn Fn(&Caller) -> Result<Value>,
) -> Result<Value> {
    let run = || {
        let caller = book.in_working_session(caller, usage)?;
        let answer = verb(&caller)?;
        book.note_session_begun(&caller);
        Ok(answer)
    };
    match run() {
        Err(error) if was_begun_meanwhile(&error) => run(),
        answer => answer,
    }
}

/// The error of a request or a response of a verb that cannot be encoded, or read again.
pub(crate) fn encoding_error(error: serde_json::Error) -> Error {
    let message = "the request or the response of a verb could not be encoded";
    Error::new(ErrorKind::Internal, message).with_cause(error)
}

/// Runs a verb for a caller on a blocking thread. Dropping this future cancels the verb: its caller no
/// longer waits.
pub(crate) async fn run_cancellable<T: Send + 'static>(
    caller: Caller,
    act: impl FnOnce(&Caller) -> Result<T> + Send + 'static,
) -> Result<T> {
    let _cancelling = CancelOnDrop(caller.cancellation.clone());
    run_blocking(move || act(&caller)).await
}

/// Cancels on drop; after the response it has no effect.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Runs a verb on a blocking thread.
pub(crate) async fn run_blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(act).await.unwrap_or_else(|panic| {
        Err(Error::new(ErrorKind::Internal, "the request panicked").with_cause(panic))
    })
}

/// Runs some work to its end, and cancels it if its client disconnects before.
pub(crate) async fn cancel_on_disconnect<T, G>(
    gone: impl Future<Output = G>,
    cancellation: &Cancellation,
    work: impl Future<Output = T>,
) -> T {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        done = &mut work => return done,
        _ = gone => cancellation.cancel(),
    }
    work.await
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use commonbook::model::caller::EntryPoint;
    use commonbook::model::workspace::Workspace;

    use super::*;

    #[tokio::test]
    async fn a_caller_that_stops_waiting_cancels_its_verb() {
        let caller = Caller::new(None, Workspace::fallback(), EntryPoint::Rest);
        let cancellation = caller.cancellation.clone();
        let (begin, begun) = tokio::sync::oneshot::channel();
        let (end, ended) = mpsc::channel();
        let work = run_cancellable(caller, move |caller| {
            begin.send(()).expect("the test waits for the start");
            // Long work polls for cancellation like this.
            while !caller.cancellation.is_cancelled() {
                std::thread::yield_now();
            }
            end.send(()).expect("the test waits for the end");
            Ok(())
        });
        tokio::select! {
            _ = work => panic!("it ends only after the cancellation"),
            begun = begun => begun.expect("it started"),
        }
        assert!(cancellation.is_cancelled());
        ended.recv().expect("it ended");
    }
}
