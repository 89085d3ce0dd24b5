//! Resources, prompts and completion in the caller's sight: in both eras, over stdio and HTTP.

use std::collections::BTreeSet;

use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, ErrorData, GetPromptRequestParams, PaginatedRequestParams,
    PromptMessage, ReadResourceRequestParams, Reference, ResourceContents,
};
use rmcp::service::ServiceError;
use serde_json::{Value, json};

use crate::world::{Client, Door, Home, Mcp, Server, without_note};

/// An id of no memory.
const UNKNOWN: &str = "mem_01m7y9c4dpeqkspxh7a865d434";

async fn read(client: &Client, uri: &str) -> Result<Value, ErrorData> {
    match client.read_resource(ReadResourceRequestParams::new(uri)).await {
        Ok(answer) => match &answer.contents[..] {
            [ResourceContents::TextResourceContents { uri: found, mime_type, text, .. }] => {
                assert_eq!((found.as_str(), mime_type.as_deref()), (uri, Some("application/json")));
                let mut answer = serde_json::from_str(text).unwrap();
                without_note(&mut answer);
                Ok(answer)
            }
            other => panic!("{other:?}"),
        },
        Err(ServiceError::McpError(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

async fn complete(client: &Client, of: Reference, argument: &str, beginning: &str) -> Vec<String> {
    let argument = ArgumentInfo::new(argument, beginning);
    let found = client.complete(CompleteRequestParams::new(of, argument)).await.unwrap();
    found.completion.values
}

async fn recall(client: &Client, arguments: Value) -> Result<String, ServiceError> {
    prompted(client, "recall", arguments).await
}

async fn prompted(
    client: &Client,
    name: &'static str,
    arguments: Value,
) -> Result<String, ServiceError> {
    let mut request = GetPromptRequestParams::new(name);
    request.arguments = arguments.as_object().cloned();
    let prompt = client.get_prompt(request).await?;
    let [PromptMessage { content, .. }] = &prompt.messages[..] else { panic!("{prompt:?}") };
    Ok(content.as_text().unwrap().text.clone())
}

/// A shared and a private memory of ann's, and their ids.
fn kept(server: &Server) -> [String; 2] {
    let save = |text: &str, sharing: &str, topic: &str| {
        let fields = json!({"text": text, "sharing": sharing, "topics": [topic]});
        let saved = server.call("ann", "save_memory", &fields).unwrap();
        saved["memory"]["id"].as_str().unwrap().to_owned()
    };
    [save("The harbour opens at seven.", "shared", "Harbour"), save("Mine.", "private", "Hidden")]
}

fn uri_of(id: &str) -> String {
    format!("commonbook://memory/{id}")
}

#[test]
fn a_resource_equals_the_rest_response() {
    let home = Home::new();
    let server = Server::start(&home);
    let [shared, private] = kept(&server);
    server.call("ann/engineer", "save_memory", &json!({"text": "A child's."})).unwrap();
    for mcp in Mcp::every_way(&home, &server) {
        let way = mcp.way();
        mcp.with("ann", async |client| {
            let rest = |verb: &str, fields: Value| server.call("ann", verb, &fields).unwrap();
            for id in [&shared, &private] {
                let mut resource = read(client, &uri_of(id)).await.unwrap();
                let mut expected = rest("get_memory", json!({"id": id}));
                for value in [&mut resource, &mut expected] {
                    // Each of these reads is counted, in the background.
                    value.as_object_mut().unwrap().remove("usage");
                }
                assert_eq!(resource, expected, "{way}");
            }
            let agent = rest("get_agent", json!({"name": "ann/engineer"}));
            for name in ["ann%2Fengineer", "ann/engineer"] {
                let resource = read(client, &format!("commonbook://agent/{name}")).await.unwrap();
                assert_eq!(resource, agent, "{way}");
            }
            let mut stats = read(client, "commonbook://stats").await.unwrap();
            let mut expected = rest("get_memory_stats", json!({}));
            for value in [&mut stats, &mut expected] {
                value.as_object_mut().unwrap().remove("disk_bytes");
                // Each process has streams of its own.
                value.as_object_mut().unwrap().remove("bus").unwrap();
            }
            assert_eq!(stats, expected, "{way}");
        });
    }
}

#[test]
fn missing_and_invisible_resources_fail_with_the_same_error() {
    let home = Home::new();
    let server = Server::start(&home);
    let [_, private] = kept(&server);
    for mcp in Mcp::every_way(&home, &server) {
        let way = mcp.way();
        // The era without sessions has no code of its own for this.
        let code = if mcp.is_stateless() { -32602 } else { -32002 };
        mcp.with("bob", async |client| {
            for id in [private.as_str(), UNKNOWN] {
                let error = read(client, &uri_of(id)).await.unwrap_err();
                let rest = server.call("bob", "get_memory", &json!({"id": id})).unwrap_err();
                let data = error.data.unwrap();
                assert_eq!(error.code.0, code, "{way}");
                assert_eq!(data["error"]["message"], rest["message"], "{way}");
                assert_eq!(data["uri"], uri_of(id), "{way}");
            }
            for uri in ["commonbook://agent/nobody", "commonbook://case/x", "file:///etc/passwd"] {
                assert_eq!(read(client, uri).await.unwrap_err().code.0, code, "{way}: {uri}");
            }
            for uri in ["commonbook://memory/nonsense", "commonbook://agent/a:b"] {
                let error = read(client, uri).await.unwrap_err();
                assert_eq!(error.code.0, -32602, "{way}: {uri}");
                assert_eq!(error.data.unwrap()["error"]["kind"], "invalid", "{way}: {uri}");
            }
        });
    }
}

#[test]
fn the_list_has_the_resources_that_the_caller_may_read() {
    let home = Home::new();
    let server = Server::start(&home);
    let [shared, private] = kept(&server);
    for mcp in Mcp::every_way(&home, &server) {
        let way = mcp.way();
        for (agent, sees_private) in [("ann", true), ("bob", false)] {
            mcp.with(agent, async |client| {
                let all = client.list_all_resources().await.unwrap();
                let has = |uri: &str| all.iter().any(|resource| resource.uri == uri);
                for uri in ["commonbook://stats", "commonbook://agent/ann"] {
                    assert!(has(uri), "{way}: {uri}");
                }
                assert!(has(&uri_of(&shared)) && has(&uri_of(&private)) == sees_private, "{way}");
                for resource in &all {
                    read(client, &resource.uri).await.unwrap();
                }
                let templates = client.list_all_resource_templates().await.unwrap();
                let templates: Vec<_> =
                    templates.iter().map(|template| template.uri_template.as_str()).collect();
                let kinds = ["agent", "case", "memory"];
                assert_eq!(templates, kinds.map(|kind| format!("commonbook://{kind}/{{id}}")));
            });
        }
    }
}

#[test]
fn long_lists_are_paged_to_their_end() {
    let home = Home::new();
    let server = Server::start(&home);
    for batch in 0..6 {
        let texts: Vec<Value> =
            (0..100).map(|place| json!({"text": format!("tea {batch} {place}")})).collect();
        let body = json!(texts).to_string();
        for agent in 0..20 {
            let name = format!("agent-{batch}-{agent}");
            let memory = json!({"text": "tea"}).to_string();
            let body = if agent == 0 { &body } else { &memory };
            let who = [("X-Commonbook-Agent", name.as_str()), ("X-Commonbook-Workspace", "story")];
            assert_eq!(server.send("POST", "/v1/memories", &who, body.as_bytes()).unwrap().0, 201);
        }
    }
    Mcp::over_http(&home, &server).with("bob", async |client| {
        let (mut uris, mut cursor) = (Vec::new(), None);
        loop {
            let asked = PaginatedRequestParams::default().with_cursor(cursor);
            let page = client.list_resources(Some(asked)).await.unwrap();
            assert!(page.resources.len() <= 201);
            uris.extend(page.resources.into_iter().map(|resource| resource.uri));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let of = |kind: &str| uris.iter().filter(|uri| uri.contains(kind)).count();
        assert_eq!((of("/agent/"), of("/memory/"), of("/stats")), (120, 500, 1));
        assert_eq!(
            uris.iter().collect::<BTreeSet<_>>().len(),
            uris.len(),
            "no page repeats an item"
        );
    });
}

#[test]
fn every_list_refuses_an_unknown_cursor() {
    let home = Home::new();
    let server = Server::start(&home);
    for mcp in Mcp::every_way(&home, &server) {
        let way = mcp.way();
        mcp.with("bob", async |client| {
            for cursor in ["nonsense", "", "c1", "c1.2.3", "agent/a:b", "agent/"] {
                let asked =
                    || Some(PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned())));
                let refused = [
                    client.list_resources(asked()).await.map(drop),
                    client.list_resource_templates(asked()).await.map(drop),
                    client.list_prompts(asked()).await.map(drop),
                    // It has one page, and any position on it begins a part of it.
                    if cursor == "c1" {
                        continue;
                    } else {
                        client.list_tools(asked()).await.map(drop)
                    },
                ];
                for answer in refused {
                    let Err(ServiceError::McpError(error)) = answer else {
                        panic!("{way}: {cursor:?}: {answer:?}")
                    };
                    assert_eq!(error.code.0, -32602, "{way}: {cursor:?}");
                }
            }
        });
    }
}

#[test]
fn a_recall_shows_memories_with_id_and_author() {
    let home = Home::new();
    let server = Server::start(&home);
    let [shared, private] = kept(&server);
    for mcp in Mcp::every_way(&home, &server) {
        let way = mcp.way();
        mcp.with("bob", async |client| {
            let prompts = client.list_all_prompts().await.unwrap();
            let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
            assert_eq!(names, ["recall", "handoff", "summarise_case"]);
            let prompt = &prompts[0];
            let arguments = prompt.arguments.as_ref().unwrap();
            let described: Vec<_> = arguments
                .iter()
                .map(|argument| (argument.name.as_str(), argument.required))
                .collect();
            let expected = [("task", Some(true)), ("topic", Some(false)), ("agent", Some(false))];
            assert_eq!((prompt.name.as_str(), described), ("recall", expected.to_vec()));
            let text =
                recall(client, json!({"task": "When does the harbour open?"})).await.unwrap();
            assert!(text.contains(&format!("#{} ann, ", &shared[22..])), "{text}");
            assert!(text.contains("\n> The harbour opens at seven.\n"), "{text}");
            let mine = recall(client, json!({"task": "mine"})).await.unwrap();
            assert!(
                !mine.contains(&private) && mine.contains("has nothing about this task"),
                "{mine}"
            );
            for bad in [json!({}), json!({"task": ""}), json!({"task": "x", "who": "ann"})] {
                let Err(ServiceError::McpError(error)) = recall(client, bad.clone()).await else {
                    panic!("{way}: {bad}")
                };
                assert_eq!(error.code.0, -32602, "{way}: {bad}");
            }
            let unknown = client.get_prompt(GetPromptRequestParams::new("forget")).await;
            assert!(unknown.unwrap_err().to_string().contains("forget"), "{way}");
        });
    }
}

#[test]
fn prompts_show_a_handoff_and_a_case_by_their_ids() {
    let home = Home::new();
    let server = Server::start(&home);
    let entries = json!({"key": "k", "title": "Tea", "entries": [{"summary": "It is green"}]});
    server.call("ann", "append_entries", &entries).unwrap();
    let made = json!({"to": "bob", "task": "Mend the fence"});
    let made = server.call("ann", "create_handoff", &made).unwrap();
    let id = made["handoff"]["id"].as_str().unwrap();
    for mcp in Mcp::every_way(&home, &server) {
        let way = mcp.way();
        mcp.with("bob", async |client| {
            let waiting = Reference::for_prompt("handoff");
            assert_eq!(complete(client, waiting, "handoff", "hnd").await, [id], "{way}");
            let taken = prompted(client, "handoff", json!({"handoff": id})).await.unwrap();
            assert!(taken.contains("Mend the fence") && taken.contains("complete_handoff"));
            let prompt = prompted(client, "summarise_case", json!({"key": "k"})).await.unwrap();
            assert!(
                prompt.contains("It is green") && prompt.contains("append_entries"),
                "{prompt}"
            );
        });
        mcp.with("eve", async |client| {
            assert!(prompted(client, "handoff", json!({"handoff": id})).await.is_err(), "{way}");
        });
    }
}

#[test]
fn completions_contain_only_what_the_caller_may_read() {
    let home = Home::new();
    let server = Server::start(&home);
    let [shared, private] = kept(&server);
    let memory = || Reference::for_resource("commonbook://memory/{id}");
    let prompt = || Reference::for_prompt("recall");
    for mcp in Mcp::every_way(&home, &server) {
        let way = mcp.way();
        mcp.with("ann", async |client| {
            let mut both = [shared.clone(), private.clone()];
            both.sort();
            assert_eq!(complete(client, memory(), "id", "mem_").await, both, "{way}");
            let topics = complete(client, prompt(), "topic", "H").await;
            assert_eq!(topics, ["Harbour", "Hidden"], "{way}");
        });
        mcp.with("bob", async |client| {
            assert_eq!(complete(client, memory(), "id", "mem_").await, [shared.as_str()], "{way}");
            assert!(complete(client, memory(), "id", &private).await.is_empty(), "{way}");
            let topics = complete(client, prompt(), "topic", "h").await;
            assert_eq!(topics, ["Harbour"], "{way}");
            let agent = Reference::for_resource("commonbook://agent/{id}");
            assert_eq!(complete(client, agent, "id", "ann").await, ["ann"], "{way}");
            assert_eq!(complete(client, prompt(), "agent", "x").await, [""; 0], "{way}");
            assert!(complete(client, prompt(), "task", "When").await.is_empty(), "{way}");
            for (of, argument) in
                [(prompt(), "who"), (Reference::for_prompt("forget"), "task"), (memory(), "name")]
            {
                let argument = ArgumentInfo::new(argument, "");
                let answer = client.complete(CompleteRequestParams::new(of, argument)).await;
                let Err(ServiceError::McpError(error)) = answer else { panic!("{way}") };
                assert_eq!(error.code.0, -32602, "{way}");
            }
        });
    }
}
