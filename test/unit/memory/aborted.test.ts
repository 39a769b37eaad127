import { describe, expect, it } from "vitest";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { openMemoryBed } from "./memories.ts";

describe("a memory's write that is aborted", () => {
  it("[Q11] before it begins was not applied", async () => {
    const { memory, count } = await openMemoryBed();
    const session = await memory.createSession("a");
    const signal = AbortSignal.abort();
    for (const call of [
      () => session.remember({ text: "no" }, { signal }),
      () => session.rememberMany([{ text: "no" }], { signal }),
      () => session.forget({ events: ["e"] }, { signal }),
      () => memory.forget({ events: ["e"] }, { signal, erase: true }),
      () => memory.createSession("b", { signal }),
    ]) {
      await expect(call(), String(call)).rejects.toMatchObject({ code: "ABORTED", outcome: "not-applied" });
    }
    expect([count("events"), count("sessions")]).toEqual([0, 1]);
  });

  it("[Q11] while it embeds was not applied", async () => {
    const controller = new AbortController();
    const before = (): Promise<void> => {
      controller.abort();
      return new Promise(() => undefined);
    };
    const { memory, count } = await openMemoryBed({ embedder: createHashEmbedder({ before }) });
    const session = await memory.createSession("a");
    await expect(session.remember({ text: "no" }, { signal: controller.signal })).rejects.toMatchObject({
      code: "ABORTED",
      outcome: "not-applied",
    });
    expect(count("events")).toBe(0);
  });

  it("[Q11] while it erases what it forgot was applied, and says so", async () => {
    const { memory, count } = await openMemoryBed();
    const session = await memory.createSession("a");
    await session.remember({ id: "e", text: "forgotten and erased" });
    const controller = new AbortController();
    const forgetting = memory.forget({ events: ["e"] }, { erase: true, signal: controller.signal });
    const refused = expect(forgetting).rejects.toMatchObject({ code: "ABORTED", outcome: "applied" });
    while (count("events") > 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    await refused;
    expect((await memory.recall("forgotten")).hits).toEqual([]);
  });

  it("[V12] listSessions refuses a page behind what is no id", async () => {
    const { memory } = await openMemoryBed();
    for (const after of ["", "\ud800", 5, null, {}, "x".repeat(513)]) {
      await expect(memory.listSessions({ after: after as string })).rejects.toMatchObject({ code: "INVALID_NAME" });
    }
  });
});
