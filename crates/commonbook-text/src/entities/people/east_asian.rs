//! People in Chinese, Japanese and Korean: a family name, with a given name or a title that shows a
//! person.

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

/// The most frequent Japanese family names.
const JAPANESE_FAMILY_NAMES: &str = "佐藤|鈴木|高橋|田中|伊藤|渡辺|渡邊|山本|中村|小林|加藤|吉田|山田|\
    佐々木|山口|松本|井上|木村|林|斎藤|清水|山崎|森|池田|橋本|阿部|石川|山下|中島|石井|小川|前田|岡田|\
    長谷川|藤田|後藤|近藤|村上|遠藤|青木|坂本|福田|太田|西村|藤井|金子|岡本|藤原|三浦|中野|原田|松田|竹内";

/// A Japanese name before a title.
static JAPANESE_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"((?:{JAPANESE_FAMILY_NAMES})[\x{{3040}}-\x{{309f}}\x{{4e00}}-\x{{9fff}}]{{0,3}}?)(?:さん|様|氏|くん|ちゃん|先生|部長|課長)"
    ))
    .ok()
});

/// A Korean name before a title.
static KOREAN_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:^|[^\x{ac00}-\x{d7af}])([김이박최정강조윤장임한오서신권황안송류홍전고문손양배백허남심노하곽성차주우구민유진지][\x{ac00}-\x{d7af}]{2}) ?(?:씨|님|팀장|부장|과장|대리|선생|교수|박사)",
    )
    .ok()
});

/// Finds people in a block of Chinese, Japanese or Korean prose.
pub(super) fn find(block: &str, start: usize, found: &mut Vec<TextMention>) {
    if block.is_ascii() {
        return;
    }
    let patterns = [&*NAME, &*JAPANESE_NAME, &*KOREAN_NAME].into_iter().flatten();
    let names = patterns.flat_map(|pattern| pattern.captures_iter(block));
    for name in names.filter_map(|captures| captures.get(1)) {
        let range = start + name.start()..start + name.end();
        let value = name.as_str().to_owned();
        let kind = EntityType::Person;
        found.push(TextMention::with_value(kind, range, value, EntityEvidence::Cue));
    }
}
