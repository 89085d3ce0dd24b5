//! The forms of remotes, as hosts print them and people write them.

use super::*;

fn canonical(url: &str) -> Option<String> {
    canonical_remote(url, &RemoteSettings::default())
}

/// Forms of one remote each.
const FORMS: [(&str, &[&str]); 21] = [
    (
        "github.com/acme/api",
        &[
            "https://github.com/acme/api",
            "HTTPS://GitHub.com/Acme/API.git",
            "https://user:secret@github.com:443/acme/api.git/",
            "https://x-access-token:t@github.com/acme/api",
            "http://www.github.com/acme//api",
            "ssh://git@github.com:22/acme/api.git",
            "ssh://git@ssh.github.com:443/acme/api.git",
            "git+ssh://git@github.com/acme/api",
            "git://github.com./acme/api",
            "git@github.com:acme/api.git",
            "git@GITHUB.com:/Acme/api",
            "org-1234@github.com:acme/api.git",
            "[git@github.com:22]:acme/api",
            "github.com:acme/api",
            "https://github.com/acme/api?tab=readme#top",
        ],
    ),
    (
        "gitlab.com/a/b/c",
        &["https://gitlab.com/A/b/c.git", "ssh://git@altssh.gitlab.com:443/a/b/c.git"],
    ),
    (
        "bitbucket.org/a/b",
        &["https://ann@bitbucket.org/a/b.git", "ssh://git@altssh.bitbucket.org:443/a/b"],
    ),
    (
        "bitbucket.corp.example/proj/api",
        &[
            "https://bitbucket.corp.example/scm/PROJ/api.git",
            "ssh://git@bitbucket.corp.example:7999/proj/api.git",
        ],
    ),
    (
        "bb.corp.example/prj/repo",
        &[
            "https://bb.corp.example/scm/PRJ/repo.git",
            "http://ann@bb.corp.example:7990/scm/prj/repo.git",
            "ssh://git@bb.corp.example:7999/PRJ/repo.git",
            "ssh://git@bb.corp.example:7999/prj/repo.git",
        ],
    ),
    (
        "code.ghe.corp.example/acme/api",
        &["https://code.ghe.corp.example/Acme/API.git", "git@code.ghe.corp.example:acme/api.git"],
    ),
    (
        "gitlab01.corp.example/group/sub/api",
        &[
            "https://GitLab01.corp.example/Group/Sub/API.git",
            "https://oauth2:t@gitlab01.corp.example/group/sub/api.git",
            "ssh://git@gitlab01.corp.example:2222/Group/sub/api.git",
        ],
    ),
    (
        "mygithub.corp.example/acme/api",
        &["https://mygithub.corp.example/Acme/API", "git@mygithub.corp.example:acme/Api.git"],
    ),
    (
        "gitea-prod.corp.example/acme/api",
        &[
            "https://gitea-prod.corp.example/Acme/api",
            "ssh://gitea@gitea-prod.corp.example/acme/API",
        ],
    ),
    (
        "tfs.corp.example/tfs/defaultcollection/shop/web",
        &[
            "https://tfs.corp.example/tfs/DefaultCollection/Shop/_git/Web",
            "https://TFS.corp.example:8080/tfs/defaultcollection/shop/_git/web",
            "ssh://tfs.corp.example:22/tfs/DefaultCollection/Shop/_git/Web",
        ],
    ),
    (
        "code.corp.example/web/shop/api",
        &[
            "https://code.corp.example/Web/Shop/_git/api",
            "ssh://ann@code.corp.example:22/web/shop/_git/API",
        ],
    ),
    (
        "dev.azure.com/org/my project/api",
        &[
            "https://dev.azure.com/org/My%20Project/_git/api",
            "https://org@dev.azure.com/org/My%20Project/_git/api",
            "git@ssh.dev.azure.com:v3/org/My%20Project/api",
            "org@vs-ssh.visualstudio.com:v3/org/My%20Project/api",
            "https://org.visualstudio.com/My%20Project/_git/api",
            "https://org.visualstudio.com/DefaultCollection/My%20Project/_git/api",
        ],
    ),
    (
        "dev.azure.com/org/api/api",
        &["https://dev.azure.com/org/_git/api", "git@ssh.dev.azure.com:v3/org/api/api"],
    ),
    (
        "git-codecommit.eu-west-1.amazonaws.com/v1/repos/api",
        &[
            "codecommit::eu-west-1://api",
            "codecommit::eu-west-1://profile@api",
            "ssh://KEY@git-codecommit.eu-west-1.amazonaws.com/v1/repos/api",
        ],
    ),
    (
        "gist.github.com/0a1b",
        &["https://gist.github.com/ann/0a1b.git", "git@gist.github.com:0a1b.git"],
    ),
    ("huggingface.co/a/b", &["git@hf.co:a/b", "https://huggingface.co/a/b"]),
    (
        "gerrit.example/p/api",
        &["https://gerrit.example/a/p/api", "ssh://ann@gerrit.example:29418/p/api"],
    ),
    ("git.sr.ht/~ann/api", &["https://git.sr.ht/~ann/api", "git@git.sr.ht:~ann/api"]),
    (
        "git.example/srv/Api",
        &["git.example:/srv/Api.git", "ssh://git.example:2222/srv/Api", "git.example:~/srv/Api"],
    ),
    (
        "2001:db8::1/api",
        &["ssh://git@[2001:DB8::1]:22/api", "git@[2001:db8::1]:api", "[2001:db8::1]:api.git"],
    ),
    ("h.example/x", &["hg::https://h.example/x"]),
];

#[test]
fn the_forms_of_a_remote_are_one() {
    for (canonical_form, urls) in FORMS {
        for url in urls {
            assert_eq!(canonical(url).as_deref(), Some(canonical_form), "{url}");
        }
    }
    for url in [
        "/srv/git/api.git",
        "../api",
        "./a:b",
        r"C:\git\api",
        "C:/git/api",
        r"\\server\share:x",
        "file:///srv/api",
        "FILE:///srv/api",
        "https://github.com/",
        "https://github.com",
        "https:///api",
        "ext::sh -c x://y/z",
        "",
    ] {
        assert_eq!(canonical(url), None, "{url:?}");
    }
    // What differs is another repository: a host of any other name may serve folders.
    let apart = [
        "https://legit.example/srv/Api",
        "https://legit.example/srv/api",
        "https://git.example/Acme/api",
        "https://git.example/acme/api",
        "https://git.example/acme/api.wiki",
    ];
    let found: Vec<_> = apart.iter().map(|url| canonical(url)).collect();
    assert!(found.windows(2).all(|pair| pair[0] != pair[1]), "{found:?}");
}

#[test]
fn the_spelling_of_an_earlier_version_leads_to_the_present_one() {
    let settings = RemoteSettings::default();
    for (url, older, present) in [
        ("git@github.com:Acme/API.git", "github.com/Acme/API", "github.com/acme/api"),
        ("ssh://git@ssh.github.com:443/acme/api", "ssh.github.com/acme/api", "github.com/acme/api"),
        ("https://dev.azure.com/o/p/_git/r", "dev.azure.com/o/p/_git/r", "dev.azure.com/o/p/r"),
        ("ssh://git@[2001:DB8::1]:22/api", "2001:db8::1/api", "2001:db8::1/api"),
    ] {
        assert_eq!(older_spelling(url).as_deref(), Some(older), "{url}");
        assert_eq!(respelled(older, &settings).as_deref(), Some(present), "{url}");
    }
}
