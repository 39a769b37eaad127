/** One writing process of several: waits for the start, writes for some seconds, tells how long each call took. */
import { makeRecords, PROPERTIES } from "./data.js";
import { loadProduct } from "./product.js";

const [dist, path, number, batch, seconds] = process.argv.slice(2);
const DIMENSIONS = 64;
const POOL = 5_000;

const { openStore } = await loadProduct(dist);
const store = await openStore({ path, name: "bench", dimensions: DIMENSIONS, properties: PROPERTIES });
const partition = await store.getPartition("bench");
const records = makeRecords(POOL, DIMENSIONS, { seed: Number(number) + 1 });
process.once("message", () => write().catch((error) => process.send({ error: error.stack })));
process.send({ ready: true });

async function write() {
  const waits = [];
  const startMs = performance.now();
  let worst = { waitMs: 0, atMs: 0 };
  const endMs = performance.now() + Number(seconds) * 1000;
  for (let call = 0; performance.now() < endMs; call += 1) {
    const slice = Array.from({ length: Number(batch) }, (_, index) => ({
      ...records[(call * Number(batch) + index) % POOL],
      id: `p${number}-${call}-${index}`,
    }));
    const start = performance.now();
    await partition.upsert(slice);
    const waitMs = performance.now() - start;
    waits.push(waitMs);
    if (waitMs > worst.waitMs) worst = { waitMs, atMs: start - startMs };
  }
  await store.close();
  process.send({ waits, worst });
  process.disconnect();
}
