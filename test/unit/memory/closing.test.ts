import { afterEach, describe, expect, it, vi } from "vitest";
import { openMemory } from "../../../src/open-memory.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { openMemoryBed } from "./memories.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("a memory that was closed", () => {
  it("[E12] takes no more calls, and its sessions neither, while another handle keeps the folder open", async () => {
    const { path, memory: other } = await openMemoryBed();
    const memory = await openMemory({ path, threads: "inline", embedder: createHashEmbedder() });
    const session = await memory.createSession("a");
    await session.remember({ id: "e", text: "kept" });
    await memory.close();
    const calls: readonly (() => Promise<unknown>)[] = [
      () => memory.createSession("b"),
      () => memory.session("a"),
      () => memory.getSession("a"),
      () => memory.listSessions(),
      () => memory.recall("kept"),
      () => memory.forget({ events: ["e"] }),
      () => memory.stats(),
      () => session.remember({ text: "late" }),
      () => session.rememberMany([]),
      () => session.recall("kept"),
      () => session.forget({ events: ["e"] }),
    ];
    for (const call of calls) await expect(call(), String(call)).rejects.toMatchObject({ code: "CLOSED" });
    expect((await other.stats()).events).toBe(1);
  });

  it("[E12] closes its embedder once, however often it is closed", async () => {
    let closed = 0;
    const close = async (): Promise<void> => {
      closed += 1;
    };
    const embedder = { ...createHashEmbedder(), close };
    const memory = await openMemory({ inMemory: true, embedder });
    await Promise.all([memory.close(), memory.close()]);
    await memory.close();
    expect(closed).toBe(1);
  });

  it("[E12] writes nothing of an embedder that answers after the wait for it has ended", async () => {
    const { path, count } = await openMemoryBed();
    let answer: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const memory = await openMemory({ path, threads: "inline", embedder: createHashEmbedder({ before: () => gate }) });
    const session = await memory.createSession("a");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const late = session.remember({ text: "too late" });
    const refused = expect(late).rejects.toMatchObject({ code: "CLOSED", outcome: "not-applied" });
    const closing = memory.close();
    await vi.advanceTimersByTimeAsync(10_000);
    await closing;
    answer?.();
    await refused;
    expect(count("events")).toBe(0);
  });
});
