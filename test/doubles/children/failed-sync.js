/** A memory whose second commit is not synced. Messages: `fail`, `hang`, `list`. */
import { performance } from "node:perf_hooks";
import { arm, disarm, hang, untilHanging } from "./faulty-disk.js";
import { describe, open } from "./import-plan.js";

process.on("message", async (message) => {
  try {
    process.send({ answer: await answer(message) });
  } catch (error) {
    process.send({ error: error.stack });
  }
});
process.send({ answer: "ready" });

async function answer({ type, path }) {
  if (type === "list") return list(path);
  const memory = await open(path);
  const session = await memory.createSession("s");
  await session.remember({ id: "first", text: "what was said first" });
  if (type === "fail") {
    arm(path, { kind: "syncs", at: 1, error: "EIO" });
    const { outcome } = await session.remember({ id: "second", text: "what was said second" }).catch(describe);
    disarm();
    // The handle that failed is still held: whatever the log's file has of its commit is there for a crash to find.
    return { outcome, found: await list(path, true) };
  }
  arm(path);
  hang(true);
  const late = session.remember({ id: "late", text: "what was said late" }).then(() => undefined, describe);
  await untilHanging();
  const began = performance.now();
  await memory.close();
  const closedMs = Math.round(performance.now() - began);
  const error = await late;
  hang(false);
  return { closedMs, error };
}

async function list(path, keepsOpen = false) {
  const memory = await open(path);
  const { events } = await memory.list();
  if (!keepsOpen) await memory.close();
  return events.map(({ id }) => id);
}
