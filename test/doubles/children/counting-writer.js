/**
 * Writes without end until it is killed, each time one commit that changes something: `upsert` of some records with the
 * number of the write, or `delete` of records that are there. Tells each write before it is begun and when it was
 * answered. Several may share a folder: each has ids of its own.
 */
import { openStore } from "holdfast";
import { SeededRandom } from "holdfast/testkit";

const [path, prefix, seed] = process.argv.slice(2);
const random = new SeededRandom(Number(seed));
const store = await openStore({ path, name: "counted", dimensions: 8, properties: { number: "int" } });
const partition = (await store.getPartition("main")) ?? (await createOrGet());
const live = new Set();

for (let number = 1; ; number += 1) {
  const deletes = live.size > 50 && random.chance(0.3);
  const count = random.pick([1, 1, 2, 40]);
  const ids = deletes
    ? [...live].slice(0, count)
    : [...new Set(Array.from({ length: count }, () => `${prefix}${random.below(500)}`))];
  await tell({ type: "begun", ids, deletes });
  if (deletes) await partition.delete({ ids });
  else await partition.upsert(ids.map((id) => ({ id, vector: vectorOf(number), properties: { number } })));
  for (const id of ids) deletes ? live.delete(id) : live.add(id);
  process.send({ type: "answered" });
}

/** Its number in its direction, so that a vector of another write is seen. */
function vectorOf(number) {
  return Float32Array.from({ length: 8 }, (_, component) => ((number >> component) & 1) + 0.5);
}

/** Resolves when the message is on its way: what the parent did not hear of was not begun. */
function tell(message) {
  return new Promise((resolve, reject) => process.send(message, (error) => (error ? reject(error) : resolve())));
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
