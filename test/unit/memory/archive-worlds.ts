import { expect } from "vitest";
import type { Connection, SqlRow } from "../../../src/database/connection.ts";
import type { Memory, Session, Tenant } from "../../../src/memory/contract.ts";
import type { EventInput } from "../../../src/memory/event-input.ts";
import { SeededRandom } from "../../../src/testkit/seeded-random.ts";
import { HOSTILE_TEXTS } from "../../../src/testkit/texts.ts";
import type { UnsteadyEmbedder } from "../../doubles/unsteady-embedder.ts";

/** Reads an archive to its end. */
export async function textOf(archive: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const chunk of archive) text += chunk;
  return text;
}

/** A source that can be begun anew, in chunks that part lines and characters. */
export function sourceOf(text: string, chunkBytes = 64 * 1024): () => AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  return async function* () {
    for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
  };
}

/** Lines as objects without what each export has of its own: its head's id and time, and all checks. */
export function contentsOf(text: string): readonly object[] {
  const lines = text.trimEnd().split("\n");
  return lines.map((line, index) => {
    const { check: _check, ...fields } = JSON.parse(line);
    return index === 0 ? { ...fields, id: "", createdAt: "" } : fields;
  });
}

const IDS = HOSTILE_TEXTS.filter((text) => text !== "" && Buffer.byteLength(text) <= 512);
const MOMENTS = [
  "0001-01-01T00:00:00Z",
  "0001-01-01T14:00:00+14:00",
  "9999-12-31T23:59:59.999999Z",
  "9999-12-31T12:00:00.000001-11:59",
  "1900-01-01T00:00:00.000001-00:44:30",
  "1969-12-31T23:59:59.999999z",
  "2026-05-01T14:00:00.123456+02:00",
];
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.1 + 0.2,
  1e308,
  -1e308,
  5e-324,
  2.2e-308,
  1e21,
  2 ** 53,
  -(2 ** 53) + 1,
  123456789.125,
];
const INTEGERS = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n, -9007199254740993n, 7n];
const LABELS = ["alice", "bob", "__proto__", "toString", "ß", "x".repeat(512)];
/** Long enough to be cut into pieces, with pairs of surrogates where they are cut. */
const LONG = `${"💧".repeat(70_000)} the end of a long story`;

function between(random: SeededRandom, first: number, last: number): number {
  return first + random.below(last - first + 1);
}

function propertyFor(random: SeededRandom): NonNullable<EventInput["properties"]>[string] {
  switch (between(random, 0, 6)) {
    case 0:
      return random.pick(NUMBERS);
    case 1:
      return random.pick(INTEGERS);
    case 2:
      return random.pick([true, false]);
    case 3:
      return { datetime: random.pick(MOMENTS) };
    case 4:
      return new Date(between(random, -62_135_596_800, 253_402_300_799) * 1_000);
    case 5:
      return between(random, -1_000_000, 1_000_000) / 64;
    default:
      return random.pick(HOSTILE_TEXTS);
  }
}

function propertiesOf(random: SeededRandom): NonNullable<EventInput["properties"]> {
  const names = [...IDS, "__proto__", "constructor", "10", "9", "topic", "year", "when"];
  const entries = Array.from(
    { length: between(random, 0, 6) },
    () => [random.pick(names), propertyFor(random)] as const,
  );
  return Object.fromEntries(entries);
}

function textFor(random: SeededRandom): string {
  const words = ["lisbon", "bicycle", "tea", "中文文本", "shalom", "don't", "river", "green"];
  return `${random.pick(HOSTILE_TEXTS)} ${Array.from({ length: between(random, 1, 8) }, () => random.pick(words)).join(" ")}.`;
}

function eventFor(random: SeededRandom, id: string): EventInput {
  const said = between(random, 0, 9) < 6 ? { text: textFor(random) } : { blocks: blocksFor(random) };
  return {
    id,
    ...said,
    ...(between(random, 0, 2) > 0 && { at: random.pick(MOMENTS) }),
    ...(between(random, 0, 1) > 0 && { producer: random.pick(LABELS) }),
    ...(between(random, 0, 1) > 0 && { role: random.pick(LABELS) }),
    ...(between(random, 0, 1) > 0 && { kind: random.pick(LABELS) }),
    properties: propertiesOf(random),
  };
}

function blocksFor(random: SeededRandom): NonNullable<EventInput["blocks"]> {
  const data = { 10: null, 9: [1e21, -0, 0.1], nested: { "\0": random.pick(HOSTILE_TEXTS) }, $pieces: 2 };
  return [
    { text: textFor(random) },
    { type: "tool_call", data },
    { type: "picture", text: textFor(random), data: random.pick([null, false, "", []]) },
  ];
}

/** Fills a folder with everything that one can hold; the same seed fills it alike. */
export async function fillFolder(memory: Memory, embedder: UnsteadyEmbedder, seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  await fillTenant(memory, embedder, random, "");
  for (const id of ["acme", random.pick(IDS), "t".repeat(512)]) {
    const tenant = await memory.createTenant(id);
    if (tenant.created) await fillTenant(tenant, embedder, random, "of-tenant ");
  }
  await memory.createTenant("empty");
}

async function fillTenant(
  tenant: Tenant,
  embedder: UnsteadyEmbedder,
  random: SeededRandom,
  prefix: string,
): Promise<void> {
  await tenant.createSession("empty session");
  const sessions: Session[] = [];
  for (const id of ["chat", random.pick(IDS), "../../etc/passwd"]) {
    const user = random.chance(0.3) ? undefined : random.pick(["alice", ...IDS]);
    const known = await tenant.getSession(id);
    sessions.push(known ?? (await tenant.createSession(id, user === undefined ? {} : { user })));
  }
  for (const [index, session] of sessions.entries()) {
    const ids = Array.from({ length: 6 }, (_, n) => (n % 2 === 0 ? `${random.pick(IDS)}${n}` : `${prefix}e${n}`));
    await session.rememberMany(ids.map((id) => eventFor(random, `${index} ${id}`)));
  }
  const [first] = sessions;
  await first?.remember({ id: "long", text: LONG, properties: { long: LONG.slice(0, 140_001), 3: "x" } });
  await first?.remember({ id: "long blocks", blocks: [{ text: LONG }, { type: "data", data: [LONG] }] });
  await first?.remember({ id: "gone", text: "to be forgotten" });
  await first?.updateEvent("long", { properties: { long: null } });
  await first?.updateEvent("long", { text: "not so long any more", properties: { __proto__x: 1 } });
  await first?.updateEvent("long blocks", { blocks: [{ text: "short" }, { data: { 2: 1, 1: 2 } }] });
  await tenant.forget({ events: ["gone"] });
  const ending = await tenant.createSession("ended");
  await ending.remember({ text: "in a session that ends" });
  await tenant.deleteSession("ended");
  embedder.isDown = true;
  await first?.remember({ id: "pending", text: "told while the embedder was down" });
  embedder.isDown = false;
  await first?.updateSummary({ keepEvents: 1 });
}

/** What the tables say, by ids in the place of the numbers of tenants, sessions and rows that a folder gives itself. */
const TABLES: Readonly<Record<string, string>> = {
  tenants: "SELECT id, documents, tokens, created_at, storage_space IS NULL FROM tenants ORDER BY id",
  sessions:
    "SELECT t.id AS tenant, n.id, n.user, n.ending, n.created_at FROM sessions AS n JOIN tenants AS t USING (tenant) ORDER BY 1, 2",
  events: `SELECT e.event, t.id AS tenant, n.id AS session, e.id, e.at, e.at_offset, e.producer, e.role, e.kind, e.text, e.blocks,
    e.revision, e.created_at, e.updated_at, e.first_digest, e.digest
    FROM events AS e JOIN tenants AS t USING (tenant) JOIN sessions AS n USING (session) ORDER BY 1`,
  event_revisions: "SELECT * FROM event_revisions ORDER BY event, revision",
  event_properties: "SELECT *, typeof(value) FROM event_properties ORDER BY event, name",
  segments: `SELECT segment, event, start, "end", vectors, token_string FROM segments ORDER BY segment`,
  segment_lengths: "SELECT segment, tokens FROM segment_lengths ORDER BY segment",
  pending_vectors: "SELECT segment, state, attempts, next_at, reason FROM pending_vectors ORDER BY segment",
  summaries: `SELECT t.id AS tenant, n.id AS session, text, from_id, from_at, to_id, to_at, to_event, events, version, updated_at
    FROM summaries JOIN sessions AS n USING (session) JOIN tenants AS t ON t.tenant = n.tenant ORDER BY 1, 2`,
  vectors: "SELECT r.id, hex(v.vector) FROM records_1 AS r JOIN vectors_1 AS v USING (row) ORDER BY r.id",
  columns: `SELECT id, p_session, p_user, p_producer, p_role, p_kind, p_at, p_created_at, p_own_1, p_own_2, p_own_3
    FROM records_1 ORDER BY id`,
  spaces: "SELECT space, identity, dimensions, created_at FROM spaces",
  pipelines: "SELECT * FROM pipelines ORDER BY 1, 2",
  declared_keys: "SELECT name, kind, complete FROM declared_keys ORDER BY key",
  declared_exceptions: "SELECT t.id, key FROM declared_exceptions JOIN tenants AS t USING (tenant) ORDER BY 1, 2",
  imports: "SELECT import FROM imports WHERE published IS NULL",
};

export function rowsOf(raw: Connection): Readonly<Record<string, readonly SqlRow[]>> {
  const tables = Object.entries(TABLES).map(
    ([name, sql]) => [name, raw.prepare(sql, { bigints: true }).all()] as const,
  );
  return Object.fromEntries(tables);
}

const QUESTIONS = ["who went to lisbon by bicycle?", "中文文本 or x' OR 1=1 --"];

/** Every reading call's answer, of every tenant. */
export async function answersOf(memory: Memory): Promise<unknown> {
  const answers: unknown[] = [];
  for (const { id, createdAt } of await memory.listTenants()) {
    const tenant = await memory.tenant(id);
    const { path: _path, fileBytes: _bytes, ...stats } = await tenant.stats();
    answers.push({ id, createdAt, stats, exported: await pageOf(tenant.exportEvents({ limit: 1_000 })) });
    const { segments } = await tenant.pendingEmbeddings();
    const { events } = await tenant.list({ limit: 1_000 });
    answers.push({ segments, events, count: await tenant.count() });
    for (const { id: event } of events) answers.push(await tenant.getEvent(event), await tenant.history(event));
    for (const info of await tenant.listSessions()) {
      const session = await tenant.session(info.id);
      answers.push(info, session.user, await session.recent({ maxEvents: 50 }), await session.summary());
    }
    for (const question of QUESTIONS)
      for (const options of RECALLS) answers.push(await tenant.recall(question, { limit: 20, ...options }));
  }
  return answers;
}

const RECALLS = [
  {},
  { channels: ["vector"], context: 3 },
  { channels: ["text"] },
  { where: "m.year > 0 or not (m.topic is null)" },
  { where: "producer = 'alice'", user: "alice" },
] as const;

async function pageOf(page: Promise<{ readonly events: readonly unknown[]; readonly damaged: number }>) {
  const { events, damaged } = await page;
  expect(damaged).toBe(0);
  return events;
}
