//! The dashboard: who may look, what each page shows, and that no text becomes markup.

use serde_json::{Value, json};

use crate::world::{Cli, Door, Home, Server, WORKSPACE};

/// Every page, and one thing on each page that has things.
pub(crate) const PAGES: [&str; 15] = [
    "now",
    "memories",
    "cases",
    "handoffs",
    "entities",
    "contexts",
    "knowledge",
    "contradictions",
    "review",
    "standing",
    "agreements",
    "vaults",
    "agents",
    "health",
    "find?q=tea",
];

/// What a browser received.
pub(crate) struct Shown {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) location: String,
    policy: String,
    tag: String,
    pub(crate) cookie: String,
}

/// A browser with its cookie.
pub(crate) struct Browser<'s> {
    pub(crate) server: &'s Server,
    pub(crate) cookie: String,
}

impl Browser<'_> {
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Shown {
        let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0);
        let agent = ureq::Agent::new_with_config(config.build());
        let url = format!("{}{path}", self.server.url);
        let mut request = ureq::http::Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !self.cookie.is_empty() {
            request = request.header("cookie", &self.cookie);
        }
        let request = request.body(body.to_owned()).unwrap();
        let mut response = agent.run(request).unwrap();
        let header = |name: &str| {
            let value = response.headers().get(name);
            value.map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
        };
        Shown {
            status: response.status().as_u16(),
            location: header("location"),
            policy: header("content-security-policy"),
            tag: header("etag"),
            cookie: header("set-cookie"),
            body: response.body_mut().read_to_string().unwrap(),
        }
    }

    pub(crate) fn get(&self, page: &str) -> Shown {
        self.request("GET", &format!("/dashboard/w/{WORKSPACE}/{page}"), &[], "")
    }

    /// Sends a form as a page of the server does, with the token of the page that has it.
    pub(crate) fn send_form(&self, verb: &str, fields: &[(&str, &str)]) -> Shown {
        self.send_form_in(WORKSPACE, verb, fields)
    }

    /// The same in another workspace.
    pub(crate) fn send_form_in(
        &self,
        workspace: &str,
        verb: &str,
        fields: &[(&str, &str)],
    ) -> Shown {
        self.send_to(&format!("/dashboard/w/{workspace}/do/{verb}"), fields)
    }

    /// Sends a form to this path.
    pub(crate) fn send_to(&self, path: &str, fields: &[(&str, &str)]) -> Shown {
        let page = self.get("memories").body;
        let token = between(&page, "name=\"form_token\" value=\"", "\"");
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("form_token", &token).extend_pairs(fields);
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("sec-fetch-site", "same-origin"),
        ];
        self.request("POST", path, &headers, &form.finish())
    }
}

pub(crate) fn between(text: &str, start: &str, end: &str) -> String {
    let rest = text.split_once(start).unwrap_or_else(|| panic!("no {start} in {text}")).1;
    rest.split_once(end).unwrap().0.to_owned()
}

/// A page as a reader sees it: its text alone, with single spaces.
pub(crate) fn text_of(page: &str) -> String {
    let mut text = String::new();
    for part in page.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, text)| text));
        text.push(' ');
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The path of a link that signs in.
fn sign_in_link(home: &Home) -> String {
    let output = home.run(&["dashboard", "--no-open", "--workspace", WORKSPACE]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let url = String::from_utf8(output.stdout).unwrap();
    format!("/dashboard{}", url.trim().split_once("/dashboard").unwrap().1)
}

pub(crate) fn signed_in<'s>(home: &Home, server: &'s Server) -> Browser<'s> {
    let mut browser = Browser { server, cookie: String::new() };
    let shown = browser.request("GET", &sign_in_link(home), &[("sec-fetch-site", "none")], "");
    assert_eq!((shown.status, &*shown.location), (303, &*format!("/dashboard/w/{WORKSPACE}/now")));
    assert!(shown.cookie.contains("HttpOnly") && shown.cookie.contains("SameSite=Strict"));
    browser.cookie = shown.cookie.split(';').next().unwrap().to_owned();
    browser
}

/// Sends the form of the sign-in page.
fn sign_in(server: &Server, secret: &str) -> Shown {
    let browser = Browser { server, cookie: String::new() };
    let headers =
        [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
    browser.request("POST", "/dashboard/sign-in", &headers, &format!("token={secret}"))
}

/// A browser that signed in with this token.
pub(crate) fn signed_in_with<'s>(server: &'s Server, secret: &str) -> Browser<'s> {
    let shown = sign_in(server, secret);
    assert_eq!(shown.status, 303, "{}", shown.body);
    Browser { server, cookie: shown.cookie.split(';').next().unwrap().to_owned() }
}

#[test]
fn a_cookie_is_worth_nothing_after_signing_out_in_every_server_of_the_home() {
    let home = Home::new();
    let server = Server::start(&home);
    let browser = signed_in(&home, &server);
    assert_eq!(browser.get("memories").status, 200);
    let ended = browser.send_to("/dashboard/sign-out", &[]);
    assert_eq!((ended.status, &*ended.location), (303, "/dashboard/sign-in"));
    assert_eq!(browser.get("memories").status, 401, "the old cookie");
    let cookie = browser.cookie.clone();
    drop(server);
    let server = Server::start(&home);
    assert_eq!(Browser { server: &server, cookie }.get("memories").status, 401, "a new server");
}

pub(crate) fn save(home: &Home, agent: &str, fields: &Value) -> String {
    let saved = Cli(home).call(agent, "save_memory", fields).unwrap();
    saved["memory"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_link_signs_in_once_and_a_stranger_sees_no_page() {
    let home = Home::new();
    let server = Server::start(&home);
    save(&home, "ann", &json!({"text": "Ann likes tea"}));
    let stranger = Browser { server: &server, cookie: String::new() };
    for page in PAGES {
        let shown = stranger.get(page);
        assert_eq!(shown.status, 401, "{page}");
        assert!(!shown.body.contains("likes tea"), "{page}");
        assert!(shown.body.contains("commonbook dashboard"), "{page} says how to sign in");
    }
    assert_eq!(stranger.get("stream").status, 401);
    let link = sign_in_link(&home);
    let none = [("sec-fetch-site", "none")];
    assert_eq!(stranger.request("GET", &link, &none, "").status, 303);
    let again = stranger.request("GET", &link, &none, "");
    assert_eq!(again.status, 401);
    assert!(again.body.contains("the link was opened before"), "{}", again.body);
    let foreign = [("sec-fetch-site", "cross-site")];
    assert_eq!(stranger.request("GET", &sign_in_link(&home), &foreign, "").status, 403);
}

#[test]
fn every_page_shows_with_its_policy_and_its_tag() {
    let home = Home::new();
    let server = Server::start(&home);
    let id = save(&home, "ann", &json!({"text": "Ann likes tea", "topics": ["tea"]}));
    let browser = signed_in(&home, &server);
    let memory = format!("memories/{id}");
    let why = format!("{memory}?agent=bob");
    for page in PAGES.into_iter().chain([&*memory, &*why, "agents/ann", "memories?q=tea"]) {
        let shown = browser.get(page);
        assert_eq!(shown.status, 200, "{page}: {}", shown.body);
        assert!(shown.policy.starts_with("default-src 'self';"), "{page}: {}", shown.policy);
        let inline = ["<style", "style=", "onclick", "onload", "javascript:", "<script>"];
        for inline in inline {
            assert!(!shown.body.contains(inline), "{page} has {inline}");
        }
        let known = [("if-none-match", &*shown.tag)];
        let path = format!("/dashboard/w/{WORKSPACE}/{page}");
        if !["now", "health"].contains(&page) {
            assert_eq!(browser.request("GET", &path, &known, "").status, 304, "{page}");
        }
    }
    assert!(browser.get(&why).body.contains("bob sees it: ann shares it"));
    let missing = browser.get("memories/mem_00000000000000000000000000");
    assert_eq!(missing.status, 404);
    assert_eq!(browser.get("nowhere").status, 404);
    assert_eq!(browser.get("now/1").status, 404);
}

#[test]
fn the_menu_has_fifty_workspaces_and_find_has_the_others() {
    let home = Home::new();
    let server = Server::start(&home);
    save(&home, "ann", &json!({"text": "Ann likes tea"}));
    for number in 0..60 {
        let name = format!("team-{number:02}");
        let saved = home.run(&["save", "Deploys run on Friday", "--workspace", &name]);
        assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
    }
    let browser = signed_in(&home, &server);
    let page = browser.get("memories").body;
    let menu = between(&page, "<details class=\"menu\">", "</details>");
    assert_eq!(menu.matches("<li>").count(), 51, "{menu}");
    assert!(menu.contains("/dashboard/w/team-48/memories") && !menu.contains("team-49"), "{menu}");
    assert!(text_of(&menu).contains("Find one of 11 more"), "{menu}");
    let found = browser.get("find?q=TEAM-59").body;
    assert!(found.contains("<a href=\"/dashboard/w/team-59/now\">"), "{found}");
}

/// The command lines that a page shows for what it does.
fn command_lines(page: &str) -> Vec<String> {
    let codes = page.split("<code>").skip(1).filter_map(|rest| rest.split_once("</code>"));
    let lines = codes.map(|(code, _)| {
        let marks =
            [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&#39;", "'"), ("&amp;", "&")];
        marks.iter().fold(code.to_owned(), |code, (mark, letter)| code.replace(mark, letter))
    });
    lines.filter(|line| line.starts_with("commonbook ") && line.contains("--workspace")).collect()
}

#[test]
fn each_command_that_a_page_shows_can_be_typed() {
    let home = Home::new();
    let server = Server::start(&home);
    let id = save(&home, "ann", &json!({"text": "Ann's tea is \"hot\"", "topics": ["tea"]}));
    let browser = signed_in(&home, &server);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_commonbook")).parent().unwrap();
    let things = [
        format!("memories/{id}"),
        "memories?q=Ann's+tea".to_owned(),
        format!("review?retract={id}"),
        format!("review?forget={id}"),
        "review?consolidate=true".to_owned(),
        "agents/ann".to_owned(),
    ];
    let mut typed = 0;
    for page in PAGES.into_iter().chain(things.iter().map(String::as_str)) {
        for line in command_lines(&browser.get(page).body) {
            let mut shell = home.program(&[]);
            let mut command = std::process::Command::new("sh");
            command
                .args(["-c", &line])
                .envs(shell_environment(&mut shell))
                .current_dir(home.path());
            command.env("PATH", format!("{}:/usr/bin:/bin", program.display()));
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{page}: {line}: {said}");
            typed += 1;
        }
    }
    assert!(typed > 15, "{typed} commands were shown");
}

/// The variables that the tests set for the program.
fn shell_environment(program: &mut std::process::Command) -> Vec<(String, String)> {
    let set = program
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value?.to_str()?.to_owned())));
    set.collect()
}

#[test]
fn a_form_needs_its_token_and_a_page_of_the_server() {
    let home = Home::new();
    let server = Server::start(&home);
    let browser = signed_in(&home, &server);
    let saved = browser.send_form(
        "save_memory",
        &[("text", "Written on a page"), ("back", "/dashboard/w/x/now?a=1")],
    );
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert_eq!(saved.location, "/dashboard/w/x/now?a=1&done=save_memory");
    let list = Cli(&home).call("ann", "list_memories", &json!({})).unwrap();
    assert_eq!(list["items"][0]["owner"], "human");
    assert_eq!(list["items"][0]["source"]["how"], "dashboard");
    let path = format!("/dashboard/w/{WORKSPACE}/do/save_memory");
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let own = ("sec-fetch-site", "same-origin");
    let page = browser.get("memories").body;
    let token = between(&page, "name=\"form_token\" value=\"", "\"");
    for (headers, token) in [
        (vec![kind, own], String::new()),
        (vec![kind, own], "0".repeat(64)),
        (vec![kind], token.clone()),
        (vec![kind, ("sec-fetch-site", "none")], token.clone()),
        (vec![kind, ("sec-fetch-site", "cross-site")], token),
    ] {
        let body = format!("text=forged&form_token={token}");
        let refused = browser.request("POST", &path, &headers, &body);
        assert_eq!(refused.status, 403, "{headers:?} {}", refused.body);
    }
    let away = browser
        .send_form("save_memory", &[("text", "leads"), ("back", "https://evil.example/dashboard")]);
    assert_eq!(away.location, "/dashboard?done=save_memory");
    let reads = browser.send_form("list_memories", &[]);
    assert_eq!(reads.status, 404, "only a verb that writes is called by a form");
    let wrong = browser
        .send_form("update_memory", &[("id", "mem_00000000000000000000000000"), ("text", "x")]);
    assert_eq!(wrong.status, 404);
    assert!(wrong.body.contains("role=\"alert\""), "{}", wrong.body);
}

#[test]
fn hostile_text_shows_as_text_on_every_page() {
    const HOSTILE: &str = "<img src=x onerror=alert(1)>\"'--><script>alert(2)</script>";
    let home = Home::new();
    let server = Server::start(&home);
    let cli = Cli(&home);
    let id = save(&home, "ann", &json!({"text": HOSTILE, "title": HOSTILE, "summary": HOSTILE}));
    cli.call("ann", "open_case", &json!({"key": "k1", "title": HOSTILE})).unwrap();
    cli.call("ann", "append_entries", &json!({"key": "k1", "entries": [{"summary": HOSTILE}]}))
        .unwrap();
    let handoff = cli
        .call("ann", "create_handoff", &json!({"to": "bob", "task": HOSTILE, "context": HOSTILE}))
        .unwrap();
    let handoff = handoff["handoff"]["id"].as_str().unwrap().to_owned();
    let entity = server
        .call(
            "ann",
            "resolve_entity",
            &json!({"type": "project", "value": "x<b>y", "context": HOSTILE}),
        )
        .unwrap();
    let entity = entity["entity"]["id"].as_str().unwrap().to_owned();
    cli.call("bob", "get_context", &json!({"task": HOSTILE})).unwrap();
    let browser = signed_in(&home, &server);
    let contexts = Cli(&home).call("bob", "list_contexts", &json!({})).unwrap();
    let context = contexts["items"][0]["id"].as_str().unwrap();
    let things = [
        format!("memories/{id}"),
        format!("handoffs/{handoff}"),
        format!("entities/{entity}"),
        format!("contexts/{context}"),
        "cases/k1".to_owned(),
        format!("review?retract={id}"),
        format!("review?forget={id}"),
        format!("memories?q={}", "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"),
    ];
    for page in PAGES.into_iter().chain(things.iter().map(String::as_str)) {
        let shown = browser.get(page);
        assert_eq!(shown.status, 200, "{page}: {}", shown.body);
        for markup in ["<img", "<script>alert", "<b>y"] {
            assert!(!shown.body.contains(markup), "{page} has {markup}");
        }
    }
    assert!(browser.get(&things[0]).body.contains("&lt;img src=x onerror=alert(1)&gt;"));
}

#[test]
fn with_tokens_a_page_shows_what_its_token_may_see() {
    let home = Home::new();
    let server = Server::start(&home);
    save(&home, "ann", &json!({"text": "The xylophone is Ann's alone", "sharing": "private"}));
    let before = signed_in(&home, &server);
    for page in PAGES {
        assert!(
            !before.get(page).body.contains("xylophone"),
            "{page}: the person is another reader"
        );
    }
    let token = |agent: &str, scopes: &[&str]| {
        let mut line = vec!["token", "create", agent, "--json", "--yes"];
        scopes.iter().for_each(|scope| line.extend(["--scope", scope]));
        let output = home.run(&line);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let (ann, eve) = (token("ann", &["read", "write"]), token("eve", &["read"]));
    assert_eq!(before.get("memories").status, 401, "a link is not enough where tokens exist");
    assert_eq!(sign_in(&server, "cb_wrong").status, 401);
    let browser = |token: &Value| signed_in_with(&server, token["secret"].as_str().unwrap());
    let (of_ann, of_eve) = (browser(&ann), browser(&eve));
    assert!(of_ann.get("memories").body.contains("xylophone"));
    for page in PAGES {
        assert!(!of_eve.get(page).body.contains("Ann&#39;s alone"), "{page}");
        assert!(!of_eve.get(page).body.contains("The xylophone"), "{page}");
    }
    let refused = of_eve.send_form("save_memory", &[("text", "eve may only read")]);
    assert_eq!(refused.status, 403, "{}", refused.body);
    let id = eve["token"]["id"].as_str().unwrap();
    assert!(home.run(&["token", "revoke", id]).status.success());
    assert_eq!(of_eve.get("memories").status, 401, "a revoked token shows no page");
}

#[test]
fn a_form_calls_what_a_page_has_and_what_rest_permits_its_token() {
    let home = Home::new();
    let server = Server::start(&home);
    let token = |agent: &str, scopes: &[&str]| {
        let mut line = vec!["token", "create", agent, "--json", "--yes"];
        scopes.iter().for_each(|scope| line.extend(["--scope", scope]));
        let created = home.run(&line);
        let created: Value = serde_json::from_slice(&created.stdout).unwrap();
        created["secret"].as_str().unwrap().to_owned()
    };
    let (eve, boss) =
        (token("eve", &["read", "write"]), token("boss", &["read", "write", "admin"]));
    let (eve, boss) = (signed_in_with(&server, &eve), signed_in_with(&server, &boss));
    // No page has them.
    for browser in [&eve, &boss] {
        for verb in
            ["add_webhook", "test_webhook", "import_memories", "rotate_token", "list_tokens"]
        {
            assert_eq!(
                browser.send_form(verb, &[("url", "https://example.org/x")]).status,
                404,
                "{verb}"
            );
        }
    }
    // REST has no route to them.
    let new_token = [("agent_name", "eve/scout"), ("scopes", "read"), ("back", "/dashboard")];
    for (verb, fields) in
        [("create_token", &new_token[..]), ("revoke_token", &[("token_id", "tok_1")])]
    {
        assert_eq!(eve.send_form(verb, fields).status, 403, "{verb}");
    }
    let made = boss.send_form("create_token", &new_token);
    assert_eq!(made.status, 200, "{}", made.body);
    let saved = eve.send_form("save_memory", &[("text", "Tea is ready"), ("back", "/dashboard")]);
    assert_eq!(saved.status, 303, "{}", saved.body);
}

/// The address of the server whose pages `commonbook dashboard` opens.
fn dashboard_address(home: &Home) -> String {
    let output = home.run(&["dashboard", "--no-open", "--workspace", WORKSPACE]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    between(&String::from_utf8(output.stdout).unwrap(), "http://", "/dashboard")
}

#[test]
fn the_command_finds_the_server_that_runs_also_after_another_one_ended() {
    let home = Home::new();
    let address = |server: &Server| server.url.trim_start_matches("http://").to_owned();
    let first = Server::start(&home);
    let second = Server::start(&home);
    assert_eq!(dashboard_address(&home), address(&second));
    // Killed, it leaves its entry in the file.
    drop(second);
    assert_eq!(dashboard_address(&home), address(&first));
    let third = Server::start(&home);
    drop(first);
    assert_eq!(dashboard_address(&home), address(&third));
}
