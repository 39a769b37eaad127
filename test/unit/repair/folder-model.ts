import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { MemoryEvent } from "../../../src/memory/event-contract.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { openStore } from "../../../src/open-store.ts";
import type { RepairReport } from "../../../src/repair/repair-contract.ts";
import { repairFolder } from "../../../src/repair-folder.ts";
import { verifyFolder } from "../../../src/verify-folder.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { EVENTS } from "../verify/damaged-folders.ts";

/** Everything that a folder of `makeFolder` answers. */
export interface FolderModel {
  /** `tenant/event` to the event as it is read. */
  readonly events: ReadonlyMap<string, MemoryEvent>;
  readonly records: ReadonlyMap<string, unknown>;
  /** What the best hit of a question for each event's own words is. */
  readonly found: ReadonlyMap<string, string>;
}

export async function readModel(path: string): Promise<FolderModel> {
  const events = new Map<string, MemoryEvent>();
  const found = new Map<string, string>();
  const memory = await openMemory({ path, threads: "inline", embedder: createHashEmbedder(), segmenter: "paragraphs" });
  for (const { id } of await memory.listTenants()) {
    const tenant = await memory.tenant(id);
    await tenant.embedPending();
    for await (const event of allEvents(tenant)) events.set(`${id}/${event.id}`, event);
    const own = [...events].filter(([key]) => key.startsWith(`${id}/`));
    // A recall for each of some: as many as the small folder has.
    for (const [key, event] of own.filter((_, index) => index % Math.ceil(own.length / EVENTS) === 0)) {
      const { hits, damaged } = await tenant.recall(event.text.split("\n")[0] ?? "", { limit: 1 });
      expect(damaged).toBe(0);
      found.set(key, hits[0]?.event ?? "");
    }
  }
  await memory.close();
  const records = new Map<string, unknown>();
  const store = await openStore({
    path,
    threads: "inline",
    name: "docs",
    dimensions: 8,
    properties: { n: "int", done: "bool" },
  });
  for (const { key } of await store.listPartitions()) {
    const partition = await store.getPartition(key);
    for await (const page of partition?.scan({ includeVectors: true }) ?? [])
      for (const record of page.records) records.set(record.id, record);
  }
  await store.close();
  return { events, records, found };
}

async function* allEvents(
  tenant:
    | Awaited<ReturnType<typeof openMemory>>
    | Awaited<ReturnType<Awaited<ReturnType<typeof openMemory>>["tenant"]>>,
) {
  let after: string | undefined;
  do {
    const page = await tenant.list({ limit: 500, ...(after !== undefined && { after }) });
    yield* page.events;
    after = page.next;
  } while (after !== undefined);
}

/** Repairs, proves that a second verification is clean, and answers the report with the listed rows. */
export async function repair(
  path: string,
): Promise<{ readonly report: RepairReport; readonly listed: readonly ListedRow[] }> {
  const report = await repairFolder(path, { threads: "inline" });
  expect(report.outcome).toBe("repaired");
  const again = await verifyFolder(path, { threads: "inline", deep: true });
  expect(again.findings.filter(({ kind }) => kind !== "set-aside")).toEqual([]);
  expect(again.ok).toBe(true);
  const listed = readFileSync(join(report.keptIn ?? "", "rows.jsonl"), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ListedRow);
  expect(readdirSync(report.keptIn ?? "")).toContain("holdfast.db");
  return { report, listed };
}

export interface ListedRow {
  readonly table: string;
  readonly row?: unknown;
  readonly fate?: string;
  readonly reason: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Every event and record of `before` is in `after`, equal in every field, but those that are named. */
export function assertKept(
  before: FolderModel,
  after: FolderModel,
  missing: { readonly events?: readonly string[]; readonly records?: readonly string[] } = {},
): void {
  for (const [key, event] of before.events) {
    if (missing.events?.includes(key)) expect(after.events.get(key)).toBeUndefined();
    else expect(after.events.get(key), key).toEqual(event);
  }
  expect(after.events.size).toBe(before.events.size - (missing.events?.length ?? 0));
  for (const [key, id] of before.found)
    if (after.found.has(key)) expect([key, after.found.get(key)]).toEqual([key, id]);
  for (const [id, record] of before.records) {
    if (missing.records?.includes(id)) expect(after.records.get(id)).toBeUndefined();
    else expect(after.records.get(id), id).toEqual(record);
  }
}
