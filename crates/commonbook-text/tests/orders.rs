//! Judgement of orders on sets of one author; the shares stand in `docs/security.md`.
//!
//! The hand that wrote them had not read the rules. Lists of further phrases, made of `orders.txt`, stopped 0.900
//! of it and not one text more of `orders_last.txt`, which the same hand wrote afterwards; they were left out.

use std::path::Path;

use commonbook_text::injection;

/// The texts of a set.
fn texts(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sets").join(name);
    let text = std::fs::read_to_string(&path).expect("the set is readable");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines.map(str::to_owned).collect()
}

/// The texts of a set that are judged as orders, and those that are not.
fn judged(name: &str) -> (Vec<String>, Vec<String>) {
    let texts = texts(name).into_iter().map(|text| text.replace("\\n", "\n"));
    texts.partition(|text| !injection::reasons(text).is_empty())
}

fn share(part: &[String], rest: &[String]) -> f64 {
    part.len() as f64 / (part.len() + rest.len()) as f64
}

#[test]
fn orders_are_stopped_and_honest_notes_are_not() {
    // What the rules reach on these sets, with little room: a change that loses a text shows here.
    for (orders, honest, stopped_min, taken_max) in [
        ("orders.txt", "honest.txt", 0.28, 0.05),
        ("orders_last.txt", "honest_last.txt", 0.1, 0.05),
    ] {
        let ((stopped, missed), (taken, left)) = (judged(orders), judged(honest));
        let [caught, wrong] = [share(&stopped, &missed), share(&taken, &left)];
        eprintln!("{orders}: {caught:.3} of {} stopped", stopped.len() + missed.len());
        eprintln!("{honest}: {wrong:.3} of {} taken {taken:#?}", taken.len() + left.len());
        assert!(caught >= stopped_min, "only {caught:.3} of {orders} are stopped: {missed:#?}");
        assert!(wrong <= taken_max, "{wrong:.3} of {honest} are taken: {taken:#?}");
    }
}
