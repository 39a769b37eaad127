// Runs `holdfast import` of an archive and tells its parent of every commit's progress.
//   node archive-child.js <archive.jsonl> <folder>

import { run } from "../../dist/cli/program.js";
import { stopOnSignals } from "../../dist/cli/stop.js";
import { processSurroundings } from "../../dist/cli/surroundings.js";
import { openMemory } from "../../dist/index.js";

const [archive, folder] = process.argv.slice(2);

const embedder = {
  identity: { provider: "test", model: "hash" },
  dimensions: 8,
  embed: () => Promise.reject(new Error("an import of an archive embeds nothing")),
};

const surroundings = processSurroundings(stopOnSignals());
process.exitCode = await run(["import", archive, "--path", folder, "--json"], {
  ...surroundings,
  openMemory: async (path) => {
    const memory = await openMemory({ path, embedder });
    const importArchive = memory.importArchive.bind(memory);
    memory.importArchive = (source, options) =>
      importArchive(source, { ...options, onProgress: ({ phase, events }) => process.send?.({ phase, events }) });
    return memory;
  },
});
