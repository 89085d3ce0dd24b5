//! Words that stand beside people's names, and those that show that a name is none.

pub(super) const PERSON_TITLES: [&str; 9] =
    ["Mr", "Mrs", "Ms", "Miss", "Dr", "Prof", "Professor", "Herr", "Frau"];

/// Words for people by what they are to each other, after which a name may follow.
#[rustfmt::skip]
pub(super) const RELATION_NOUNS: [&str; 52] = [
    "friend", "friends", "buddy", "pal", "brother", "sister", "husband", "wife", "partner", "son",
    "daughter", "cousin", "uncle", "aunt", "nephew", "niece", "grandma", "grandpa", "grandmother",
    "grandfather", "mother", "father", "mom", "dad", "boyfriend", "girlfriend", "fiance", "fiancé",
    "fiancee", "roommate", "flatmate", "neighbor", "neighbour", "colleague", "coworker",
    "co-worker", "teammate", "boss", "manager", "mentor", "coach", "teacher", "tutor", "classmate",
    "kid", "colleagues", "sisters", "brothers", "engineer", "developer", "designer", "accountant",
];

/// Words before a relation that say that a person is meant.
pub(super) const POSSESSIVES: [&str; 6] = ["my", "our", "his", "her", "their", "your"];

/// What people alone do with words.
#[rustfmt::skip]
pub(super) const SPEECH_VERBS: [&str; 19] = [
    "said", "told", "asked", "replied", "answered", "suggested", "mentioned", "explained",
    "agreed", "wrote", "reviewed", "approved", "insisted", "promised", "laughed", "smiled",
    "emailed", "called", "texted",
];

/// What begins a call to somebody.
pub(super) const GREETINGS: [&str; 12] = [
    "hey", "hi", "hello", "dear", "thanks", "bye", "goodbye", "welcome", "cheers", "sorry",
    "morning", "congrats",
];

/// What is greeted and is nobody.
#[rustfmt::skip]
pub(super) const NON_PERSON_WORDS: [&str; 21] = [
    "folks", "y'all", "buddy", "dude", "bro", "sis", "honey", "sweetie", "assistant", "siri",
    "alexa", "copilot", "chatgpt", "bot", "user", "human", "ai", "agent", "agents", "mate",
    "santa",
];

/// Words beside a name, with a capital letter too, that make it a place, an institution or a thing.
#[rustfmt::skip]
pub(super) const PLACE_WORDS: [&str; 85] = [
    "lake", "mount", "mt", "fort", "san", "santa", "saint", "st", "port", "cape", "new", "north",
    "south", "east", "west", "camp", "hotel", "café", "cafe", "street", "road", "avenue", "park",
    "beach", "university", "college", "hospital", "school", "bridge", "river", "island", "church",
    "cathedral", "museum", "airport", "station", "county", "foundation", "award", "prize",
    "theorem", "day", "city", "hall", "center", "centre", "library", "institute", "valley", "bay",
    "point", "state", "clinic", "mix", "mixes", "terrier", "sr", "inc", "ltd", "llc", "club",
    "square", "festival", "cup", "trophy", "proxy", "server", "api", "framework", "algorithm",
    "method", "model", "distribution", "test", "tree", "filter", "index", "law", "rule",
    "equation", "protocol", "pattern", "notation", "principle", "effect",
];

/// Parts of family names that are written small.
pub(super) const PARTICLES: [&str; 12] =
    ["de", "da", "del", "della", "di", "van", "von", "der", "den", "bin", "al", "le"];

/// What makes a name that of a breed of dogs.
pub(super) const BREED_WORDS: [&str; 4] = ["mix", "mixes", "terrier", "terriers"];

/// Words for people of whom nobody says whose they are.
pub(super) const PERSON_NOUNS: [&str; 8] =
    ["man", "woman", "guy", "girl", "boy", "person", "someone", "lady"];
