-- compatible
-- Whoever may read some projects only reads in the role memtool_guest: of each table it sees the rows of the projects that
-- the setting `memtool.projects` lists, in small letters, and none without it. Postings and counts hold numbers of all
-- chunks: those that a guest does not see are left out before anything is counted (memtool/team/postgres/tables.py).

DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'memtool_guest') THEN
        CREATE ROLE memtool_guest NOLOGIN NOBYPASSRLS;
    END IF;
    IF NOT pg_has_role(current_user, 'memtool_guest', 'MEMBER') THEN
        EXECUTE format('GRANT memtool_guest TO %I', current_user);
    END IF;
END $$;

CREATE FUNCTION memtool.projects() RETURNS text[] LANGUAGE sql STABLE AS
    $$ SELECT coalesce(nullif(current_setting('memtool.projects', true), ''), '{}')::text[] $$;

GRANT USAGE ON SCHEMA memtool TO memtool_guest;
GRANT SELECT ON
    memtool.migration, memtool.model, memtool.vault, memtool.note, memtool.chunk, memtool.term_list, memtool.posting,
    memtool.word, memtool.vault_model, memtool.piece, memtool.vector
TO memtool_guest;

CREATE POLICY of_projects ON memtool.chunk AS RESTRICTIVE TO memtool_guest USING (
    lower(project) = ANY ((SELECT memtool.projects())::text[])
);
-- These see what the chunks let through, as their own policy is applied within.
CREATE POLICY of_projects ON memtool.note AS RESTRICTIVE TO memtool_guest USING (
    EXISTS (SELECT 1 FROM memtool.chunk AS c WHERE c.vault = note.vault AND c.note_id = note.id)
);
CREATE POLICY of_projects ON memtool.term_list AS RESTRICTIVE TO memtool_guest USING (
    EXISTS (SELECT 1 FROM memtool.chunk AS c WHERE c.vault = term_list.vault AND c.id = term_list.chunk_id)
);
CREATE POLICY of_projects ON memtool.piece AS RESTRICTIVE TO memtool_guest USING (
    EXISTS (SELECT 1 FROM memtool.chunk AS c WHERE c.vault = piece.vault AND c.id = piece.chunk_id)
);
CREATE POLICY of_projects ON memtool.vector AS RESTRICTIVE TO memtool_guest USING (
    EXISTS (SELECT 1 FROM memtool.piece AS p WHERE p.vault = vector.vault AND p.hash = vector.hash)
);
-- The words that completion offers are those of all projects.
CREATE POLICY of_projects ON memtool.word AS RESTRICTIVE TO memtool_guest USING (false);

-- Several vaults may be found by their names at once, by whoever lists them in the setting `memtool.names`.
CREATE FUNCTION memtool.names() RETURNS text[] LANGUAGE sql STABLE AS
    $$ SELECT coalesce(nullif(current_setting('memtool.names', true), ''), '{}')::text[] $$;
CREATE POLICY of_names ON memtool.vault FOR SELECT USING (name = ANY ((SELECT memtool.names())::text[]));
