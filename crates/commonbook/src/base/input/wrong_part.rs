//! The part of a request that its type refuses.

use serde_json::{Map, Value, json};

/// The reason why a value is none of a type.
pub(super) type Refusal = fn(&Value) -> Option<String>;

/// Finds the part for which a type refuses a request, by reading the request again without what follows the part.
///
/// A type reads members and items in their order, and the first wrong one ends the reading. So the request is refused
/// for the same reason whatever follows the wrong part, and for another one, or not at all, without it. This needs no
/// second form of each type that would note where it is; only a refused request pays for it.
pub(super) struct WrongPart<'r> {
    pub(super) refusal: Refusal,
    /// The reason for which the whole was refused.
    pub(super) reason: &'r str,
}

/// The name of a member that no type has.
const FOREIGN_MEMBER: &str = "\0";

impl WrongPart<'_> {
    /// The path of the part: `entries[0].supersedes[1]`; empty for the whole.
    pub(super) fn path(&self, mut whole: Value) -> String {
        let (mut path, mut pointer) = (String::new(), String::new());
        while let Some(part) = whole.pointer_mut(&pointer) {
            let part = std::mem::take(part);
            let count = match &part {
                Value::Object(members) => members.len(),
                Value::Array(items) => items.len(),
                _ => break,
            };
            let mut is_wrong_with = |part: Value| {
                if let Some(place) = whole.pointer_mut(&pointer) {
                    *place = part;
                }
                (self.refusal)(&whole).as_deref() == Some(self.reason)
            };
            if !is_wrong_with(followed(&part)) || self.is_missing_in(&part, &mut is_wrong_with) {
                break;
            }
            // With none of them it is refused for another reason, with all of them for this one.
            let (mut without, mut with) = (0, count);
            if is_wrong_with(followed(&beginning(&part, 0))) {
                break;
            }
            while with - without > 1 {
                let half = without + (with - without) / 2;
                if is_wrong_with(followed(&beginning(&part, half))) {
                    with = half;
                } else {
                    without = half;
                }
            }
            is_wrong_with(beginning(&part, with));
            match part {
                Value::Object(members) => {
                    let Some(name) = members.keys().nth(without) else { break };
                    pointer += &format!("/{}", name.replace('~', "~0").replace('/', "~1"));
                    path += if path.is_empty() { "" } else { "." };
                    path += name;
                }
                _ => {
                    pointer += &format!("/{without}");
                    path += &format!("[{without}]");
                }
            }
        }
        path
    }

    /// Whether a part lacks the member that the reason misses. A type that takes unknown members reads to the end
    /// before it misses one.
    fn is_missing_in(&self, part: &Value, is_wrong_with: &mut impl FnMut(Value) -> bool) -> bool {
        let named =
            self.reason.strip_prefix("missing field `").and_then(|rest| rest.split_once('`'));
        let (Some((name, _)), Value::Object(members)) = (named, part) else { return false };
        let mut members = members.clone();
        members.insert(name.to_owned(), Value::Null).is_none()
            && !is_wrong_with(Value::Object(members))
    }
}

/// A part with something behind it that a type refuses for a reason of its own.
fn followed(part: &Value) -> Value {
    match part {
        Value::Object(members) => {
            let mut members = members.clone();
            members.insert(FOREIGN_MEMBER.to_owned(), Value::Null);
            Value::Object(members)
        }
        Value::Array(items) => {
            items.iter().cloned().chain([json!({FOREIGN_MEMBER: null})]).collect()
        }
        other => other.clone(),
    }
}

/// The first members or items of a part.
fn beginning(part: &Value, count: usize) -> Value {
    match part {
        Value::Object(members) => {
            let first = members.iter().take(count);
            Value::Object(
                first.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => items.iter().take(count).cloned().collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its refusals are of interest")]
    struct Strict {
        name: String,
        #[serde(default)]
        size: u8,
        #[serde(default)]
        parts: Vec<Strict>,
        #[serde(default)]
        loose: Option<Loose>,
    }

    /// A type that takes unknown members.
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only its refusals are of interest")]
    struct Loose {
        #[serde(default)]
        number: u8,
        place: String,
    }

    #[test]
    fn the_path_leads_to_the_part_that_is_wrong() {
        let part = |wrong: Value| json!({"name": "x", "parts": [{"name": "y"}, wrong, {"siez": 1}], "size": "z"});
        let table = [
            (json!({"name": 5, "size": "many"}), "name"),
            (json!({"size": "many", "name": 5}), "size"),
            (json!({"size": 300, "name": "x"}), "size"),
            (json!({"size": 3}), ""),
            (json!("x"), ""),
            (json!({"name": "x", "siez": {"a": [1]}}), "siez"),
            (json!({"name": "x", "parts": {}}), "parts"),
            (json!({"name": "x", "parts": [{"name": "y"}, 5]}), "parts[1]"),
            (json!({"name": "x", "parts": [null, null]}), "parts[0]"),
            (part(json!({"name": [1]})), "parts[1].name"),
            (part(json!({"parts": []})), "parts[1]"),
            (
                part(json!({"name": "z", "parts": [{"name": "a", "size": -1}]})),
                "parts[1].parts[0].size",
            ),
            (json!({"name": "x", "loose": {"number": 1, "other": 2}}), "loose"),
            (json!({"name": "x", "loose": {"other": 2, "number": "n"}}), "loose.number"),
            (json!({"loose": {"place": "p"}}), ""),
        ];
        for (value, path) in table {
            let refusal =
                |value: &Value| Strict::deserialize(value).err().map(|error| error.to_string());
            let reason = refusal(&value).expect("it is refused");
            let found = WrongPart { refusal, reason: &reason }.path(value.clone());
            assert_eq!(found, path, "{value}: {reason}");
        }
    }
}
