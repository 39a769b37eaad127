/**
 * What was told: an event's text stands once, and its segments are ranges of it. A user's own
 * properties keep the kind and the offset that they were written with (F11, V7). `tenant` is the
 * tenant's number; numbers are never reused.
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
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  digest TEXT NOT NULL,
  UNIQUE (tenant, id)
) STRICT;
CREATE INDEX events_by_session ON events (session, at);
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
  token_string TEXT NOT NULL
) STRICT;
CREATE INDEX segments_by_event ON segments (event);
CREATE INDEX segments_by_tenant ON segments (tenant, segment);`;
