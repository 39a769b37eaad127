import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openConnection } from "../../../src/database/drivers/open-connection.ts";
import { DATABASE_FILE } from "../../../src/database/open-files.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { openStore } from "../../../src/open-store.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { temporaryFolder } from "../database/connections.ts";

export const SUBJECTS = ["Lisbon", "chess", "rain", "bicycles", "soup", "winter"] as const;

/** Events of the folder of {@link makeFolder}, and more where a test needs pages of them. */
export const EVENTS = 24;

export function textOf(index: number): string {
  return `Note ${index} is about ${SUBJECTS[index % SUBJECTS.length]} and number${index}.\n\nIt has a second part${index % 5}.`;
}

/** A folder with two tenants, sessions of users, properties, a revision, a summary, and a store of the user's own. */
export async function makeFolder(events: number = EVENTS): Promise<string> {
  const path = join(temporaryFolder(), "memory.holdfast");
  await fillFolder(path, events);
  return path;
}

/** The same in a place of the caller's. */
export async function fillFolder(path: string, events: number): Promise<void> {
  const memory = await openMemory({
    path,
    threads: "inline",
    embedder: createHashEmbedder(),
    segmenter: "paragraphs",
    properties: { topic: "string" },
    summarise: async ({ events: covered }) => `${covered.length} notes`,
  });
  for (const tenant of [memory, await memory.createTenant("other")]) {
    const session = await tenant.createSession("diary", { user: "alice" });
    const inputs = Array.from({ length: events }, (_, index) => ({
      id: `e${index}`,
      text: textOf(index),
      producer: index % 2 === 0 ? "alice" : "bot",
      properties: { topic: SUBJECTS[index % SUBJECTS.length] ?? "", index, when: new Date(index) },
    }));
    await session.rememberMany(inputs);
    await session.updateSummary();
    await (await tenant.createSession("empty")).remember({ id: "z", text: "One more, in another session" });
  }
  await memory.updateEvent("z", { text: "One more, said otherwise", properties: { topic: "changed" } });
  await memory.close();
  const store = await openStore({
    path,
    threads: "inline",
    name: "docs",
    dimensions: 8,
    properties: { n: "int", done: "bool" },
  });
  const partition = await store.createPartition("main");
  await partition.upsert(
    Array.from({ length: 20 }, (_, index) => ({
      id: `r${index}`,
      vector: vectorOf(index),
      properties: { n: index, done: index % 2 === 0 },
    })),
  );
  await store.close();
}

export function vectorOf(index: number): number[] {
  return Array.from({ length: 8 }, (_, component) => Math.sin(index * 8 + component + 1));
}

/** Changes a closed folder's rows. */
export function sql(path: string, statements: string): void {
  const connection = openConnection(join(path, DATABASE_FILE), { readOnly: false, mustExist: true });
  try {
    connection.exec(statements);
  } finally {
    connection.close();
  }
}

export function value(path: string, select: string): number {
  const connection = openConnection(join(path, DATABASE_FILE), { readOnly: false, mustExist: true });
  try {
    return Number(Object.values(connection.prepare(select).get() ?? {})[0]);
  } finally {
    connection.close();
  }
}

export const PAGE_BYTES = 16_384;

/** Changes a closed folder's bytes, from `at` on. */
export function bytes(path: string, at: number, change: (old: Buffer) => Buffer, length = 1): void {
  const descriptor = openSync(join(path, DATABASE_FILE), "r+");
  try {
    const old = Buffer.alloc(length);
    readSync(descriptor, old, 0, length, at);
    const changed = change(old);
    writeSync(descriptor, changed, 0, changed.byteLength, at);
  } finally {
    closeSync(descriptor);
  }
}

/** Overwrites a page of a closed folder with bytes that are no page; pages count from 1. */
export function breakPage(path: string, page: number): void {
  bytes(path, (page - 1) * PAGE_BYTES, (old) => Buffer.alloc(old.byteLength, 0xa5), PAGE_BYTES);
}

/** The pages of a table or index, its root first. */
export function pagesOf(path: string, name: string): readonly number[] {
  const connection = openConnection(join(path, DATABASE_FILE), { readOnly: false, mustExist: true });
  try {
    const rows = connection
      .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype <> 'overflow' ORDER BY path")
      .all(name);
    return rows.map(({ pageno }) => Number(pageno));
  } finally {
    connection.close();
  }
}
