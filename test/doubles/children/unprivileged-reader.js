/**
 * Opens a folder for reading only, as a user who may not write there (`nobody` when it is started by root), and answers
 * what it sees: messages `open`, `read`, `write`, `close`. Its temporary folder is the second argument.
 */
import { readdirSync } from "node:fs";
import { openStore } from "holdfast";

const [path, temporary, threads] = process.argv.slice(2);
process.env.TMPDIR = temporary;
if (process.getuid() === 0) {
  process.setgroups([]);
  process.setgid(65_534);
  process.setuid(65_534);
}
let store;
let partition;

process.on("message", async ({ type }) => {
  try {
    process.send({ answer: await answerTo(type) });
  } catch (error) {
    process.send({ error: `${error.code}: ${error.message}` });
  }
});
process.send({ answer: "ready" });

async function answerTo(type) {
  switch (type) {
    case "open":
      store = await openStore({ path, name: "shared", dimensions: 64, readOnly: true, threads });
      partition = await store.getPartition("main");
      return readdirSync(temporary).length;
    case "read": {
      const ids = [];
      for await (const page of partition.scan()) ids.push(...page.records.map(({ id }) => id));
      const { matches } = await partition.query({ vector: new Float32Array(64).fill(1), limit: 100 });
      return { ids, found: matches.length };
    }
    case "write":
      return partition.upsert([{ id: "w", vector: new Float32Array(64).fill(1) }]);
    case "close":
      await store.close();
      return readdirSync(temporary).length;
    default:
      throw new Error(`unknown message ${type}`);
  }
}
