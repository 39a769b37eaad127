/**
 * Opens a folder with an artificial history of formats: `create <path>` makes it in version 1 with some notes,
 * `upgrade <path> <place>` brings it to version 3 and is killed at the place, if it comes by it.
 */

import { openDatabase } from "../../../dist/database/open-database.js";
import { databasePlan, writeOperation } from "../../../dist/database/operation.js";

const [action, path, place] = process.argv.slice(2);
const TABLES = ["CREATE TABLE notes (note INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL) STRICT;"];

const put = writeOperation("test.put", ({ connection }, texts) => {
  for (const text of texts) connection.prepare("INSERT INTO notes (text) VALUES (?)").run(text);
});

const steps = [
  {
    from: 1,
    run(connection) {
      dieAt("begin");
      connection.exec("ALTER TABLE notes ADD COLUMN length INTEGER; UPDATE notes SET length = -1 WHERE note <= 50;");
      dieAt("half");
      connection.exec("UPDATE notes SET length = length(text)");
    },
  },
  {
    from: 2,
    run(connection) {
      dieAt("between");
      connection.exec("CREATE INDEX notes_by_length ON notes (length)");
      dieAt("end");
    },
  },
];

const formats = action === "create" ? { version: 1, steps: [] } : { version: 3, steps };
const open = openDatabase(
  { path, threads: "inline" },
  databasePlan(TABLES, [put], formats),
  new URL("file:///none.js"),
);
if (action === "create") {
  const texts = Array.from({ length: 100 }, (_, index) => `note ${index}`);
  await open.database.write(put, texts, { sizeBytes: 1 });
  // Killed with its log, as a crash leaves it.
  process.kill(process.pid, "SIGKILL");
}
await open.release();
process.send({ answer: "done" });
process.disconnect();

function dieAt(where) {
  if (where === place) process.kill(process.pid, "SIGKILL");
}
