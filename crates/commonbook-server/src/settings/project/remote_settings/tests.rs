//! Settings of git and ssh, as people write them.

use super::super::remote::{canonical_remote, respelled};
use super::*;

#[test]
fn the_users_settings_lead_to_the_same_remote() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    fs::create_dir_all(home.join(".ssh/conf.d")).unwrap();
    fs::write(
        home.join(".ssh/config"),
        "# hosts\nInclude conf.d/*.conf\nHost *\n  User git\n\nHost gh-work github-*\n  HostName github.com\n  \
         IdentityFile ~/.ssh/work\nHost *.lab !no.lab\n\tHostName=%h.example\nMatch exec \"touch pwned\"\n  \
         HostName evil.example\nMatch host mirror\n  HostName git.example\nhost github.com\nHostname \
         ssh.github.com\n  Port 443\n",
    )
    .unwrap();
    fs::write(home.join(".ssh/conf.d/a.conf"), "Host \"short\"\n  HostName gitlab.com\n").unwrap();
    let git = home.join(".gitconfig");
    fs::write(
        &git,
        "[user]\n\tname = Ann\n[url \"git@github.com:\"]\n\tinsteadOf = gh:\n\tinsteadOf = \"https://github.com/\"\n\
         [URL \"https://git.example/Acme/\"] insteadof = work: ; short\n[include]\n\tpath = more\n\
         [url \"gh-work:acme/\"]\n  insteadOf = gh:acme/\n[url \"/srv/mirror/\"]\n  insteadOf = https://h.example/\n",
    )
    .unwrap();
    fs::write(home.join("more"), "[url \"ssh://git@[::1]:2222/\"]\ninsteadOf = local:\n").unwrap();
    let settings = RemoteSettings::new(Some(home), &[home.join("none"), git]);
    let find = |url: &str| {
        let rewritten = settings.rewritten(url).unwrap_or_else(|| url.to_owned());
        canonical_remote(&rewritten, &settings)
    };
    for (url, remote) in [
        ("git@gh-work:acme/api.git", Some("github.com/acme/api")),
        ("ssh://git@GitHub-Ann/acme/api", Some("github.com/acme/api")),
        ("git@github.com:acme/api", Some("github.com/acme/api")),
        ("https://github.com/acme/api", Some("github.com/acme/api")),
        ("gh:Acme/api", Some("github.com/acme/api")),
        ("gh:acme/api", Some("github.com/acme/api")),
        ("work:api.git", Some("git.example/Acme/api")),
        ("local:api", Some("::1/api")),
        ("short:a/b", Some("gitlab.com/a/b")),
        ("mirror:a/b", Some("git.example/a/b")),
        ("x.lab:a/b", Some("x.lab.example/a/b")),
        ("no.lab:a/b", Some("no.lab/a/b")),
        ("evil:a/b", Some("evil/a/b")),
        // An alias is one of ssh alone.
        ("https://gh-work/acme/api", Some("gh-work/acme/api")),
        ("https://h.example/a", None),
    ] {
        assert_eq!(find(url).as_deref(), remote, "{url}");
    }
    for older in ["gh-work/acme/api", "gh/acme/api", "github.com/Acme/api"] {
        assert_eq!(respelled(older, &settings).as_deref(), Some("github.com/acme/api"), "{older}");
    }
}
