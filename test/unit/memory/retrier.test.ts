import { describe, expect, it, vi } from "vitest";
import { HoldfastError } from "../../../src/errors/index.ts";
import { isProcessGone, ownProcess } from "../../../src/io/processes.ts";
import { backoffMs, retryHintMs } from "../../../src/memory/backoff.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { createUnsteadyEmbedder } from "../../doubles/unsteady-embedder.ts";
import { holdRetries, type MemoryBed, openMemoryBed } from "./memories.ts";

function resumeAt({ raw }: MemoryBed): { readonly failures: number; readonly resume_at: number } {
  return raw.prepare("SELECT failures, resume_at FROM embedding_lease").get() as never;
}

describe("retrying in the background", () => {
  it("[S7] waits longer and longer, never all at the same moment, and as long as the service asks", () => {
    expect([1, 2, 3, 9, 30].map((failures) => backoffMs(failures, 0.999_999))).toEqual([
      1_000, 2_000, 4_000, 256_000, 300_000,
    ]);
    expect(backoffMs(3, 0)).toBe(2_000);
    expect([backoffMs(1, 0, 20_000), backoffMs(1, 0, 9e9)]).toEqual([20_000, 3_600_000]);
    const asks = Object.assign(new Error("slow down"), { retryAfterMs: 7_000 });
    expect(retryHintMs(new HoldfastError("EMBEDDING_FAILED", "x", { cause: asks }))).toBe(7_000);
    expect(retryHintMs(new HoldfastError("EMBEDDING_FAILED", "x", { details: { retryAfterMs: 9_000 } }))).toBe(9_000);
    expect(retryHintMs(new HoldfastError("EMBEDDING_FAILED", "x", { retry: "never" }))).toBe(300_000);
    expect(retryHintMs(new HoldfastError("EMBEDDING_FAILED", "x"))).toBe(0);
  });

  it("[S7] asks a service that is down less and less often, and gives it everything when it is back", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    try {
      const embedder = createUnsteadyEmbedder();
      embedder.isDown = true;
      const bed = await openMemoryBed({ embedder });
      await (await bed.memory.createSession("a")).rememberMany([{ text: "tea" }, { text: "bread" }]);
      for (let failures = 1; failures <= 6; failures += 1) {
        await vi.advanceTimersToNextTimerAsync();
        await vi.waitFor(() => expect(resumeAt(bed).failures).toBe(failures), { interval: 1 });
        const waitMs = (resumeAt(bed).resume_at - Date.now() * 1_000) / 1_000;
        expect(waitMs).toBeGreaterThan(1_000 * 2 ** (failures - 2) - 200);
      }
      // The write's own call, and one a retry.
      expect(embedder.calls).toHaveLength(7);
      embedder.isDown = false;
      vi.advanceTimersByTime(300_000);
      await vi.waitFor(() => expect(resumeAt(bed).failures).toBe(0), { interval: 1 });
      expect([bed.count("vectors_1"), bed.count("pending_vectors")]).toEqual([2, 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("[S7] what was noted before the clock was set back by years is not waited for", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    await (await bed.memory.createSession("a")).rememberMany([{ text: "tea" }, { text: "bread" }]);
    const years = (Date.now() + 3 * 365 * 86_400_000) * 1_000;
    bed.raw.prepare("UPDATE pending_vectors SET next_at = ?").run(years);
    bed.raw
      .prepare("UPDATE embedding_lease SET holder = 'other', process = 'elsewhere/1/2', until = ?, resume_at = ?")
      .run(years, years);
    embedder.isDown = false;
    const next = await openMemory({ path: bed.path, threads: "inline", embedder: createHashEmbedder() });
    await expect.poll(() => bed.count("vectors_1")).toBe(2);
    await next.close();
  });

  it("[S7] leaves alone what a tenant left that has ended", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    const acme = await bed.memory.createTenant("acme");
    await (await acme.createSession("a")).remember({ text: "tea" });
    await bed.memory.deleteTenant("acme", { erase: true });
    expect(bed.count("pending_vectors")).toBe(0);
    embedder.isDown = false;
    expect(await bed.memory.embedPending()).toEqual({ embedded: 0, waiting: 0, parked: 0 });
  });

  it("[S7, S10] embedPending is about its tenant alone", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    holdRetries(bed.raw);
    const acme = await bed.memory.createTenant("acme");
    await (await acme.createSession("a")).remember({ text: "theirs" });
    await (await bed.memory.createSession("a")).remember({ text: "mine" });
    embedder.isDown = false;
    const sent = embedder.calls.length;
    expect(await bed.memory.embedPending()).toEqual({ embedded: 1, waiting: 0, parked: 0 });
    expect(embedder.calls.slice(sent)).toEqual([["mine"]]);
    expect((await acme.stats()).pending).toEqual({ waiting: 1, parked: 0 });
  });

  it("[S7, M3] another model's embedder embeds nothing that is pending here", async () => {
    const embedder = createUnsteadyEmbedder();
    const bed = await openMemoryBed({ embedder });
    const session = await bed.memory.createSession("a");
    await session.remember({ text: "first" });
    embedder.isDown = true;
    await session.remember({ text: "second" });
    await bed.memory.close();
    const other = createHashEmbedder({ model: "other" });
    const memory = await openMemory({ path: bed.path, threads: "inline", embedder: other });
    await expect(memory.embedPending()).rejects.toMatchObject({ code: "EMBEDDING_SPACE_MISMATCH" });
    expect(other.textsEmbedded).toBe(0);
    await memory.close();
  });

  it("[S7, M1] a memory whose embedder never answered is not bound to it", async () => {
    const embedder = createUnsteadyEmbedder({ model: "misspelt" });
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    await (await bed.memory.createSession("a")).remember({ id: "e", text: "tea" });
    await bed.memory.close();
    const right = createHashEmbedder({ model: "right" });
    const memory = await openMemory({ path: bed.path, threads: "inline", embedder: right });
    await memory.embedPending();
    expect((await memory.recall("tea")).hits).toMatchObject([{ event: "e", channels: ["vector", "text"] }]);
    await memory.close();
  });

  it("[S7, E12] closing ends an embedding that hangs, and nothing of it is written", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    holdRetries(bed.raw);
    await (await bed.memory.createSession("a")).remember({ text: "tea" });
    embedder.isDown = false;
    let begun: () => void = () => undefined;
    const calling = new Promise<void>((resolve) => {
      begun = resolve;
    });
    Object.defineProperty(embedder, "gate", {
      get: () => {
        begun();
        return new Promise<void>(() => undefined);
      },
    });
    const draining = bed.memory.embedPending().catch((error: unknown) => error);
    await calling;
    await bed.memory.close();
    expect(await draining).toMatchObject({ code: "ABORTED", outcome: "not-applied" });
    expect([bed.count("spaces"), bed.count("pending_vectors")]).toEqual([0, 1]);
    expect(bed.raw.prepare("SELECT holder FROM embedding_lease").get()).toEqual({ holder: null });
  });

  it("[S7] the lease of a process that is gone is free at once, and that of one that lives is waited for", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    holdRetries(bed.raw);
    await (await bed.memory.createSession("a")).remember({ text: "tea" });
    embedder.isDown = false;
    const hold = bed.raw.prepare("UPDATE embedding_lease SET holder = 'x', process = ?, until = ?");
    const until = (Date.now() + 60_000) * 1_000;
    hold.run(ownProcess(), until);
    await expect(bed.memory.embedPending({ timeoutMs: 300 })).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(embedder.textsEmbedded).toBe(1);
    const [host] = ownProcess().split("/");
    hold.run(`${host}/2147483646`, until);
    expect(await bed.memory.embedPending()).toEqual({ embedded: 1, waiting: 0, parked: 0 });
  });

  it("[S7] only of a process on this machine is it known that it is gone", () => {
    const [host, own] = ownProcess().split("/");
    expect([isProcessGone(ownProcess()), isProcessGone(`elsewhere/${own}`), isProcessGone("")]).toEqual([
      false,
      false,
      false,
    ]);
    expect(isProcessGone(`${host}/2147483646`)).toBe(true);
  });
});

describe("a poison text", () => {
  it("[S7, M8] is told from a service that is down by a text that no model refuses", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.poison.add("poison");
    const bed = await openMemoryBed({ embedder });
    holdRetries(bed.raw);
    await (await bed.memory.createSession("a")).rememberMany(
      ["one", "two", "three", "four", "five"].map((text) => ({ text: `poison ${text}` })),
    );
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      await bed.memory.embedPending();
      const { segments } = await bed.memory.pendingEmbeddings();
      expect(segments.map(({ attempts, state }) => [attempts, state])).toEqual(Array(5).fill([attempt, "waiting"]));
    }
    expect(await bed.memory.embedPending()).toEqual({ embedded: 0, waiting: 0, parked: 5 });
    const sent = embedder.calls.length;
    expect(await bed.memory.embedPending()).toEqual({ embedded: 0, waiting: 0, parked: 5 });
    expect(embedder.calls).toHaveLength(sent);
    expect((await bed.memory.pendingEmbeddings()).segments[0]).toMatchObject({
      state: "parked",
      reason: "EMBEDDING_FAILED, status 400",
    });
    embedder.poison.clear();
    expect(await bed.memory.embedPending({ includeParked: true })).toEqual({ embedded: 5, waiting: 0, parked: 0 });
  });
});
