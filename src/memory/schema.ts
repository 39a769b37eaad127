import { SPACES_SCHEMA } from "../embedding/spaces.ts";
import { PENDING_VECTORS_SCHEMA } from "../segments/sqlite/pending-vectors.ts";
import { EVENTS_SCHEMA } from "../segments/sqlite/schema.ts";
import { textIndexSchema } from "../segments/sqlite/text-index.ts";
import { CHANGES_SCHEMA } from "./changes.ts";
import { DECLARED_KEYS_SCHEMA } from "./declared-keys.ts";
import { EMBEDDING_LEASE_SCHEMA } from "./embedding-lease.ts";
import { PIPELINES_SCHEMA } from "./pipelines.ts";
import { SUMMARIES_SCHEMA } from "./summaries.ts";
import { TEXT_INDEX_VERSION_SCHEMA } from "./text-index-version.ts";

/**
 * Tenants count their segments and words, so that one tenant's text scores never move with another's (D11), and note
 * the space in which their vectors have storage (S2). A session that is being deleted is `ending`: nobody finds it
 * any more. What an ended tenant left is reclaimed in steps.
 */
const TENANTS_SCHEMA = `
CREATE TABLE tenants (
  tenant INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  incarnation TEXT NOT NULL UNIQUE,
  documents INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  storage_space INTEGER,
  changes INTEGER NOT NULL DEFAULT 0,
  changes_floor INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
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
];
