/**
 * Writes without end until it is killed, and tells each write before it is begun and when it was answered. What it
 * does is decided by the seed: single records and batches, new ids and old ones, deletions, searches between.
 */
import { openStore } from "holdfast";
import { SeededRandom } from "holdfast/testkit";
import { keptVector } from "./kept-vector.js";

const [path, seedText] = process.argv.slice(2);
const random = new SeededRandom(Number(seedText));
const store = await openStore({ path, name: "kept", dimensions: 16, properties: { version: "int" } });
const partition = (await store.getPartition("main")) ?? (await store.createPartition("main"));

for (let version = Number(seedText) * 1_000_000; ; version += 1) {
  const size = random.pick([1, 1, 1, 2, 50, 400]);
  const ids = [...new Set(Array.from({ length: size }, () => `r${random.below(2_000)}`))];
  const deletes = random.chance(0.25);
  await tell({ type: "begun", ids, version: deletes ? undefined : version });
  if (deletes) await partition.delete({ ids });
  else await partition.upsert(ids.map((id) => ({ id, vector: keptVector(id, version), properties: { version } })));
  process.send({ type: "answered" });
  if (random.chance(0.1)) await partition.query({ vector: keptVector("r0", version), limit: 3 });
}

/** Resolves when the message is on its way: what the parent did not hear of was not begun. */
function tell(message) {
  return new Promise((resolve, reject) => process.send(message, (error) => (error ? reject(error) : resolve())));
}
