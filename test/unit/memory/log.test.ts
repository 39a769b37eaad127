import { describe, expect, it } from "vitest";
import type { Session, Tenant } from "../../../src/memory/contract.ts";
import type { Change, SummariseInput } from "../../../src/memory/log-contract.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { openMemoryBed } from "./memories.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 4, 1, 12, minute));

async function told(count: number, options: Parameters<typeof openMemoryBed>[0] = {}) {
  const bed = await openMemoryBed(options);
  const session = await bed.memory.createSession("chat", { user: "alice" });
  for (let n = 0; n < count; n += 1) await session.remember({ id: `m${n}`, text: `line ${n}`, at: at(n) });
  return { ...bed, session };
}

async function readAll(on: Tenant | Session, after?: string, limit = 3): Promise<readonly Change[]> {
  const changes: Change[] = [];
  for (let cursor = after, more = true; more; ) {
    const page = await on.changes({ limit, ...(cursor !== undefined && { after: cursor }) });
    changes.push(...page.changes);
    cursor = page.cursor;
    more = page.more;
  }
  return changes;
}

const inShort = (changes: readonly Change[]) =>
  changes.map(({ kind, session, event, revision }) => [
    kind,
    event ?? session,
    ...(revision === undefined ? [] : [revision]),
  ]);

describe("the feed of changes", () => {
  it("[S14] tells what was written, changed and forgotten in the order of commits, from every cursor on", async () => {
    const { memory, session } = await told(2);
    await memory.updateEvent("m1", { text: "line one" });
    await memory.forget({ events: ["m0"] });
    const other = await memory.createSession("other");
    await other.remember({ id: "x", text: "elsewhere" });
    await memory.deleteSession("other");
    const all = await readAll(memory);
    expect(inShort(all)).toEqual([
      ["session-created", "chat"],
      ["written", "m0", 1],
      ["written", "m1", 1],
      ["changed", "m1", 2],
      ["forgotten", "m0"],
      ["session-created", "other"],
      ["written", "x", 1],
      ["session-deleted", "other"],
      ["forgotten", "x"],
    ]);
    for (const [index, { cursor }] of all.entries())
      expect(await readAll(memory, cursor)).toEqual(all.slice(index + 1));
    expect(inShort(await readAll(session))).toEqual(inShort(all.slice(0, 5)));
    const last = all.at(-1)?.cursor;
    expect(await memory.changes({ after: last as string })).toEqual({
      changes: [],
      cursor: last,
      highWater: last,
      more: false,
    });
  });

  it("[S14] what fails and what changes nothing is not told", async () => {
    const { memory, session, raw } = await told(1);
    await session.remember({ id: "m0", text: "line 0", at: at(0) });
    await memory.updateEvent("m0", { text: "line 0" });
    await memory.forget({ events: ["unknown"] });
    raw.exec("CREATE TRIGGER refuse BEFORE INSERT ON vectors_1 BEGIN SELECT RAISE(ABORT, 'no'); END");
    await expect(session.remember({ text: "lost" })).rejects.toMatchObject({ outcome: "not-applied" });
    expect(inShort(await readAll(memory))).toEqual([
      ["session-created", "chat"],
      ["written", "m0", 1],
    ]);
  });

  it("[S14, E5] two handles that write and follow see each change once and in one order", async () => {
    const { memory, path } = await told(0);
    const other = await openMemory({ path, threads: "inline", embedder: createHashEmbedder() });
    const handles = [memory, other];
    const seen: [string, string | undefined][][] = [[], []];
    const cursors: (string | undefined)[] = [undefined, undefined];
    const follow = async (who: number): Promise<void> => {
      const page = await handles[who]?.changes({ ...(cursors[who] !== undefined && { after: cursors[who] }) });
      cursors[who] = page?.cursor;
      for (const { kind, event } of page?.changes ?? []) seen[who]?.push([kind, event]);
    };
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(
        handles.map(async (handle, who) => {
          const session = await handle.session("chat");
          await session.rememberMany([
            { id: `${who}-${round}-a`, text: "a" },
            { id: `${who}-${round}-b`, text: "b" },
          ]);
          await follow(who);
        }),
      );
    }
    await Promise.all([follow(0), follow(1)]);
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]?.filter(([kind]) => kind === "written")).toHaveLength(40);
    expect(new Set(seen[0]?.map(([, event]) => event)).size).toBe(41);
    await other.close();
  });

  it("[S14] a cursor that is older than what is kept, of another life, or beyond what is there is refused by name", async () => {
    const { memory, session, raw, count } = await told(1);
    raw.exec("UPDATE change_feed SET kept = 100");
    const first = (await memory.changes({ limit: 1 })).cursor;
    for (let round = 0; round < 8; round += 1)
      await session.rememberMany(Array.from({ length: 100 }, (_, n) => ({ text: `${round} ${n}` })));
    expect(count("changes")).toBeLessThan(100 + 256 + 100);
    await expect(memory.changes({ after: first })).rejects.toMatchObject({ code: "CURSOR_EXPIRED" });
    const kept = await readAll(memory, undefined, 1_000);
    expect(kept.length).toBe(count("changes"));
    const acme = await memory.createTenant("acme");
    await acme.createSession("s");
    const { cursor } = await acme.changes();
    await expect(memory.changes({ after: cursor })).rejects.toMatchObject({ code: "CURSOR_EXPIRED" });
    await memory.deleteTenant("acme");
    const again = await memory.createTenant("acme");
    await expect(again.changes({ after: cursor })).rejects.toMatchObject({ code: "CURSOR_EXPIRED" });
    const { highWater } = await memory.changes();
    raw.exec("DELETE FROM changes");
    await expect(memory.changes({ after: highWater })).rejects.toMatchObject({ code: "CURSOR_EXPIRED" });
    for (const after of ["", "c1", "x", 7])
      await expect(memory.changes({ after: after as never })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("the newest events", () => {
  it("[S13] are the same in every process, by time and not by when they were remembered", async () => {
    const { session, memory, path } = await told(5);
    await session.remember({ id: "early", text: "remembered late", at: at(-5) });
    const ids = async (on: Session, options = {}) => (await on.recent(options)).events.map(({ id }) => id);
    expect(await ids(session)).toEqual(["early", "m0", "m1", "m2", "m3", "m4"]);
    expect(await ids(session, { maxEvents: 2 })).toEqual(["m3", "m4"]);
    expect(await ids(session, { maxCharacters: 13 })).toEqual(["m3", "m4"]);
    const other = await openMemory({ path, threads: "inline", embedder: createHashEmbedder() });
    expect(await (await other.session("chat")).recent()).toEqual(await session.recent());
    await other.close();
    await memory.forget({ events: ["m4"] });
    expect(await ids(session, { maxEvents: 1 })).toEqual(["m3"]);
    for (const options of [{ maxEvents: 0 }, { maxEvents: 1_001 }, { maxCharacters: 0 }, { maxCharacters: 1.5 }])
      await expect(session.recent(options)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("[S13] the newest event alone is cut between graphemes where it is too long, and says so", async () => {
    const { session } = await told(1);
    const family = "👨‍👩‍👧‍👦";
    await session.remember({ id: "long", text: `ab${family.repeat(3)}`, at: at(9) });
    const { events } = await session.recent({ maxCharacters: 20 });
    expect(events).toMatchObject([{ id: "long", text: `ab${family}`, truncated: true }]);
    expect((await session.recent()).events.at(-1)).not.toHaveProperty("truncated");
  });

  it("[S13, E11] damaged events are counted and left out", async () => {
    const { session, raw } = await told(3);
    raw.exec("UPDATE events SET text = 'changed' WHERE id = 'm1'");
    const { events, damaged } = await session.recent();
    expect([events.map(({ id }) => id), damaged]).toEqual([["m0", "m2"], 1]);
  });
});

describe("the rolling summary", () => {
  function counting() {
    const inputs: SummariseInput[] = [];
    const summarise = (input: SummariseInput) => {
      inputs.push(input);
      return `${input.previous ?? ""}${input.events.map(({ id }) => id).join(" ")};`;
    };
    return { inputs, summarise };
  }

  it("[S13] covers what is older than the newest events, in calls of bounded size, and is durable", async () => {
    const { inputs, summarise } = counting();
    const { session, path } = await told(10, { summarise });
    expect(await session.summary()).toBeUndefined();
    const progress: number[] = [];
    const summary = await session.updateSummary({
      keepEvents: 3,
      maxEventsPerCall: 4,
      onProgress: ({ covered }) => progress.push(covered),
    });
    expect(summary).toMatchObject({
      text: "m0 m1 m2 m3;m4 m5 m6;",
      from: { event: "m0" },
      to: { event: "m6" },
      events: 7,
    });
    expect(progress).toEqual([4, 7]);
    expect(inputs[1]).toMatchObject({ session: "chat", user: "alice", previous: "m0 m1 m2 m3;" });
    expect(await session.updateSummary({ keepEvents: 3 })).toEqual(summary);
    expect(inputs).toHaveLength(2);
    await session.remember({ id: "m10", text: "line 10", at: at(10) });
    expect(await session.updateSummary({ keepEvents: 3 })).toMatchObject({
      text: "m0 m1 m2 m3;m4 m5 m6;m7;",
      events: 8,
    });
    const other = await openMemory({ path, threads: "inline", embedder: createHashEmbedder() });
    const there = await other.session("chat");
    expect(await there.recent({ maxEvents: 3 })).toMatchObject({
      events: [{ id: "m8" }, { id: "m9" }, { id: "m10" }],
      summary: { text: "m0 m1 m2 m3;m4 m5 m6;m7;" },
    });
    await expect(there.updateSummary({ keepEvents: 0 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await other.close();
  });

  it.each([
    ["forgotten", (session: Session) => session.forget({ events: ["m1"] })],
    ["changed", (session: Session) => session.updateEvent("m1", { text: "another" })],
    ["told between", (session: Session) => session.remember({ text: "late", at: at(0.5) })],
  ])("[S6, S13] goes when something that it covers is %s", async (_, change) => {
    const { session, count } = await told(6, { summarise: counting().summarise });
    await session.updateSummary({ keepEvents: 2 });
    await session.remember({ id: "new", text: "newest", at: at(30) });
    await session.updateEvent("m5", { text: "not covered" });
    expect(await session.summary()).toBeDefined();
    await change(session);
    expect(await session.summary()).toBeUndefined();
    expect(count("summaries")).toBe(0);
    expect((await session.recent()).summary).toBeUndefined();
  });

  it("[S6, S13] what is forgotten while the hook runs is in no summary", async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const given: string[][] = [];
    const summarise = async ({ events }: SummariseInput) => {
      given.push(events.map(({ id }) => id));
      if (given.length === 1) await gate;
      return events.map(({ text }) => text).join(", ");
    };
    const { session } = await told(4, { summarise });
    const updating = session.updateSummary({ keepEvents: 1 });
    await expect.poll(() => given.length).toBe(1);
    await session.forget({ events: ["m1"] });
    open();
    expect(await updating).toMatchObject({ text: "line 0, line 2", events: 2 });
    expect(given).toEqual([
      ["m0", "m1", "m2"],
      ["m0", "m2"],
    ]);
  });

  it("[S13, E11] goes on behind damaged events, however many there are", async () => {
    const { session, raw } = await told(8, { summarise: counting().summarise });
    raw.exec("UPDATE events SET text = 'changed' WHERE id IN ('m0', 'm1', 'm2')");
    expect(await session.updateSummary({ keepEvents: 1, maxEventsPerCall: 2 })).toMatchObject({
      text: "m3;m4 m5;m6;",
      events: 4,
    });
  });

  it("[S13] a hook that fails changes nothing, and its error is the cause", async () => {
    const failure = new Error("no model");
    const answers: (() => string)[] = [
      () => {
        throw failure;
      },
      () => "",
      () => 7 as unknown as string,
    ];
    for (const summarise of answers) {
      const { session } = await told(3, { summarise });
      await expect(session.updateSummary({ keepEvents: 0 })).rejects.toMatchObject({
        code: "HOOK_FAILED",
        outcome: "not-applied",
      });
      expect(await session.summary()).toBeUndefined();
    }
    const { session } = await told(3, { summarise: answers[0] as () => string });
    await expect(session.updateSummary({ keepEvents: 0 })).rejects.toMatchObject({ cause: failure });
  });
});
