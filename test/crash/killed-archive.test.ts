import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { type Memory, openMemory } from "holdfast";
import { describe, it } from "vitest";
import { createHashEmbedder } from "../doubles/hash-embedder.ts";
import { temporaryFolder } from "../unit/database/connections.ts";

const CHILD = fileURLToPath(new URL("./archive-child.js", import.meta.url));
const EVENTS = 3_000;
const KILLS = 4;

const embedder = {
  ...createHashEmbedder({ dimensions: 8 }),
  identity: { provider: "test", model: "hash" },
};

describe("[backend embedded] an import of an archive that is killed", () => {
  it(`[O2] ${KILLS} times shows nothing, and run again is whole, each event once, with no text embedded`, async () => {
    const folder = temporaryFolder();
    const [from, archive, to] = ["from", "archive.jsonl", "to"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const source = await openMemory(from, { embedder });
    const tenant = await source.createTenant("acme");
    const session = await tenant.createSession("chat");
    await session.rememberMany(Array.from({ length: EVENTS }, (_, n) => ({ id: `e${n}`, text: `turn ${n} of acme` })));
    // Through the thread of a snapshot, while another call writes.
    const writing = session.remember({ id: "late", text: "told while the archive is read" });
    await pipeline(Readable.from(source.exportArchive()), createWriteStream(archive));
    await writing;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await runUntil([archive, to], Math.floor((kill * EVENTS) / (KILLS + 1)));
      const looked = await openMemory(to, { embedder, readOnly: true });
      assert.deepEqual(
        (await looked.listTenants()).map(({ id }) => id),
        ["default"],
        `after ${kill} kills`,
      );
      await looked.close();
    }
    const last = await runUntil([archive, to], Number.POSITIVE_INFINITY);
    assert.equal(last.code, 0, last.output);
    assert.match(last.output, /"resumed":true/);
    const target = await openMemory(to, { embedder });
    const copy = await target.tenant("acme");
    const expected = await idsOf(tenant);
    const found = await idsOf(copy);
    if (!found.includes("late")) expected.splice(expected.indexOf("late"), 1);
    assert.deepEqual(found, expected);
    const { vectors, segments, pending } = await copy.stats();
    assert.deepEqual(
      { vectors, segments, pending },
      { vectors: found.length, segments: found.length, pending: { waiting: 0, parked: 0 } },
    );
    assert.deepEqual(
      (await copy.recall("turn 77 of acme")).hits[0]?.event,
      (await tenant.recall("turn 77 of acme")).hits[0]?.event,
    );
    // The file is read anew by whoever has the memory open, too.
    const again = await target.importArchive(() => createReadStream(archive));
    assert.deepEqual([again.resumed, again.events], [true, found.length]);
    await target.close();
    await source.close();
  });
});

async function idsOf(tenant: Pick<Memory, "list">): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | undefined, more = true; more; more = after !== undefined) {
    const page = await tenant.list({ limit: 1_000, ...(after !== undefined && { after }) });
    ids.push(...page.events.map(({ id }) => id));
    after = page.next;
  }
  return ids;
}

/** Kills the child when it has taken in so many events, or lets it end. */
function runUntil(
  args: readonly string[],
  due: number,
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, ...args], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8");
      stream?.on("data", (text: string) => {
        output += text;
      });
    }
    child.on("message", ({ phase, events }: { phase: string; events: number }) => {
      if (phase === "importing" && events >= due) child.kill("SIGKILL");
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}
