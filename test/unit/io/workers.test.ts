import { describe, expect, it } from "vitest";
import { WorkerChannel } from "../../../src/io/workers.ts";

const ECHO = `
import { workerData } from "node:worker_threads";
const { port } = workerData;
port.on("message", (request) => {
  if (request === null) port.close();
  else port.postMessage({ id: request.id, value: request.input });
});`;

/** Answers the first call, and does with the second what the source says. */
function thread(second: string): URL {
  const source = `
import { workerData } from "node:worker_threads";
const { port } = workerData;
port.on("message", (request) => {
  if (request === null) port.close();
  else if (request.input === 1) port.postMessage({ id: request.id, value: 1 });
  else { ${second} }
});`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

function program(source: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

describe("a channel to a thread", () => {
  it.each([
    ["writer", "unknown"],
    ["reader", "none"],
  ])("[E10] whose %s ends in a call raises FAILED of outcome %s, there and ever after", async (role, outcome) => {
    const gone: unknown[] = [];
    const channel = new WorkerChannel(thread('throw new Error("broken");'), role, null, (error) => gone.push(error));
    await channel.call({ name: "first", input: 1 });
    const lost = channel.call({ name: "second", input: 2 });
    await expect(lost).rejects.toMatchObject({
      code: "FAILED",
      outcome,
      cause: expect.objectContaining({ message: "broken" }),
    });
    await expect(channel.call({ name: "third", input: 1 })).rejects.toMatchObject({ code: "FAILED" });
    expect(gone).toHaveLength(1);
    await channel.end();
  });

  it("[E10] that ran out of memory says so", async () => {
    const full = "throw Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });";
    const channel = new WorkerChannel(thread(full), "writer", null, () => undefined);
    await channel.call({ name: "first", input: 1 });
    await expect(channel.call({ name: "second", input: 2 })).rejects.toMatchObject({
      code: "FAILED",
      details: { reason: "ERR_WORKER_OUT_OF_MEMORY" },
      message: expect.stringContaining("smaller batches"),
    });
  });

  it.each([
    [
      "Object.assign(new Error('full'), { code: 'DISK_FULL', details: { path: 'a' } })",
      { code: "DISK_FULL", details: { path: "a" } },
    ],
    [
      "new Error('EMFILE: too many open files, open worker.js')",
      { code: "OUT_OF_RESOURCES", details: { reason: "EMFILE" } },
    ],
    ["new Error('a mistake')", { code: "FAILED" }],
  ])("[E10] that cannot start raises why: %s", async (error, expected) => {
    const channel = new WorkerChannel(program(`throw ${error};`), "writer", null, () => undefined);
    await expect(channel.started()).rejects.toMatchObject({ ...expected, outcome: "not-applied" });
  });

  it("[E12] whose thread does not come to its messages ends within the bound, and its calls raise CLOSED", async () => {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    const held = `
import { workerData } from "node:worker_threads";
const { port, settings } = workerData;
port.on("message", (request) => {
  if (request === null) port.close();
  else Atomics.wait(settings, 0, 0);
});`;
    const channel = new WorkerChannel(program(held), "writer", cell, () => undefined);
    const call = channel.call({ name: "hang", input: 1 });
    const outcome = expect(call).rejects.toMatchObject({ code: "CLOSED", outcome: "unknown" });
    await channel.end(1);
    await outcome;
    Atomics.store(cell, 0, 1);
    Atomics.notify(cell, 0);
  });

  it("[E12] an input that no message can carry is refused, is not waited for, and the channel goes on", async () => {
    const url = new URL(`data:text/javascript,${encodeURIComponent(ECHO)}`);
    const channel = new WorkerChannel(url, "reader", null, () => undefined);
    const refused = channel.call({ name: "read", input: { filter: () => true } });
    await expect(refused).rejects.toMatchObject({ code: "INVALID_ARGUMENT", outcome: "not-applied" });
    expect(await channel.call({ name: "read", input: [1] })).toEqual([1]);
    // A call that was still waited for would be rejected here with nobody to hear it.
    await channel.end();
  });
});
