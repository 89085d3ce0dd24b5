//! The registry against each door, and against the page that describes them.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;

/// The names of the verbs of the registry for which `holds` is true.
fn named(holds: impl Fn(&Verb) -> bool) -> BTreeSet<&'static str> {
    all().iter().filter(|verb| holds(verb)).map(|verb| verb.name).collect()
}

#[test]
fn every_verb_route_and_command_is_listed_once() {
    let (mut names, mut routes, mut commands) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for verb in all() {
        assert!(names.insert(verb.name), "{}", verb.name);
        if let Some(route) = &verb.route {
            assert!(routes.insert((route.method.to_string(), route.path)), "{}", verb.name);
        }
        if let Some(VerbCommandName::Own(command)) = verb.command {
            assert!(commands.insert(command), "{}", verb.name);
        }
        assert_eq!(find(verb.name).map(|found| found.name), Some(verb.name));
    }
}

#[test]
fn a_verb_that_another_names_is_in_the_registry() {
    for verb in all() {
        if let Some(VerbCommandName::Of { verb: other, field }) = verb.command {
            let other = find(other).unwrap();
            assert!(matches!(other.command, Some(VerbCommandName::Own(_))), "{}", verb.name);
            assert!(verb.call.fields().any(|(name, _)| name == field), "{}", verb.name);
        }
        if let Some(other) = verb.tool_without_arguments {
            let other = find(other).unwrap();
            let required = other.call.request["required"].as_array();
            assert!(required.is_none_or(Vec::is_empty), "{}", other.name);
            assert!(verb.tool.is_some() && !other.writes(), "{}", verb.name);
        }
        if let Some(ListBody { verb: other, field }) = verb.list_body {
            let other = find(other).unwrap();
            assert!(other.call.fields().any(|(name, _)| name == field), "{}", verb.name);
        }
        for need in &verb.needs {
            let has = |field| verb.call.fields().any(|(name, _)| name == field);
            assert!(need.field.is_none_or(has), "{}", verb.name);
        }
    }
}

#[test]
fn a_joined_tool_names_verbs_and_their_fields() {
    for tool in JOINED_TOOLS {
        assert_eq!(tool.verbs().count(), tool.actions.len(), "{}", tool.name);
        assert!(tool.verbs().all(|verb| verb.effect != VerbEffect::Destroys), "{}", tool.name);
        for name in tool.fields {
            let has = |verb: &Verb| verb.call.fields().any(|(field, _)| field == *name);
            assert!(tool.verbs().any(has), "{}: {name}", tool.name);
        }
        assert!(!tool.actions[0].verb.is_empty() && find(tool.name).is_none());
    }
}

#[test]
fn a_checkpoint_with_a_summary_keeps_both() {
    let sessions = JoinedTool::find("sessions").unwrap();
    for (summary, verb) in [("Rollout done", "checkpoint_and_summarise"), ("", "create_checkpoint")]
    {
        let sent = json!({"action": "checkpoint", "title": "noon", "summary": summary});
        let mut arguments = sent.as_object().unwrap().clone();
        let found = sessions.take_verb(&mut arguments, false).expect("a verb");
        assert_eq!((found.name, arguments.contains_key("summary")), (verb, !summary.is_empty()));
    }
}

#[test]
fn an_action_is_read_in_any_case_and_a_call_without_arguments_is_the_first() {
    let cases = JoinedTool::find("cases").unwrap();
    let table = [
        (json!({}), Ok("list_cases")),
        (json!({"action": null, "key": ""}), Ok("list_cases")),
        (json!({"action": "Read", "key": "pay"}), Ok("read_case")),
        (json!({"key": "pay"}), Err("is missing; expected one of list, read, append")),
        (json!({"action": "get", "key": "pay"}), Ok("read_case")),
        (json!({"action": "read_case", "key": "pay"}), Ok("read_case")),
        (json!({"action": "Add", "key": "pay", "summary": "x"}), Ok("append_entry")),
        (json!({"action": "open", "key": "pay", "title": "Pay"}), Ok("open_case")),
        (json!({"action": "create", "key": "pay", "summary": "x"}), Ok("append_entry")),
        (json!({"action": "close", "key": "pay", "summary": "x"}), Err("is closed without a text")),
        (json!({"action": "delete"}), Err("is \"delete\"; expected one of list")),
    ];
    for (sent, expected) in table {
        let mut arguments = sent.as_object().unwrap().clone();
        let found = cases.take_verb(&mut arguments, false);
        match (found, expected) {
            (Ok(verb), Ok(name)) => assert_eq!(verb.name, name, "{sent}"),
            (Err(error), Err(part)) => assert!(error.message.contains(part), "{sent}: {error}"),
            (found, _) => panic!("{sent}: {:?}", found.map(|verb| verb.name)),
        }
        assert!(!arguments.contains_key(ACTION));
    }
}

#[test]
fn a_field_of_another_action_goes_if_nothing_is_lost_with_it() {
    let cases = JoinedTool::find("cases").unwrap();
    let table = [
        // Sent, by a client that sends every field, what is left.
        (json!({"action": "list", "key": "", "text": null}), false, json!({})),
        (json!({"action": "list", "kind": "note"}), false, json!({"kind": "note"})),
        (json!({"action": "list", "kind": "note", "key": "pay"}), true, json!({"key": "pay"})),
        (json!({"action": "read", "key": "pay", "kind": "note"}), true, json!({"key": "pay"})),
        (json!({"action": "append", "kind": "note"}), true, json!({"kind": "note"})),
    ];
    for (sent, is_filled, left) in table {
        let mut arguments = sent.as_object().unwrap().clone();
        cases.take_verb(&mut arguments, is_filled).unwrap();
        assert_eq!(json!(arguments), left, "{sent}");
    }
}

#[test]
fn every_field_in_a_path_is_a_field_of_the_request() {
    for verb in all() {
        let path = verb.route.as_ref().map_or("", |route| route.path);
        for field in path.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
            assert!(verb.call.fields().any(|(name, _)| name == field), "{}: {field}", verb.name);
        }
    }
}

#[test]
fn each_door_has_the_verbs_of_the_registry_and_no_other() {
    let routes = crate::doors::rest::openapi();
    let paths = routes["paths"].as_object().unwrap().iter();
    let of_verbs = paths.filter(|(path, _)| path.starts_with("/v1/"));
    let operations = of_verbs.flat_map(|(_, path)| path.as_object().unwrap().values());
    let operations = operations.filter_map(|operation| operation["operationId"].as_str());
    let operations: BTreeSet<String> = operations.map(str::to_owned).collect();
    let names = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
    assert_eq!(operations, names(named(|verb| verb.route.is_some())));
    let tools: BTreeSet<String> =
        crate::doors::mcp::tools().into_iter().map(|tool| tool.name.into_owned()).collect();
    let mut expected = named(|verb| verb.tool.is_some());
    expected.extend(JOINED_TOOLS.iter().map(|tool| tool.name));
    assert_eq!(tools, names(expected));
    assert_eq!(crate::doors::cli::commanded_verbs(), named(|verb| verb.command.is_some()));
    assert_eq!(crate::doors::mcp::prompt_count(), 3);
    assert_eq!(crate::doors::mcp::resource_kind_count(), 4);
    // The others are not called through the table of a door.
    let elsewhere =
        |verb: &Verb| verb.route.is_none() && verb.tool.is_none() && verb.command.is_none();
    assert_eq!(named(elsewhere), BTreeSet::from(["recall"]), "recall is a prompt");
}

/// The rows of the table of verbs in `docs/api.md`: tools, routes and commands.
fn documented() -> Vec<[String; 3]> {
    let page = include_str!("../../../../../docs/api.md");
    let table = page.split("| verb | MCP tool | REST | command |").nth(1).unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let line = line.replace("\\|", "/");
        let mut cells = line.split('|').skip(2).map(|cell| cell.trim().to_owned());
        std::array::from_fn(|_| cells.next().unwrap_or_default())
    };
    rows.map(row).collect()
}

/// The code spans of a cell.
fn spans(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn the_page_of_the_surfaces_has_every_verb_of_the_registry_and_no_other() {
    let rows = documented();
    let tools: BTreeSet<&str> = rows.iter().flat_map(|[tools, ..]| spans(tools)).collect();
    assert_eq!(tools, named(|verb| verb.tool.is_some()));
    for [tools, ..] in &rows {
        for tool in tools.split(", ").filter(|tool| !tool.is_empty()) {
            let name = spans(tool).next().unwrap();
            let tier = find(name).unwrap().tool;
            assert_eq!(tool.contains('¹'), tier == Some(ToolTier::Team), "docs/api.md: {name}");
            assert_eq!(tool.contains('²'), tier == Some(ToolTier::Full), "docs/api.md: {name}");
        }
    }
    let written: BTreeSet<String> = rows
        .iter()
        .flat_map(|[_, routes, _]| spans(routes).filter(|route| route.contains(" /v1/")))
        .map(|route| route.split('?').next().unwrap().to_owned())
        .collect();
    let routes = all().iter().filter_map(|verb| verb.route.as_ref());
    let routes: BTreeSet<String> =
        routes.map(|route| format!("{} {}", route.method, route.path)).collect();
    assert_eq!(written, routes);
    let commands = all().iter().filter_map(|verb| match verb.command? {
        VerbCommandName::Own(command) => Some(command),
        VerbCommandName::Of { .. } => None,
    });
    let commands: Vec<&str> = commands.collect();
    let written: Vec<&str> = rows.iter().flat_map(|[_, _, commands]| spans(commands)).collect();
    let is_of = |written: &str, command: &str| {
        written.strip_prefix(command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    for command in &commands {
        assert!(written.iter().any(|line| is_of(line, command)), "docs/api.md lacks `{command}`");
    }
    // The commands of the program itself are no verbs.
    for line in written.into_iter().filter(|line| !["monitor", "import PATH"].contains(line)) {
        assert!(commands.iter().any(|command| is_of(line, command)), "docs/api.md: `{line}`");
    }
}
