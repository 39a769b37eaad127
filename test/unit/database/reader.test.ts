import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { databasePlan, readOperation } from "../../../src/database/operation.ts";
import { Reader } from "../../../src/database/reader.ts";
import { neverCancelled } from "../../../src/io/cancellation.ts";
import { systemClock } from "../../../src/io/clock.ts";
import { openPrepared, settingsFor, temporaryFolder } from "./connections.ts";

describe("reader", () => {
  it("[E10] raises the error that ended its transaction, also where SQLite has ended it by itself", () => {
    const path = join(temporaryFolder(), "holdfast.db");
    const connection = openPrepared(path);
    const fail = readOperation("test.fail", () => {
      connection.exec("ROLLBACK");
      throw Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_READ" });
    });
    const reader = new Reader(connection, databasePlan([], [fail]), settingsFor(path), systemClock);
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(() => reader.run(fail.name, null, neverCancelled)).toThrow(
        expect.objectContaining({ code: "IO_FAILED", outcome: "none", details: expect.objectContaining({ path }) }),
      );
    reader.close();
  });
});
