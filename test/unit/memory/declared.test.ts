import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Filter } from "../../../src/contract/filter-tree.ts";
import type { PropertySchema } from "../../../src/contract/properties.ts";
import { bindUserValue, type UserInputValue } from "../../../src/contract/property-values.ts";
import { evaluate, type RecordLookup } from "../../../src/filter/index.ts";
import type { Memory } from "../../../src/memory/contract.ts";
import { bindScope } from "../../../src/memory/scope.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { EXTREME_INTS, HOSTILE_TEXTS } from "../filter/arbitraries.ts";
import { type MemoryBed, openMemoryBed } from "./memories.ts";

/** Names of system fields, of the store's own columns and of SQL among them: all are free for a user's keys. */
const DECLARED: PropertySchema = { session: "string", at: "int", row: "float", own_1: "bool", select: "datetime" };
/** What `FREE` holds lies in no column. */
const FREE = ["topic", "Customer ID"];
const KEYS = [...Object.keys(DECLARED), ...FREE];
const ABSENT = 0.4;

type Literal = string | number | bigint | boolean | { readonly datetime: string };

const VALUES: Readonly<Record<string, fc.Arbitrary<Literal>>> = {
  string: fc.constantFrom(...HOSTILE_TEXTS),
  int: fc.constantFrom<Literal>(...EXTREME_INTS, 3, 7),
  float: fc.constantFrom<Literal>(-1.5, 0, 0.1, 0.30000000000000004, 1, 7, 2 ** 53, 2 ** 60, 1e300),
  bool: fc.boolean(),
  datetime: fc
    .constantFrom("1969-12-31T23:59:59.999999Z", "2024-01-01T05:30:00+05:30")
    .map((datetime) => ({ datetime })),
};
const anyValue: fc.Arbitrary<Literal> = fc.oneof(...Object.values(VALUES));

const leaves: fc.Arbitrary<Filter> = fc
  .tuple(fc.constantFrom(...KEYS), fc.constantFrom("equals", "in", "ordering", "isNull"), fc.nat(9))
  .chain(([name, shape, chance]): fc.Arbitrary<Filter> => {
    const field = { scope: "m", name } as const;
    const kind = DECLARED[name];
    const literal = kind === undefined || chance === 0 ? anyValue : (VALUES[kind] ?? anyValue);
    if (shape === "isNull") return fc.constant({ op: "isNull", field });
    if (shape === "in" && kind !== undefined)
      return fc
        .array(VALUES[kind] ?? anyValue, { maxLength: 4 })
        .map((values): Filter => ({ op: "in", field, values }));
    return fc.tuple(literal, fc.constantFrom("<", "<=", ">", ">=")).map(([value, comparison]): Filter => {
      const isOrdered = typeof value === "number" || typeof value === "bigint" || typeof value === "object";
      return shape === "ordering" && isOrdered
        ? { op: "ordering", field, comparison, value }
        : { op: "equals", field, value };
    });
  });

const trees: fc.Arbitrary<Filter> = fc.letrec<{ node: Filter }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    { weight: 3, arbitrary: leaves },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom("and" as const, "or" as const), fc.array(tie("node"), { minLength: 2, maxLength: 3 }))
        .map(([op, operands]): Filter => ({ op, operands })),
    },
    { weight: 1, arbitrary: tie("node").map((operand): Filter => ({ op: "not", operand })) },
  ),
})).node;

interface Told {
  readonly id: string;
  readonly lookup: RecordLookup;
}

/** Events of which each key is absent in four of ten, and, where that is asked for, of another type in two of ten. */
async function tell(memory: Memory, count: number, mistyped: boolean): Promise<readonly Told[]> {
  const session = await memory.createSession("s");
  const property = (key: string): fc.Arbitrary<Literal | undefined> => {
    const typed = VALUES[DECLARED[key] ?? ""] ?? anyValue;
    const absent = { weight: ABSENT * 10, arbitrary: fc.constant(undefined) };
    return mistyped
      ? fc.oneof(absent, { weight: 4, arbitrary: typed }, { weight: 2, arbitrary: anyValue })
      : fc.oneof(absent, { weight: 6, arbitrary: typed.filter((value) => fits(key, value)) });
  };
  const record = fc.record(Object.fromEntries(KEYS.map((key) => [key, property(key)])));
  const samples = fc.sample(record, { numRuns: count, seed: 20_261_201 });
  const inputs = samples.map((sample, index) => ({
    id: `e${index}`,
    text: `tea number ${index} of ${(index * 7) % 13} and ${(index * 3) % 11}`,
    properties: Object.fromEntries(
      Object.entries(sample).filter((entry): entry is [string, UserInputValue & Literal] => entry[1] !== undefined),
    ),
  }));
  await session.rememberMany(inputs);
  return inputs.map(({ id, properties }) => {
    const values = new Map(Object.entries(properties).map(([key, value]) => [key, bindUserValue(value, key)]));
    return { id, lookup: { value: () => undefined, userValue: (name) => values.get(name) } };
  });
}

/** Int64 columns hold no fraction and no number beyond 64 bits, float columns no int that no float equals. */
function fits(key: string, value: Literal): boolean {
  return DECLARED[key] !== "float" || typeof value !== "bigint" || BigInt(Number(value)) === value;
}

/** Recalls with many filters and holds each answer against the definition; answers how they were planned. */
async function compare(memory: Memory, events: readonly Told[], seed: number) {
  const seen = { columns: 0, listed: 0, none: 0, split: 0, leaves: 0, absent: 0 };
  const vectors = { channels: ["vector"] } as const;
  const byCosine = (await memory.recall("tea", { ...vectors, limit: 10_000 })).hits.map(({ event }) => event);
  expect(byCosine).toHaveLength(events.length);
  await fc.assert(
    fc.asyncProperty(trees, async (where) => {
      const bound = bindScope({ where });
      const admits = ({ lookup }: Told): boolean => bound === undefined || evaluate(bound, lookup);
      const admitted = new Set(events.filter(admits).map(({ id }) => id));
      const expected = byCosine.filter((id) => admitted.has(id));
      const all = await memory.recall("tea", { ...vectors, where, limit: 10_000, explain: true });
      expect(all.hits.map(({ event }) => event)).toEqual(expected);
      const nearest = await memory.recall("tea", { ...vectors, where, limit: 3 });
      expect(nearest.hits.map(({ event }) => event)).toEqual(expected.slice(0, 3));
      seen[all.explanation?.filter ?? "none"] += 1;
      if (admitted.size > 0 && admitted.size < events.length) seen.split += 1;
      for (const name of keysOf(where)) {
        seen.leaves += events.length;
        seen.absent += events.filter(({ lookup }) => lookup.userValue?.(name) === undefined).length;
      }
    }),
    { numRuns: 120, seed },
  );
  expect(seen.absent / seen.leaves).toBeGreaterThan(0.3);
  expect(seen.split).toBeGreaterThan(30);
  return seen;
}

function keysOf(filter: Filter): readonly string[] {
  if (filter.op === "all" || filter.op === "none") return [];
  if (filter.op === "not") return keysOf(filter.operand);
  return filter.op === "and" || filter.op === "or" ? filter.operands.flatMap(keysOf) : [filter.field.name];
}

async function planOf(memory: Pick<Memory, "recall">, where: string) {
  // Words alone would find it whatever its columns say.
  const options = { where, limit: 10_000, explain: true, channels: ["vector"] } as const;
  const { hits, explanation } = await memory.recall("tea", options);
  return { plan: explanation?.filter, events: hits.map(({ event }) => event).sort() };
}

/** Stops every fill at a place, as a full disk would. */
function hold({ raw }: MemoryBed, when: string): void {
  raw.exec(`CREATE TRIGGER held BEFORE UPDATE ON ${when} BEGIN SELECT RAISE(ABORT, 'held'); END`);
}

const isComplete = async (memory: Memory): Promise<readonly boolean[]> =>
  (await memory.stats()).declared.map(({ complete }) => complete);

describe("declared properties", () => {
  for (const count of [60, 300])
    for (const mistyped of [false, true])
      it(`[S4] recall answers ${count} events as the definition says, ${mistyped ? "some values of other types" : "each value of its type"}`, async () => {
        const { memory } = await openMemoryBed({ properties: DECLARED });
        const seen = await compare(memory, await tell(memory, count, mistyped), 20_261_202);
        expect(Math.min(seen.columns, seen.listed)).toBeGreaterThan(10);
      });

  it("[S4] a key declared later is answered from the events until the fill has covered every vector, and then from columns", async () => {
    const first = await openMemoryBed();
    const events = await tell(first.memory, 60, true);
    await first.memory.close();
    hold(first, "declared_keys WHEN new.complete = 1");
    const { memory } = await openMemoryBed({ path: first.path, embedder: first.embedder, properties: DECLARED });
    await expect(memory.fillDeclared()).rejects.toThrow();
    expect(await isComplete(memory)).toEqual([false, false, false, false, false]);
    expect((await compare(memory, events, 20_261_203)).columns).toBe(0);
    first.raw.exec("DROP TRIGGER held");
    await memory.fillDeclared();
    expect(await isComplete(memory)).toEqual([true, true, true, true, true]);
    expect((await compare(memory, events, 20_261_204)).columns).toBeGreaterThan(10);
  });

  it("[S4] a fill that was stopped goes on where its last commit left it, by whoever opens next", async () => {
    const first = await openMemoryBed();
    const events = await tell(first.memory, 700, false);
    await first.memory.close();
    hold(first, "declared_keys WHEN new.complete = 1");
    const second = await openMemoryBed({ path: first.path, embedder: first.embedder, properties: { at: "int" } });
    await expect(second.memory.fillDeclared()).rejects.toThrow();
    await second.memory.close();
    first.raw.exec("DROP TRIGGER held");
    expect(first.raw.prepare("SELECT filled_to FROM declared_fill").get()?.filled_to).toBe(500);
    const third = await openMemoryBed({ path: first.path, embedder: first.embedder });
    const looked: number[] = [];
    await third.memory.fillDeclared({ onProgress: ({ segments }) => looked.push(segments) });
    expect(looked.at(-1) ?? 0).toBeLessThanOrEqual(200);
    expect(await isComplete(third.memory)).toEqual([true]);
    const expected = events.filter(({ lookup }) => lookup.userValue?.("at")?.value === 7).map(({ id }) => id);
    expect(expected.length).toBeGreaterThan(10);
    expect(await planOf(third.memory, "m.at = 7")).toEqual({ plan: "columns", events: expected.sort() });
  });

  it("[S4] a handle that was opened without the key writes its values all the same", async () => {
    const first = await openMemoryBed({ properties: { year: "int" } });
    await first.memory.close();
    const { memory } = await openMemoryBed({ path: first.path, embedder: first.embedder });
    const session = await memory.createSession("s");
    await session.rememberMany([
      { id: "a", text: "tea", properties: { year: 2024 } },
      { id: "b", text: "tea", properties: { year: 2025 } },
    ]);
    expect(await planOf(memory, "m.year > 2024")).toEqual({ plan: "columns", events: ["b"] });
  });

  it("[S4, S12] an update of properties alone moves the columns with it", async () => {
    const { memory } = await openMemoryBed({ properties: { year: "int" } });
    const session = await memory.createSession("s");
    await session.remember({ id: "a", text: "tea", properties: { year: 2024 } });
    await memory.updateEvent("a", { properties: { year: 2025 } });
    expect(await planOf(memory, "m.year = 2025")).toEqual({ plan: "columns", events: ["a"] });
    await memory.updateEvent("a", { properties: { year: null } });
    expect(await planOf(memory, "m.year IS NULL")).toEqual({ plan: "columns", events: ["a"] });
    await memory.updateEvent("a", { text: "more tea", properties: { year: "soon" } });
    expect(await planOf(memory, "m.year IS NULL")).toEqual({ plan: "listed", events: [] });
    expect(await planOf(memory, "m.year = 'soon'")).toEqual({ plan: "listed", events: ["a"] });
    expect(await planOf(memory, "m.year = 2025")).toEqual({ plan: "columns", events: [] });
  });

  it("[S4, S7] an event that is embedded later gets its columns with its vectors", async () => {
    let isDown = true;
    const before = (): void => {
      if (isDown) throw new Error("down");
    };
    const { memory } = await openMemoryBed({ properties: { year: "int" }, embedder: createHashEmbedder({ before }) });
    const session = await memory.createSession("s");
    const receipt = await session.remember({ id: "a", text: "tea", properties: { year: 2024 } });
    expect(receipt.embedded).toBe("pending");
    isDown = false;
    await memory.embedPending();
    const answer = await memory.recall("tea", { where: "m.year = 2024", channels: ["vector"], explain: true });
    expect(answer).toMatchObject({ hits: [{ event: "a" }], explanation: { filter: "columns" } });
  });

  it("[S4, S10] one tenant's values of another type do not change how another tenant's filters are answered", async () => {
    const { memory } = await openMemoryBed({ properties: { year: "int" } });
    const other = await memory.createTenant("other");
    await (await memory.createSession("s")).remember({ id: "a", text: "tea", properties: { year: 2024 } });
    await (await other.createSession("s")).remember({ id: "b", text: "tea", properties: { year: 2024.5 } });
    expect(await planOf(memory, "m.year > 2000")).toEqual({ plan: "columns", events: ["a"] });
    expect(await planOf(other, "m.year > 2000")).toEqual({ plan: "listed", events: ["b"] });
  });

  it("[S4, P1] a key has one type for ever, and a bad declaration is refused before anything is written", async () => {
    const { path, embedder, memory, count } = await openMemoryBed({ properties: { year: "int" } });
    await memory.close();
    const open = (properties: Record<string, unknown>): Promise<MemoryBed> =>
      openMemoryBed({ path, embedder, properties: properties as PropertySchema });
    await expect(open({ more: "string", year: "float" })).rejects.toMatchObject({ code: "PARTITION_SCHEMA_MISMATCH" });
    await expect(open({ "Customer ID": "string" })).rejects.toMatchObject({ code: "INVALID_NAME" });
    await expect(open({ topic: "text" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const many = Object.fromEntries(Array.from({ length: 245 }, (_, index) => [`k${index}`, "int"]));
    await expect(open(many)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    expect(count("declared_keys")).toBe(1);
  });
});
