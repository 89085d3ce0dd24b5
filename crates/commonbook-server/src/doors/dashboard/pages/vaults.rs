//! Vaults: those that this home uses of the workspace, the homes that write them, and those that a
//! project brings.

use commonbook::base::error::Result;
use commonbook::base::home_key::HomeKey;
use commonbook::model::access;
use commonbook_text::sanitize;
use commonbook_vault::writer::{VaultWriter, WriterKey};
use maud::{Markup, html};

use super::super::parts::{chip, empty_list, form_fields};
use super::super::request::{PageContent, PageRequest};
use crate::background::vaults::{AdoptedVault, VaultRegistry};

/// Shows the vaults of the workspace.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let main = html! {
        h1 { "Vaults" }
        p class="muted" { "A vault holds the memories of this workspace as files. What another home has written there is that of others until you accept its key, which its person tells you another way than by the vault: what that home signs is then as good as what you wrote." }
        @match access::is_person(request.caller()?) {
            false => { p class="muted" { "Vaults are shown to the person alone." } }
            true => { (vaults(request)?) }
        }
    };
    Ok(PageContent { title: "Vaults".to_owned(), main, same: Vec::new() })
}

fn vaults(request: &PageRequest) -> Result<Markup> {
    let home = request.config().home()?;
    let registry = VaultRegistry::read(home)?;
    let workspace = request.workspace()?;
    let own = HomeKey::read(home)?.map(|key| VaultWriter::of_home(&key).key());
    let used: Vec<_> = registry.vaults_of(workspace).collect();
    let offered: Vec<_> = registry.offered_of(workspace).collect();
    Ok(html! {
        @if let Some(own) = own { p { "The key of this home, for those who share a vault: " code { (own) } } }
        @if used.is_empty() && offered.is_empty() {
            (empty_list("This home uses no vault of the workspace.", "Make one with: commonbook vault init"))
        }
        @for (folder, vault) in used { (used_vault(request, &folder.display().to_string(), vault)) }
        @for folder in offered {
            @let folder = folder.display().to_string();
            section aria-label=(folder) {
                h2 { (path(&folder)) " " (chip("brought by a project", "warn")) }
                p { "This home does not use it. If you want its memories, as those of others:" }
                (accept_form(request, "Use this vault", &folder, &html! {}))
            }
        }
    })
}

fn used_vault(request: &PageRequest, folder: &str, vault: &AdoptedVault) -> Markup {
    html! {
        section aria-label=(folder) {
            h2 { (path(folder)) }
            ul class="plain" {
                @for key in &vault.writers { li { code { (key) } " " (chip("accepted", "good")) } }
                @for key in &vault.waiting {
                    li { code { (key) } " " (chip("not accepted", "warn")) " " (key_form(request, folder, *key)) }
                }
            }
            (accept_form(request, "Accept", folder, &html! {
                label { "The key of another home" input type="text" name="writer" required placeholder="key_…"; }
            }))
            p class="muted" { "The next pass uses what you accept: " code { "commonbook vault sync " (path(folder)) } }
        }
    }
}

fn key_form(request: &PageRequest, folder: &str, key: WriterKey) -> Markup {
    accept_form(
        request,
        "Accept this key",
        folder,
        &html! { input type="hidden" name="writer" value=(key); },
    )
}

/// A form that accepts a vault, with a key that these inputs hold.
fn accept_form(request: &PageRequest, label: &str, folder: &str, inputs: &Markup) -> Markup {
    html! {
        form method="post" action=(request.path("accept-vault")) class="inline" {
            (form_fields(request, &request.own_path()))
            input type="hidden" name="folder" value=(folder);
            (inputs)
            button type="submit" { (label) }
        }
    }
}

/// A path as text, without letters that a page would not show.
fn path(folder: &str) -> String {
    sanitize::quote_lines(folder, usize::MAX).trim_start_matches("> ").to_owned()
}
