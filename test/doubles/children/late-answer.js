/** Ends a thread while an answer of its is still on the way. Prints `ended` when the end was waited for. */
import { WorkerChannel } from "../../../dist/io/workers.js";

const THREAD = `
import { workerData } from "node:worker_threads";
const { port } = workerData;
port.on("message", (request) => {
  if (request !== null) port.postMessage({ id: request.id, value: null });
  else setTimeout(() => port.close(), 100);
});`;

const thread = new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`);
const channel = new WorkerChannel(thread, "reader", null, () => undefined);
await channel.started();
const late = channel.call("read", null);
await channel.end();
await late;
process.stdout.write("ended");
