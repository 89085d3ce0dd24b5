//! Inputs of the clients, modelled on real ones, and the responses to them.

use clap::ValueEnum as _;
use serde_json::json;

use super::*;
use crate::doors::hook::steps::{HookStep, UserCommand, hook_steps};
use HookClient::{ClaudeCode, Codex, Copilot, Cursor, Gemini, Opencode};

fn read(client: HookClient, event: &str, given: &Value) -> HookInput {
    HookInput::read(client, event, given.to_string().as_bytes()).expect("it is an object")
}

fn agent(name: &str) -> Agent {
    name.parse().expect(name)
}

/// The fields of an input from a sub-agent.
fn within(key: &str) -> Value {
    json!({ key: "a1", "agent_type": "engineer", "agentType": "engineer", "prompt": "p" })
}

fn check(table: Vec<(HookClient, &str, Value, HookEvent)>) {
    for (client, event, given, moment) in table {
        assert_eq!(read(client, event, &given).moment, moment, "{client} {event} {given}");
    }
}

#[test]
fn every_event_of_claude_code_codex_and_gemini_has_its_hook_event() {
    let tool =
        |name: &str| json!({"tool_name": name, "tool_input": {"prompt": "p", "message": "p"}});
    let empty = json!({});
    check(vec![
        (ClaudeCode, "SessionStart", empty.clone(), HookEvent::SessionStart),
        (ClaudeCode, "UserPromptSubmit", json!({"prompt": "hi"}), HookEvent::Prompt),
        (
            ClaudeCode,
            "UserPromptSubmit",
            json!({"prompt": "\n<task-notification>\nx"}),
            HookEvent::Other,
        ),
        (ClaudeCode, "PreToolUse", tool("Agent"), HookEvent::Delegation),
        (ClaudeCode, "PreToolUse", tool("Task"), HookEvent::Delegation),
        (
            ClaudeCode,
            "PreToolUse",
            json!({"tool_name": "Agent", "tool_input": {"prompt": " "}}),
            HookEvent::Other,
        ),
        (ClaudeCode, "PreToolUse", tool("mcp__commonbook__save_memory"), HookEvent::OwnCall),
        (
            ClaudeCode,
            "PreToolUse",
            tool("mcp__plugin_commonbook_commonbook__save_memory"),
            HookEvent::OwnCall,
        ),
        (ClaudeCode, "PreToolUse", tool("mcp__other__save_memory"), HookEvent::Other),
        (ClaudeCode, "PreToolUse", tool("Bash"), HookEvent::Other),
        (ClaudeCode, "SubagentStart", within("agent_id"), HookEvent::SubagentStart),
        (ClaudeCode, "SubagentStop", within("agent_id"), HookEvent::SubagentStop),
        (ClaudeCode, "PreCompact", json!({"trigger": "auto"}), HookEvent::Compaction),
        (ClaudeCode, "Stop", empty.clone(), HookEvent::TurnEnd),
        (ClaudeCode, "Stop", within("agent_id"), HookEvent::Other),
        (ClaudeCode, "SessionEnd", empty.clone(), HookEvent::SessionEnd),
        (ClaudeCode, "PostToolUse", tool("Agent"), HookEvent::Other),
        (ClaudeCode, "Unheard", empty.clone(), HookEvent::Other),
        (Codex, "PreToolUse", tool("spawn_agent"), HookEvent::Delegation),
        (Codex, "PreToolUse", tool("Agent"), HookEvent::Other),
        (Codex, "UserPromptSubmit", within("agent_id"), HookEvent::Other),
        (Gemini, "SessionStart", empty.clone(), HookEvent::SessionStart),
        (Gemini, "BeforeAgent", json!({"prompt": "hi"}), HookEvent::Prompt),
        (Gemini, "BeforeTool", tool("invoke_agent"), HookEvent::Delegation),
        (Gemini, "BeforeTool", tool("mcp_commonbook_search_memory"), HookEvent::OwnCall),
        (Gemini, "AfterTool", tool("invoke_agent"), HookEvent::SubagentStop),
        (Gemini, "AfterTool", tool("complete_task"), HookEvent::Other),
        (Gemini, "PreCompress", empty.clone(), HookEvent::Compaction),
        (Gemini, "AfterAgent", empty.clone(), HookEvent::TurnEnd),
        (Gemini, "SessionEnd", empty.clone(), HookEvent::SessionEnd),
        (Gemini, "BeforeModel", empty.clone(), HookEvent::Other),
    ]);
}

#[test]
fn the_events_of_cursor_are_read_as_it_documents_them() {
    let common = |event: &str| {
        json!({"conversation_id": "c1", "generation_id": "g1", "model": "m", "hook_event_name": event,
            "cursor_version": "3.7.21", "workspace_roots": ["/p", "/q"], "user_email": null, "transcript_path": null})
    };
    let with = |event: &str, fields: Value| {
        let mut given = common(event);
        given.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        read(Cursor, event, &given)
    };
    let start = with("sessionStart", json!({"session_id": "c1", "is_background_agent": false}));
    assert_eq!(start.moment, HookEvent::SessionStart);
    assert_eq!((start.session.as_deref(), start.cwd.as_deref()), (Some("c1"), Some("/p")));
    assert_eq!(
        HookResponse::Context("CTX".into()).render(&start),
        json!({"additional_context": "CTX"}).to_string()
    );
    let said = with("afterAgentResponse", json!({"text": "Done.\n\nRemember: tea"}));
    assert_eq!(said.moment, HookEvent::TurnEnd);
    assert_eq!(said.last_message.as_deref(), Some("Done.\n\nRemember: tea"));
    assert_eq!((said.session.as_deref(), said.subagent.as_ref()), (Some("c1"), None));
    assert_eq!(HookResponse::Context("CTX".into()).render(&said), "{}");
    let result = json!({"subagent_type": "qa", "status": "completed", "result": "Remember: milk",
        "duration": 3, "agent_transcript_path": null});
    let ended = with("subagentStop", result);
    assert_eq!(ended.moment, HookEvent::SubagentStop);
    assert_eq!(ended.last_message.as_deref(), Some("Remember: milk"));
    assert_eq!(ended.agent(&agent("cursor")).as_str(), "cursor/qa");
    for (event, moment) in [
        ("preCompact", HookEvent::Compaction),
        ("sessionEnd", HookEvent::SessionEnd),
        ("beforeSubmitPrompt", HookEvent::Other),
        ("preToolUse", HookEvent::Other),
        ("stop", HookEvent::Other),
    ] {
        assert_eq!(with(event, json!({"reason": "completed"})).moment, moment, "{event}");
    }
    // A text at another event of another client is no message.
    assert_eq!(read(Copilot, "agentStop", &json!({"text": "x"})).last_message, None);
}

#[test]
fn every_event_of_copilot_and_opencode_has_its_hook_event() {
    let called = |name: &str| json!({"toolName": name, "toolArgs": "{\"prompt\": \"p\"}"});
    let plugin =
        |name: &str| json!({"input": {"tool": name, "sessionID": "s"}, "args": {"prompt": "p"}});
    let empty = json!({});
    check(vec![
        (Copilot, "sessionStart", empty.clone(), HookEvent::SessionStart),
        (Copilot, "userPromptSubmitted", json!({"prompt": "hi"}), HookEvent::Prompt),
        (Copilot, "userPromptSubmitted", within("agentId"), HookEvent::Other),
        (Copilot, "preToolUse", called("task"), HookEvent::Delegation),
        (Copilot, "preToolUse", called("commonbook-save_memory"), HookEvent::OwnCall),
        (Copilot, "subagentStart", within("agentId"), HookEvent::SubagentStart),
        (Copilot, "subagentStop", within("agentId"), HookEvent::SubagentStop),
        (Copilot, "agentStop", empty.clone(), HookEvent::TurnEnd),
        (Copilot, "agentStop", within("agentId"), HookEvent::Other),
        (Copilot, "preCompact", empty.clone(), HookEvent::Compaction),
        (Copilot, "sessionEnd", empty.clone(), HookEvent::SessionEnd),
        (Copilot, "sessionEnd", within("agentId"), HookEvent::Other),
        (Copilot, "postToolUse", called("task"), HookEvent::Other),
        (
            Opencode,
            "event:session.created",
            json!({"info": {"directory": "/p"}}),
            HookEvent::SessionStart,
        ),
        (
            Opencode,
            "event:session.created",
            json!({"info": {"parentID": "s", "agent": "engineer"}}),
            HookEvent::SubagentStart,
        ),
        (
            Opencode,
            "experimental.chat.system.transform",
            json!({"prompt": "hi"}),
            HookEvent::Prompt,
        ),
        (Opencode, "chat.message", json!({"prompt": "hi", "parentID": "s"}), HookEvent::Other),
        (Opencode, "tool.execute.before", plugin("task"), HookEvent::Delegation),
        (Opencode, "tool.execute.before", plugin("commonbook_save_memory"), HookEvent::OwnCall),
        (Opencode, "tool.execute.after", plugin("task"), HookEvent::SubagentStop),
        (Opencode, "tool.execute.after", plugin("bash"), HookEvent::Other),
        (Opencode, "experimental.session.compacting", empty.clone(), HookEvent::Compaction),
        (Opencode, "event:session.idle", empty.clone(), HookEvent::TurnEnd),
        (Opencode, "event:session.idle", json!({"parentID": "s"}), HookEvent::Other),
        (Opencode, "event:session.deleted", json!({"parentID": "s"}), HookEvent::Other),
        (Opencode, "event:session.deleted", empty.clone(), HookEvent::SessionEnd),
        (Opencode, "dispose", empty, HookEvent::SessionEnd),
    ]);
}

/// The inputs of a prompt as each client sends them, of its user and, where it has them, of others.
#[test]
fn a_prompt_of_the_user_is_the_main_agents_and_all_others_are_not() {
    let session = "d8d0fc6f-e641-4a44-844e-3e32fda34789";
    let claude = |prompt: &str| {
        json!({"session_id": session, "transcript_path": "/t/s.jsonl", "cwd": "/p", "prompt_id": "ada5",
            "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": prompt})
    };
    let codex = json!({"session_id": session, "turn_id": "01a1", "transcript_path": "/t/r.jsonl",
        "cwd": "/p", "hook_event_name": "UserPromptSubmit", "model": "m", "prompt": "Deploy it"});
    let mut codex_within = codex.clone();
    codex_within["agent_id"] = "01a1fbcb-4fc6".into();
    codex_within["agent_type"] = "default".into();
    let gemini = json!({"session_id": session, "transcript_path": "/t/c.jsonl", "cwd": "/p",
        "hook_event_name": "BeforeAgent", "timestamp": "2026-11-21T01:43:34.593Z",
        "prompt": "<hook_context>what the session began with</hook_context>\n\nDeploy it"});
    let copilot = json!({"sessionId": session, "timestamp": 1_795_225_595_702_u64, "cwd": "/p",
        "prompt": "Deploy it"});
    let copilot_within = json!({"sessionId": "11d824d1", "cwd": "/p", "prompt": "look it up",
        "agentId": "11d824d1", "agentType": "engineer", "parentAgentId": session});
    let opencode = json!({"sessionID": session, "directory": "/p", "prompt": "Deploy it"});
    let opencode_within =
        json!({"sessionID": "ses_child", "parentID": session, "agent": "engineer", "prompt": "p"});
    let notification = "<task-notification>\n<task-id>a6bb</task-id>";
    let table = [
        (ClaudeCode, "UserPromptSubmit", claude("Deploy it"), true),
        (ClaudeCode, "UserPromptSubmit", claude(notification), false),
        (Codex, "UserPromptSubmit", codex, true),
        (Codex, "UserPromptSubmit", codex_within, false),
        (Gemini, "BeforeAgent", gemini, true),
        (Copilot, "userPromptSubmitted", copilot, true),
        (Copilot, "userPromptSubmitted", copilot_within, false),
        (Opencode, "chat.message", opencode, true),
        (Opencode, "chat.message", opencode_within, false),
    ];
    for (client, event, given, is_users) in table {
        let input = read(client, event, &given);
        assert_eq!(input.moment == HookEvent::Prompt, is_users, "{client} {given}");
        if is_users {
            assert_eq!(input.session.as_deref(), Some(session), "{client}");
            assert_eq!(input.prompt.as_deref(), Some("Deploy it"), "{client}");
            assert_ne!(HookResponse::Context("CTX".into()).render(&input), "{}", "{client}");
        }
    }
}

#[test]
fn the_event_in_the_input_overrides_the_event_in_the_command() {
    let given = json!({"hook_event_name": "Stop"});
    let input = read(ClaudeCode, "SessionStart", &given);
    assert_eq!((input.event.as_str(), input.moment), ("Stop", HookEvent::TurnEnd));
}

#[test]
fn the_fields_of_each_client_become_the_same_input() {
    let claude = read(
        ClaudeCode,
        "SubagentStop",
        &json!({
            "session_id": "s1", "transcript_path": "/t/s1.jsonl", "agent_transcript_path": "/t/a1.jsonl",
            "cwd": "/p", "agent_id": "a1", "agent_type": "engineer", "stop_hook_active": true,
            "last_assistant_message": "Remember: tea",
        }),
    );
    assert_eq!(claude.session.as_deref(), Some("s1"));
    assert_eq!(claude.transcript.as_deref(), Some("/t/a1.jsonl"));
    assert_eq!(claude.last_message.as_deref(), Some("Remember: tea"));
    assert!(claude.stop_hook_active);
    assert_eq!(claude.agent(&agent("claude-code")).as_str(), "claude-code/engineer");
}

#[test]
fn fields_with_other_names_become_the_same_input() {
    let copilot = read(
        Copilot,
        "subagentStop",
        &json!({"sessionId": "s2", "cwd": "/p", "transcriptPath": "/t", "agentId": "a", "agentName": "QA Agent", "response": "done"}),
    );
    assert_eq!(
        (copilot.session.as_deref(), copilot.transcript.as_deref()),
        (Some("s2"), Some("/t"))
    );
    assert_eq!(copilot.last_message.as_deref(), Some("done"));
    assert_eq!(copilot.agent(&agent("copilot")).as_str(), "copilot/qa");
    let gemini = read(
        Gemini,
        "AfterTool",
        &json!({
            "session_id": "s3", "tool_name": "invoke_agent", "tool_input": {"agent_name": "engineer", "prompt": "p"},
            "tool_response": {"llmContent": [{"text": "Subagent done"}], "returnDisplay": {"result": "All <hook_context>x</hook_context>good"}},
        }),
    );
    assert_eq!(gemini.last_message.as_deref(), Some("All good"));
    assert_eq!(gemini.agent(&agent("gemini")).as_str(), "gemini/engineer");
    let start = read(Copilot, "sessionStart", &json!({"initialPrompt": "Deploy it"}));
    assert_eq!(start.prompt.as_deref(), Some("Deploy it"));
    let input = read(
        Gemini,
        "AfterTool",
        &json!({"tool_name": "invoke_agent", "tool_response": {"llmContent": [{"text": "a"}, {"text": "b"}]}}),
    );
    assert_eq!(input.last_message.as_deref(), Some("a\nb"));
    let prompt = read(
        Gemini,
        "BeforeAgent",
        &json!({"prompt": "<hook_context>x</hook_context>\n\nDeploy it"}),
    );
    assert_eq!(prompt.prompt.as_deref(), Some("Deploy it"));
    let open = read(
        Opencode,
        "tool.execute.after",
        &json!({"input": {"tool": "task", "sessionID": "s4", "args": {"subagent_type": "engineer"}}, "output": "done", "directory": "/p"}),
    );
    assert_eq!((open.session.as_deref(), open.cwd.as_deref()), (Some("s4"), Some("/p")));
    assert_eq!(
        (open.last_message.as_deref(), open.agent(&agent("opencode")).role()),
        (Some("done"), "engineer")
    );
}

#[test]
fn a_sub_agent_works_in_the_session_of_the_agent_that_delegated() {
    let table = [
        (
            Copilot,
            "preToolUse",
            json!({"sessionId": "child", "agentId": "child", "parentAgentId": "main"}),
        ),
        (
            Copilot,
            "subagentStop",
            json!({"sessionId": "main", "agentId": "child", "parentAgentId": "main"}),
        ),
        (Opencode, "tool.execute.before", json!({"sessionID": "child", "parentID": "main"})),
        (Opencode, "tool.execute.before", json!({"input": {"tool": "t", "sessionID": "main"}})),
        (ClaudeCode, "PreToolUse", json!({"session_id": "main", "agent_id": "child"})),
    ];
    for (client, event, given) in table {
        assert_eq!(read(client, event, &given).session.as_deref(), Some("main"), "{given}");
    }
}

#[test]
fn the_answer_of_a_sub_agent_of_opencode_is_read_without_its_wrapper() {
    let wrapped = |text: &str| {
        format!(
            "<task id=\"s\" state=\"completed\">\n<task_result>\n{text}\n</task_result>\n</task>"
        )
    };
    let quoting = "It prints </task_result>\n\nRemember: tea";
    let table = [
        (wrapped("Done.\n\nRemember: tea"), "Done.\n\nRemember: tea"),
        (wrapped(quoting), quoting),
        ("Remember: tea".to_owned(), "Remember: tea"),
        ("<task_result> without an end".to_owned(), "<task_result> without an end"),
    ];
    for (output, expected) in table {
        let given = json!({"input": {"tool": "task"}, "output": output});
        let input = read(Opencode, "tool.execute.after", &given);
        assert_eq!(input.last_message.as_deref(), Some(expected));
    }
}

#[test]
fn the_reason_of_an_event_is_read_from_several_fields() {
    for (event, key, reason) in [
        ("SessionStart", "source", "resume"),
        ("SessionEnd", "reason", "clear"),
        ("PreCompact", "trigger", "auto"),
    ] {
        assert_eq!(
            read(ClaudeCode, event, &json!({ key: reason })).reason.as_deref(),
            Some(reason)
        );
    }
}

#[test]
fn a_role_becomes_a_child_and_an_invalid_name_is_ignored() {
    let of = |role: &str| {
        let given =
            json!({"tool_name": "Agent", "tool_input": {"prompt": "p", "subagent_type": role}});
        let input = read(ClaudeCode, "PreToolUse", &given);
        input.target_agent(&agent("claude-code")).map(String::from)
    };
    let table = [
        ("engineer", Some("claude-code/engineer")),
        ("Engineer Agent", Some("claude-code/engineer")),
        ("plugin:code-reviewer", Some("claude-code/code-reviewer")),
        ("a:b: ", Some("claude-code/b")),
        ("../../etc/passwd", Some("claude-code/etc-passwd")),
        ("a/b", Some("claude-code/a-b")),
        ("Human", Some("claude-code/role-human")),
        ("!!!", None),
        ("", None),
    ];
    for (role, expected) in table {
        assert_eq!(of(role).as_deref(), expected, "{role:?}");
    }
    assert_eq!(
        read(ClaudeCode, "Stop", &json!({})).agent(&agent("claude-code")),
        agent("claude-code")
    );
}

#[test]
fn a_delegated_task_gets_its_context_and_keeps_all_other_arguments() {
    let arguments = json!({"description": "d", "prompt": "Look it up\n", "subagent_type": "engineer", "x": [1]});
    let changed = json!({"description": "d", "prompt": "Look it up\n\nCTX", "subagent_type": "engineer", "x": [1]});
    let message = json!({"message": "Look it up\n\nCTX", "agent_type": "default"});
    let table = [
        (
            read(ClaudeCode, "PreToolUse", &json!({"tool_name": "Agent", "tool_input": arguments})),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": changed}}),
        ),
        (
            read(
                Codex,
                "PreToolUse",
                &json!({"tool_name": "spawn_agent", "tool_input": {"message": "Look it up", "agent_type": "default"}}),
            ),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": message}}),
        ),
        (
            read(
                Gemini,
                "BeforeTool",
                &json!({"tool_name": "invoke_agent", "tool_input": {"agent_name": "engineer", "prompt": "Look it up"}}),
            ),
            json!({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"agent_name": "engineer", "prompt": "Look it up\n\nCTX"}}}),
        ),
        (
            read(Copilot, "preToolUse", &json!({"toolName": "task", "toolArgs": arguments})),
            json!({"modifiedArgs": changed}),
        ),
        (
            read(
                Opencode,
                "tool.execute.before",
                &json!({"input": {"tool": "task"}, "args": arguments}),
            ),
            json!({"args": changed}),
        ),
    ];
    for (input, expected) in table {
        let rendered = delegation_response(&input, "CTX").render(&input);
        assert_eq!(serde_json::from_str::<Value>(&rendered).expect("JSON"), expected);
        assert_eq!(delegation_response(&input, "").render(&input), "{}");
        // A second hook, or a task that quotes ours, adds no second context.
        let ours = "<commonbook-123123123123>\nx\n</commonbook-123123123123>";
        let HookResponse::Arguments(once) = delegation_response(&input, ours) else {
            panic!("it hands over a task")
        };
        let mut again = input.clone();
        again.delegation.as_mut().expect("a task").task = once
            [input.delegation.as_ref().expect("a task").argument]
            .as_str()
            .expect("a text")
            .to_owned();
        assert_eq!(delegation_response(&again, ours), HookResponse::Arguments(once));
    }
    let stop = read(ClaudeCode, "Stop", &json!({}));
    assert_eq!(delegation_response(&stop, "CTX"), HookResponse::Nothing);
}

#[test]
fn context_is_returned_if_the_client_accepts_it() {
    let own = |client: HookClient, event: &str| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "CTX"}, "c": client.name()});
    let table = [
        (ClaudeCode, "SessionStart", own(ClaudeCode, "SessionStart")["hookSpecificOutput"].clone()),
        (
            ClaudeCode,
            "UserPromptSubmit",
            own(ClaudeCode, "UserPromptSubmit")["hookSpecificOutput"].clone(),
        ),
        (Codex, "SessionStart", own(Codex, "SessionStart")["hookSpecificOutput"].clone()),
        (Gemini, "BeforeAgent", own(Gemini, "BeforeAgent")["hookSpecificOutput"].clone()),
    ];
    for (client, event, expected) in table {
        let input = read(client, event, &json!({"prompt": "hi"}));
        let rendered = HookResponse::Context("CTX".into()).render(&input);
        assert_eq!(
            serde_json::from_str::<Value>(&rendered).expect("JSON"),
            json!({ "hookSpecificOutput": expected })
        );
        assert_eq!(HookResponse::Context(String::new()).render(&input), "{}");
        assert_eq!(HookResponse::Nothing.render(&input), "{}");
        assert_eq!(HookResponse::Arguments(Map::new()).render(&input), "{}");
    }
    let copilot = read(Copilot, "userPromptSubmitted", &json!({"prompt": "hi"}));
    assert_eq!(
        HookResponse::Context("CTX".into()).render(&copilot),
        r#"{"additionalContext":"CTX"}"#
    );
    let opencode = read(Opencode, "experimental.chat.system.transform", &json!({}));
    assert_eq!(HookResponse::Context("CTX".into()).render(&opencode), r#"{"context":"CTX"}"#);
    for event in [
        "Stop",
        "SessionEnd",
        "PreCompact",
        "SubagentStart",
        "SubagentStop",
        "PreToolUse",
        "PostToolUse",
    ] {
        let input = read(ClaudeCode, event, &json!({"agent_id": "a"}));
        assert_eq!(HookResponse::Context("CTX".into()).render(&input), "{}", "{event}");
    }
}

#[test]
fn the_arguments_of_our_own_tools_can_be_changed() {
    let input = read(
        ClaudeCode,
        "PreToolUse",
        &json!({"tool_name": "mcp__commonbook__save_memory", "tool_input": {"text": "t"}, "agent_id": "a", "agent_type": "qa"}),
    );
    let mut arguments = input.tool.as_ref().expect("a tool").arguments.clone();
    arguments.insert("ticket".into(), "x".into());
    let expected = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"text": "t", "ticket": "x"}}});
    assert_eq!(HookResponse::Arguments(arguments).render(&input), expected.to_string());
}

#[test]
fn input_that_is_not_an_object_is_refused() {
    for bad in ["", "[]", "null", "{", "\"x\"", "{} {}"] {
        assert!(HookInput::read(ClaudeCode, "Stop", bad.as_bytes()).is_err(), "{bad:?}");
    }
    assert!(HookInput::read(ClaudeCode, "Stop", b"\xff").is_err());
}

#[test]
fn steps_run_by_priority() {
    let command =
        |moment, priority, command: &str| UserCommand { moment, priority, command: command.into() };
    let commands = [
        command(HookEvent::Prompt, 100, "last"),
        command(HookEvent::Prompt, 20, "with"),
        command(HookEvent::Prompt, 0, "first"),
        command(HookEvent::TurnEnd, 79, "before"),
        command(HookEvent::TurnEnd, 81, "after"),
    ];
    let names = |moment| {
        let steps = hook_steps(moment, &commands).expect("priorities");
        let name = |step: &HookStep<'_>| match step {
            HookStep::Memory => "memory".to_owned(),
            HookStep::Learning => "learning".to_owned(),
            HookStep::Command(command) => command.command.clone(),
        };
        steps.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(names(HookEvent::Prompt), ["first", "memory", "with", "last"]);
    assert_eq!(names(HookEvent::TurnEnd), ["before", "learning", "after"]);
    assert_eq!(names(HookEvent::SessionEnd), ["learning"]);
    assert_eq!(names(HookEvent::Other), Vec::<String>::new());
    assert!(hook_steps(HookEvent::Prompt, &[command(HookEvent::Prompt, 101, "x")]).is_err());
}

proptest::proptest! {
    #[test]
    fn any_object_is_read_and_gets_a_response(
        keys in proptest::collection::vec("(hook_event_name|tool_name|toolName|tool_input|toolArgs|input|args|prompt|agent_id|info|tool_response|output)", 0..6),
        values in proptest::collection::vec("(SessionStart|PreToolUse|Agent|task|\\{\"prompt\": \"p\"\\}|<hook_context>|</hook_context>|\\PC{0,8})", 6),
        event in "(PreToolUse|BeforeTool|preToolUse|tool.before|AfterTool|tool.after)",
        nested in proptest::bool::ANY,
    ) {
        let pairs = keys.into_iter().zip(values).map(|(key, value)| {
            let value = if nested { serde_json::from_str(&value).unwrap_or(Value::from(value)) } else { Value::from(value) };
            (key, value)
        });
        let given = Value::Object(pairs.collect());
        for client in HookClient::value_variants() {
            let input = read(*client, &event, &given);
            for answer in [HookResponse::Context("x".into()), delegation_response(&input, "x"), HookResponse::Nothing] {
                let rendered = answer.render(&input);
                assert!(serde_json::from_str::<Value>(&rendered).expect("JSON").is_object());
                assert!(!rendered.contains('\n'));
            }
        }
    }
}
