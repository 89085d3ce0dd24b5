-- The tables of Commonbook in PostgreSQL, the first version: those of SQLite with the same names and columns,
-- without the digests of rows and events. Text is compared by its bytes, as SQLite does. There is no
-- sequence, trigger or function: numbers come from rows or from the statement that needs one.

CREATE TABLE schema_version (
    version bigint NOT NULL
);

CREATE TABLE act (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (workspace, id)
);

CREATE TABLE act_memory (
    workspace text COLLATE "C" NOT NULL,
    act text COLLATE "C" NOT NULL,
    memory text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace, act, memory)
);

CREATE TABLE agent (
    workspace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    first_seen bigint NOT NULL,
    last_seen bigint NOT NULL,
    device text COLLATE "C",
    client text COLLATE "C",
    PRIMARY KEY (workspace, name)
);

CREATE TABLE answer (
    workspace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    request_sha256 text COLLATE "C" NOT NULL,
    answer text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (workspace, agent, key)
);

CREATE TABLE audience (
    number bigint,
    workspace text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",
    sharing text COLLATE "C" NOT NULL,
    quarantined boolean NOT NULL,
    PRIMARY KEY (number)
);

CREATE TABLE basis (
    workspace text COLLATE "C" NOT NULL,
    derived text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    memory text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    context text COLLATE "C",
    recorded_at bigint NOT NULL,
    PRIMARY KEY (workspace, derived, origin, memory)
);

CREATE TABLE briefed_item (
    workspace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    item text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (workspace, agent, session, item)
);

CREATE TABLE briefing (
    workspace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    position bigint,
    at bigint NOT NULL,
    PRIMARY KEY (workspace, agent, session)
);

CREATE TABLE case_activity (
    workspace text COLLATE "C" NOT NULL,
    case_key text COLLATE "C" NOT NULL,
    memories bigint NOT NULL,
    ended bigint NOT NULL,
    leased_until bigint NOT NULL,
    PRIMARY KEY (workspace, case_key)
);

CREATE TABLE case_log (
    workspace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    title text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    opened_by text COLLATE "C" NOT NULL,
    opened_at bigint NOT NULL,
    changed_at bigint NOT NULL,
    revision bigint,
    labels text COLLATE "C",
    lead text COLLATE "C",
    parent text COLLATE "C",
    branched_at bigint,
    merged_at bigint,
    PRIMARY KEY (workspace, key)
);

CREATE TABLE case_proposal (
    workspace text COLLATE "C" NOT NULL,
    case_key text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    status text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    entries text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, case_key, number)
);

CREATE TABLE certificate (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    finished_at bigint,
    certificate text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, id)
);

CREATE TABLE checkpoint (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    title text COLLATE "C",
    agent text COLLATE "C" NOT NULL,
    agents_involved text COLLATE "C" NOT NULL,
    case_key text COLLATE "C",
    position bigint NOT NULL,
    created_at bigint NOT NULL,
    resumed bigint NOT NULL,
    resumed_at bigint,
    archived_at bigint,
    PRIMARY KEY (workspace, id)
);

CREATE TABLE claim (
    workspace text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    key bigint NOT NULL,
    PRIMARY KEY (workspace, sequence, key)
);

CREATE TABLE consolidation (
    workspace text COLLATE "C" NOT NULL,
    token bigint NOT NULL,
    agent text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    leased_until bigint NOT NULL,
    finished_at bigint NOT NULL,
    PRIMARY KEY (workspace)
);

CREATE TABLE context (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    sequence bigint NOT NULL,
    milliseconds bigint NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    nonce text COLLATE "C" NOT NULL,
    standing text COLLATE "C",
    receipt text COLLATE "C" NOT NULL,
    counted bigint,
    PRIMARY KEY (workspace, id)
);

CREATE TABLE contradiction (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    older text COLLATE "C" NOT NULL,
    older_revision bigint NOT NULL,
    newer text COLLATE "C" NOT NULL,
    newer_revision bigint NOT NULL,
    resolved boolean NOT NULL,
    contradiction text COLLATE "C" NOT NULL,
    older_audience bigint NOT NULL DEFAULT 0,
    newer_audience bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, id)
);

CREATE TABLE cursor (
    workspace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    case_key text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (workspace, agent, case_key)
);

CREATE TABLE dead_letter (
    webhook text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    attempts bigint NOT NULL,
    failed_at bigint NOT NULL,
    failure text COLLATE "C" NOT NULL,
    PRIMARY KEY (webhook, sequence)
);

CREATE TABLE entity (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    entity text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, id)
);

CREATE TABLE entity_key (
    workspace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, key, name)
);

CREATE TABLE entity_merge (
    workspace text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    source text COLLATE "C" NOT NULL,
    merge text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, target, number)
);

CREATE TABLE entity_name (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    audience bigint NOT NULL,
    session text COLLATE "C",
    entity_type text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    normalised text COLLATE "C" NOT NULL,
    stated boolean NOT NULL,
    filed boolean NOT NULL DEFAULT FALSE,
    PRIMARY KEY (audience, id)
);

CREATE TABLE entity_review (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    review text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, id)
);

CREATE TABLE entity_same (
    workspace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    entity text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, name)
);

CREATE TABLE entity_statement (
    workspace text COLLATE "C" NOT NULL,
    entity text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    statement text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, entity, number)
);

CREATE TABLE event (
    workspace text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    at bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    actor text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    sharing text COLLATE "C" NOT NULL,
    topics text COLLATE "C" NOT NULL,
    importance bigint NOT NULL,
    changed text COLLATE "C" NOT NULL,
    told text COLLATE "C",
    details text COLLATE "C",
    topics_salt bytea,
    user_id text COLLATE "C",
    device text COLLATE "C",
    client text COLLATE "C",
    door text COLLATE "C",
    PRIMARY KEY (workspace, sequence)
);

CREATE TABLE follower (
    workspace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    rules bigint NOT NULL,
    sequence bigint NOT NULL,
    PRIMARY KEY (workspace, name)
);

CREATE TABLE forgotten_memory (
    workspace text COLLATE "C" NOT NULL,
    memory text COLLATE "C" NOT NULL,
    certificate text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, memory)
);

CREATE TABLE handoff (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    from_agent text COLLATE "C" NOT NULL,
    to_agent text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",
    session text COLLATE "C",
    case_key text COLLATE "C",
    kind text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    chain text COLLATE "C" NOT NULL,
    depth bigint NOT NULL,
    tokens bigint NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    accepted_at bigint,
    accepted_in text COLLATE "C",
    ended_at bigint,
    version bigint NOT NULL,
    follows text COLLATE "C" NOT NULL,
    task text COLLATE "C" NOT NULL,
    note text COLLATE "C",
    said text COLLATE "C" NOT NULL,
    entities text COLLATE "C" NOT NULL,
    package text COLLATE "C" NOT NULL,
    left_out text COLLATE "C" NOT NULL,
    moved bigint,
    role text COLLATE "C",
    cycle text COLLATE "C",
    result_told_at bigint,
    PRIMARY KEY (workspace, id)
);

CREATE TABLE handoff_memory (
    workspace text COLLATE "C" NOT NULL,
    handoff text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    origin text COLLATE "C" NOT NULL,
    memory text COLLATE "C" NOT NULL,
    passed text COLLATE "C" NOT NULL,
    private boolean NOT NULL,
    told text COLLATE "C" NOT NULL,
    revision bigint,
    PRIMARY KEY (workspace, handoff, place)
);

CREATE TABLE judged_pair (
    workspace text COLLATE "C" NOT NULL,
    first text COLLATE "C" NOT NULL,
    second text COLLATE "C" NOT NULL,
    texts text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, first, second)
);

CREATE TABLE knowledge (
    memory text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    origin text COLLATE "C" NOT NULL,
    context text COLLATE "C",
    PRIMARY KEY (memory, workspace, agent, revision, user_id)
);

CREATE TABLE memory (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    owner text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",
    memory_type text COLLATE "C" NOT NULL,
    title text COLLATE "C",
    text text COLLATE "C" NOT NULL,
    summary text COLLATE "C",
    topics text COLLATE "C" NOT NULL,
    importance bigint NOT NULL,
    sharing text COLLATE "C" NOT NULL,
    session text COLLATE "C",
    source text COLLATE "C" NOT NULL,
    trust text COLLATE "C" NOT NULL,
    metadata text COLLATE "C" NOT NULL,
    recorded_at bigint NOT NULL,
    revised_at bigint NOT NULL,
    revised_by text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    valid_from bigint,
    valid_until bigint,
    superseded_by text COLLATE "C",
    deleted_at bigint,
    imported text COLLATE "C",
    redacted text COLLATE "C" NOT NULL DEFAULT '[]',
    suspicions text COLLATE "C" NOT NULL DEFAULT '[]',
    entities text COLLATE "C" NOT NULL DEFAULT '[]',
    case_key text COLLATE "C",
    position bigint,
    audience bigint NOT NULL DEFAULT 0,
    review text COLLATE "C",
    archived_at bigint,
    retraction text COLLATE "C",
    PRIMARY KEY (workspace, id),
    UNIQUE (workspace, sequence)
);

CREATE TABLE mention (
    workspace text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    audience bigint NOT NULL,
    sequence bigint NOT NULL,
    value text COLLATE "C" NOT NULL,
    confidence double precision NOT NULL,
    count bigint NOT NULL,
    place bigint NOT NULL,
    PRIMARY KEY (audience, name, sequence)
);

CREATE TABLE outdated (
    workspace text COLLATE "C" NOT NULL,
    derived text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    memory text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    mark text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, derived, origin, memory)
);

CREATE TABLE relation (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    relation_type text COLLATE "C" NOT NULL,
    strength double precision NOT NULL,
    recorded_at bigint NOT NULL,
    valid_from bigint,
    valid_until bigint,
    relation text COLLATE "C" NOT NULL,
    audience bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, id)
);

CREATE TABLE retraction_notice (
    workspace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    memory text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    told_at bigint,
    actor text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    heard_at bigint,
    PRIMARY KEY (workspace, agent, memory, operation, kind)
);

CREATE TABLE revision (
    workspace text COLLATE "C" NOT NULL,
    memory text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    snapshot text COLLATE "C" NOT NULL,
    ended bigint,
    PRIMARY KEY (workspace, memory, revision)
);

CREATE TABLE session (
    workspace text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    agent text COLLATE "C" NOT NULL,
    device text COLLATE "C",
    client text COLLATE "C",
    user_id text COLLATE "C",
    case_key text COLLATE "C",
    client_session text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    touched_at bigint NOT NULL,
    ended_at bigint,
    summary text COLLATE "C",
    checkpoints bigint NOT NULL DEFAULT 0,
    active bigint NOT NULL DEFAULT 0,
    token text COLLATE "C",
    door text COLLATE "C",
    PRIMARY KEY (workspace, id)
);

CREATE TABLE standing_version (
    project text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    at bigint NOT NULL,
    agent text COLLATE "C",
    action text COLLATE "C" NOT NULL,
    bytes bigint NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (project, role, version)
);

CREATE TABLE steady (
    one bigint,
    sure bigint NOT NULL,
    shown bigint NOT NULL,
    PRIMARY KEY (one)
);

CREATE TABLE token (
    id text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    secret_sha256 text COLLATE "C" NOT NULL,
    scopes text COLLATE "C" NOT NULL,
    workspace text COLLATE "C",
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used bigint,
    revoked_at bigint,
    PRIMARY KEY (id)
);

CREATE TABLE told_memory (
    workspace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    memory text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    context text COLLATE "C",
    sequence bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (workspace, agent, session, origin, memory)
);

CREATE TABLE tombstone (
    workspace text COLLATE "C" NOT NULL,
    words bigint NOT NULL,
    phrase bigint NOT NULL,
    certificate text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace, words, phrase, certificate)
);

CREATE TABLE tombstone_key (
    number bigint,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (number),
    UNIQUE (key)
);

CREATE TABLE usage (
    workspace text COLLATE "C" NOT NULL,
    memory text COLLATE "C" NOT NULL,
    audience bigint NOT NULL,
    sequence bigint NOT NULL,
    found bigint NOT NULL DEFAULT 0,
    told bigint NOT NULL DEFAULT 0,
    used bigint NOT NULL DEFAULT 0,
    last_told_at bigint,
    PRIMARY KEY (workspace, memory)
);

CREATE TABLE webhook (
    id text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",
    token text COLLATE "C",
    door text COLLATE "C" NOT NULL,
    url text COLLATE "C" NOT NULL,
    secret text COLLATE "C" NOT NULL,
    filter text COLLATE "C" NOT NULL,
    allow_private boolean NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE webhook_lease (
    webhook text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    held_until bigint NOT NULL,
    PRIMARY KEY (webhook)
);

CREATE TABLE webhook_progress (
    webhook text COLLATE "C" NOT NULL,
    through bigint NOT NULL,
    delivered bigint NOT NULL,
    failing bigint,
    attempts bigint,
    retry_at bigint,
    failure text COLLATE "C",
    stopped text COLLATE "C",
    PRIMARY KEY (webhook)
);

CREATE TABLE workspace (
    name text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    PRIMARY KEY (name)
);

CREATE INDEX audience_own ON audience (workspace, owner, quarantined, user_id);
CREATE INDEX audience_shared ON audience (workspace, quarantined, sharing, user_id, owner);
CREATE INDEX basis_memory ON basis (origin, memory);
CREATE INDEX briefing_at ON briefing (at);
CREATE INDEX case_lead ON case_log (workspace, lead) WHERE lead IS NOT NULL;
CREATE UNIQUE INDEX case_opened ON case_log (workspace, sequence);
CREATE INDEX case_shut ON case_log (workspace, key) WHERE status <> 'open';
CREATE INDEX certificate_unfinished ON certificate (at) WHERE finished_at IS NULL;
CREATE INDEX checkpoint_created ON checkpoint (created_at);
CREATE UNIQUE INDEX checkpoint_session ON checkpoint (workspace, session, sequence);
CREATE INDEX claim_key ON claim (workspace, key, sequence);
CREATE INDEX context_agent ON context (workspace, agent, id);
CREATE INDEX context_at ON context (at);
CREATE INDEX context_uncounted ON context (workspace, id) WHERE counted IS DISTINCT FROM 1;
CREATE INDEX contradiction_newer ON contradiction (workspace, newer);
CREATE INDEX contradiction_newer_seen ON contradiction (older_audience, newer);
CREATE INDEX contradiction_of ON contradiction (workspace, older);
CREATE INDEX contradiction_older ON contradiction (newer_audience, older);
CREATE INDEX contradiction_order ON contradiction (older_audience, newer_audience, sequence);
CREATE INDEX entity_name_ending ON entity_name (right(id, 6));
CREATE INDEX entity_name_order ON entity_name (audience, normalised, id);
CREATE INDEX entity_same_entity ON entity_same (workspace, entity);
CREATE INDEX event_refused ON event (workspace, subject) WHERE kind = 'handoff.refused';
CREATE INDEX handoff_accepted_in ON handoff (workspace, accepted_in, sequence)
    WHERE accepted_in IS NOT NULL;
CREATE INDEX handoff_case ON handoff (workspace, case_key, sequence) WHERE case_key IS NOT NULL;
CREATE INDEX handoff_chain ON handoff (workspace, chain, sequence);
CREATE INDEX handoff_ended ON handoff (workspace, from_agent, ended_at)
    WHERE status IN ('completed', 'rejected');
CREATE INDEX handoff_ending ON handoff (right(id, 6));
CREATE INDEX handoff_from ON handoff (workspace, from_agent, sequence);
CREATE UNIQUE INDEX handoff_made ON handoff (workspace, sequence);
CREATE INDEX handoff_memory_of ON handoff_memory (origin, memory);
CREATE INDEX handoff_moved ON handoff (workspace, to_agent, moved) WHERE moved IS NOT NULL;
CREATE INDEX handoff_open ON handoff (workspace, sequence) WHERE status IN ('pending', 'accepted');
CREATE INDEX handoff_queue ON handoff (workspace, to_agent, sequence)
    WHERE status IN ('pending', 'accepted');
CREATE INDEX handoff_session ON handoff (workspace, session, sequence) WHERE session IS NOT NULL;
CREATE INDEX handoff_to ON handoff (workspace, to_agent, sequence);
CREATE INDEX handoff_waiting ON handoff (expires_at) WHERE status = 'pending';
CREATE INDEX memory_by_type ON memory (audience, memory_type, sequence);
CREATE INDEX memory_case ON memory (audience, case_key, position) WHERE case_key IS NOT NULL;
CREATE INDEX memory_deleted ON memory (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX memory_ending ON memory (right(id, 6));
CREATE UNIQUE INDEX memory_entry ON memory (workspace, case_key, position)
    WHERE case_key IS NOT NULL;
CREATE INDEX memory_entry_heir ON memory (audience, case_key, superseded_by)
    WHERE case_key IS NOT NULL AND superseded_by IS NOT NULL;
CREATE INDEX memory_heir ON memory (audience, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_important ON memory (audience, importance, sequence)
    WHERE deleted_at IS NULL AND superseded_by IS NULL;
CREATE INDEX memory_imported ON memory (workspace, imported) WHERE imported IS NOT NULL;
CREATE INDEX memory_owner ON memory (audience, owner, sequence);
CREATE INDEX memory_profile ON memory (audience, memory_type, user_id, owner, revised_at, sequence)
    WHERE memory_type IN ('profile', 'task_context');
CREATE INDEX memory_seen ON memory (audience, sequence);
CREATE INDEX memory_seen_id ON memory (audience, id);
CREATE INDEX memory_counted ON memory (audience, owner, memory_type, deleted_at);
CREATE INDEX memory_session ON memory (workspace, session, audience, sequence)
    WHERE session IS NOT NULL;
CREATE INDEX mention_memory ON mention (workspace, sequence, name, value);
CREATE INDEX outdated_memory ON outdated (origin, memory);
CREATE INDEX outdated_owner ON outdated (workspace, owner, sequence);
CREATE INDEX relation_from ON relation (workspace, origin);
CREATE UNIQUE INDEX relation_origin ON relation (audience, origin, relation_type, target);
CREATE INDEX relation_target ON relation (audience, target);
CREATE INDEX relation_to ON relation (workspace, target);
CREATE INDEX retraction_notice_memory ON retraction_notice (memory);
CREATE INDEX retraction_notice_operation ON retraction_notice (operation);
CREATE INDEX session_at_work ON session (workspace, agent, touched_at) WHERE status = 'active';
CREATE INDEX session_going_on ON session (touched_at) WHERE status <> 'completed';
CREATE INDEX session_own ON session (workspace, agent, client_session, sequence)
    WHERE client_session IS NOT NULL;
CREATE UNIQUE INDEX session_started ON session (workspace, sequence);
CREATE INDEX session_unsummarised ON session (workspace, sequence)
    WHERE status = 'completed' AND summary IS NULL;
CREATE INDEX told_memory_at ON told_memory (at);
CREATE INDEX told_memory_memory ON told_memory (origin, memory);
CREATE INDEX tombstone_certificate ON tombstone (workspace, certificate);
CREATE INDEX usage_found ON usage (audience, found, sequence) WHERE found > 0;
CREATE INDEX usage_told ON usage (audience, told, sequence) WHERE told > 0;
CREATE INDEX usage_used ON usage (audience, used, sequence) WHERE used > 0;
CREATE UNIQUE INDEX audience_of_user ON audience (workspace, owner, user_id, sharing, quarantined)
    WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX audience_of_nobody ON audience (workspace, owner, sharing, quarantined)
    WHERE user_id IS NULL;
