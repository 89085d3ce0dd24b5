//! One verb as every door calls it: JSON in, JSON out, with the schemas of both.

use std::sync::{Arc, LazyLock};

use commonbook::Commonbook;
use commonbook::caller::Caller;
use commonbook::commonbook::Completions;
use commonbook::error::{Error, ErrorKind, Result};
use commonbook::input::{self, FieldTypes};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What is made when it is first asked for: a command asks for little of what all verbs have.
type Lazy<T> = Arc<LazyLock<T, fn() -> T>>;

type Run = dyn Fn(&Commonbook, &Caller, Value) -> Result<Value> + Send + Sync;

/// A verb with the schemas of its request and answer. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Call {
    /// The JSON Schema of the request; its description says what the verb does.
    pub(crate) request: Lazy<Value>,
    /// The JSON Schema of the answer.
    pub(crate) answer: Lazy<Value>,
    run: Arc<Run>,
    types: Lazy<FieldTypes>,
}

/// A verb that tells what may be meant by a beginning.
pub(crate) type Complete = fn(&Commonbook, &Caller, &str) -> Result<Completions>;

impl Call {
    /// The call of this verb.
    pub(crate) fn of<Q, A>(
        verb: impl Fn(&Commonbook, &Caller, &Q) -> Result<A> + Send + Sync + 'static,
    ) -> Self
    where
        Q: DeserializeOwned + JsonSchema,
        A: Serialize + JsonSchema,
    {
        let run = move |book: &Commonbook, caller: &Caller, request: Value| {
            let answer = verb(book, caller, &input::from_value(request)?)?;
            serde_json::to_value(answer).map_err(|error| {
                Error::new(ErrorKind::Internal, "an answer could not be encoded").because(error)
            })
        };
        Self {
            request: Arc::new(LazyLock::new(input::schema::<Q>)),
            answer: Arc::new(LazyLock::new(input::schema::<A>)),
            run: Arc::new(run),
            types: Arc::new(LazyLock::new(FieldTypes::of::<Q>)),
        }
    }

    /// Carries the verb out.
    pub(crate) fn run(&self, book: &Commonbook, caller: &Caller, request: Value) -> Result<Value> {
        let answer = (self.run)(book, caller, request)?;
        book.meet(caller);
        Ok(answer)
    }

    /// Pairs of text as a request, typed as its schema says.
    pub(crate) fn typed(&self, pairs: Vec<(String, String)>) -> Map<String, Value> {
        self.types.typed(pairs)
    }

    /// What the verb does, as its request says.
    pub(crate) fn about(&self) -> &str {
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

    /// Whether the request has to have this field.
    pub(crate) fn requires(&self, field: &str) -> bool {
        let required = self.request["required"].as_array();
        required.is_some_and(|names| names.iter().any(|name| name == field))
    }
}

/// Runs a verb on a thread that may wait.
pub(crate) async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(act).await.unwrap_or_else(|panic| {
        Err(Error::new(ErrorKind::Internal, "the request panicked").because(panic))
    })
}
