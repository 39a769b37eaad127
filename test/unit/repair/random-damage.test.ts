import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DATABASE_FILE } from "../../../src/database/open-files.ts";
import { SeededRandom } from "../../../src/testkit/seeded-random.ts";
import { verifyFolder } from "../../../src/verify-folder.ts";
import { temporaryFolder } from "../database/connections.ts";
import { fillFolder, PAGE_BYTES } from "../verify/damaged-folders.ts";
import { assertKept, type FolderModel, readModel, repair } from "./folder-model.ts";

const RUNS = Number(process.env.HOLDFAST_REPAIR_RUNS ?? 4);
const SEED = Number(process.env.HOLDFAST_REPAIR_SEED ?? 1);

/** Each of these once failed: without any trace of the events, with keys that go back, with rows of another table. */
const KEPT_SEEDS = [5, 20, 21, 1_018, 3_050, 3_055];

/** What a disk does to a file. */
const DAMAGES = ["bit", "bytes", "zero page", "foreign page", "turned page", "cut", "zero range"] as const;

describe("random damage", () => {
  let folder: string;
  let content: Buffer;
  let model: FolderModel;

  beforeAll(async () => {
    folder = join(mkdtempSync(join(tmpdir(), "holdfast-")), "memory.holdfast");
    await fillFolder(folder, 120);
    model = await readModel(folder);
    content = readFileSync(join(folder, DATABASE_FILE));
  });

  afterAll(() => rmSync(dirname(folder), { recursive: true, force: true }));

  it.each([...KEPT_SEEDS, ...Array.from({ length: RUNS }, (_, run) => SEED + run)])(
    "[O1] with seed %i: what is brought back is what was there, and what is missing is counted",
    async (seed) => {
      const random = new SeededRandom(seed);
      const path = join(temporaryFolder(), "memory.holdfast");
      cpSync(folder, path, { recursive: true });
      const file = join(path, DATABASE_FILE);
      const damaged = Buffer.from(content);
      const below = (bound: number): number => random.below(Math.floor(bound));
      let length = content.byteLength;
      const done: string[] = [];
      for (let count = 1 + below(4); count > 0; count -= 1) {
        const kind = DAMAGES[below(DAMAGES.length)] ?? "bit";
        const page = below(content.byteLength / PAGE_BYTES);
        const start = page * PAGE_BYTES;
        const at = below(content.byteLength);
        done.push(`${kind} ${page + 1} ${at}`);
        if (kind === "bit") damaged[at] = (damaged[at] ?? 0) ^ (1 << below(8));
        if (kind === "bytes")
          for (let index = 0; index < 64; index += 1) damaged[start + below(PAGE_BYTES)] = below(256);
        if (kind === "zero page") damaged.fill(0, start, start + PAGE_BYTES);
        const other = below(content.byteLength / PAGE_BYTES) * PAGE_BYTES;
        if (kind === "foreign page") content.copy(damaged, start, other, other + PAGE_BYTES);
        if (kind === "turned page") damaged.subarray(start, start + PAGE_BYTES).reverse();
        if (kind === "zero range") damaged.fill(0, at, at + 1 + below(40_000));
        if (kind === "cut") length = Math.min(length, PAGE_BYTES + below(content.byteLength));
      }
      writeFileSync(file, damaged);
      if (length < content.byteLength) truncateSync(file, length);
      expect(statSync(file).size).toBe(length);
      const before = await verifyFolder(path, { threads: "inline" });
      if (before.ok) return;
      const { report } = await repair(path);
      const found = await readModel(path);
      // A tenant whose row and indexes are gone is there under a name that says so.
      const named = [...found.events].map(([key, event]) => [key.replace(/^recovered-2\//, "other/"), event] as const);
      const after = { ...found, events: new Map(named) };
      const missing = (now: ReadonlyMap<string, unknown>, then: ReadonlyMap<string, unknown>): readonly string[] =>
        [...then.keys()].filter((key) => !now.has(key));
      const events = missing(after.events, model.events);
      expect(
        events.length === 0 || !report.complete,
        `${done.join(", ")}: ${events.length} events are missing in silence`,
      ).toBe(true);
      assertKept(model, after, { events, records: missing(after.records, model.records) });
    },
  );
});
