import { describe, expect, it } from "vitest";
import { WorkerChannel } from "../../../src/io/workers.ts";

const ECHO = `
import { workerData } from "node:worker_threads";
const { port } = workerData;
port.on("message", (request) => {
  if (request === null) port.close();
  else port.postMessage({ id: request.id, value: request.input });
});`;

describe("a channel to a thread", () => {
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
