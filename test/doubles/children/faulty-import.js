/**
 * An import on a disk that fails. Messages: `import` (runs it with a fault, or none, and keeps the handle), `close`,
 * `inspect` (opens the folder anew, answers what it holds, and repeats the import).
 */
import { verifyFolder } from "holdfast";
import { describe, open, runWaves, stateOf, textsOf } from "./import-plan.js";

const disk = process.env.HOLDFAST_FAULTS === undefined ? undefined : await import("./faulty-disk.js");
let memory;

process.on("message", async (message) => {
  try {
    process.send({ answer: await answer(message) });
  } catch (error) {
    process.send({ error: error.stack });
  }
});
process.send({ answer: "ready" });

async function answer({ type, path, threads, fault }) {
  switch (type) {
    case "import": {
      disk.arm(path, fault);
      const opened = await open(path, { threads }).catch(describe);
      if (typeof opened.close !== "function") return { openError: opened, steps: [] };
      memory = opened;
      return { steps: await runWaves(memory) };
    }
    // The fault lasts until the handle is closed: closing writes too.
    case "close": {
      const closeError = await memory?.close().then(() => undefined, describe);
      memory = undefined;
      return { closeError, calls: disk.disarm() };
    }
    case "inspect": {
      const again = await open(path, { threads: "inline" });
      const found = await stateOf(again);
      const repeated = await runWaves(again);
      const after = await textsOf(again);
      await again.close();
      const { findings } = await verifyFolder(path, { threads: "inline", deep: true });
      return { found, repeated, after, findings: findings.map(({ kind }) => kind) };
    }
    default:
      throw new Error(`unknown message ${type}`);
  }
}
