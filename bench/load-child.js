/** A fresh process that opens a folder and asks once. */
import { randomVectors } from "./data.js";
import { loadProduct } from "./product.js";

const [dist, path, dimensions] = process.argv.slice(2);
const { openStore } = await loadProduct(dist);
const start = performance.now();
const store = await openStore({ path, name: "bench", dimensions: Number(dimensions), properties: {} });
const partition = await store.getPartition("bench");
await partition.count();
const opened = performance.now();
const before = process.memoryUsage.rss();
const vector = randomVectors(1, Number(dimensions), 9);
const { matches, exact } = await partition.query({ vector, limit: 10 });
if (matches.length !== 10 || !exact) throw new Error("The first answer is not the exact ten.");
const answered = performance.now();
const after = process.memoryUsage.rss();
await store.close();
process.send({ openMs: opened - start, answerMs: answered - opened, memoryBytes: after - before });
process.disconnect();
