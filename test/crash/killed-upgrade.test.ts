import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, it } from "vitest";
import { openConnection } from "../../src/database/drivers/open-connection.ts";
import { temporaryFolder } from "../unit/database/connections.ts";

const CHILD = fileURLToPath(new URL("../doubles/children/upgrading.js", import.meta.url));
const NOTES = Array.from({ length: 100 }, (_, index) => `note ${index}`);

describe("[backend embedded] an upgrade of the format that is killed", () => {
  it("[E6, O5] at any place leaves the old version whole, with a copy of it, and is done by the next open", async () => {
    const folder = temporaryFolder();
    const original = join(folder, "original");
    assert.equal(await run("create", original), "SIGKILL");
    for (const place of ["begin", "half", "between", "end"]) {
      const path = join(folder, place);
      cpSync(original, path, { recursive: true });
      assert.equal(await run("upgrade", path, place), "SIGKILL", place);
      assert.deepEqual(stateOf(join(path, "holdfast.db")), { version: 1, columns: 2, notes: NOTES }, place);
      assert.deepEqual(stateOf(join(path, "holdfast.db.format-1")), { version: 1, columns: 2, notes: NOTES }, place);
      assert.equal(await run("upgrade", path, "nowhere"), 0, place);
      assert.deepEqual(stateOf(join(path, "holdfast.db")), { version: 3, columns: 3, notes: NOTES }, place);
      assert.deepEqual(stateOf(join(path, "holdfast.db.format-1")), { version: 1, columns: 2, notes: NOTES }, place);
      assert.ok(!readdirSync(path).some((name) => name.includes(".part-")), place);
    }
    assert.ok(!existsSync(join(original, "holdfast.db.format-1")));
  });
});

function run(...args: readonly string[]): Promise<number | string | null> {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, args, { execArgv: [] });
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(signal ?? code));
  });
}

function stateOf(file: string) {
  const connection = openConnection(file, { readOnly: false, mustExist: true });
  try {
    assert.equal(connection.prepare("PRAGMA integrity_check").get()?.integrity_check, "ok");
    return {
      version: connection.prepare("PRAGMA user_version").get()?.user_version,
      columns: connection.prepare("SELECT name FROM pragma_table_info('notes')").all().length,
      notes: connection
        .prepare("SELECT text FROM notes ORDER BY note")
        .all()
        .map(({ text }) => text),
    };
  } finally {
    connection.close();
  }
}
