//! Which secrets are found, and which texts are left alone.

use super::*;

/// A sample as it is meant. In the tables a `·` breaks up each token, so that no scanner of
/// repositories takes this file for a leak.
fn whole(sample: &str) -> String {
    sample.replace('·', "")
}

/// Fifty letters and digits without meaning.
const NOISE: &str = "q7Rk2ZpV9xT4mWc8Lh3NbY6sJd1FgQ5uEw0aXvKtHiCoPzMrB2";
/// A SHA-256 without meaning.
const HEX: &str = "3f786850e387550fdab836ed7e6dc881de23001b9d5c2f47a8e60b13c4f9d27e";

fn noise(length: usize) -> String {
    NOISE.chars().cycle().take(length).collect()
}

fn rules_of(text: &str) -> Vec<(&'static str, usize)> {
    redact(text).found.iter().map(|finding| (finding.rule, finding.count)).collect()
}

#[test]
fn every_rule_compiles_and_is_found_by_its_keywords() {
    for (place, rule) in RULES.iter().enumerate() {
        let expression = rule_expression(place);
        assert!(expression.captures_len() >= 1, "{}", rule.name);
        assert!(!rule.keywords.is_empty(), "{}", rule.name);
        let slug = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(rule.name.chars().all(slug), "{}", rule.name);
        let lower = |word: &&str| **word == word.to_lowercase();
        assert!(rule.keywords.iter().all(lower), "{}", rule.name);
    }
}

/// Tokens of clouds, repositories and registries.
#[rustfmt::skip]
fn tokens_of_clouds() -> Vec<(&'static str, String)> {
    let (hex32, hex40) = (&HEX[..32], &HEX[..40]);
    vec![
        ("aws-access-key", "AK·IAIOSFODNN7EXAMPLE".to_owned()),
        ("aws-access-key", "AS·IAY34FZKBOKMUTVV7A".to_owned()),
        ("aws-bedrock-key", format!("AB·SK{}", noise(110))),
        ("google-api-key", format!("AI·za{}", noise(35))),
        ("google-oauth-secret", format!("GOC·SPX-{}", noise(28))),
        ("google-oauth-token", format!("ya·29.{}", noise(60))),
        ("azure-client-secret", format!("abc8·Q~{}", noise(34))),
        ("alibaba-access-key", format!("LT·AI{}", noise(20))),
        ("cloudflare-origin-key", format!("v1.·0-{}-{HEX}{HEX}", &HEX[..24])),
        ("digitalocean-token", format!("dop·_v1_{HEX}")),
        ("databricks-token", format!("da·pi{hex32}-2")),
        ("flyio-token", format!("fo·1_{}", noise(43))),
        ("heroku-token", format!("HR·KU-{}", noise(60))),
        ("netlify-token", format!("nf·p_{}", noise(36))),
        ("planetscale-token", format!("psc·ale_tkn_{}", noise(43))),
        ("pulumi-token", format!("pu·l-{hex40}")),
        ("supabase-key", format!("sb·p_{hex40}")),
        ("tailscale-key", format!("tsk·ey-auth-{}-{}", noise(12), noise(32))),
        ("terraform-token", format!("{}.at·lasv1.{}", noise(14), noise(67))),
        ("vault-token", format!("hv·s.{}", noise(95))),
        ("doppler-token", format!("dp·.pt.{}", noise(43))),
        ("onepassword-token", format!("op·s_eyJ{}", noise(260))),
        ("onepassword-secret-key", "A3·-ASWWYB-798JRY-LJVD4-23DC2-86TVM-H43EB".to_owned()),
        ("github-token", format!("gh·p_{}", noise(36))),
        ("github-token", format!("gh·s_{}", noise(36))),
        ("github-token", format!("github·_pat_{}_{}", noise(22), noise(59))),
        ("gitlab-token", format!("glp·at-{}", noise(20))),
        ("gitlab-token", format!("GR13·48941{}", noise(20))),
        ("npm-token", format!("np·m_{}", noise(36))),
        ("npm-token", format!("//registry.npmjs.org/:_auth·Token={hex40}")),
        ("pypi-token", format!("py·pi-AgEIcHlwaS5vcmc{}", noise(120))),
        ("rubygems-token", format!("ruby·gems_{}", &HEX[..48])),
        ("crates-token", format!("ci·o{}", noise(32))),
        ("nuget-key", format!("oy·2{}", noise(43).to_lowercase())),
        ("dockerhub-token", format!("dckr·_pat_{}", noise(27))),
        ("clojars-token", format!("CLO·JARS_{}", HEX[..60].to_owned())),
        ("artifactory-key", format!("AK·Cp{}", noise(69))),
    ]
}

/// Tokens of everybody else, and keys that say what they are.
#[rustfmt::skip]
fn other_tokens() -> Vec<(&'static str, String)> {
    let hex32 = &HEX[..32];
    vec![
        ("anthropic-key", format!("sk-·ant-api03-{}-{}AA", noise(60), noise(32))),
        ("openrouter-key", format!("sk-·or-v1-{HEX}")),
        ("openai-key", format!("sk-·proj-{}T3Blb·kFJ{}", noise(74), noise(74))),
        ("openai-key", format!("sk-·{}T3Blb·kFJ{}", noise(20), noise(20))),
        ("api-key", format!("sk-·{}", noise(48))),
        ("huggingface-token", format!("h·f_{}", noise(34))),
        ("groq-key", format!("gs·k_{}", noise(52))),
        ("xai-key", format!("xa·i-{}", noise(80))),
        ("perplexity-key", format!("pp·lx-{}", noise(48))),
        ("replicate-token", format!("r·8_{}", noise(37))),
        ("langsmith-key", format!("ls·v2_pt_{hex32}_{}", &HEX[..10])),
        ("slack-token", format!("xo·xb-263594206564-2343594206574-{}", noise(24))),
        ("slack-token", format!("xa·pp-1-A052FGTS2DL-5171572773297-{HEX}")),
        ("discord-token", format!("discord bot MTk4NjIyNDgzNDcxOTI1MjQ4.·Cl2FMQ.{}", noise(27))),
        ("telegram-token", format!("110201543:·AA{}", noise(33))),
        ("sendgrid-key", format!("S·G.{}.{}", noise(22), noise(43))),
        ("brevo-key", format!("xkey·sib-{HEX}-{}", noise(16))),
        ("mailgun-key", format!("ke·y-{hex32}")),
        ("mailchimp-key", format!("{hex32}-·us12")),
        ("twilio-key", format!("S·K{hex32}")),
        ("stripe-key", format!("sk·_live_{}", noise(24))),
        ("stripe-key", format!("wh·sec_{}", noise(32))),
        ("square-token", format!("sq0·atp-{}", noise(22))),
        ("shopify-token", format!("shp·at_{hex32}")),
        ("airtable-token", format!("airtable pa·t{}.{HEX}", noise(14))),
        ("atlassian-token", format!("AT·ATT3{}", noise(186))),
        ( "dynatrace-token", format!("dt0·c01.{}.{}", noise(24).to_uppercase(), noise(64).to_uppercase()), ),
        ("facebook-token", format!("EA·AC{}", noise(120))),
        ("figma-token", format!("fi·gd_{}", noise(40))),
        ("grafana-token", format!("gl·sa_{}_{}", noise(32), &HEX[..8])),
        ("linear-key", format!("lin·_api_{}", noise(40))),
        ("newrelic-key", format!("NR·AK-{}", noise(27).to_uppercase())),
        ("notion-token", format!("nt·n_{}", noise(46))),
        ("postman-key", format!("PM·AK-{}-{}", &HEX[..24], &HEX[..34])),
        ("sentry-token", format!("snt·ryu_{HEX}")),
        ("age-secret-key", format!("AGE-SECRET-·KEY-1{}", noise(58).to_uppercase())),
        ("jwt", format!("ey·JhbGciOiJIUzI1NiJ9.ey·JzdWIiOiIxMjM0NTY3ODkwIn0.{}", noise(43))),
    ]
}

#[test]
fn the_token_of_each_provider_is_found_in_prose() {
    for (rule, sample) in tokens_of_clouds().into_iter().chain(other_tokens()) {
        let secret = whole(&sample);
        for text in [
            secret.clone(),
            format!("The deploy uses {secret}, kept by ops."),
            format!("- `{secret}`\n- and 数据"),
            format!("{{\"value\":\"{secret}\"}}"),
        ] {
            let redacted = redact(&text);
            assert_eq!(rules_of(&text), [(rule, 1)], "{text}");
            let bare = secret.rsplit([' ', '=']).next().unwrap_or_default();
            assert!(!redacted.text.contains(bare), "{text} became {}", redacted.text);
            assert_eq!(redact(&redacted.text).text, redacted.text, "again: {text}");
        }
    }
}

/// Texts in which something says where the secret stands, and what becomes of them.
#[rustfmt::skip]
const NAMED: &[(&str, &str)] = &[
    ("password = 'P(s]s.w0·rd{'", "password = '[redacted:password]'"),
    (
        "postgres://app:s3cr3t·Pw@db.internal:5432/app",
        "postgres://app:[redacted:url-password]@db.internal:5432/app",
    ),
    ("redis://:p4ssw·ord!@cache:6379/0", "redis://:[redacted:url-password]@cache:6379/0"),
    (
        "mongodb+srv://root:Tr0ub4·dor@c0.mongodb.net",
        "mongodb+srv://root:[redacted:url-password]@c0.mongodb.net",
    ),
    (
        "git clone https://ci:q7Rk2ZpV9x·T4@git.example.com/a.git",
        "git clone https://ci:[redacted:url-password]@git.example.com/a.git",
    ),
    (
        "Server=db;User Id=sa;Password=Sup3r·Secret;Encrypt=true",
        "Server=db;User Id=sa;Password=[redacted:password];Encrypt=true",
    ),
    ("DB_PASSWORD=swordf·ish\nDB_HOST=db", "DB_PASSWORD=[redacted:password]\nDB_HOST=db"),
    ("PGPASSWORD=hunt·er2 psql -h db", "PGPASSWORD=[redacted:password] psql -h db"),
    ("DB_PASS=hunt·er2", "DB_PASS=[redacted:password]"),
    ("password: hunt·er2", "password: [redacted:password]"),
    ("Password (staging): C0rrect·Horse!", "Password (staging): [redacted:password]"),
    ("{\"password\": \"swordf·ish\"}", "{\"password\": \"[redacted:password]\"}"),
    ("{\\\"password\\\":\\\"swordf·ish\\\"}", "{\\\"password\\\":\\\"[redacted:password]\\\"}"),
    ("password = 'swordf·ish'", "password = '[redacted:password]'"),
    (
        "The root password is `hunt·er2` for now.",
        "The root password is `[redacted:password]` for now.",
    ),
    ("mysqldump --password=Tr0ub4·dor db", "mysqldump --password=[redacted:password] db"),
    ("tool login --token q7Rk2Z·pV9xT4", "tool login --token [redacted:password]"),
    (
        "curl -u admin:q7Rk2·ZpV https://ci.example.com",
        "curl -u admin:[redacted:curl-user] https://ci.example.com",
    ),
    (
        "curl -H 'Authorization: Bearer q7Rk2ZpV9xT4·mWc8Lh3N' https://x",
        "curl -H 'Authorization: Bearer [redacted:bearer-token]' https://x",
    ),
    ("Authorization: Basic dXNlcjp·odW50ZXIy", "Authorization: Basic [redacted:authorization]"),
    ("x-api-key: q7Rk2ZpV9xT4·mWc8Lh3N", "x-api-key: [redacted:credential]"),
    ("api_key=q7Rk2ZpV9xT4·mWc8&limit=3", "api_key=[redacted:credential]&limit=3"),
    (
        "GET /v1?access_token=q7Rk2ZpV9xT4·mWc8&limit=3",
        "GET /v1?access_token=[redacted:credential]&limit=3",
    ),
    ("client_secret: \"q7Rk2ZpV9xT4·mWc8Lh3N\"", "client_secret: \"[redacted:credential]\""),
    (
        "our api key is q7Rk2ZpV9xT4·mWc8Lh3N, rotate it",
        "our api key is [redacted:credential], rotate it",
    ),
    ("token: 3f786850e387550fdab836ed7e6dc881de·23001b", "token: [redacted:credential]"),
    (
        "export AZURE_OPENAI_KEY=3f786850e387550f·dab836ed7e6dc881",
        "export AZURE_OPENAI_KEY=[redacted:credential]",
    ),
    (
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY·EXAMPLEKEY",
        "aws_secret_access_key = [redacted:aws-secret-key]",
    ),
    (
        "\"SecretAccessKey\": \"wJalrXUtnFEMI/K7MDENG/bPxRfiCY·EXAMPLEKEY\"",
        "\"SecretAccessKey\": \"[redacted:aws-secret-key]\"",
    ),
    (
        "AccountName=a;AccountKey=q7Rk2ZpV9xT4mWc8Lh3NbY6sJd1FgQ5uEw0aXvKtHiCo·Pw==;",
        "AccountName=a;AccountKey=[redacted:azure-storage-key];",
    ),
    (
        "https://a.blob.core.windows.net/c?sv=2022&sig=q7Rk2ZpV9xT4mWc8Lh3NbY6sJd1FgQ5uEw0aXvKtHi·%3D",
        "https://a.blob.core.windows.net/c?sv=2022&sig=[redacted:azure-sas-signature]",
    ),
    (
        "https://hooks.sl·ack.com/services/T000AAAA1/B000BBBB2/q7Rk2ZpV9xT4mWc8Lh3NbY6s",
        "https://hooks.slack.com/services/[redacted:slack-webhook]",
    ),
    (
        "https://discord.c·om/api/webhooks/123456789012345678/q7Rk2ZpV9xT4mWc8Lh3NbY6sJd1FgQ5uEw0aXvKt",
        "https://discord.com/api/webhooks/123456789012345678/[redacted:discord-webhook]",
    ),
];

#[test]
fn a_secret_is_known_by_what_stands_around_it() {
    for &(sample, expected) in NAMED {
        let text = whole(sample);
        let redacted = redact(&text);
        assert_eq!(redacted.text, expected);
        assert_eq!(redact(&redacted.text).text, expected, "again");
    }
}

#[test]
fn a_private_key_goes_whole_even_without_its_end() {
    let body = format!("{}\n{}\n", noise(64), noise(64));
    let (begin, end) =
        (whole("-----BEGIN RSA PRI·VATE KEY-----"), whole("-----END RSA PRI·VATE KEY-----"));
    let open = begin.replace("RSA", "OPENSSH");
    let pgp = whole("-----BEGIN PGP PRI·VATE KEY BLOCK-----");
    let pgp_end = pgp.replace("BEGIN", "END");
    let one_line = body.replace('\n', "\\n");
    let table = [
        (format!("a\n{begin}\n{body}{end}\nb"), "a\n[redacted:private-key]\nb".to_owned()),
        (format!("a\n{begin}\n{body}\nand more text"), "a\n[redacted:private-key]".to_owned()),
        (format!("{open}\n{body}"), "[redacted:private-key]".to_owned()),
        (
            format!("{begin}\nProc-Type: 4,ENCRYPTED\n\n{body}{end}."),
            "[redacted:private-key].".to_owned(),
        ),
        (
            format!("{pgp}\nVersion: GnuPG v2\n\n{body}{pgp_end}"),
            "[redacted:private-key]".to_owned(),
        ),
        (
            format!("{{\"private_key\": \"{begin}\\n{one_line}{end}\\n\", \"x\": 1}}"),
            "{\"private_key\": \"[redacted:private-key]\\n\", \"x\": 1}".to_owned(),
        ),
        (
            format!("{begin}\n{body}{end}\nthen\n{begin}\n{body}{end}"),
            "[redacted:private-key]\nthen\n[redacted:private-key]".to_owned(),
        ),
        (
            format!("PuTTY-User-Key-File-3: ssh-ed25519\n{body}Private-MAC: {HEX}\nb"),
            "[redacted:private-key]\nb".to_owned(),
        ),
        (format!("Files with {begin} are refused."), format!("Files with {begin} are refused.")),
        (format!("It begins with {begin}"), format!("It begins with {begin}")),
    ];
    for (text, expected) in table {
        let redacted = redact(&text);
        assert_eq!(redacted.text, expected, "{text}");
        assert_eq!(redact(&redacted.text).text, expected, "again");
    }
}

#[test]
fn findings_are_counted_and_overlaps_are_one() {
    let key = whole("AK·IAIOSFODNN7EXAMPLE");
    let token = whole(&format!("gh·p_{}", noise(36)));
    let text = format!("token={token} and {key}, {key}; password={token}");
    let redacted = redact(&text);
    assert_eq!(
        redacted.text,
        "token=[redacted:github-token] and [redacted:aws-access-key], [redacted:aws-access-key]; \
         password=[redacted:github-token]"
    );
    let expected = [
        SecretFinding { rule: "github-token", count: 2 },
        SecretFinding { rule: "aws-access-key", count: 2 },
    ];
    assert_eq!(redacted.found, expected);
}

/// Texts without secrets.
#[rustfmt::skip]
const ORDINARY: &[&str] = &[
    "Commit 3f786850e387550fdab836ed7e6dc881de23001b fixed it.",
    "Reverted 3f78685 on main; see a1b2c3d..e4f5a6b.",
    "request 550e8400-e29b-41d4-a716-446655440000 failed",
    "memory_01h455vb4pex5vsknk084sn02q supersedes memory_01h455vb4pex5vsknk084sn02r",
    "sha256:3f786850e387550fdab836ed7e6dc881de23001b9d5c2f47a8e60b13c4f9d27e is the image",
    "The digest 3f786850e387550fdab836ed7e6dc881de23001b9d5c2f47a8e60b13c4f9d27e matches.",
    "password: <password>",
    "password: ${PASSWORD}",
    "password: $PASSWORD",
    "password=%PASSWORD%",
    "password: {{ vault_password }}",
    "password: changeme",
    "the default password is changeme",
    "password: ***",
    "password: ********",
    "PASSWORD=xxxxxxxx",
    "password: [redacted:password]",
    "password: \"your-password-here\"",
    "password: required",
    "Password: must have at least 12 characters",
    "password: sha256",
    "The password is hashed with argon2id.",
    "password = os.environ['DB_PASSWORD']",
    "password = config.database.password",
    "password = get_password(user)",
    "password=self.password",
    "if (password == null) return;",
    "passwordless login, password_hash TEXT NOT NULL",
    "let token = parse(token)",
    "let token = lexer.next_token();",
    "token = tokens[index2]",
    "token: String,",
    "pub token: Option<AccessToken2>,",
    "token budget: 4000",
    "max_tokens: 4096, tokens: 128000",
    "access_token = response.json()[\"access_token\"]",
    "api_key = os.getenv(\"OPENAI_API_KEY\")",
    "api_key: ${{ secrets.API_KEY_2 }}",
    "api_key: YOUR_API_KEY_123",
    "API key: see 1Password, item 42",
    "secret: projects/api/secrets/3",
    "secret_name: prod-db-credentials-2",
    "token: user-session-42",
    "token_type: bearer, expires_in: 3600",
    "Bearer authentication is required",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "The secret to speed: batching 1000 rows",
    "sort key: created_at_2, primary key: id",
    "idempotency key: 550e8400-e29b-41d4-a716-446655440000",
    "key: ctrl+shift+p",
    "http://localhost:8080/path@2x.png",
    "postgres://user:password@localhost/db",
    "https://user:${PASS}@example.com",
    "git@github.com:commonbook/commonbook.git",
    "ssh://git@host:22/repo",
    "sk-learn and sk-toggleable-content are CSS classes",
    "pk_test keys are publishable",
    "npm_config_registry=https://registry.npmjs.org",
    "docker run --user 1000:1000 image",
    "Asia-Pacific, ASIA2024",
    "数据库密码在保险箱里, пароль в сейфе",
    "",
];

#[test]
fn ordinary_texts_are_left_alone() {
    let made = [
        format!("gh·p_{}", "x".repeat(36)),
        format!("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{}", noise(200)),
        format!("\"integrity\": \"sha512-{}==\"", noise(86)),
    ];
    for sample in ORDINARY.iter().copied().chain(made.iter().map(String::as_str)) {
        let text = whole(sample);
        let redacted = redact(&text);
        assert_eq!(redacted.text, text, "{:?}", redacted.found);
        assert!(redacted.found.is_empty(), "{text}");
        assert!(matches!(redacted.text, Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn a_long_text_of_beginnings_takes_no_longer_than_another() {
    for part in ["password: ", "token=", "-----BEGIN PRIVATE KEY-----\n", "eyJ", "a://b:", "curl "]
    {
        let text = part.repeat(64 * 1024 / part.len());
        assert!(redact(&text).found.len() <= 1, "{part}");
    }
}

#[test]
fn entropy_is_in_bits_per_byte() {
    for (value, bits) in [("", 0.0), ("aaaa", 0.0), ("abab", 1.0), ("abcd", 2.0)] {
        assert!((entropy(value) - bits).abs() < 1e-9, "{value}");
    }
}
