//! Hidden ids: each verb that takes an id answers one that its caller may not see as one that does not exist.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::world::{Home, Server, WORKSPACE, openapi};

/// What no id ends in.
const ABSENT: &str = "01m7y9c4dpeqkspxh7a865d434";

/// Letters of a handle that is long enough for a deletion.
const HANDLE_CHARS: usize = 16;

/// The fields that a verb requires besides ids.
fn required_fields(verb: &str) -> Value {
    match verb {
        "save_memory" => json!({"text": "The gate is green"}),
        "update_memory" => json!({"text": "The gate is green"}),
        "append_entries" => json!({"key": "gate", "entries": [{"summary": "The gate opens"}]}),
        "read_case" | "get_case" => json!({"key": "gate"}),
        "appeal_memory" | "retract_memory" | "reject_handoff" | "withdraw_handoff" => {
            json!({"reason": "It is wrong"})
        }
        "create_handoff" => json!({"to": "dan", "task": "Paint the gate"}),
        "complete_handoff" => json!({"result": "Painted"}),
        "resume_session" => json!({"session": "gate"}),
        "decide_review" => json!({"judgement": "dismiss"}),
        "resolve_contradiction" => json!({"resolution": "keep_both", "context": "by day"}),
        "explain_sight" => json!({"reader": "bob"}),
        "merge_entities" => json!({"target": "tool:sqlite"}),
        "rename_entity" => json!({"value": "Gate"}),
        "add_relation" | "remove_relation" => json!({"to": "tool:sqlite", "type": "uses"}),
        "forget_memory" => json!({"confirm": true}),
        "answer_pairs" => {
            let absent = format!("mem_{ABSENT}");
            json!({"answers": [{"newer": absent, "older": absent, "answer": "neither"}]})
        }
        _ => json!({}),
    }
}

/// Fields that take ids whose form their schemas do not give, with the kind of the ids.
const FREE_FIELDS: [(&str, &str, &str); 29] = [
    ("save_memory", "based_on[]", "mem"),
    ("save_memory", "based_on[]", "ctx"),
    ("append_entries", "based_on[]", "mem"),
    ("create_handoff", "based_on[]", "ctx"),
    ("list_events", "subject", "mem"),
    ("list_events", "subject", "hnd"),
    ("list_events", "subject", "con"),
    ("list_memories", "session", "ses"),
    ("list_contexts", "session", "ses"),
    ("get_session", "session", "ses"),
    ("touch_session", "session", "ses"),
    ("end_session", "session", "ses"),
    ("resume_session", "session", "ses"),
    ("list_checkpoints", "session", "ses"),
    ("create_checkpoint", "session", "ses"),
    ("get_collaborations", "session", "ses"),
    ("get_entity", "entity", "ent"),
    ("entity_mentions", "entity", "ent"),
    ("who_knows", "entity", "ent"),
    ("merge_entities", "source", "ent"),
    ("unmerge_entities", "source", "ent"),
    ("rename_entity", "entity", "ent"),
    ("delete_entity", "entity", "ent"),
    ("restore_entity", "entity", "ent"),
    ("remove_relation", "from", "ent"),
    ("remove_relation", "from", "mem"),
    ("graph_query", "from", "ent"),
    ("graph_query", "from", "mem"),
    ("acknowledge_outdated", "id", "mem"),
];

/// A field of a request that takes ids of a kind, by the names on its way: `entries[].supersedes[]`.
struct IdField {
    verb: String,
    path: String,
    kind: String,
}

/// Every route with its verb, and every field of it that takes an id.
fn id_fields(document: &Value) -> (BTreeMap<String, (String, String)>, Vec<IdField>) {
    let (mut routes, mut fields) = (BTreeMap::new(), Vec::new());
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let Some(verb) = operation["operationId"].as_str() else { continue };
            routes.insert(verb.to_owned(), (method.to_uppercase(), path.clone()));
            let mut found = Vec::new();
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap_or_default();
                collect(&parameter["schema"], name, &mut found);
            }
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            collect(body, "", &mut found);
            fields.extend(found.into_iter().map(|(path, kind)| {
                let verb = verb.to_owned();
                IdField { verb, path, kind }
            }));
        }
    }
    (routes, fields)
}

fn collect(schema: &Value, path: &str, found: &mut Vec<(String, String)>) {
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    if let Some((kind, _)) = pattern.strip_prefix("^(").and_then(|text| text.split_once("_["))
        && !path.starts_with('[')
        && kind.len() == 3
    {
        found.push((path.to_owned(), kind.to_owned()));
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        collect(field, &below, found);
    }
    for form in ["anyOf", "oneOf", "allOf"] {
        for form in schema[form].as_array().into_iter().flatten() {
            collect(form, path, found);
        }
    }
    if schema["items"].is_object() {
        collect(&schema["items"], &format!("{path}[]"), found);
    }
}

/// Puts an id where a path leads: into lists as their only element, into objects beside their fields.
fn put_id(place: &mut Value, path: &str, id: &str) {
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, is_list) = step.strip_suffix("[]").map_or((step, false), |name| (name, true));
    if !place.is_object() {
        *place = json!({});
    }
    let mut next = &mut place[name];
    if is_list {
        if !next.is_array() {
            *next = json!([null]);
        }
        next = &mut next[0];
    }
    match rest {
        "" => *next = json!(id),
        rest => put_id(next, rest, id),
    }
}

/// What this agent is answered, as text, without its id of the call.
fn answer(
    server: &Server,
    route: &(String, String),
    headers: &[(&str, &str)],
    fields: &Value,
) -> String {
    let (method, mut path) = route.clone();
    let mut fields: Map<String, Value> = fields.as_object().unwrap().clone();
    let names: Vec<String> = fields.keys().cloned().collect();
    for name in names.iter().filter(|name| route.1.contains(&format!("{{{name}}}"))) {
        let id = fields.remove(name).unwrap();
        path = path.replace(&format!("{{{name}}}"), id.as_str().unwrap());
    }
    let mut body = Value::Object(fields.clone()).to_string();
    if ["GET", "DELETE"].contains(&&*method) {
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &fields {
            let values = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
            pairs.extend_pairs(values.iter().map(|value| (name, text(value))));
        }
        (path, body) = (format!("{path}?{}", pairs.finish()), String::new());
    }
    let (status, mut answer) = server.send(&method, &path, headers, body.as_bytes()).unwrap();
    if let Some(error) = answer["error"].as_object_mut() {
        error.remove("request_id");
    }
    format!("{status} {answer}")
}

/// An id of each kind that bob and cleo see, and ann does not.
fn hide(
    server: &Server,
    routes: &BTreeMap<String, (String, String)>,
) -> BTreeMap<&'static str, String> {
    let of_user = [
        ("X-Commonbook-Agent", "bob"),
        ("X-Commonbook-Workspace", WORKSPACE),
        ("X-Commonbook-User", "u2"),
    ];
    let run = |headers: &[(&str, &str)], verb: &str, fields: Value| -> Value {
        let answer = answer(server, &routes[verb], headers, &fields);
        let (status, answer) = answer.split_once(' ').unwrap();
        assert!(status < "300", "{verb}: {status} {answer}");
        serde_json::from_str(answer).unwrap()
    };
    let bob = |verb: &str, fields: Value| run(&of_user[..2], verb, fields);
    let save = |text: &str| {
        let saved = bob("save_memory", json!({"text": text, "sharing": "private"}));
        saved["memory"]["id"].clone()
    };
    let text = |value: &Value| value.as_str().expect("an id").to_owned();
    let memory = save("The Atlas API timeout is 30 seconds");
    let cleo = [("X-Commonbook-Agent", "cleo"), ("X-Commonbook-Workspace", WORKSPACE)];
    run(&cleo, "save_memory", json!({"text": "The Atlas API timeout is 60 seconds"}));
    let found = bob("detect_contradictions", json!({}));
    let session = run(&of_user, "start_session", json!({}))["session"]["id"].clone();
    let checkpoint = run(&of_user, "create_checkpoint", json!({"session": session}));
    let task = json!({"to": "cleo", "task": "Mind the Atlas API"});
    let handoff = run(&of_user, "create_handoff", task);
    let context = bob("get_context", json!({"task": "What is the timeout of the Atlas API?"}));
    save("We keep the ledger in PostgreSQL and the cache in Memcached");
    let entities = bob("list_entities", json!({}));
    let entities: Vec<&Value> = entities["items"].as_array().unwrap().iter().collect();
    let tools: Vec<&Value> = entities.iter().copied().filter(|one| one["type"] == "tool").collect();
    let [source, target, ..] = tools[..] else { panic!("{entities:?}") };
    let merge = json!({"source": source["id"], "target": target["id"], "strategy": "manual"});
    let queued = bob("merge_entities", merge);
    let wrong = save("The harbour master is on leave");
    let retracted = bob("retract_memory", json!({"id": wrong, "reason": "It is wrong"}));
    let gone = save("The lighthouse keeper sings at dawn");
    let forgotten = bob("forget_memory", json!({"id": gone, "confirm": true}));
    BTreeMap::from([
        ("mem", text(&memory)),
        ("con", text(&found["items"][0]["id"])),
        ("ses", text(&session)),
        ("chk", text(&checkpoint["id"])),
        ("hnd", text(&handoff["handoff"]["id"])),
        ("ctx", text(&context["id"])),
        ("ent", text(&source["id"])),
        ("rev", text(&queued["review"])),
        ("act", text(&retracted["operation"])),
        ("crt", text(&forgotten["certificate"]["id"])),
    ])
}

#[test]
fn an_id_that_is_hidden_is_answered_as_one_that_does_not_exist() {
    let home = Home::new();
    let server = Server::start(&home);
    let (routes, mut fields) = id_fields(&openapi(&server));
    assert!(fields.len() > 40, "{}", fields.len());
    fields.extend(FREE_FIELDS.map(|(verb, path, kind)| {
        let (verb, path, kind) = (verb.to_owned(), path.to_owned(), kind.to_owned());
        IdField { verb, path, kind }
    }));
    let hidden = hide(&server, &routes);
    let ann = [("X-Commonbook-Agent", "ann"), ("X-Commonbook-Workspace", WORKSPACE)];
    let open = json!({"key": "gate", "title": "The gate"});
    answer(&server, &routes["open_case"], &ann, &open);
    let mut wrong = Vec::new();
    for IdField { verb, path, kind } in &fields {
        let Some(id) = hidden.get(&**kind) else {
            panic!("{verb}: no hidden id of the kind {kind}")
        };
        let absent = format!("{kind}_{ABSENT}");
        let handle = |id: &str| id[id.len() - HANDLE_CHARS..].to_owned();
        for (hidden, absent) in [(id.clone(), absent.clone()), (handle(id), handle(&absent))] {
            let answered = |id: &str| {
                let mut fields = required_fields(verb);
                // Where the field is no part of the path, the path has an id that exists for nobody.
                for name in
                    routes[verb].1.split('{').skip(1).filter_map(|rest| rest.split('}').next())
                {
                    if fields[name].is_null() {
                        fields[name] =
                            json!(format!("{}_{ABSENT}", name.get(..3).unwrap_or("mem")));
                    }
                }
                put_id(&mut fields, path, id);
                let told = answer(&server, &routes[verb], &ann, &fields);
                // An error may name the id of the path instead.
                told.replace(&format!("mem_{ABSENT}"), "ID").replace(id, "ID")
            };
            let (expected, found) = (answered(&absent), answered(&hidden));
            let asked = expected.contains("missing field") || expected.contains("unknown field");
            if found != expected || asked {
                wrong.push(format!("{verb} {path} {kind}:\n  absent {expected}\n  hidden {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
