/**
 * Stores, the lives of their partitions, and what is left of ended lives. Keys are never reused
 * (AUTOINCREMENT), so a partition's number names one life for ever (P8, P9).
 */
export const REGISTRY_SCHEMA = `
CREATE TABLE stores (
  store INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  dimensions INTEGER NOT NULL,
  properties TEXT NOT NULL
) STRICT;
CREATE TABLE partitions (
  partition INTEGER PRIMARY KEY AUTOINCREMENT,
  store INTEGER NOT NULL,
  key TEXT NOT NULL,
  incarnation TEXT NOT NULL UNIQUE,
  position INTEGER NOT NULL,
  records INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  removals_floor INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (store, key)
) STRICT;
CREATE TABLE tombstones (
  partition INTEGER PRIMARY KEY,
  store INTEGER NOT NULL,
  incarnation TEXT NOT NULL,
  deleted_at INTEGER NOT NULL
) STRICT;`;
