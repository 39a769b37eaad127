import { SPACES_SCHEMA } from "../embedding/spaces.ts";
import { EVENTS_SCHEMA } from "../segments/sqlite/schema.ts";
import { textIndexSchema } from "../segments/sqlite/text-index.ts";
import { TEXT_INDEX_VERSION_SCHEMA } from "./text-index-version.ts";

/** Tenants count their segments and words, so that one tenant's text scores never move with another's (D11). */
const TENANTS_SCHEMA = `
CREATE TABLE tenants (
  tenant INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  incarnation TEXT NOT NULL UNIQUE,
  documents INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE sessions (
  session INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  user TEXT,
  incarnation TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  UNIQUE (tenant, id)
) STRICT;`;

export const MEMORY_SCHEMA: readonly string[] = [
  TENANTS_SCHEMA,
  EVENTS_SCHEMA,
  textIndexSchema,
  TEXT_INDEX_VERSION_SCHEMA,
  SPACES_SCHEMA,
];
