//! Three agents work on one matter over MCP: the analyst's finding reaches QA under
//! the analyst's name, two agents name one thing, and the session goes on in another client.

use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use crate::world::{Client, Home, Mcp, Server};

/// Calls a tool; returns its response.
async fn call(client: &Client, tool: &'static str, fields: Value) -> Value {
    let mut request = CallToolRequestParams::new(tool);
    request.arguments = fields.as_object().cloned();
    request.arguments.get_or_insert_default().insert("verbose".to_owned(), json!(true));
    let answer = client.call_tool(request).await.unwrap();
    assert_ne!(answer.is_error, Some(true), "{tool}: {answer:?}");
    answer.structured_content.unwrap()
}

/// The analyst works in a session, and hands over; returns the session and the handoff.
fn analyse(mcp: &Mcp<'_>) -> (Value, Value) {
    mcp.with("analyst", async |client| {
        call(client, "open_case", json!({"key": "slow-orders", "title": "Slow orders"})).await;
        let start = json!({"client_session": "monday", "case": "slow-orders"});
        let session = call(client, "start_session", start).await["session"]["id"].clone();
        let finding = "N+1 query in getUserOrders: one database query for each order row";
        call(client, "save_memory", json!({"text": finding, "memory_type": "semantic"})).await;
        let known =
            json!({"type": "tool", "value": "TypeScript", "context": "Used for type safety"});
        call(client, "resolve_entity", known).await;
        let decision = json!({"key": "slow-orders", "entries": [
            {"summary": "The orders query is the bottleneck", "kind": "decision"}]});
        call(client, "append_entries", decision).await;
        let handoff = json!({
            "target_agent": "developer", "task": "Fix the performance issues identified",
            "case": "slow-orders", "decisions_made": ["Keep the API as it is"],
            "active_files": ["src/orders.ts"], "next_steps": ["Add a test with 400 orders"],
        });
        let made = call(client, "create_handoff", handoff).await;
        (session, made["handoff"]["id"].clone())
    })
}

/// The developer accepts, fixes and hands on; returns the handoff.
fn develop(mcp: &Mcp<'_>, handoff: &Value) -> Value {
    mcp.with("developer", async |client| {
        let context = call(client, "get_context", json!({"task": "What is next?"})).await;
        let text = context["text"].as_str().unwrap();
        assert!(text.contains("analyst hands you this task"), "{text}");
        let taken = call(client, "accept_handoff", json!({"handoff": handoff})).await;
        let text = taken["text"].as_str().unwrap();
        for part in ["N+1 query", " analyst, ", "src/orders.ts", "Keep the API as it is"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let again =
            json!({"type": "tool", "value": "typescript", "context": "Compile target ES2020"});
        let known = call(client, "resolve_entity", again).await;
        assert_eq!(known["outcome"], "matched");
        assert_eq!(known["entity"]["context"], "Used for type safety. Compile target ES2020");
        let fixed = "The orders query joins the rows now: 0.2 seconds for 400 orders";
        call(client, "save_memory", json!({"text": fixed})).await;
        let next = json!({"to": "qa", "task": "Validate the performance fix of the orders"});
        let made = call(client, "create_handoff", next).await["handoff"].clone();
        assert_eq!((&made["chain"], &made["depth"]), (handoff, &json!(2)));
        call(client, "complete_handoff", json!({"handoff": handoff, "result": "It joins"})).await;
        made["id"].clone()
    })
}

#[test]
fn findings_reach_qa_by_handoffs_and_the_session_resumes_elsewhere() {
    let home = Home::new();
    let server = Server::start(&home);
    for mcp in Mcp::every_way(&home, &server).into_iter().take(2) {
        let (session, first) = analyse(&mcp);
        let second = develop(&mcp, &first);
        mcp.with("qa", async |client| {
            let taken = call(client, "accept_handoff", json!({"handoff": second})).await;
            let text = taken["text"].as_str().unwrap();
            let finding = text.find("N+1 query").expect("the analyst's finding");
            assert!(text[..finding].contains(" analyst, "), "{text}");
            assert!(text.contains("joins the rows now") && text.contains(" developer, "), "{text}");
            let passed = json!({"handoff": second, "result": "Measured and approved"});
            call(client, "complete_handoff", passed).await;
            let graph = call(client, "get_collaborations", json!({"chain": first})).await;
            assert_eq!(graph["statistics"]["by_status"]["completed"], 2, "{graph}");
        });
        // Another client, and another agent, resume the session.
        mcp.with("cursor", async |client| {
            let resumed = call(client, "resume_session", json!({"session": session})).await;
            let text = resumed["text"].as_str().unwrap();
            assert!(text.contains("N+1 query") && text.contains("slow-orders"), "{text}");
            assert_ne!(resumed["session"]["id"], session, "a session of its own, on the same case");
            assert_eq!(resumed["history"][0]["status"], "completed", "{resumed}");
            let read = json!({"key": "slow-orders", "after": 0});
            let read = call(client, "read_case", read).await;
            assert_eq!(read["entries"][0]["summary"], "The orders query is the bottleneck");
        });
    }
}
