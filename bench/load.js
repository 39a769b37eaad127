import { fork } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fill, makeRecords, PROPERTIES, withFolder } from "./data.js";
import { median } from "./measure.js";
import { loadProduct } from "./product.js";

/** From an empty process to the first answer, and what a record costs on disk and in memory. */
export async function run({ dist, folder, rows, rounds }) {
  const figures = [];
  for (const dimensions of [64, 384]) {
    figures.push(...(await withFolder(folder, (path) => measure({ dist, path, rows, dimensions, rounds }))));
  }
  return figures;
}

async function measure({ dist, path, rows, dimensions, rounds }) {
  const { openStore } = await loadProduct(dist);
  const store = await openStore({ path, name: "bench", dimensions, properties: PROPERTIES });
  await fill(await store.createPartition("bench"), makeRecords(rows, dimensions));
  await store.close();
  const loads = [];
  for (let round = 0; round < rounds; round += 1) loads.push(await loadOnce(dist, path, dimensions));
  const best = (name) => Math.min(...loads.map((load) => load[name]));
  const bytes = statSync(join(path, "holdfast.db")).size;
  const named = (text) => `${rows} x ${dimensions}: ${text}`;
  return [
    { name: named("open, partition and count"), value: best("openMs"), unit: "ms" },
    { name: named("first answer after that, all loaded"), value: best("answerMs"), unit: "ms" },
    {
      name: named("a record on disk"),
      value: bytes / rows,
      unit: "bytes",
      note: `${dimensions * 4} of them the vector`,
    },
    { name: named("a record in memory"), value: median(loads.map((load) => load.memoryBytes)) / rows, unit: "bytes" },
  ];
}

async function loadOnce(dist, path, dimensions) {
  const child = fork(new URL("load-child.js", import.meta.url), [dist, path, String(dimensions)], { execArgv: [] });
  const [answer] = await once(child, "message");
  if (child.exitCode === null) await once(child, "exit");
  return answer;
}
