/**
 * Repairs a folder. `until` with a stage is answered when the repair has come there; `rest` when it has ended. A repair
 * that is asked `until` stands still there, so that it can be killed at that very place.
 */
import { repairFolder } from "holdfast";

const [path] = process.argv.slice(2);

process.on("message", async ({ type, stage }) => {
  try {
    const onProgress =
      type === "until"
        ? (progress) => {
            if (progress.stage !== stage) return;
            process.send({ answer: stage });
            // Blocks the thread that asks for the next turn: the repair stands still.
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
          }
        : () => undefined;
    const { outcome, complete } = await repairFolder(path, { onProgress });
    process.send({ answer: { outcome, complete } });
  } catch (error) {
    process.send({ error: `${error.code}: ${error.message}` });
  }
});
process.send({ answer: "ready" });
