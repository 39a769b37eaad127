import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { withDeadline } from "../../../src/database/call.ts";
import { anySignal } from "../../../src/io/signals.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

it("[Q11] a time bound beside a signal comes also when nobody else holds it", async () => {
  const bounds = withDeadline({ signal: new AbortController().signal, timeoutMs: 100 }, "read");
  const any = anySignal([new AbortController().signal, AbortSignal.timeout(100)]);
  for (let round = 0; round < 5; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  await Promise.all([bounds.signal, any].map((signal) => signal?.aborted || once(signal as AbortSignal, "abort")));
  expect(bounds.signal?.reason).toMatchObject({ name: "TimeoutError" });
});
