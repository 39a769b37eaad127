/**
 * Loaded before everything by `node --import`, in the process and in each of its threads: ends the process, as SIGKILL
 * does, at a named point of what it does to its database. Armed by two variables that the lanes alone set:
 * LANE_FAILPOINT, its name, and LANE_FAILPOINT_TURN, how many times it is passed before.
 */
import { createRequire } from "node:module";

/** By name: the statement, and whether the end comes before it or behind it. */
export const FAILPOINTS = {
  "before-begin": [/^BEGIN IMMEDIATE/, "before"],
  "after-begin": [/^BEGIN IMMEDIATE/, "behind"],
  "after-savepoint": [/^SAVEPOINT/, "behind"],
  "before-release": [/^RELEASE/, "before"],
  "before-commit": [/^COMMIT/, "before"],
  "after-commit": [/^COMMIT/, "behind"],
  "after-tenant": [/^INSERT INTO tenants\b/, "behind"],
  "after-session": [/^INSERT INTO sessions\b/, "behind"],
  "after-event": [/^INSERT INTO events\b/, "behind"],
  "after-property": [/^INSERT INTO event_properties\b/, "behind"],
  "after-revision": [/^INSERT INTO event_revisions\b/, "behind"],
  "after-segment": [/^INSERT INTO segments\b/, "behind"],
  "after-words": [/^INSERT INTO segment_words\b/, "behind"],
  "after-pending": [/^INSERT INTO pending_vectors\b/, "behind"],
  "after-record": [/^INSERT INTO records_/, "behind"],
  "after-vector": [/^INSERT INTO vectors_/, "behind"],
  "after-removal": [/^INSERT INTO removals_/, "behind"],
  "after-tombstone": [/^INSERT INTO tombstones\b/, "behind"],
  "after-change": [/^INSERT INTO changes\b/, "behind"],
  "after-summary": [/^INSERT OR REPLACE INTO summaries\b/, "behind"],
  "after-delete": [/^DELETE FROM/, "behind"],
  "after-update": [/^UPDATE/, "behind"],
  "before-checkpoint": [/^PRAGMA wal_checkpoint/, "before"],
  "after-checkpoint": [/^PRAGMA wal_checkpoint/, "behind"],
};

const name = process.env.LANE_FAILPOINT;
if (name !== undefined && name !== "") {
  const [pattern, when] = FAILPOINTS[name];
  let left = Number(process.env.LANE_FAILPOINT_TURN ?? 0);
  const pass = (sql, call) => {
    if (!pattern.test(sql)) return call();
    if (when === "before") die();
    const value = call();
    if (when === "behind") die();
    return value;
  };
  const die = () => {
    if (left === 0) process.kill(process.pid, "SIGKILL");
    left -= 1;
  };
  const { prototype } = createRequire(import.meta.url)("better-sqlite3");
  const { exec, prepare } = prototype;
  prototype.exec = function (sql) {
    return pass(sql.trimStart(), () => exec.call(this, sql));
  };
  prototype.prepare = function (sql) {
    const statement = prepare.call(this, sql);
    const text = sql.trimStart();
    if (!pattern.test(text)) return statement;
    for (const method of ["run", "get", "all"]) {
      const own = statement[method];
      statement[method] = (...parameters) => pass(text, () => own.apply(statement, parameters));
    }
    return statement;
  };
}
