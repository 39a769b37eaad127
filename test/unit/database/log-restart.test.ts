import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkpoint, WAL_BYTES_MAX } from "../../../src/database/checkpointer.ts";
import type { Connection } from "../../../src/database/connection.ts";
import { openConnection } from "../../../src/database/drivers/open-connection.ts";
import { configure } from "../../../src/database/format.ts";
import { openPrepared, temporaryFolder } from "./connections.ts";

const MIB = 1024 * 1024;

/** A database whose log is over the bound, as steady writers and readers leave it. */
function overfull() {
  const path = join(temporaryFolder(), "holdfast.db");
  openPrepared(path).close();
  const open = (): Connection => {
    const connection = openConnection(path, { readOnly: false, mustExist: true });
    configure(connection, { exclusive: false, autoCheckpoint: false });
    return connection;
  };
  const writer = open();
  for (let left = WAL_BYTES_MAX / MIB + 2; left > 0; left -= 1)
    writer.prepare("INSERT INTO notes (text) VALUES (hex(zeroblob(?)))").run(MIB / 2);
  return { path, open, writer, logBytes: () => statSync(`${path}-wal`).size };
}

/** The same connection; `before` is told of every try to start the log over. */
function seen(connection: Connection, before: () => void): Connection {
  return {
    driver: connection.driver,
    exec: (sql) => connection.exec(sql),
    prepare(sql, options) {
      if (sql.includes("RESTART")) before();
      return connection.prepare(sql, options);
    },
    close: () => connection.close(),
  };
}

describe("a log that has grown over its bound", () => {
  it.each(["BEGIN IMMEDIATE", "BEGIN; SELECT count(*) FROM notes"])(
    "[E9] starts over as soon as another's %s has ended, and is cut to its bound",
    (begin) => {
      const { path, open, writer, logBytes } = overfull();
      expect(logBytes()).toBeGreaterThan(WAL_BYTES_MAX);
      const other = open();
      other.exec(begin);
      let tries = 0;
      const maintenance = seen(open(), () => {
        tries += 1;
        if (tries === 3) other.exec("COMMIT");
      });
      expect(checkpoint(maintenance, "passive", path)).toBe(true);
      expect(tries).toBe(3);
      writer.exec("INSERT INTO notes (text) VALUES ('next')");
      expect(logBytes()).toBeLessThanOrEqual(WAL_BYTES_MAX);
    },
  );

  it("[E9] is left for the next time when another stays", () => {
    const { path, open, writer } = overfull();
    const other = open();
    other.exec("BEGIN IMMEDIATE");
    expect(checkpoint(open(), "passive", path)).toBe(false);
    other.exec("COMMIT");
    writer.exec("INSERT INTO notes (text) VALUES ('next')");
  });
});
