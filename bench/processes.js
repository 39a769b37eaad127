import { fork } from "node:child_process";
import { once } from "node:events";
import { PROPERTIES, withFolder } from "./data.js";
import { mean, quantile } from "./measure.js";
import { loadProduct } from "./product.js";

const KINDS = [
  { name: "singles", batch: 1, processes: 4 },
  { name: "batches of 500", batch: 500, processes: 4 },
];

/** Eight processes write one folder, half singles and half batches: none starves (E5). */
export async function run({ dist, folder, seconds }) {
  return withFolder(folder, async (path) => {
    const { openStore } = await loadProduct(dist);
    const store = await openStore({ path, name: "bench", dimensions: 64, properties: PROPERTIES });
    await store.createPartition("bench");
    await store.close();
    const writers = KINDS.flatMap((kind) => Array.from({ length: kind.processes }, () => kind)).map((kind, number) => ({
      kind,
      child: start({ dist, path, number, kind, seconds }),
    }));
    await Promise.all(writers.map(({ child }) => once(child, "message")));
    for (const { child } of writers) child.send("go");
    const answers = await Promise.all(writers.map(({ child }) => once(child, "message")));
    const results = writers.map(({ kind }, index) => ({ kind, ...answers[index][0] }));
    const failed = results.find(({ error }) => error !== undefined);
    if (failed !== undefined) throw new Error(failed.error);
    return KINDS.flatMap((kind) =>
      figuresOf(
        kind,
        results.filter((result) => result.kind === kind),
        seconds,
      ),
    );
  });
}

function start({ dist, path, number, kind, seconds }) {
  const args = [dist, path, String(number), String(kind.batch), String(seconds)];
  return fork(new URL("process-writer.js", import.meta.url), args, { execArgv: [] });
}

function figuresOf({ name }, results, seconds) {
  const commits = results.map(({ waits }) => waits.length);
  const worst = results.map((result) => result.worst.waitMs);
  const middle = results.map(({ waits }) => quantile(waits, 0.5));
  const each = (values) => values.map((value) => Math.round(value)).join(" ");
  return [
    { name: `${name}: commits a second, all`, value: commits.reduce((a, b) => a + b, 0) / seconds, unit: "/s" },
    {
      name: `${name}: slowest of the mean`,
      value: Math.min(...commits) / mean(commits),
      unit: "x",
      atLeast: 0.5,
      note: `min ${Math.min(...commits)}, mean ${Math.round(mean(commits))}, max ${Math.max(...commits)}; each ${each(commits)}`,
    },
    { name: `${name}: median wait`, value: mean(middle), unit: "ms", note: `each ${each(middle)}` },
    {
      name: `${name}: worst wait`,
      value: Math.max(...worst),
      unit: "ms",
      atMost: 250,
      note: `min ${each([Math.min(...worst)])}, mean ${each([mean(worst)])}; each ${each(worst)}; begun at ${each(results.map((result) => result.worst.atMs))} ms`,
    },
  ];
}
