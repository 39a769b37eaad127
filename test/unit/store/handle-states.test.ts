import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Partition, RecordInput, Store } from "../../../src/contract/store.ts";
import { openStore } from "../../../src/open-store.ts";
import { everyPartitionCall, everyStoreCall, type NamedCall } from "../../../src/testkit/every-call.ts";
import { temporaryFolder } from "../database/connections.ts";
import { vectorOf } from "../embedded/stores.ts";
import { methodsOf } from "../memory/handle-calls.ts";

/** A store is handed out open: there is no state before. */
type State = "open" | "closing" | "closed" | "failed" | "read-only";

type Outcome = "answers" | "CLOSED" | "FAILED" | "READ_ONLY";

/** What a call needs decides what it comes to. */
const STATES = {
  reads: row("answers", "CLOSED", "CLOSED", "FAILED", "answers"),
  writes: row("answers", "CLOSED", "CLOSED", "FAILED", "READ_ONLY"),
} as const;

type Needs = Readonly<Record<string, keyof typeof STATES>>;

const STORE_NEEDS: Needs = {
  createPartition: "writes",
  getPartition: "reads",
  listPartitions: "reads",
  deletePartition: "writes",
  "deletePartition with erase": "writes",
  backup: "reads",
};

const PARTITION_NEEDS: Needs = {
  upsert: "writes",
  "upsert of nothing": "writes",
  patch: "writes",
  get: "reads",
  "get of many": "reads",
  "get of nothing": "reads",
  "delete by ids": "writes",
  "delete of nothing": "writes",
  "delete by filter": "writes",
  "dry run by ids": "reads",
  "dry run by filter": "reads",
  count: "reads",
  "count of none": "reads",
  scan: "reads",
  "scan of none": "reads",
  query: "reads",
  "query for nothing": "reads",
  "query of none": "reads",
  queryMany: "reads",
  "queryMany of nothing": "reads",
  score: "reads",
  "score of nothing": "reads",
};

interface Bed {
  readonly store: Store;
  readonly partition: Partition;
  /** Ends what the state was made of. */
  settle(): Promise<void>;
}

const BEDS: Readonly<Record<State, () => Promise<Bed>>> = {
  open: async () => openBed(),
  closing: async () => {
    const { store, partition } = await openBed();
    const late = partition.upsert(recordsOf(3_000));
    const closing = store.close();
    const settle = async (): Promise<void> => {
      expect(await late).toMatchObject({ inserted: 3_000 });
      await closing;
    };
    return { store, partition, settle };
  },
  closed: async () => {
    const bed = await openBed();
    await bed.store.close();
    return bed;
  },
  failed: async () => {
    const bed = await openBed();
    rmSync(bed.path, { recursive: true });
    await expect(bed.partition.upsert(recordsOf(1))).rejects.toMatchObject({ code: "FAILED" });
    return bed;
  },
  "read-only": async () => {
    const { path, store } = await openBed();
    await store.close();
    return openBed({ path, readOnly: true });
  },
};

const HANDLES = {
  Store: {
    needs: STORE_NEEDS,
    of: ({ store }: Bed): object => store,
    calls: ({ store }: Bed): readonly NamedCall[] => [
      ...everyStoreCall(store),
      ["backup", () => store.backup(join(temporaryFolder(), "a.backup"))],
    ],
  },
  Partition: {
    needs: PARTITION_NEEDS,
    of: ({ partition }: Bed): object => partition,
    calls: ({ partition }: Bed): readonly NamedCall[] => everyPartitionCall(partition),
  },
} as const;

describe.each(["Store", "Partition"] as const)("%s", (name) => {
  const { needs, of, calls } = HANDLES[name];

  it("[E12] has a row for each of its methods and calls in the table of states", async () => {
    const bed = await BEDS.open();
    expect(Object.keys(needs)).toEqual(calls(bed).map(([call]) => call));
    // Closing answers in every state: each test below ends with it.
    const named = new Set(["close", ...Object.keys(needs).map((call) => call.split(" ")[0] ?? "")]);
    expect(methodsOf(of(bed)).filter((method) => !named.has(method))).toEqual([]);
  });

  it.each(Object.keys(BEDS) as State[])("[E12] %s: every call does what the table says", async (state) => {
    const bed = await BEDS[state]();
    // All begin in one turn: while a close waits, nothing has moved on.
    const begun = calls(bed).map(([call, begin]) => [call, outcomeOf(begin())] as const);
    await bed.settle();
    const outcomes = await Promise.all(begun.map(async ([call, outcome]) => [call, await outcome] as const));
    const expected = Object.entries(needs).map(([call, need]) => [call, STATES[need][state]] as const);
    expect(Object.fromEntries(outcomes)).toEqual(Object.fromEntries(expected));
    await bed.store.close();
    await bed.store.close();
  });
});

function recordsOf(count: number): readonly RecordInput[] {
  return Array.from({ length: count }, (_, index) => ({ id: `r${index}`, vector: vectorOf(index, 3) }));
}

async function outcomeOf(call: Promise<unknown>): Promise<Outcome> {
  try {
    await call;
    return "answers";
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "CLOSED" || code === "FAILED" || code === "READ_ONLY") return code;
    throw error;
  }
}

function row(...outcomes: readonly [Outcome, Outcome, Outcome, Outcome, Outcome]): Record<State, Outcome> {
  const [open, closing, closed, failed, readOnly] = outcomes;
  return { open, closing, closed, failed, "read-only": readOnly };
}

async function openBed({ path = join(temporaryFolder(), "store.holdfast"), readOnly = false } = {}) {
  const store = await openStore({ path, readOnly, threads: "inline", name: "docs", dimensions: 3 });
  onTestFinished(() => store.close());
  const partition = (await store.getPartition("acme")) ?? (await store.createPartition("acme"));
  return { path, store, partition, settle: async () => undefined };
}
