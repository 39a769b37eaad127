/** Holds the write lock of a database from outside, from `hold` until `release`. */
import { createRequire } from "node:module";

const [file] = process.argv.slice(2);
const connection = open(file);

process.on("message", (message) => {
  if (message === "hold") connection.exec("BEGIN IMMEDIATE");
  else if (message === "release") connection.exec("COMMIT");
  else process.disconnect();
  process.send?.(message);
});
process.send("ready");

function open(path) {
  const require = createRequire(import.meta.url);
  if (Number(process.versions.node.split(".")[0]) < 24) {
    const BetterSqlite3 = require("better-sqlite3");
    return new BetterSqlite3(path);
  }
  const { DatabaseSync } = require("node:sqlite");
  return new DatabaseSync(path);
}
