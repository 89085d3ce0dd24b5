//! Chinese people: a family name with a given name, beside a title or a verb that shows a person.

use std::sync::LazyLock;

use regex::Regex;

use crate::entities::{EntityEvidence, EntityType, TextMention};

/// The most frequent family names of one character.
const FAMILY_NAMES: &str = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾萧田董袁潘蔡蒋\
    余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵钱严覃\
    武戴莫孔向汤";

/// A name between the beginning of a phrase, or a word that takes a person, and its cue.
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let han = r"[\x{4e00}-\x{9fff}]";
    Regex::new(&format!(
        "(?:^|[^\\x{{4e00}}-\\x{{9fff}}]|[由请问和与跟让给])([{FAMILY_NAMES}]{han}{{1,2}}?)\
         (?:先生|女士|小姐|老师|教授|博士|经理|工程师|说[，,：:道了]|表示|认为|负责|批准|同意|提出|写了|建议)"
    ))
    .ok()
});

/// Finds Chinese people in a block of prose.
pub(super) fn find(block: &str, start: usize, found: &mut Vec<TextMention>) {
    if block.is_ascii() {
        return;
    }
    let Some(pattern) = &*NAME else { return };
    for name in pattern.captures_iter(block).filter_map(|captures| captures.get(1)) {
        let range = start + name.start()..start + name.end();
        let value = name.as_str().to_owned();
        let kind = EntityType::Person;
        found.push(TextMention::with_value(kind, range, value, EntityEvidence::Cue));
    }
}
