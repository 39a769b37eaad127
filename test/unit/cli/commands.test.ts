import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StopSignal } from "../../../src/cli/exit-codes.ts";
import type { Output } from "../../../src/cli/output.ts";
import { run } from "../../../src/cli/program.ts";
import { type Input, processSurroundings, type Surroundings } from "../../../src/cli/surroundings.ts";
import { openMemory } from "../../../src/index.ts";
import { createHashEmbedder, type HashEmbedder, type HashEmbedderOptions } from "../../doubles/hash-embedder.ts";
import { createUnsteadyEmbedder } from "../../doubles/unsteady-embedder.ts";

/** Collects what is written. */
class TestOutput implements Output {
  text = "";
  closed = false;
  readonly failure = undefined;
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly styled = false;

  constructor(columns?: number) {
    this.isTerminal = columns !== undefined;
    this.columns = columns ?? Number.POSITIVE_INFINITY;
  }

  async write(text: string): Promise<void> {
    if (!this.closed) this.text += text;
  }
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
  path = join(folder, "memory.holdfast");
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Of the process once: each watches the process's own streams. */
const SURROUNDINGS = processSurroundings(new AbortController().signal);

interface Setting {
  readonly input?: string | Input;
  readonly embedder?: HashEmbedderOptions | HashEmbedder;
  readonly columns?: number;
  readonly signal?: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
}

async function cli(args: readonly string[], setting: Setting = {}): Promise<Ran> {
  const [stdout, stderr] = [new TestOutput(setting.columns), new TestOutput(setting.columns)];
  const { input = "", embedder = {} } = setting;
  let nowMs = 0;
  const surroundings: Surroundings = {
    ...SURROUNDINGS,
    stdout,
    stderr,
    env: setting.env ?? { HOLDFAST_PATH: path },
    signal: setting.signal ?? new AbortController().signal,
    // Each look at the clock is later than the last, so that every state of the progress is drawn.
    nowMs: () => (nowMs += 200),
    openMemory: (place) =>
      openMemory({
        path: place,
        threads: "inline",
        embedder: "embed" in embedder ? embedder : createHashEmbedder(embedder),
      }),
    openInput: () => (typeof input === "string" ? inputOf(input) : input),
    writeFile: () => Promise.reject(new Error("no file is written here")),
  };
  const code = await run(args, surroundings);
  return { code, out: stdout.text, err: stderr.text };
}

function inputOf(text: string): Input {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text);
  }
  return { chunks: chunks(), sizeBytes: Buffer.byteLength(text) };
}

const lines = (...events: readonly object[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join("");

const summary = (ran: Ran): Record<string, number> => {
  const { seconds: _, ...counts } = JSON.parse(ran.out) as Record<string, number>;
  return counts;
};

async function importLines(input: string | Input, ...flags: readonly string[]): Promise<Ran> {
  return cli(["import", "file.jsonl", "--json", ...flags], { input });
}

async function countEvents(): Promise<number> {
  return (JSON.parse((await cli(["stats", "--json"])).out) as { readonly events: number }).events;
}

describe("remember, recall, sessions, stats, forget", () => {
  it("what is remembered is recalled, listed, counted and forgotten", async () => {
    const args = ["remember", "I moved to Lisbon in May.", "--session", "s1", "--user", "alice", "--producer", "alice"];
    expect(await cli([...args, "--id", "e1", "--at", "2026-05-01T12:00:00Z", "--property", "topic=home"])).toEqual({
      code: 0,
      out: "Remembered e1\n",
      err: "",
    });
    const { out } = await cli(["recall", "where", "is", "Lisbon", "--user", "alice", "--where", "m.topic = 'home'"]);
    expect(out).toContain(
      " 1. alice, 2026-05-01 12:00 UTC\n    I moved to Lisbon in May.\n    session s1 (alice) · event e1",
    );
    expect((await cli(["sessions"])).out).toMatch(/^SESSION +USER +EVENTS.*\ns1 +alice +1 +2026-05-01 12:00/);
    expect((await cli(["stats"])).out).toMatch(/events +1\n/);
    expect((await cli(["forget", "e1", "unknown"])).out).toBe("Forgotten: 1\n");
    expect((await cli(["recall", "Lisbon"])).out).toBe("Nothing found.\n");
  });

  it("the same event sent again says that it is there", async () => {
    const args = ["remember", "hello", "--session", "s", "--id", "e"];
    await cli(args);
    expect((await cli(args)).out).toBe("Already there: e\n");
  });

  it("--json answers what the API answers", async () => {
    await importLines('{"session":"s","id":"e","text":"hello","properties":{"n":9007199254740993}}\n');
    const answer = JSON.parse((await cli(["recall", "hello", "--json"])).out);
    expect(answer).toMatchObject({
      hits: [{ event: "e", properties: { n: "9007199254740993" } }],
      vectorSearch: "searched",
    });
    expect(JSON.parse((await cli(["sessions", "--json"])).out)).toMatchObject([{ id: "s", events: 1 }]);
  });

  it("stored control characters are spelled out, on a terminal and in JSON", async () => {
    await importLines(
      lines({ session: "a\u001b[2J", user: "u\u009b", producer: "p\u0007", text: "x\u001b]0;title\u0007y" }),
    );
    for (const args of [["recall", "title"], ["sessions"], ["recall", "title", "--json"], ["sessions", "--json"]]) {
      const { out } = await cli(args, { columns: 80 });
      expect(out.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
      expect(out).toMatch(/x1b|u001b/);
    }
  });

  it("on a narrow terminal no line is wider than it", async () => {
    await importLines(lines({ session: "s".repeat(100), user: "u".repeat(100), text: "日本語 word ".repeat(40) }));
    for (const args of [["recall", "word"], ["sessions"], ["recent", "--session", "s".repeat(100)]]) {
      const { out } = await cli(args, { columns: 60 });
      const lines = out.split("\n").filter((line) => line !== "s".repeat(100) && !line.includes("· event"));
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    }
    // What the next command is given is never cut.
    expect((await cli(["sessions"], { columns: 60 })).out.split("\n")[0]).toBe("s".repeat(100));
  });

  it("a path where no memory is, is an error of commands that ask, and nothing is made there", async () => {
    for (const args of [["recall", "x"], ["sessions"], ["stats"], ["forget", "x"]]) {
      const { code, err } = await cli(args);
      expect([code, err]).toEqual([1, expect.stringMatching(/^error: NOT_FOUND: There is no memory at/)]);
    }
  });

  it("a session of another user is refused with its code and no stack; --debug shows the stack", async () => {
    await cli(["remember", "a", "--session", "s", "--user", "alice"]);
    const args = ["remember", "b", "--session", "s", "--user", "bob"];
    const { code, err } = await cli(args);
    expect([code, err]).toEqual([1, expect.stringMatching(/^error: ALREADY_EXISTS: .*\n$/)]);
    expect((await cli([...args, "--debug"])).err).toContain("    at ");
  });

  it("a filter that cannot be read is an error with its code", async () => {
    await cli(["remember", "a", "--session", "s"]);
    const { code, err } = await cli(["recall", "a", "--where", "m.x ="]);
    expect([code, err]).toEqual([2, expect.stringMatching(/FILTER_SYNTAX: .*\n {2}m\.x =\n {7}\^\n/)]);
  });

  it("wrong usage ends with 2, help and version with 0", async () => {
    const wrong = [
      [],
      ["nonsense"],
      ["recall"],
      ["recall", "x", "--limit", "many"],
      ["remember", "x"],
      ["stats", "--no"],
    ];
    for (const args of wrong) expect([args, (await cli(args)).code]).toEqual([args, 2]);
    for (const args of [["--help"], ["--version"], ["recall", "--help"], ["help", "import"]]) {
      expect([args, (await cli(args)).code]).toEqual([args, 0]);
    }
  });

  it("the folder is --path, else HOLDFAST_PATH, else ./memory.holdfast", async () => {
    const other = join(folder, "other.holdfast");
    await cli(["remember", "a", "--session", "s", "--path", other]);
    expect((await cli(["stats", "--json"], { env: { HOLDFAST_PATH: other } })).out).toContain('"events":1');
    for (const env of [{}, { HOLDFAST_PATH: "" }])
      expect((await cli(["stats", "--help"], { env })).out).toMatch(/default:\s+"\.\/memory\.holdfast"/);
  });

  it("answers by words alone say so beside the answer", async () => {
    await cli(["remember", "hello world", "--session", "s"]);
    const { out, err } = await cli(["recall", "hello"], { embedder: { model: "another" } });
    expect(out).toContain("hello world");
    expect(err).toMatch(/^note: another model made the stored vectors/);
  });
});

describe("import", () => {
  const event = (index: number, fields: object = {}): object => ({
    session: "s",
    id: `e${index}`,
    text: `text ${index}`,
    ...fields,
  });
  const events = (count: number): readonly object[] => Array.from({ length: count }, (_, index) => event(index));

  it("remembers each line once, however often it is run", async () => {
    const input = lines(...events(70));
    expect(summary(await importLines(input))).toEqual({ read: 70, remembered: 70, present: 0, pending: 0, invalid: 0 });
    expect(summary(await importLines(input))).toEqual({ read: 70, remembered: 0, present: 70, pending: 0, invalid: 0 });
    expect(await countEvents()).toBe(70);
  });

  it("lines without ids make no copies when they are imported again, and equal lines are each kept", async () => {
    const input = lines(...Array.from({ length: 5 }, () => ({ session: "s", text: "the same" })), {
      session: "t",
      text: "the same",
    });
    expect(summary(await importLines(input))).toMatchObject({ remembered: 6 });
    expect(summary(await importLines(input))).toMatchObject({ remembered: 0, present: 6 });
  });

  it("two imports at once of one file make no copies", async () => {
    const input = lines(...events(80), ...Array.from({ length: 20 }, () => ({ session: "s", text: "no id" })));
    const [one, other] = await Promise.all([importLines(input), importLines(input)]);
    expect((summary(one).remembered ?? 0) + (summary(other).remembered ?? 0)).toBe(100);
    expect(await countEvents()).toBe(100);
  });

  it("sessions in turn and sessions in sequence are all kept, with their users", async () => {
    const input = lines(
      ...Array.from({ length: 240 }, (_, index) => event(index, { session: `s${index % 20}`, user: `u${index % 2}` })),
    );
    expect(summary(await importLines(input))).toMatchObject({ remembered: 240 });
    const sessions = JSON.parse((await cli(["sessions", "--json", "--user", "u1"])).out) as readonly {
      readonly events: number;
    }[];
    expect(sessions.map((session) => session.events)).toEqual(Array.from({ length: 10 }, () => 12));
  });

  it("a bad line is named; what stands before it is kept; --skip-invalid lists it and goes on", async () => {
    const input = [
      lines(event(1)),
      "{oops}\n",
      lines(event(3), { session: "s", id: "x", text: " " }, event(5), { text: "t" }),
    ].join("");
    const stopped = await cli(["import", "f"], { input });
    expect([stopped.code, stopped.out]).toEqual([1, ""]);
    expect(stopped.err).toMatch(
      /^Stopped: 2 read, 1 remembered, 0 already there, 1 invalid\..*--skip-invalid.*\nerror: INVALID_ARGUMENT: line 2: .*not valid JSON/,
    );
    const skipped = await importLines(input, "--skip-invalid");
    expect(summary(skipped)).toEqual({ read: 6, remembered: 2, present: 1, pending: 0, invalid: 3 });
    expect(skipped.code).toBe(0);
    expect(skipped.err.split("\n").map((line) => line.split(": ", 2).join(": "))).toEqual([
      "line 2: INVALID_ARGUMENT",
      "line 6: INVALID_ARGUMENT",
      "line 4: INVALID_TEXT",
      "",
    ]);
  });

  it("an event that the memory refuses costs its neighbours in the commit nothing", async () => {
    await importLines(lines(event(2, { text: "another text" })));
    const ran = await importLines(lines(...events(10)), "--skip-invalid");
    expect(summary(ran)).toEqual({ read: 10, remembered: 9, present: 0, pending: 0, invalid: 1 });
    expect(ran.err).toMatch(/^line 3: EVENT_CONFLICT: /);
  });

  it("an id twice in one file is one event when equal, and a named line when not", async () => {
    const ran = await importLines(lines(event(1), event(1), event(1, { text: "else" })), "--skip-invalid");
    expect(summary(ran)).toEqual({ read: 3, remembered: 1, present: 1, pending: 0, invalid: 1 });
    expect(ran.err).toMatch(/^line 3: EVENT_CONFLICT/);
  });

  it("a line of another user's session, an unknown field and an unknown property kind are named", async () => {
    const input = lines(
      event(1, { user: "alice" }),
      event(2, { user: "bob" }),
      event(3, { colour: "red" }),
      event(4, { properties: { a: [1] } }),
      event(5),
    );
    const ran = await importLines(input, "--skip-invalid");
    expect(summary(ran)).toEqual({ read: 5, remembered: 2, present: 0, pending: 0, invalid: 3 });
    expect(ran.err).toMatch(/line 2: ALREADY_EXISTS.*\n/);
    expect(ran.err).toMatch(/line 3: INVALID_ARGUMENT.*"colour".*properties/);
    expect(ran.err).toMatch(/line 4: PROPERTY_TYPE_MISMATCH.*"a"/);
  });

  it("blank lines, a byte order mark, CRLF and a missing last line break are no trouble", async () => {
    const input = `\ufeff${lines(event(1)).replace("\n", "\r\n")}\r\n  \n${JSON.stringify(event(2))}`;
    expect(summary(await importLines(input))).toEqual({ read: 2, remembered: 2, present: 0, pending: 0, invalid: 0 });
  });

  it("[O5] stopped by a signal it keeps what was acknowledged, says how to go on, and goes on", async () => {
    const stop = new AbortController();
    const embedder = createHashEmbedder({
      before: (texts) => {
        if (texts.some((text) => text.includes("text 40"))) stop.abort(new StopSignal("SIGTERM"));
      },
    });
    const input = lines(...events(100));
    const ran = await cli(["import", "f"], { input, embedder, signal: stop.signal });
    expect(ran.code).toBe(143);
    expect(ran.err).toMatch(/^Stopped: .* 32 remembered.*run the same command again\.\nStopped by SIGTERM\.\n$/);
    expect(await countEvents()).toBe(32);
    expect(summary(await importLines(input))).toEqual({
      read: 100,
      remembered: 68,
      present: 32,
      pending: 0,
      invalid: 0,
    });
  });

  it("[S7] what the embedder failed for is told by import and stats, and embedded by embed", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const imported = await cli(["import", "f"], { input: lines(...events(3)), embedder });
    expect(imported.out).toContain("3 remembered (3 of them found by words alone until the embedder works)");
    expect((await cli(["stats"], { embedder })).out).toMatch(/pending +3 to embed, 0 parked\n/);
    expect((await cli(["embed"], { embedder })).out).toMatch(/^0 embedded, 3 waiting, 0 parked \(.+\)\n$/);
    embedder.isDown = false;
    expect((await cli(["embed"], { embedder })).out).toBe("3 embedded, 0 waiting, 0 parked\n");
    expect((await cli(["stats"], { embedder })).out).toMatch(/pending +0 to embed, 0 parked\n/);
  });

  it("does not embed again what is there already", async () => {
    const embedder = createHashEmbedder();
    const input = lines(...events(50));
    await cli(["import", "f"], { input, embedder });
    await cli(["import", "f"], { input, embedder });
    expect(embedder.textsEmbedded).toBe(50);
  });

  it("[S7] keeps what the embedder fails for, and says how many events wait for their vectors", async () => {
    const embedder = createHashEmbedder({
      before: (texts) => {
        if (texts.some((text) => text.includes("text 64"))) throw new Error("no model");
      },
    });
    const ran = await cli(["import", "f", "--skip-invalid"], { input: lines(...events(100)), embedder });
    expect([ran.code, ran.out]).toEqual([0, expect.stringContaining("1 of them found by words alone")]);
    expect(await countEvents()).toBe(100);
  });

  it("[O6] shows its progress on a terminal and takes it away at the end", async () => {
    const ran = await cli(["import", "f"], { input: lines(...events(40)), columns: 100 });
    expect(ran.err).toMatch(/\b7\d % · 32 events/);
    expect(ran.err.endsWith("\r\u001b[2K")).toBe(true);
    expect(ran.out).toMatch(/^40 read, 40 remembered, 0 already there, 0 invalid/);
  });
});
