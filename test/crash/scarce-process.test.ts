import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openMemory } from "holdfast";
import { afterAll, beforeAll, describe, it } from "vitest";
import { temporaryFolder } from "../doubles/embedded-places.ts";
import { FaultyDisk } from "../doubles/faulty-disk.ts";
import type { CaughtError, ImportStep } from "../doubles/import-model.ts";

const PROGRAM = fileURLToPath(new URL("../doubles/children/scarce-process.js", import.meta.url));

describe("[backend embedded] a process that lacks something", () => {
  it("[E10] is told that it has no descriptors left when it opens, and opens when it has", async () => {
    const { errors, wrong } = await run<{ errors: CaughtError[]; wrong: string[] }>(
      "open-without-descriptors",
      "ulimit -n 400",
    );
    assert.ok(errors.length >= 5, `${errors.length} openings were refused`);
    for (const { code, message } of errors) {
      assert.ok(code === "OUT_OF_RESOURCES" || code === "IO_FAILED", `${code}: ${message}`);
      assert.match(message, /ulimit -n/);
    }
    assert.deepEqual(wrong, []);
  });

  it("[E10] keeps a handle whose descriptors ran out: it writes, reads, and empties its log when there are some again", async () => {
    const { steps, wrong, erasure } = await run<{ steps: ImportStep[]; wrong: string[]; erasure: string }>(
      "descriptors-run-out",
      "ulimit -n 400",
    );
    const errors = steps.flatMap(({ error }) => (error === undefined ? [] : [error]));
    assert.deepEqual(
      errors.map(({ code, outcome }) => [code, outcome]),
      [["OUT_OF_RESOURCES", "applied"]],
    );
    assert.deepEqual([wrong, erasure], [[], "complete"]);
  });

  it("[E10] whose files may grow no further is told of the limit, and loses nothing acknowledged", async () => {
    const { path, remove } = temporaryFolder();
    // In blocks of 512 bytes or 1 KiB, as the shell has it: 4 or 8 MiB.
    const { error, acknowledged } = await run<{ error: CaughtError; acknowledged: string[] }>(
      "file-size",
      "ulimit -f 8000",
      path,
    );
    assert.equal(error.code === "FAILED" ? error.reason : error.code, "DISK_FULL", error.message);
    assert.match(error.message, /ulimit -f/);
    const embedder = { identity: { provider: "test", model: "hash" }, dimensions: 8, embed: async () => [] };
    const memory = await openMemory({ path, threads: "inline", embedder });
    for (const id of acknowledged) assert.ok((await memory.getEvent(id)) !== undefined, `${id} is lost`);
    assert.ok(acknowledged.length > 0);
    await memory.close();
    remove();
  });
});

describe("[backend embedded] a thread that ends", () => {
  it.each(["writer-ends", "reader-ends"])(
    "[E10] %s: every call is answered, the handle fails, opening again recovers",
    async (scenario) => {
      const { errors, later, kept } = await run<{ errors: CaughtError[]; later: CaughtError; kept: boolean }>(scenario);
      assert.ok(errors.length > 0);
      for (const { code, message } of [...errors, later]) {
        assert.equal(code, "FAILED", message);
        assert.match(message, /open the folder again/);
      }
      assert.ok(kept, "something acknowledged is lost");
    },
  );

  it("[E10] out of memory says so, takes neither the process nor anything acknowledged with it", async () => {
    const { error, later, kept } = await run<{ error: CaughtError; later: CaughtError; kept: boolean }>(
      "writer-out-of-memory",
    );
    assert.deepEqual([error.code, error.outcome, later.code], ["FAILED", "unknown", "FAILED"]);
    assert.match(error.message, /out of memory.*smaller batches/);
    assert.ok(kept);
  });
});

describe("[backend embedded] a sync that fails, or does not answer", () => {
  let disk: FaultyDisk;

  beforeAll(() => {
    disk = new FaultyDisk();
  });
  afterAll(() => disk.remove());

  it("[E10] what a handle opened after it did not find stays away, whatever ends the process", async () => {
    const path = disk.folder();
    const child = await disk.start("failed-sync");
    assert.deepEqual(await child.ask({ type: "fail", path }), { outcome: "unknown", found: ["first"] });
    await child.kill();
    const next = await disk.start("failed-sync");
    assert.deepEqual(await next.ask({ type: "list", path }), ["first"]);
  });

  it("[E12] closes within its bound while a write hangs, which is told that its outcome is unknown", async () => {
    const path = disk.folder();
    const child = await disk.start("failed-sync");
    const { closedMs, error } = (await child.ask({ type: "hang", path })) as { closedMs: number; error: CaughtError };
    assert.ok(closedMs < 14_000, `${closedMs} ms`);
    assert.deepEqual([error.code, error.outcome], ["CLOSED", "unknown"]);
    assert.deepEqual(await child.ask({ type: "list", path }), ["first", "late"]);
  });
});

/** Runs a scenario, under limits that the shell sets; a process that dies or hangs fails it. */
async function run<Answer>(scenario: string, limit = "true", path?: string): Promise<Answer> {
  const { path: own, remove } = temporaryFolder();
  const command = `${limit} && exec "$0" "$@"`;
  const { stdout } = await promisify(execFile)(
    "sh",
    ["-c", command, process.execPath, PROGRAM, scenario, path ?? own],
    {
      maxBuffer: 1 << 26,
      timeout: 200_000,
    },
  );
  remove();
  return JSON.parse(stdout) as Answer;
}
