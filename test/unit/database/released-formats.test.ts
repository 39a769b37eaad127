import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { FORMATS } from "../../../src/database/format-history.ts";
import type { Tenant } from "../../../src/memory/contract.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { openStore } from "../../../src/open-store.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { temporaryFolder } from "./connections.ts";

const FOLDER = fileURLToPath(new URL("../../formats/", import.meta.url));
const INLINE = { threads: "inline" } as const;
const UNEMBEDDABLE = "a text that is not embedded";

const STORE = {
  name: "docs",
  dimensions: 4,
  properties: { lang: "string", year: "int", score: "float", open: "bool", seen: "datetime" },
  ...INLINE,
} as const;

/** Set by `scripts/make-format-fixture.js`: writes the folder of the present format anew. */
const WRITES = process.env.HOLDFAST_WRITE_FIXTURE === "1";

function openIt(path: string) {
  const embedder = createHashEmbedder({
    before(texts) {
      if (texts.some((text) => text.includes(UNEMBEDDABLE))) throw new Error("refused");
    },
  });
  const summarise = async (): Promise<string> => "they speak of moving";
  return openMemory({ path, ...INLINE, embedder, summarise, properties: { topic: "string" } });
}

/** Something of everything that a folder can hold. */
async function fill(path: string): Promise<void> {
  const memory = await openIt(path);
  const at = (minute: number): string => `2026-05-01T12:${String(minute).padStart(2, "0")}:00.000001+02:00`;
  const home = await memory.createSession("home", { user: "alice" });
  await home.rememberMany([
    { id: "a", at: at(1), producer: "alice", role: "user", kind: "message", text: "I moved to Lisbon in May." },
    {
      id: "b",
      at: at(2),
      producer: "bot",
      text: "Which part of Lisbon?",
      properties: { topic: "home", long: 2n ** 62n },
    },
    {
      id: "c",
      at: at(3),
      producer: "alice",
      blocks: [{ text: "Alfama. 我搬家了。" }, { type: "image", data: { width: 3 } }],
    },
    {
      id: "d",
      at: at(4),
      text: 'it\'s "quoted", 50 % \\ \u0000 and 👩‍👩‍👧',
      properties: { tiny: 5e-324, yes: true, topic: 7 },
    },
    { id: "e", at: at(5), text: "forgotten soon", properties: { seen: new Date("2026-05-01T00:00:00Z") } },
  ]);
  await home.updateEvent("b", { text: "Which quarter of Lisbon?" });
  await home.forget({ events: ["e"] });
  await home.updateSummary({ keepEvents: 2 });
  await (await memory.createSession("empty")).remember({ id: "p", at: at(6), text: UNEMBEDDABLE });
  await memory.createSession("nothing");
  const acme = await memory.createTenant("acme ' % _");
  await (await acme.createSession("home")).remember({ id: "a", at: at(7), text: "a secret of acme" });
  await memory.createTenant("gone");
  await memory.deleteTenant("gone");
  await memory.close();
  const store = await openStore({ path, ...STORE });
  const partition = await store.createPartition("p");
  await partition.upsert([
    { id: "x", vector: [1, 0.1, -2, 3e-8], properties: { lang: "pt", year: 2n ** 63n - 1n, score: 0.1, open: false } },
    { id: "y\u0000'", vector: [0, 1, 0, 0], properties: { seen: "1900-01-01T00:00:00.000001-00:44:30", year: -5 } },
    { id: "z", vector: [1, 1, 1, 1] },
  ]);
  await partition.patch("z", { lang: "" });
  await partition.upsert([{ id: "x2", vector: [5, 5, 5, 5] }]);
  await partition.delete({ ids: ["x2"] });
  await store.close();
}

/** All of it, as it is read today. */
async function read(path: string): Promise<unknown> {
  const memory = await openIt(path);
  const home = await memory.session("home");
  const answer = await memory.recall("where is Lisbon", { where: "producer = 'bot'", waitForModel: true });
  const content = {
    tenants: (await memory.listTenants()).map(({ id, segments }) => ({ id, segments })),
    own: await contentOf(memory),
    acme: await contentOf(await memory.tenant("acme ' % _")),
    history: (await memory.history("b")).map(({ text, revision }) => ({ text, revision })),
    recent: (await home.recent()).events.map(({ id }) => id),
    summary: (await home.summary())?.text,
    topics: await memory.count({ where: "m.topic = 'home'" }),
    recalled: answer.hits.map(({ event, cosineSimilarity, textScore }) => ({ event, cosineSimilarity, textScore })),
  };
  await memory.close();
  const store = await openStore({ path, ...STORE, int64: "bigint" });
  const records: unknown[] = [];
  for await (const page of (await store.getPartition("p"))?.scan({ includeVectors: true }) ?? [])
    for (const { id, properties, vector } of page.records)
      records.push({ id, properties, vector: Buffer.from(vector?.buffer ?? new ArrayBuffer(0)).toString("hex") });
  await store.close();
  const text = JSON.stringify({ ...content, records }, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
  return JSON.parse(text);
}

async function contentOf(tenant: Tenant): Promise<unknown> {
  const { events, damaged } = await tenant.exportEvents();
  return {
    events,
    damaged,
    sessions: await tenant.listSessions(),
    changes: (await tenant.changes()).changes.map(({ kind, session, event }) => ({ kind, session, event })),
    pending: (await tenant.pendingEmbeddings()).segments.map(({ event, state }) => ({ event, state })),
    counts: await tenant.stats().then(({ events: count, segments, vectors }) => ({ count, segments, vectors })),
  };
}

describe("a folder of each format that was ever released", () => {
  if (WRITES) {
    it(`[E6] is written for format ${FORMATS.version}`, async () => {
      const path = join(temporaryFolder(), "memory.holdfast");
      await fill(path);
      const content = await read(path);
      writeFileSync(join(FOLDER, `format-${FORMATS.version}.db.gz`), gzipSync(readFileSync(join(path, "holdfast.db"))));
      writeFileSync(join(FOLDER, `format-${FORMATS.version}.json`), `${JSON.stringify(content, null, 2)}\n`);
    });
    return;
  }
  for (let version = 1; version <= FORMATS.version; version += 1) {
    it(`[E6] is opened, and says what it said when it was written (format ${version})`, async () => {
      const kept = join(FOLDER, `format-${version}.db.gz`);
      expect(existsSync(kept), "run node scripts/make-format-fixture.js").toBe(true);
      const path = join(temporaryFolder(), "memory.holdfast");
      mkdirSync(path);
      writeFileSync(join(path, "holdfast.db"), gunzipSync(readFileSync(kept)));
      const expected: unknown = JSON.parse(readFileSync(join(FOLDER, `format-${version}.json`), "utf8"));
      expect(await read(path)).toEqual(expected);
      const memory = await openIt(path);
      onTestFinished(() => memory.close());
      await (await memory.session("home")).remember({ id: "new", text: "written by the present version" });
      expect((await memory.recall("present version")).hits[0]?.event).toBe("new");
    });
  }
});
