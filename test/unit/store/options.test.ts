import { describe, expect, it, onTestFinished } from "vitest";
import type { CallOptions } from "../../../src/contract/store.ts";
import { createMiniLmEmbedder } from "../../../src/embedding/providers/minilm.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { openStore } from "../../../src/open-store.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";

/** One letter short of an option that a call has, or of none. */
const MISSPELT = { timeoutMS: 5 } as unknown as CallOptions;

const VECTOR = [1, 0, 0];

async function refusals(calls: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  for (const [name, call] of Object.entries(calls)) {
    await expect(call(), name).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining(`${name} has no option "timeoutMS"; there are `),
    });
  }
}

describe("options that a call does not have are refused, never passed over", () => {
  it("[Q11] by a store and its partitions", async () => {
    const store = await openStore({ inMemory: true, name: "s", dimensions: 3, properties: { n: "int" } });
    onTestFinished(() => store.close());
    const partition = await store.createPartition("p");
    await refusals({
      openStore: () => openStore({ inMemory: true, name: "s", dimensions: 3, ...MISSPELT }),
      createPartition: () => store.createPartition("q", MISSPELT),
      getPartition: () => store.getPartition("p", MISSPELT),
      listPartitions: () => store.listPartitions(MISSPELT),
      deletePartition: () => store.deletePartition("p", MISSPELT),
      upsert: () => partition.upsert([{ id: "a", vector: VECTOR }], MISSPELT),
      patch: () => partition.patch("a", { n: 1 }, MISSPELT),
      get: () => partition.get(["a"], MISSPELT),
      delete: () => partition.delete({ ids: ["a"] }, MISSPELT),
      count: () => partition.count(MISSPELT),
      scan: () => partition.scan(MISSPELT).next(),
      query: () => partition.query({ vector: VECTOR, ...MISSPELT }),
      queryMany: () => partition.queryMany({ vectors: [VECTOR], ...MISSPELT }),
      score: () => partition.score(VECTOR, ["a"], MISSPELT),
    });
    expect(await partition.count()).toBe(0);
  });

  it("[Q11] by a memory and its sessions", async () => {
    const memory = await openMemory({ inMemory: true, embedder: createHashEmbedder() });
    onTestFinished(() => memory.close());
    const session = await memory.createSession("s");
    await refusals({
      openMemory: () => openMemory({ inMemory: true, ...MISSPELT }),
      createMiniLmEmbedder: async () => createMiniLmEmbedder(MISSPELT as object),
      createSession: () => memory.createSession("t", MISSPELT),
      listSessions: () => memory.listSessions(MISSPELT),
      recall: () => memory.recall("x", MISSPELT),
      forget: () => memory.forget({ events: [] }, MISSPELT),
      stats: () => memory.stats(MISSPELT),
      remember: () => session.remember({ text: "x" }, MISSPELT),
      rememberMany: () => session.rememberMany([{ text: "x" }], MISSPELT),
    });
    await refusals({ recall: () => session.recall("x", MISSPELT) });
    await refusals({ forget: () => session.forget({ events: [] }, MISSPELT) });
    expect(await memory.stats()).toMatchObject({ sessions: 1, events: 0 });
  });

  it("[Q11] a scope that is given as undefined never asks everybody's", async () => {
    const memory = await openMemory({ inMemory: true, embedder: createHashEmbedder() });
    onTestFinished(() => memory.close());
    await (await memory.createSession("s", { user: "alice" })).remember({ text: "alice's own" });
    const nobody = { user: undefined } as unknown as { readonly user: string };
    const nowhere = { session: undefined } as unknown as { readonly session: string };
    const calls = [
      memory.recall("own", nobody),
      memory.recall("own", nowhere),
      memory.listSessions(nobody),
      memory.createSession("t", nobody),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("[Q11] options of another kind are refused too, and what to forget is said by ids alone", async () => {
    const memory = await openMemory({ inMemory: true, embedder: createHashEmbedder() });
    onTestFinished(() => memory.close());
    for (const options of [null, "user", 5, ["user"]])
      await expect(memory.recall("x", options as object)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    for (const selection of ["m1", undefined, {}, { events: "m1" }, { events: ["m1"], session: "s" }])
      await expect(memory.forget(selection as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("[S10, Q11] inherited ones are refused: a user that one call sees and another passes over asks everybody's", async () => {
    const memory = await openMemory({ inMemory: true, embedder: createHashEmbedder() });
    onTestFinished(() => memory.close());
    const session = await memory.createSession("s", { user: "alice" });
    await session.remember({ text: "bees" });
    const inherits = (options: object) => Object.create(options);
    class Scope {
      get user(): string {
        return "bob";
      }
    }
    const calls: Readonly<Record<string, Promise<unknown>>> = {
      "recall by a user": memory.recall("bees", inherits({ user: "bob" })),
      "recall by a filter": session.recall("bees", inherits({ where: "FALSE" })),
      list: memory.list(new Scope()),
      count: memory.count(inherits({ user: "bob" })),
      forget: memory.forget(inherits({ user: "alice" })),
      "forget dry": memory.forget({ events: ["x"] }, inherits({ dryRun: true })),
    };
    for (const [name, call] of Object.entries(calls))
      await expect(call, name).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
        message: expect.stringContaining("is inherited"),
      });
    expect(await memory.count(Object.assign(Object.create(null), { user: "bob" }))).toBe(0);
  });
});
