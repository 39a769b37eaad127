import { SPACES_SCHEMA } from "../embedding/spaces.ts";
import { PENDING_VECTORS_SCHEMA } from "../segments/sqlite/pending-vectors.ts";
import { EVENTS_SCHEMA } from "../segments/sqlite/schema.ts";
import { textIndexSchema } from "../segments/sqlite/text-index.ts";
import { CHANGES_SCHEMA } from "./changes.ts";
import { DECLARED_KEYS_SCHEMA } from "./declared-keys.ts";
import { EMBEDDING_LEASE_SCHEMA } from "./embedding-lease.ts";
import { IMPORTS_SCHEMA } from "./imports.ts";
import { PIPELINES_SCHEMA } from "./pipelines.ts";
import { SUMMARIES_SCHEMA } from "./summaries.ts";
import { TEXT_INDEX_VERSION_SCHEMA } from "./text-index-version.ts";

/**
 * Tenants count their segments and words, so that one tenant's text scores never move with another's (D11), and note
 * the space in which their vectors have storage (S2). A session that is being deleted is `ending`: nobody finds it
 * any more. What an ended tenant left is reclaimed in steps. A tenant with an `import` is being taken in from an archive:
 * nobody finds it by its id yet.
 */
const TENANTS_SCHEMA = `
CREATE TABLE tenants (
  tenant INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  incarnation TEXT NOT NULL UNIQUE,
  documents INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  storage_space INTEGER,
  changes INTEGER NOT NULL DEFAULT 0,
  changes_floor INTEGER NOT NULL DEFAULT 0,
  import INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX tenants_by_id ON tenants (id) WHERE import IS NULL;
CREATE INDEX tenants_by_import ON tenants (import, tenant) WHERE import IS NOT NULL;
CREATE TABLE sessions (
  session INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  user TEXT,
  incarnation TEXT NOT NULL UNIQUE,
  ending INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  UNIQUE (tenant, id)
) STRICT;
CREATE INDEX sessions_ending ON sessions (tenant) WHERE ending = 1;
CREATE TABLE ended_tenants (tenant INTEGER PRIMARY KEY, ended_at INTEGER NOT NULL) STRICT;`;

export const MEMORY_SCHEMA: readonly string[] = [
  TENANTS_SCHEMA,
  EVENTS_SCHEMA,
  textIndexSchema,
  TEXT_INDEX_VERSION_SCHEMA,
  CHANGES_SCHEMA,
  SUMMARIES_SCHEMA,
  SPACES_SCHEMA,
  PENDING_VECTORS_SCHEMA,
  EMBEDDING_LEASE_SCHEMA,
  PIPELINES_SCHEMA,
  DECLARED_KEYS_SCHEMA,
  IMPORTS_SCHEMA,
];
