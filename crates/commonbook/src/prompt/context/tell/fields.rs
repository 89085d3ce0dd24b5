//! Fields: the keys that agents really write, and the sentence that each makes.

use serde_json::Value;

use super::value::{clause, is_empty, sentence};

/// One field: its keys, in `snake_case` and without the words of [`KEY_PREFIXES`], and its
/// sentence, in which `{}` is the value.
pub(super) struct FieldRule {
    keys: &'static [&'static str],
    form: SentenceForm,
}

enum SentenceForm {
    /// The sentence around any value.
    Says(&'static str),
    /// One sentence for programming languages, another for spoken languages.
    Language(&'static str, &'static str),
    /// Sentences for yes and for no; the third for anything else.
    Whether(&'static str, &'static str, &'static str),
}

use SentenceForm::{Language, Says, Whether};

const fn field(keys: &'static [&'static str], form: SentenceForm) -> FieldRule {
    FieldRule { keys, form }
}

/// Words before a key that add nothing: `current_project` is `project`.
const KEY_PREFIXES: [&str; 9] =
    ["user", "current", "preferred", "favorite", "favourite", "my", "their", "primary", "active"];

/// Keys of objects that only group others.
const WRAPPER_KEYS: [&str; 14] = [
    "user",
    "profile",
    "user_profile",
    "person",
    "personal",
    "personal_info",
    "basic_info",
    "info",
    "data",
    "content",
    "details",
    "task_context",
    "context",
    "attributes",
];

/// The fields of a profile, in the order of the text.
pub(super) const PROFILE_FIELDS: &[FieldRule] = &[
    field(
        &["name", "full_name", "fullname", "display_name", "real_name", "username", "user"],
        Says("Their name is {}."),
    ),
    field(&["first_name", "given_name"], Says("Their first name is {}.")),
    field(&["last_name", "family_name", "surname"], Says("Their last name is {}.")),
    field(
        &["nickname", "nick", "goes_by", "call_me", "preferred_name", "alias"],
        Says("They like to be called {}."),
    ),
    field(&["pronouns", "pronoun"], Says("Their pronouns are {}.")),
    field(&["age"], Says("Their age is {}.")),
    field(
        &["role", "occupation", "job", "job_title", "title", "profession", "position"],
        Says("Their role is {}."),
    ),
    field(
        &["company", "employer", "organization", "organisation", "workplace"],
        Says("They work at {}."),
    ),
    field(&["team", "department"], Says("Their team is {}.")),
    field(&["location", "city", "country", "based_in", "lives_in"], Says("They are in {}.")),
    field(&["timezone", "time_zone", "tz"], Says("Their time zone is {}.")),
    field(&["working_hours", "work_hours", "availability"], Says("They work at these hours: {}.")),
    field(
        &[
            "language",
            "languages",
            "lang",
            "coding_language",
            "coding_languages",
            "programming_language",
            "programming_languages",
        ],
        Language("They prefer to code in {}.", "They prefer to speak {}."),
    ),
    field(
        &["spoken_language", "spoken_languages", "native_language", "natural_language", "locale"],
        Says("They speak {}."),
    ),
    field(
        &["framework", "frameworks", "library", "libraries"],
        Says("They prefer to build with {}."),
    ),
    field(
        &["tool", "tools", "tooling", "software", "stack", "tech_stack", "technologies"],
        Says("They use {}."),
    ),
    field(&["editor", "ide", "text_editor"], Says("Their editor is {}.")),
    field(&["shell", "terminal"], Says("Their shell is {}.")),
    field(&["os", "operating_system", "platform"], Says("Their operating system is {}.")),
    field(&["package_manager", "package_managers"], Says("Their package manager is {}.")),
    field(
        &[
            "experience",
            "experience_level",
            "skill_level",
            "expertise_level",
            "seniority",
            "level",
            "proficiency",
        ],
        Says("Their level of experience is {}."),
    ),
    field(
        &["years_of_experience", "years_experience", "experience_years"],
        Says("They have {} years of experience."),
    ),
    field(
        &[
            "skills",
            "skill",
            "expertise",
            "strengths",
            "specialties",
            "specialization",
            "domains",
            "domain",
        ],
        Says("They are skilled in {}."),
    ),
    field(
        &["learning", "currently_learning", "wants_to_learn", "learning_goals"],
        Says("They are learning {}."),
    ),
    field(
        &[
            "communication_style",
            "communication",
            "style",
            "tone",
            "response_style",
            "answer_style",
            "verbosity",
        ],
        Says("They prefer this style of communication: {}."),
    ),
    field(
        &["response_format", "answer_format", "output_format", "format"],
        Says("They prefer answers in this form: {}."),
    ),
    field(&["response_length", "answer_length"], Says("They prefer answers of this length: {}.")),
    field(
        &["coding_style", "code_style", "coding_conventions", "code_conventions", "conventions"],
        Says("Their coding style is: {}."),
    ),
    field(&["learning_style"], Says("They learn best this way: {}.")),
    field(
        &["emojis", "emoji", "likes_emojis", "use_emojis"],
        Whether("They like emojis.", "They do not want emojis.", "On emojis: {}."),
    ),
    field(&["likes", "loves", "enjoys"], Says("They like {}.")),
    field(
        &["dislikes", "dislike", "avoid", "avoids", "hates", "pet_peeves"],
        Says("They dislike {}."),
    ),
    field(&["interests", "interest", "hobbies", "hobby"], Says("They are interested in {}.")),
    field(&["goals", "goal", "objectives", "aims"], Says("Their goals: {}.")),
    field(&["project", "projects", "working_on"], Says("They work on {}.")),
    field(
        &["diet", "dietary_restrictions", "allergies"],
        Says("What they do not eat or cannot bear: {}."),
    ),
    field(&["email", "e_mail", "mail"], Says("Their e-mail address is {}.")),
    field(
        &["notes", "note", "remarks", "bio", "about", "summary", "description"],
        Says("Notes: {}."),
    ),
];

/// The fields of a task, in the order of the text.
pub(super) const TASK_CONTEXT_FIELDS: &[FieldRule] = &[
    field(&["name"], Says("It is called {}.")),
    field(&["user", "person"], Says("It is for {}.")),
    field(
        &["project", "project_name", "repo", "repository", "codebase", "product"],
        Says("The project is {}."),
    ),
    field(&["project_description"], Says("About the project: {}.")),
    field(
        &[
            "task",
            "task_name",
            "task_description",
            "working_on",
            "focus",
            "activity",
            "ticket",
            "assignment",
        ],
        Says("The task is: {}."),
    ),
    field(&["experiment", "experiments", "hypothesis"], Says("The experiment is: {}.")),
    field(&["description", "summary", "overview", "background"], Says("In short: {}.")),
    field(&["branch", "git_branch"], Says("The branch is {}.")),
    field(&["file", "files", "relevant_files", "open_files"], Says("Files: {}.")),
    field(
        &["language", "languages", "programming_language", "programming_languages"],
        Says("It is written in {}."),
    ),
    field(
        &["stack", "tech_stack", "technologies", "tool", "tools", "framework", "frameworks"],
        Says("It uses {}."),
    ),
    field(
        &["goal", "goals", "objective", "objectives", "aim", "aims", "target", "targets"],
        Says("Goals: {}."),
    ),
    field(
        &["requirements", "requirement", "acceptance_criteria", "success_criteria"],
        Says("Required: {}."),
    ),
    field(&["constraints", "constraint", "limitations"], Says("Constraints: {}.")),
    field(&["status", "state", "phase", "stage"], Says("Its state: {}.")),
    field(&["progress", "percent_complete", "completion"], Says("Progress: {}.")),
    field(
        &["completed", "done", "finished", "completed_steps", "completed_tasks", "accomplishments"],
        Says("Done so far: {}."),
    ),
    field(&["in_progress", "doing", "ongoing"], Says("In progress: {}.")),
    field(&["decisions", "decisions_made", "key_decisions"], Says("Decided: {}.")),
    field(&["findings", "results", "observations", "learnings"], Says("Found so far: {}.")),
    field(&["metric", "metrics", "baseline"], Says("Measured: {}.")),
    field(
        &[
            "blocker",
            "blockers",
            "blocked_by",
            "blocked_on",
            "obstacle",
            "obstacles",
            "impediments",
        ],
        Says("Blocked by: {}."),
    ),
    field(
        &["blocked", "is_blocked"],
        Whether("It is blocked.", "It is not blocked.", "Blocked by: {}."),
    ),
    field(
        &["issue", "issues", "open_issues", "known_issues", "problem", "problems", "bugs"],
        Says("Known problems: {}."),
    ),
    field(&["question", "questions", "open_questions"], Says("Open questions: {}.")),
    field(
        &[
            "next_step",
            "next_steps",
            "next",
            "next_action",
            "next_actions",
            "todo",
            "todos",
            "to_do",
            "plan",
            "remaining",
            "pending",
            "upcoming",
        ],
        Says("Next steps: {}."),
    ),
    field(&["deadline", "due", "due_date", "due_by", "eta"], Says("It is due: {}.")),
    field(&["priority", "urgency"], Says("Its priority is {}.")),
    field(&["owner", "assignee", "assigned_to", "responsible"], Says("Responsible: {}.")),
    field(&["team", "collaborators", "stakeholders", "members"], Says("Also at work on it: {}.")),
    field(&["notes", "note", "remarks", "comments"], Says("Notes: {}.")),
];

/// Spoken languages, by their English names or as codes; any other value of `language` is a
/// programming language.
const SPOKEN_LANGUAGES: [&str; 54] = [
    "arabic",
    "bengali",
    "bulgarian",
    "cantonese",
    "catalan",
    "chinese",
    "croatian",
    "czech",
    "danish",
    "dutch",
    "english",
    "estonian",
    "finnish",
    "french",
    "german",
    "greek",
    "hebrew",
    "hindi",
    "hungarian",
    "indonesian",
    "italian",
    "japanese",
    "korean",
    "latvian",
    "lithuanian",
    "malay",
    "mandarin",
    "norwegian",
    "persian",
    "polish",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "slovak",
    "slovenian",
    "spanish",
    "swedish",
    "tagalog",
    "tamil",
    "thai",
    "turkish",
    "ukrainian",
    "urdu",
    "vietnamese",
    "en",
    "de",
    "fr",
    "es",
    "it",
    "pt",
    "ja",
    "ko",
    "zh",
];

/// Whether a key is one of an object that only groups others.
pub(super) fn is_wrapper(key: &str) -> bool {
    WRAPPER_KEYS.contains(&to_snake_key(key).as_str())
}

/// The field with this key, and its index in the order of the text. The whole key is tried before
/// the key without a prefix such as `current`.
pub(super) fn find_field<'a>(fields: &'a [FieldRule], key: &str) -> Option<(usize, &'a FieldRule)> {
    let key = to_snake_key(key);
    let of = |key: &str| fields.iter().enumerate().find(|(_, field)| field.keys.contains(&key));
    of(&key).or_else(|| {
        let (first, rest) = key.split_once('_')?;
        of(rest).filter(|_| KEY_PREFIXES.contains(&first))
    })
}

/// A key in `snake_case`: `userName`, `User Name` and `user-name` are `user_name`.
fn to_snake_key(key: &str) -> String {
    super::value::phrase(key).to_lowercase().replace(' ', "_")
}

impl FieldRule {
    /// The sentence for a value.
    pub(super) fn tell(&self, value: &Value) -> String {
        let form = match (&self.form, value) {
            (Says(form), _) => form,
            (Language(code, speak), _) => {
                if is_spoken_language(value) {
                    speak
                } else {
                    code
                }
            }
            (Whether(yes, ..), Value::Bool(true)) => return (*yes).to_owned(),
            (Whether(_, no, _), Value::Bool(false)) => return (*no).to_owned(),
            (Whether(.., other), _) => other,
        };
        let (before, after) = form.split_once("{}").unwrap_or((form, ""));
        match after {
            "." => sentence(&format!("{before}{}", clause(value))),
            after => format!("{before}{}{after}", clause(value)),
        }
    }
}

/// Whether a value names only spoken languages.
fn is_spoken_language(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let names = text.split([',', '/', ';']).flat_map(|part| part.split(" and "));
            let mut names = names.map(|name| name.trim().to_lowercase()).peekable();
            // `en-GB` is English too.
            let is_spoken = |name: String| {
                SPOKEN_LANGUAGES.contains(&name.split(['-', '_']).next().unwrap_or(&name))
            };
            names.peek().is_some() && names.all(is_spoken)
        }
        Value::Array(items) => !is_empty(value) && items.iter().all(is_spoken_language),
        _ => false,
    }
}
