-- compatible
-- Who may ask the service of a team, and who did. Neither table holds a word of a memory, nor a token itself.

DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'memtool_gate') THEN
        CREATE ROLE memtool_gate NOLOGIN NOBYPASSRLS;
    END IF;
    IF NOT pg_has_role(current_user, 'memtool_gate', 'MEMBER') THEN
        EXECUTE format('GRANT memtool_gate TO %I', current_user);
    END IF;
END $$;

CREATE TABLE memtool.token (
    id text COLLATE "C" PRIMARY KEY,
    holder text COLLATE "C" NOT NULL,   -- a person or a machine
    address text COLLATE "C" NOT NULL,  -- of mail, for the author of commits
    hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),  -- SHA-256 of the token, which is random
    scopes text[] NOT NULL,
    vaults text[] NOT NULL,             -- names; '*' stands for all
    projects text[] NOT NULL,           -- empty: all
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    used_at timestamptz                 -- to the hour
);
CREATE TABLE memtool.audit (
    at timestamptz NOT NULL,
    token text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    deed text COLLATE "C" NOT NULL,     -- the call, without what it asked for
    vault text COLLATE "C" NOT NULL,    -- empty: all that the token may read
    status smallint NOT NULL,
    ms integer NOT NULL,
    wrote boolean NOT NULL
);
CREATE INDEX audit_of_time ON memtool.audit (at);

GRANT USAGE ON SCHEMA memtool TO memtool_gate;
GRANT SELECT ON memtool.token, memtool.migration TO memtool_gate;
GRANT UPDATE (used_at) ON memtool.token TO memtool_gate;
GRANT INSERT ON memtool.audit TO memtool_gate;
