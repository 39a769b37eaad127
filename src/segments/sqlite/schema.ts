/**
 * What was told: an event's text stands once, and its blocks and segments are ranges of it. Digests tell a repeated
 * event from another one under its id: of what was first given, and of what it says now. A user's own
 * properties keep the kind and the offset that they were written with (F11, V7). `tenant` is the
 * tenant's number; numbers are never reused. `vectors` counts what was embedded of a segment: none while it is pending.
 */
export const EVENTS_SCHEMA = `
CREATE TABLE events (
  event INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  at_offset TEXT NOT NULL,
  producer TEXT,
  role TEXT,
  kind TEXT,
  text TEXT NOT NULL,
  blocks TEXT,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER,
  checksum INTEGER NOT NULL,
  first_digest TEXT NOT NULL,
  digest TEXT NOT NULL,
  UNIQUE (tenant, id)
) STRICT;
CREATE INDEX events_by_session ON events (session, at, event);
CREATE INDEX events_by_tenant ON events (tenant, at, event);
CREATE TABLE event_revisions (
  event INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  text TEXT NOT NULL,
  blocks TEXT,
  properties TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  replaced_at INTEGER NOT NULL,
  UNIQUE (event, revision)
) STRICT;
CREATE TABLE event_properties (
  event INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  value ANY NOT NULL,
  written_offset TEXT,
  PRIMARY KEY (event, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE segments (
  segment INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  event INTEGER NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  vectors INTEGER NOT NULL,
  token_string TEXT NOT NULL
) STRICT;
CREATE INDEX segments_by_event ON segments (event);
CREATE INDEX segments_by_tenant ON segments (tenant, segment);`;
