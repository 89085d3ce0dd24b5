//! How people read what was forgotten: the preview, and certificates.

use commonbook::base::page::Page;
use commonbook::model::forgetting::{AlikeMemory, ForgetCertificate, ForgetPlace, ForgetResult};
use serde_json::Value;

use super::layout::{minute, print_table, show};
use crate::calls::output::{count_text, print_line, print_note};

pub(super) fn show_forget_result(response: &Value) {
    show(response, |result: &ForgetResult| {
        if let Some(certificate) = &result.certificate {
            print_certificate(certificate);
            print_alike(result);
        } else if result.memories.is_empty() {
            print_note("No memory matches");
        } else {
            let memories = count_text(result.memories.len() as u64, "memory", "memories");
            print_line(&format!("Would forget {memories}"));
            result.memories.iter().for_each(|id| print_line(&format!("  {id}")));
            if !result.redacted.is_empty() {
                print_line("Would cut quotes out of");
                for id in &result.redacted {
                    print_line(&format!("  {id}"));
                    let cuts = result.cuts.get(id).into_iter().flatten();
                    cuts.for_each(|sentence| print_line(&format!("    {sentence}")));
                }
            }
            let held = result.places.iter().filter(|place| place.found > 0);
            print_places(held.clone());
            let others = result.places.len() - held.count();
            print_line(&format!("It is in none of {others} other places"));
            if !result.remaining.is_empty() {
                print_line("Would stay");
                result.remaining.iter().for_each(|copy| print_line(&format!("  {copy}")));
            }
            print_alike(result);
            print_note("Nothing was changed. Add --yes to do it; nothing undoes it.");
        }
    });
}

/// What no rule can tell, and its reader can.
fn print_alike(result: &ForgetResult) {
    if result.alike.is_empty() {
        return;
    }
    print_line("May say it in other words; read them, and forget or keep each");
    for AlikeMemory { memory, owner, says } in &result.alike {
        print_line(&format!("  {memory} of {owner}: {says}"));
    }
}

pub(super) fn show_certificate(response: &Value) {
    show(response, print_certificate);
}

pub(super) fn show_certificates(response: &Value) {
    show(response, |page: &Page<ForgetCertificate>| {
        if page.items.is_empty() {
            return print_note("Nothing was forgotten");
        }
        let rows = page.items.iter().map(|certificate| {
            let state = match (certificate.allowed_at, certificate.finished_at) {
                (Some(_), _) => "allowed again",
                (None, Some(_)) => "",
                (None, None) => "unfinished",
            };
            vec![
                certificate.id.to_string(),
                minute(certificate.at),
                certificate.by.to_string(),
                certificate.memories.len().to_string(),
                state.to_owned(),
            ]
        });
        print_table(&["certificate", "at", "by", "memories", ""], rows);
    });
}

pub(super) fn show_allowed(response: &Value) {
    show(response, |certificate: &ForgetCertificate| {
        print_line(&format!("Allowed again what {} names", certificate.id));
    });
}

fn print_certificate(certificate: &ForgetCertificate) {
    let memories = count_text(certificate.memories.len() as u64, "memory", "memories");
    print_line(&format!("Certificate {}", certificate.id));
    let by = match certificate.by.is_anonymous() && certificate.by_person {
        true => "a person at the command line".to_owned(),
        false => certificate.by.to_string(),
    };
    let (workspace, at) = (&certificate.workspace, certificate.at);
    print_line(&format!("{by} forgot {memories} of workspace {workspace} at {at}"));
    certificate.memories.iter().for_each(|id| print_line(&format!("  {id}")));
    print_places(certificate.places.iter());
    print_line(&format!("Keyed digest: {}", certificate.keyed_digest));
    print_line(&match certificate.finished_at {
        Some(at) => format!("Files clean: {at}"),
        None => "Files clean: not yet; the next sweep of a server or the next `commonbook forget` does it".to_owned(),
    });
    if let Some(at) = certificate.allowed_at {
        print_line(&format!("Allowed again: {at}"));
    }
    print_line("Not erased:");
    certificate.not_erased.iter().for_each(|copy| print_line(&format!("  {copy}")));
}

fn print_places<'p>(places: impl Iterator<Item = &'p ForgetPlace>) {
    print_line("Places:");
    for ForgetPlace { place, found, says } in places {
        print_line(&format!("  {found:>5}  {place}"));
        says.iter().for_each(|sentence| print_line(&format!("           {sentence}")));
    }
}
