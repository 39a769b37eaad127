/**
 * A process that holds a store open. Messages: `write` (how many, one commit each), `touch` (opens and closes the
 * database's files by itself, which drops SQLite's locks), `share` (opens and closes the store again, as a program
 * may), `count`.
 */
import { closeSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "holdfast";

const [path] = process.argv.slice(2);
const options = { path, name: "trap", dimensions: 3 };
const store = await openStore(options);
const partition = await store.createPartition("main");
let written = 0;

process.on("message", async (message) => {
  try {
    process.send({ answer: await answer(message) });
  } catch (error) {
    process.send({ error: `${error.code}: ${error.message}` });
  }
});
process.send({ answer: "ready" });

async function answer({ type, count = 0, alias = path }) {
  switch (type) {
    case "write":
      for (let turn = 0; turn < count; turn += 1) {
        await partition.upsert([{ id: `r${written}`, vector: [Math.cos(written), Math.sin(written), 1] }]);
        written += 1;
      }
      return partition.count();
    case "touch":
      // As a copy of the folder would. SQLite from 3.51 on survives the first alone: it asks the -shm file too.
      for (const name of readdirSync(path)) closeSync(openSync(join(path, name), "r"));
      return "touched";
    case "share": {
      for (const way of [path, alias, `${path}/.`, path]) {
        const again = await openStore({ ...options, path: way });
        await (await again.getPartition("main"))?.query({ vector: [1, 0, 0] });
        await again.listPartitions();
        await again.close();
      }
      return "shared";
    }
    default:
      throw new Error(`unknown message ${type}`);
  }
}
