import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FieldReference, Filter } from "../../../src/contract/filter-tree.ts";
import { evaluate, type RecordLookup } from "../../../src/filter/index.ts";
import { bindScope } from "../../../src/memory/scope.ts";
import { declaredTrees, HOSTILE_TEXTS, mixedTrees, SCHEMA, testRecords } from "../filter/arbitraries.ts";
import { lookupOf, type TestRecord } from "../filter/sqlite-records.ts";
import { openMemoryBed } from "./memories.ts";

/** Both sides of the size from which a partition is kept in memory. */
const SIZES = [40, 400];
const SESSIONS = 4;
const KINDS = HOSTILE_TEXTS.filter((text) => text !== "");
const STARTED = Date.UTC(2024, 1, 29, 12, 0, 0);
const WORDS = "tea bread snow rain books music trains films soup walks".split(" ");

interface Told {
  readonly id: string;
  readonly lookup: RecordLookup;
}

/** Field of the tests' trees → system field of an event, or a key of one's own; of the same type. */
const FIELDS: ReadonlyMap<string, FieldReference> = new Map<string, FieldReference>([
  ["kind", { scope: "declared", name: "kind" }],
  ["n", { scope: "declared", name: "revision" }],
  ["score", { scope: "m", name: "topic" }],
  ["draft", { scope: "m", name: "in" }],
  ["at", { scope: "declared", name: "at" }],
  ["ghost_kind", { scope: "declared", name: "role" }],
  ["ghost_n", { scope: "m", name: "ghost" }],
  ["ghost_score", { scope: "m", name: "ghost" }],
  ["ghost_draft", { scope: "m", name: "ghost" }],
  ["ghost_at", { scope: "declared", name: "at" }],
]);

function onEvents(filter: Filter): Filter {
  switch (filter.op) {
    case "all":
    case "none":
      return filter;
    case "and":
    case "or":
      return { ...filter, operands: filter.operands.map(onEvents) };
    case "not":
      return { ...filter, operand: onEvents(filter.operand) };
    default:
      return {
        ...filter,
        field: filter.field.scope === "m" ? filter.field : (FIELDS.get(filter.field.name) ?? filter.field),
      };
  }
}

function fieldsOf(filter: Filter): readonly { readonly scope: string; readonly name: string }[] {
  if (filter.op === "all" || filter.op === "none") return [];
  if (filter.op === "not") return fieldsOf(filter.operand);
  return filter.op === "and" || filter.op === "or" ? filter.operands.flatMap(fieldsOf) : [filter.field];
}

async function told(size: number) {
  const bed = await openMemoryBed();
  const records: TestRecord[] = [];
  for (const sample of fc.sample(testRecords, { numRuns: Math.ceil(size / 24), seed: 20_260_601 }))
    records.push(...sample);
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, (_, index) => bed.memory.createSession(`s${index}`, { user: `u${index % 2}` })),
  );
  const events: Told[] = [];
  for (const [index, { user }] of records.slice(0, size).entries()) {
    const id = `e${index}`;
    const kind = index % 3 === 0 ? undefined : KINDS[index % KINDS.length];
    const at = STARTED + index * 500;
    await sessions[index % SESSIONS]?.remember({
      id,
      text: `${WORDS[index % 7]} ${WORDS[index % 10]} number ${index}`,
      at: new Date(at),
      ...(kind !== undefined && { kind }),
      ...(user !== undefined && { properties: user }),
    });
    const system = new Map<string, string | bigint | undefined>([
      ["kind", kind],
      ["at", BigInt(at) * 1000n],
      ["revision", 1n],
    ]);
    const own = lookupOf(SCHEMA, { ...(user !== undefined && { user }) });
    events.push({ id, lookup: { ...own, value: (name) => system.get(name) } });
  }
  return { ...bed, events };
}

describe("recall with a filter", () => {
  for (const size of SIZES)
    it(`[S4, F8] of ${size} events answers exactly those that the definition admits, nearest first, whichever keys it names`, async () => {
      const { memory, events } = await told(size);
      const seen = { columns: 0, listed: 0, leaves: 0, absent: 0, split: 0 };
      const vectors = { channels: ["vector"] } as const;
      const byCosine = (await memory.recall("tea and snow", { ...vectors, limit: 10_000 })).hits.map(
        ({ event }) => event,
      );
      expect(byCosine).toHaveLength(size);
      await fc.assert(
        fc.asyncProperty(fc.oneof(mixedTrees, declaredTrees).map(onEvents), async (where) => {
          const bound = bindScope({ where });
          const admits = ({ lookup }: Told): boolean => bound === undefined || evaluate(bound, lookup);
          const admitted = new Set(events.filter(admits).map(({ id }) => id));
          const expected = byCosine.filter((id) => admitted.has(id));
          const answer = await memory.recall("tea and snow", { where, limit: 10_000, explain: true });
          expect(answer.hits.map(({ event }) => event).sort()).toEqual([...expected].sort());
          const nearest = await memory.recall("tea and snow", { ...vectors, where, limit: 3 });
          expect(nearest.hits.map(({ event }) => event)).toEqual(expected.slice(0, 3));
          const plan = answer.explanation?.filter;
          if (plan === "columns" || plan === "listed") seen[plan] += 1;
          if (admitted.size > 0 && admitted.size < size) seen.split += 1;
          for (const { scope, name } of fieldsOf(where)) {
            seen.leaves += size;
            seen.absent += events.filter(({ lookup }) => {
              const value = scope === "m" ? lookup.userValue?.(name) : lookup.value(name);
              return value === undefined || value === null;
            }).length;
          }
        }),
        { numRuns: 100, seed: 20_260_602 },
      );
      expect(seen.absent / seen.leaves).toBeGreaterThan(0.3);
      expect(Math.min(seen.columns, seen.listed)).toBeGreaterThan(5);
      expect(seen.split).toBeGreaterThan(30);
    });
});
