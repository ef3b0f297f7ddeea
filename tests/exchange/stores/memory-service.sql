-- What mcp-memory-service 12.2.0 wrote, with made-up vectors; the table that is read.
CREATE TABLE memories ( id INTEGER PRIMARY KEY AUTOINCREMENT, content_hash TEXT UNIQUE NOT NULL, content TEXT NOT NULL, tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT, updated_at_iso TEXT, deleted_at REAL DEFAULT NULL , store TEXT DEFAULT 'default', parent_id TEXT, version INTEGER DEFAULT 1, confidence REAL DEFAULT 1.0, last_accessed INTEGER, superseded_by TEXT, embedding_pending INTEGER NOT NULL DEFAULT 0);
INSERT INTO memories VALUES (1, 'e0998506e830feae608db5b3fcef78ba630aee6089abfe0a721b3d04f7e976a3', 'The shop uses pnpm, never npm', 'shop,tooling,conflict:unresolved', 'decision', '{"source": "chat"}', 1770700000.0, 1.79539227220476555824e+09, '2026-02-10T05:06:40Z', '2026-11-23T00:04:32.204766Z', NULL, 'default', NULL, 1, 1.0, NULL, NULL, 0);
INSERT INTO memories VALUES (2, '322cef60eb35c4a17277ef78bde9528b63573330e76db20c32f6c0266533ab37', '支付回调验签前要先做 URL 解码', '支付,conflict:unresolved', 'note', '{}', 1770700000.0, 1.79539227224264407159e+09, '2026-02-10T05:06:40Z', '2026-11-23T00:04:32.242644Z', NULL, 'default', NULL, 1, 1.0, NULL, NULL, 0);
INSERT INTO memories VALUES (3, '2efe7f93ac9d056b012c8c3d80f6ff9238854979e69d37b1b8eb0c8bc0783716', '# Release checklist

1. bump the version
2. tag
3. `make release`
', 'release,conflict:unresolved', 'reference', '{}', 1770700000.0, 1.7953922722496511936e+09, '2026-02-10T05:06:40Z', '2026-11-23T00:04:32.249651Z', NULL, 'default', NULL, 1, 1.0, NULL, NULL, 0);
INSERT INTO memories VALUES (4, '5c0ec488b34759d09b48672b0cc8e0322d898c0a6c2d467c4fea1af97778e3f4', 'To be deleted', 'untagged,conflict:unresolved', 'note', '{}', 1770700000.0, 1.79539227225160408023e+09, '2026-02-10T05:06:40Z', '2026-11-23T00:04:32.251604Z', 1.79539227225338697438e+09, 'default', NULL, 1, 1.0, NULL, NULL, 0);
