/**
 * One of two processes on one folder. Messages: `write` (ids to write, all at once), `read` (ids to look for),
 * `close`. Each is answered when it is done.
 */
import { openStore } from "holdfast";

const [path] = process.argv.slice(2);
const store = await openStore({ path, name: "shared", dimensions: 64 });
const partition = (await store.getPartition("main")) ?? (await createOrGet());

process.on("message", async (message) => {
  try {
    process.send({ answer: await answer(message) });
  } catch (error) {
    process.send({ error: `${error.code}: ${error.message}` });
  }
});
process.send({ answer: "ready" });

async function answer({ type, ids = [] }) {
  switch (type) {
    case "write":
      await Promise.all(ids.map((id) => partition.upsert([{ id, vector: vectorOf(id) }])));
      return partition.count();
    case "read": {
      const answers = await partition.queryMany({ vectors: ids.map(vectorOf), limit: 1 });
      const found = answers.map(({ matches }) => matches[0]?.id);
      const present = (await partition.get(ids)).map((record) => record?.id);
      return { count: await partition.count(), found, present };
    }
    case "close":
      await store.close();
      // Nothing keeps the process alive after its last answer.
      process.removeAllListeners("message");
      return "closed";
    default:
      throw new Error(`unknown message ${type}`);
  }
}

/** Racing processes: one creates the partition, the other opens it. */
async function createOrGet() {
  try {
    return await store.createPartition("main");
  } catch (error) {
    if (error.code !== "PARTITION_ALREADY_EXISTS") throw error;
    return store.getPartition("main");
  }
}

/** A direction of the id's own, the same in every process. */
function vectorOf(id) {
  const [prefix, index] = [id.charCodeAt(0), Number(id.slice(1))];
  const vector = new Float32Array(64);
  vector[index % 64] = 1;
  vector[(index + prefix) % 64] += 0.5;
  vector[63] += prefix / 1_000;
  return vector;
}
