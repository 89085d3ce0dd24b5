//! Files of every version: what a migration makes of them, killed or not.

use super::super::connection::writing_connection;
use super::super::engine::SqliteEngine;
use super::super::open::{open_prepared, open_without_upgrade};
use super::*;
use crate::store::sql::Tx;

#[test]
fn the_newest_version_is_that_of_the_last_migration() {
    let runner = scripts::migrations::runner();
    let versions = runner.get_migrations().iter().map(|migration| i64::from(migration.version()));
    assert_eq!(versions.max(), Some(SCHEMA_VERSION));
}

/// Every row of every table as text, without what a run makes up: ids, times, salts and digests.
fn all_rows(connection: &Connection) -> Vec<String> {
    let tables = "SELECT 'SELECT ''' || t.name || ' '' || json_array(' || group_concat(\
        iif(c.type = 'BLOB', 'length(' || c.name || ')', c.name)) || ') FROM ' || t.name || ' ORDER BY 1' \
        FROM sqlite_schema t, pragma_table_info(t.name) c \
        WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND (t.name, c.name) NOT IN \
        (VALUES ('home', 'id'), ('event', 'topics_salt'), \
        ('tombstone_key', 'key'), ('refinery_schema_history', 'applied_on')) \
        GROUP BY t.name ORDER BY t.name";
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let texts = statement.query_map([], |row| row.get(0)).unwrap();
        texts.collect::<rusqlite::Result<_>>().unwrap()
    };
    texts(tables).iter().flat_map(|sql| texts(sql)).collect()
}

/// All scripts, in order.
fn all_scripts() -> Vec<refinery::Migration> {
    let mut scripts = scripts::migrations::runner().get_migrations().clone();
    scripts.sort();
    scripts
}

/// The versions that a file can have: none, and that of each script.
fn versions() -> impl Iterator<Item = i32> {
    std::iter::once(0).chain(all_scripts().into_iter().map(|script| script.version()))
}

/// Makes this a closed file of this version, with a row in each table.
fn fill_file(path: &Path, version: i32) {
    for ending in ["", "-wal", "-shm", ".mark"] {
        drop(fs::remove_file(sibling_path(path, ending)));
    }
    let file = of_version(path, version);
    register_functions(&file).unwrap();
    a_row_in_each_table(&file);
    file.close().unwrap();
}

/// Calls this between the steps of all statements of a connection.
fn between_steps(connection: &mut Connection, mut act: impl FnMut() + Send + 'static) {
    let act = move || {
        act();
        false
    };
    connection.progress_handler(5, Some(act)).unwrap();
}

/// Copies the file and its log, as another process finds them if this one is killed now.
fn copy_file(path: &Path, to: &Path) {
    for ending in ["", "-wal"] {
        let (from, to) = (sibling_path(path, ending), sibling_path(to, ending));
        drop(fs::remove_file(&to));
        if from.exists() {
            fs::copy(from, to).unwrap();
        }
    }
}

#[test]
fn a_file_outlives_a_kill_between_any_two_statements_of_each_upgrade() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut killed_states = 0;
    for version in versions() {
        fill_file(&path("whole.db"), version);
        let expected = all_rows(&open_prepared(&path("whole.db")).unwrap());
        fill_file(&path("killed.db"), version);
        let states = path(&format!("states-{version}"));
        fs::create_dir(&states).unwrap();
        let mut killed = connection_to(&path("killed.db")).unwrap();
        let (file, mut last, mut number) = (path("killed.db"), None, 0);
        let keep_state = {
            let states = states.clone();
            move || {
                let look = |ending: &str| {
                    let found = fs::metadata(sibling_path(&file, ending)).ok()?;
                    Some((found.len(), found.modified().ok()))
                };
                let state = Some((look(""), look("-wal")));
                if last != state {
                    copy_file(&file, &states.join(format!("{number}.db")));
                    (last, number) = (state, number + 1);
                }
            }
        };
        between_steps(&mut killed, keep_state);
        migrate_connection(&mut killed, &path("killed.db")).unwrap();
        drop(killed);
        let states = fs::read_dir(states).unwrap().map(|state| state.unwrap().path());
        for state in states.filter(|state| state.extension().is_some_and(|ending| ending == "db")) {
            let found = open_prepared(&state).unwrap();
            assert_eq!(all_rows(&found), expected, "version {version}: {}", state.display());
            assert_eq!(digest::check(&found).unwrap(), Vec::<String>::new());
            killed_states += 1;
        }
    }
    assert!(killed_states > 2 * versions().count(), "{killed_states}");
}

#[test]
fn a_script_that_an_older_program_ran_and_did_not_record_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, half) = (folder.path().join("whole.db"), folder.path().join("half.db"));
    for (version, script) in versions().zip(all_scripts()) {
        fill_file(&whole, version);
        fill_file(&half, version);
        let older = Connection::open(&half).unwrap();
        register_functions(&older).unwrap();
        older.execute_batch(script.sql().unwrap()).unwrap();
        older.close().unwrap();
        let opened = open_prepared(&half).unwrap();
        let expected = all_rows(&open_prepared(&whole).unwrap());
        assert_eq!(all_rows(&opened), expected, "after version {version}");
        assert_eq!(digest::check(&opened).unwrap(), Vec::<String>::new(), "after {version}");
    }
}

#[test]
fn a_process_that_may_end_at_any_time_upgrades_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("commonbook.db");
    fill_file(&path, 30);
    let before = fs::read(&path).unwrap();
    let error = open_without_upgrade(&path).unwrap_err();
    assert!(error.message.contains("is of an older version"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
    open_prepared(&path).unwrap();
    open_without_upgrade(&path).unwrap();
    // Between the scripts and the sealing of their rows.
    let unsealed = Connection::open(&path).unwrap();
    unsealed.execute("UPDATE home SET sealed = 0", []).unwrap();
    open_without_upgrade(&path).unwrap();
    open_without_upgrade(&folder.path().join("new.db")).unwrap();
}

/// A file as the schema of this version has it.
fn of_version(path: &Path, version: i32) -> Connection {
    let mut connection = Connection::open(path).unwrap();
    let target = refinery::Target::Version(version);
    connection.pragma_update(None, "synchronous", "off").unwrap();
    let runner = scripts::migrations::runner().set_grouped(true).set_target(target);
    runner.run(&mut connection).unwrap();
    connection
}

#[test]
fn handoffs_and_mentions_outlive_the_tables_that_they_were_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("commonbook.db");
    let rows = "INSERT INTO handoff (workspace, id, sequence, accepted, from_agent, to_agent, \
            user_id, session, case_key, task, said, kind, status, follows, chain, depth, entities, \
            tokens, note, created_at, expires_at, accepted_at, accepted_in, ended_at, version, \
            package, left_out) VALUES ('w', 'h', 1, 2, 'a', 'b', 'u', 's', 'c', 'task', 'said', \
            'kind', 'accepted', 'follows', 'chain', 3, 'entities', 4, 'note', 5, 6, 7, 'in', 8, \
            9, 'package', 'left');
        INSERT INTO handoff_memory VALUES ('w', 'h', 1, 'w', 'm', 'passed', 1, 'told');
        INSERT INTO mention VALUES ('w', 'n', 1, 'value', 0.5, 2, 3);
        INSERT INTO memory (workspace, id, sequence, owner, memory_type, text, topics, importance, \
            sharing, source, trust, metadata, recorded_at, revised_at, revised_by, revision) \
            VALUES ('w', 'm', 1, 'a', 'semantic', 'text', '[]', 1, 'shared', '{}', 'normal', \
            '{}', 1, 1, 'a', 1)";
    let all = |connection: &Connection| -> Vec<String> {
        let json = |table, columns| {
            let sql = format!("SELECT json_array({columns}) FROM {table}");
            connection.query_row(&sql, [], |row| row.get::<_, String>(0)).unwrap()
        };
        let handoff = "workspace, id, sequence, from_agent, to_agent, user_id, session, \
            case_key, task, said, kind, status, follows, chain, depth, entities, tokens, note, \
            created_at, expires_at, accepted_at, accepted_in, ended_at, version, package, left_out";
        let memory = "workspace, handoff, place, origin, memory, passed, private, told";
        let mention = "workspace, name, sequence, value, confidence, count, place";
        vec![json("handoff", handoff), json("handoff_memory", memory), json("mention", mention)]
    };
    let before = of_version(&path, 13);
    before.execute_batch(rows).unwrap();
    let kept = all(&before);
    before.close().unwrap();
    assert_eq!(all(&open_prepared(&path).unwrap()), kept);
    assert_eq!(kept[1], r#"["w","h",1,"w","m","passed",1,"told"]"#);
    let sql = "SELECT role IS NULL AND cycle IS NULL AND to_agent = 'b' FROM handoff";
    let now = open_prepared(&path).unwrap();
    assert!(now.query_row(sql, [], |row| row.get::<_, bool>(0)).unwrap());
}

#[test]
fn work_goes_on_from_handoffs_of_before_chains_held() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("commonbook.db");
    let before = of_version(&path, 28);
    register_functions(&before).unwrap();
    let handoff = |id: &str, sequence: u32, accepted: &str, status: &str| {
        format!(
            "INSERT INTO handoff (workspace, id, sequence, accepted, from_agent, to_agent, task, \
             said, kind, status, follows, chain, depth, entities, tokens, created_at, expires_at, \
             version, package, left_out) VALUES ('w', '{id}', {sequence}, {accepted}, 'a', 'b', \
             't', '{{}}', 'sequential', '{status}', '[]', '{id}', 1, '[]', 1, 1, 1, 1, '{{}}', '[]');"
        )
    };
    let event = |sequence: u32, kind: &str, subject: &str| {
        format!(
            "INSERT INTO event (workspace, sequence, at, kind, actor, subject, owner, sharing, \
             topics, importance, changed) VALUES ('w', {sequence}, 1, '{kind}', 'b', \
             '{subject}', 'a', 'shared', '[]', 1, '[]');"
        )
    };
    let rows = [
        "INSERT INTO workspace (name, sequence) VALUES ('w', 6);".to_owned(),
        handoff("done", 1, "3", "completed"),
        handoff("open", 2, "4", "accepted"),
        handoff("waiting", 6, "NULL", "pending"),
        event(5, "handoff.completed", "done"),
    ];
    before.execute_batch(&rows.concat()).unwrap();
    digest::fill_digests(&before).unwrap();
    chain::fill_hashes(&before).unwrap();
    before.close().unwrap();
    let after = open_prepared(&path).unwrap();
    assert_eq!(digest::check(&after).unwrap(), Vec::<String>::new());
    let sql = "SELECT group_concat(id || ' ' || moved) FROM (SELECT id, moved FROM handoff \
               WHERE moved IS NOT NULL AND result_told_at IS NULL ORDER BY moved)";
    let order: String = after.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(order, "open 4,done 5");
}

#[test]
fn events_of_before_keep_their_hashes_beside_those_with_an_origin() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("commonbook.db");
    let before = of_version(&path, 39);
    register_functions(&before).unwrap();
    let rows = "INSERT INTO workspace (name, sequence) VALUES ('w', 2);
        INSERT INTO event (workspace, sequence, at, kind, actor, subject, owner, sharing, topics, \
            importance, changed) VALUES \
            ('w', 1, 1, 'agent.seen', 'a', 's', 'a', 'shared', '[\"tea\"]', 1, '[]'), \
            ('w', 2, 2, 'agent.seen', 'b', 's', 'a', 'shared', '[]', 1, '[]')";
    before.execute_batch(rows).unwrap();
    chain::fill_hashes(&before).unwrap();
    let hashes = |connection: &Connection| {
        [1, 2].map(|sequence| chain::hash_at(connection, "w", sequence).unwrap().unwrap())
    };
    let kept = hashes(&before);
    before.close().unwrap();
    let after = open_prepared(&path).unwrap();
    assert_eq!(hashes(&after), kept);
    assert_eq!(chain::check(&after).unwrap(), Vec::<String>::new());
    // What an event says of its origin is covered.
    let writing = writing_connection(&path).unwrap();
    writing.execute("UPDATE event SET device = 'jarvis' WHERE sequence = 2", []).unwrap();
    assert_eq!(chain::check(&writing).unwrap(), ["event 2 of workspace 'w' was changed"]);
}

#[test]
fn memories_of_before_are_not_archived_and_keep_their_digests() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("commonbook.db");
    let before = of_version(&path, 34);
    register_functions(&before).unwrap();
    let rows = "INSERT INTO memory (workspace, id, sequence, owner, memory_type, text, topics, \
            importance, sharing, source, trust, metadata, recorded_at, revised_at, revised_by, \
            revision, audience) VALUES ('w', 'm', 1, 'a', 'semantic', 'text', '[]', 1, 'shared', \
            '{}', 'normal', '{}', 1, 1, 'a', 1, 1)";
    before.execute_batch(rows).unwrap();
    digest::fill_digests(&before).unwrap();
    before.close().unwrap();
    let after = open_prepared(&path).unwrap();
    assert_eq!(digest::check(&after).unwrap(), Vec::<String>::new());
    let sql = "SELECT archived_at IS NULL AND (SELECT count(*) FROM consolidation) = 0 FROM memory";
    assert!(after.query_row(sql, [], |row| row.get::<_, bool>(0)).unwrap());
}

/// Memories of Ann and of Bob, private, shared, about a user and quarantined, that all mention `n`.
const OLD_ROWS: &str = "\
    INSERT INTO workspace VALUES ('w', 5), ('empty', 1);
    INSERT INTO memory (workspace, id, sequence, owner, user_id, memory_type, text, topics, \
        importance, sharing, source, trust, metadata, recorded_at, revised_at, revised_by, revision) \
    SELECT 'w', 'mem_' || (value ->> 0), j.key + 1, value ->> 1, value ->> 2, 'semantic', 'text', \
        '[]', 1, value ->> 3, '{}', value ->> 4, '{}', 1, 1, 'a', 1 \
    FROM json_each('[[\"all\", \"ann\", null, \"shared\", \"normal\"], \
        [\"alltoo\", \"bob\", null, \"shared\", \"trusted\"], \
        [\"own\", \"ann\", null, \"private\", \"normal\"], \
        [\"user\", \"bob\", \"u\", \"shared\", \"normal\"], \
        [\"held\", \"bob\", null, \"shared\", \"quarantined\"]]') j;
    INSERT INTO mention SELECT 'w', 'ent_n', sequence, 'value ' || sequence, 0.5, 1, 1 FROM memory;
    INSERT INTO mention VALUES ('w', 'ent_own', 3, 'own', 0.5, 1, 1);
    INSERT INTO entity_name VALUES ('w', 'ent_n', NULL, 'tool', 'value 1', 'n', 0, 1), \
        ('w', 'ent_own', NULL, 'tool', 'own', 'own', 0, 0), \
        ('empty', 'ent_said', NULL, 'tool', 'said', 'said', 1, 1);
    INSERT INTO entity_key VALUES ('w', 'k', 'ent_n'), ('w', 'k', 'ent_own');
    INSERT INTO relation (workspace, id, origin, target, relation_type, strength, recorded_at, relation) \
    SELECT 'w', value ->> 0, value ->> 1, value ->> 2, 'uses', 1, 1, '{\"author\":\"ann\"}' \
    FROM json_each('[[\"r1\", \"mem_all\", \"mem_alltoo\"], [\"r2\", \"mem_all\", \"mem_own\"], \
        [\"r3\", \"ent_n\", \"ent_own\"], [\"r4\", \"mem_user\", \"mem_own\"]]')";

#[test]
fn older_files_get_their_audiences() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("commonbook.db");
    let before = of_version(&path, 14);
    before.execute_batch(OLD_ROWS).unwrap();
    before.close().unwrap();
    let now = open_prepared(&path).unwrap();
    let rows = |sql: &str| -> Vec<String> {
        let of = "ifnull(nullif(a.owner, ''), 'all') || ifnull(' of ' || a.user_id, '') || ' ' \
            || a.sharing || iif(a.quarantined, ' held', '')";
        let sql = sql.replace("OF", of);
        let mut statement = now.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    };
    let sql = "SELECT m.id || ': ' || OF FROM memory m JOIN audience a ON a.number = m.audience \
         ORDER BY m.sequence";
    let memories = [
        "all: all shared",
        "alltoo: all shared",
        "own: ann private",
        "user: bob of u shared",
        "held: bob shared held",
    ];
    assert_eq!(rows(sql), memories.map(|memory| format!("mem_{memory}")));
    let sql = "SELECT e.value || ': ' || OF FROM entity_name e JOIN audience a \
         ON a.number = e.audience WHERE e.id = 'ent_n' ORDER BY e.value";
    assert_eq!(
        rows(sql),
        [
            "value 1: all shared",
            "value 3: ann private",
            "value 4: bob of u shared",
            "value 5: bob shared held"
        ]
    );
    let sql = "SELECT a.workspace || ' ' || e.value FROM entity_name e JOIN audience a \
         ON a.number = e.audience WHERE e.stated";
    assert_eq!(rows(sql), ["empty said"]);
    assert_eq!(rows("SELECT name FROM entity_key"), ["ent_n"], "all may know it");
    let sql = "SELECT r.id || ': ' || OF FROM relation r JOIN audience a \
         ON a.number = r.audience ORDER BY r.id";
    let relations = ["r1: all shared", "r2: ann private", "r3: ann private", "r4: ann private"];
    assert_eq!(rows(sql), relations);
}

/// A row in each table, as raw SQL; what stands in it does not matter.
fn a_row_in_each_table(connection: &Connection) {
    let tables = "SELECT name, group_concat(column), group_concat(value) FROM (\
            SELECT t.name, c.name AS column, iif(c.type = 'TEXT', '''[]''', '1') AS value \
            FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' \
            AND t.name NOT IN ('home', 'tombstone_key', 'refinery_schema_history') \
            AND c.type <> 'BLOB') GROUP BY name";
    let mut statement = connection.prepare(tables).unwrap();
    let rows = statement
        .query_map([], |row| {
            let (table, columns, values): (String, String, String) = row.try_into()?;
            Ok(format!("INSERT INTO {table} ({columns}) VALUES ({values})"))
        })
        .unwrap();
    for sql in rows.map(Result::unwrap) {
        connection.execute_batch(&sql).unwrap();
    }
}

#[test]
fn rows_and_events_from_before_digests_get_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("commonbook.db");
    let before = of_version(&path, 14);
    before.execute_batch(OLD_ROWS).unwrap();
    let event = "UPDATE workspace SET sequence = (name = 'w'); \
        INSERT INTO event (workspace, sequence, at, kind, actor, subject, owner, sharing, topics, \
            importance, changed) VALUES \
            ('w', 1, 1, 'memory.saved', 'ann', 'mem_all', 'ann', 'shared', '[\"berths\"]', 1, '[]')";
    before.execute_batch(event).unwrap();
    before.close().unwrap();
    let connection = open_prepared(&path).unwrap();
    assert_eq!(digest::check(&connection).unwrap(), Vec::<String>::new());
    assert_eq!(chain::check(&connection).unwrap(), Vec::<String>::new());
    let sealed = "SELECT count(*) FROM event WHERE hash <> zeroblob(32) AND topics_salt <> ''";
    let count: i64 = connection.query_row(sealed, [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
}

/// Receipts and read marks of before say who knows what.
#[test]
fn what_agents_were_told_before_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("commonbook.db");
    let before = of_version(&path, 14);
    before.execute_batch(OLD_ROWS).unwrap();
    let rows = r#"
        UPDATE memory SET case_key = 'k', position = 1, revised_at = 50, revision = 3
            WHERE id = 'mem_alltoo';
        INSERT INTO cursor VALUES ('w', 'ann', 'k', 1, 40), ('w', 'ann', '', 9, 40);
        INSERT INTO context (workspace, id, agent, at, sequence, milliseconds, sha256, nonce, receipt)
            VALUES ('w', 'ctx_1', 'bob', 30, 1, 1, '', '', '{"origin": "briefing", "candidates": [
                {"id": "mem_all", "taken": true, "revision": 1}, {"id": "mem_own", "taken": false},
                {"id": "mem_alltoo", "taken": true}, {"id": "hnd_x", "taken": true}],
                "diagnostics": {"resolved_user_id": "u"}}');"#;
    before.execute_batch(rows).unwrap();
    before.close().unwrap();
    let now = open_prepared(&path).unwrap();
    let sql = "SELECT memory || ' ' || agent || ' ' || revision || ' ' || user_id || ' ' || at || ' ' \
        || origin || ' ' || ifnull(context, '-') FROM knowledge ORDER BY memory, agent";
    let mut statement = now.prepare(sql).unwrap();
    let known = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let known: Vec<String> = known.collect::<rusqlite::Result<_>>().unwrap();
    let expected = [
        "mem_all bob 1 u 30 briefing ctx_1",
        "mem_alltoo ann 3  40 case -",
        "mem_alltoo bob 2 u 30 briefing ctx_1",
    ];
    assert_eq!(known, expected);
    assert_eq!(digest::check(&now).unwrap(), Vec::<String>::new());
}

/// Whatever a later migration does to a row that has a digest, it has the right one afterwards.
#[test]
fn digests_outlive_every_later_migration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("commonbook.db");
    let before = of_version(&path, 16);
    register_functions(&before).unwrap();
    a_row_in_each_table(&before);
    // An event without topics is one whose topics were erased.
    before.execute_batch("UPDATE event SET topics = '[]'").unwrap();
    digest::fill_digests(&before).unwrap();
    chain::fill_hashes(&before).unwrap();
    assert_eq!(digest::check(&before).unwrap(), Vec::<String>::new());
    assert_eq!(chain::check(&before).unwrap(), Vec::<String>::new());
    before.close().unwrap();
    let after = open_prepared(&path).unwrap();
    assert_eq!(digest::check(&after).unwrap(), Vec::<String>::new());
    assert_eq!(chain::check(&after).unwrap(), Vec::<String>::new());
}

/// A case of before has no labels and no lead, and its journal is not digested again.
#[test]
fn cases_from_before_branches_are_read_and_not_digested_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("commonbook.db");
    let before = of_version(&path, 28);
    let rows = "INSERT INTO workspace (name, sequence) VALUES ('w', 7); \
        INSERT INTO case_log (workspace, key, sequence, title, status, version, opened_by, \
            opened_at, changed_at) VALUES ('w', 'k', 1, 'K', 'open', 3, 'ann', 1, 2)";
    before.execute_batch(rows).unwrap();
    before.close().unwrap();
    let now = open_prepared(&path).unwrap();
    let engine = SqliteEngine::new(&now);
    let (workspace, key) = ("w".parse().unwrap(), "k".parse().unwrap());
    let case = Tx::new(&engine).case(&workspace, &key).unwrap().unwrap();
    assert_eq!((case.revision, case.version, case.branched_at()), (1, 3, 0));
    assert_eq!((case.labels, case.lead, case.branch), (Vec::new(), None, None));
    let follower = "SELECT sequence FROM follower WHERE name = 'digests' AND workspace = 'w'";
    assert_eq!(now.query_row(follower, [], |row| row.get::<_, i64>(0)).unwrap(), 7);
    assert_eq!(digest::check(&now).unwrap(), Vec::<String>::new());
}

/// The texts of projects' files that stand in a store before its upgrade are listed beside it, and no others.
#[test]
fn an_upgrade_from_before_agreements_lists_what_agents_received() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "INSERT INTO standing_version (project, role, version, at, action, bytes, sha256, text) VALUES \
        ('/p', 'qa', 1, 1, 'edited', 1, 'old', 'a'), ('/p', 'qa', 2, 1, 'edited', 1, 'new', 'b'), \
        ('/p', 'pm', 1, 9, 'edited', 1, 'other', 'c'), ('', 'qa', 1, 1, 'edited', 1, 'home', 'd')";
    let told = |name: &str, version: i32, rows: &str| {
        let path = folder.path().join(name);
        let before = of_version(&path, version);
        before.execute_batch(rows).unwrap();
        before.close().unwrap();
        open_prepared(&path).unwrap();
        fs::read_to_string(sibling_path(&path, TOLD_ENDING)).ok()
    };
    let expected = r#"[["/p","pm","other"],["/p","qa","new"]]"#;
    let before = i32::try_from(*BEFORE_AGREEMENTS.end()).unwrap();
    assert_eq!(told("before.db", before, rows).as_deref(), Some(expected));
    assert_eq!(told("first.db", 22, rows).as_deref(), Some(expected));
    assert_eq!(told("none.db", before, ""), None);
    assert_eq!(told("since.db", before + 1, rows), None, "agreements existed");
    assert_eq!(told("ancient.db", 21, ""), None);
    open_prepared(&folder.path().join("before.db")).unwrap();
    let new = folder.path().join("new.db");
    open_prepared(&new).unwrap();
    assert!(!sibling_path(&new, TOLD_ENDING).exists());
}
