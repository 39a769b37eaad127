// Runs `holdfast import` with an embedder that writes each text that it embeds to a file, before it answers.
//   node import-child.js <lines.jsonl> <folder> <embedded.txt>

import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { run } from "../../dist/cli/program.js";
import { stopOnSignals } from "../../dist/cli/stop.js";
import { processSurroundings } from "../../dist/cli/surroundings.js";
import { openMemory } from "../../dist/index.js";

const [lines, folder, embedded] = process.argv.slice(2);

const embedder = {
  identity: { provider: "test", model: "hash" },
  dimensions: 8,
  async embed(texts, { kind }) {
    if (kind === "document") {
      appendFileSync(embedded, `${texts.map((text) => JSON.stringify(text)).join("\n")}\n`);
      process.send?.(texts.length);
    }
    return texts.map((text) => Float32Array.from(createHash("sha256").update(text).digest().subarray(0, 8)));
  },
};

const surroundings = processSurroundings(stopOnSignals());
process.exitCode = await run(["import", lines, "--path", folder, "--json"], {
  ...surroundings,
  openMemory: (path) => openMemory({ path, embedder }),
});
