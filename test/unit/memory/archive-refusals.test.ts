import { describe, expect, it } from "vitest";
import { ARCHIVE_START, sealLine } from "../../../src/archive/check-chain.ts";
import { openSmallWorld, openTarget } from "./archive-beds.ts";
import { sourceOf, textOf } from "./archive-worlds.ts";
import type { MemoryBed } from "./memories.ts";

// biome-ignore lint/suspicious/noExplicitAny: lines of an archive as a forger writes them.
type Fields = any;

const TABLES = [
  "tenants",
  "sessions",
  "events",
  "segments",
  "event_revisions",
  "pending_vectors",
  "summaries",
  "imports",
];

/** What a refused archive has to leave as it was. */
async function stateOf({ memory, count }: MemoryBed): Promise<unknown> {
  await expect.poll(() => count("ended_tenants")).toBe(0);
  return [await memory.listTenants(), TABLES.map(count)];
}

/** Lines with checks that hold, as somebody who knows the format would forge them. */
function sealed(lines: readonly Fields[]): string {
  let place = ARCHIVE_START;
  return lines
    .map((fields) => {
      const sealed = sealLine(typeof fields === "string" ? fields : JSON.stringify(fields), place);
      place = sealed.place;
      return `${sealed.line}\n`;
    })
    .join("");
}

async function smallArchive(): Promise<string> {
  return textOf((await openSmallWorld()).memory.exportArchive());
}

function fieldsOf(archive: string): Fields[] {
  return archive
    .trimEnd()
    .split("\n")
    .map((line) => {
      const { check: _check, ...fields } = JSON.parse(line);
      return fields;
    });
}

describe("an archive that is not whole", () => {
  it("[O2] is refused with its line wherever one is altered, left out, doubled, moved or cut, and leaves nothing", async () => {
    const archive = await smallArchive();
    const lines = archive.trimEnd().split("\n");
    const bed = await openTarget();
    const before = await stateOf(bed);
    const refused = async (changed: readonly string[], line: number, ending = "\n"): Promise<void> => {
      const text = changed.join("\n") + ending;
      for (const source of [sourceOf(text), sourceOf(text)()])
        await expect(bed.memory.importArchive(source), text.slice(0, 200)).rejects.toMatchObject({
          code: "INVALID_ARCHIVE",
          details: { line },
          message: expect.stringMatching(/line|archive/),
        });
    };
    for (const [index, line] of lines.entries()) {
      const [ahead, behind] = [lines.slice(0, index), lines.slice(index + 1)];
      const last = index === lines.length - 1;
      await refused(
        [...ahead, line.replace(/\d(?=[^\d]*"check")/, (digit) => String((Number(digit) + 1) % 10)), ...behind],
        index + 1,
      );
      await refused([...ahead, `${line.replace('"check":"', '"check":"f').slice(0, -3)}"}`, ...behind], index + 1);
      await refused([...ahead, ...behind], index + 1);
      await refused([...ahead, line, line, ...behind], index + 2);
      await refused([...ahead, line, "", ...behind], index + 2);
      if (!last) await refused([...ahead, behind[0] ?? "", line, ...behind.slice(1)], index + 1);
      await refused([...ahead, line.slice(0, line.length / 2)], index + 1, "");
    }
    await refused([], 1);
    await refused(["not an archive"], 1);
    await refused([...lines, '{"session":"s","text":"behind the end"}'], lines.length + 1);
    await refused([`{"padding":"${"x".repeat(33 * 1024 * 1024)}"}`], 1);
    expect(await stateOf(bed)).toEqual(before);
    expect(await bed.memory.importArchive(sourceOf(archive.trimEnd().replaceAll("\n", "\r\n")))).toMatchObject({
      events: 2,
    });
  });

  it("[O2] of a newer version is refused by name, whatever its lines are checked by", async () => {
    const bed = await openTarget();
    for (const text of [
      sealed([{ holdfast: "archive", version: 2, novel: true }]),
      '{"holdfast":"archive","version":2,"sum":"another form"}\n',
    ])
      await expect(bed.memory.importArchive(sourceOf(text))).rejects.toMatchObject({
        code: "FORMAT_TOO_NEW",
        details: { version: 2, supported: 1, line: 1 },
      });
  });
});

/** Whoever forges a line makes the counts fit. */
function recount(lines: readonly Fields[]): void {
  const of = (type: string): number => lines.filter((fields) => fields.type === type).length;
  const end = lines.at(-1);
  const [sessions, events, revisions] = [of("session"), of("event"), of("revision")];
  const [segments, summaries] = [of("segment"), of("summary")];
  Object.assign(end, { lines: lines.length, sessions, events, revisions, segments, vectors: segments, summaries });
}

/** Forgeries of the small archive: what is done to its lines, the line that is named, and why. */
const FORGERIES: readonly (readonly [string, (lines: Fields[]) => void, number, string])[] = [
  ["a field that nobody knows", (lines) => Object.assign(lines[0], { extra: 1 }), 1, "INVALID_ARGUMENT"],
  ["no number of tenants", (lines) => delete lines[0].tenants, 1, "INVALID_ARGUMENT"],
  [
    "a number that uses up all others",
    (lines) => Object.assign(lines[0], { lastEvent: 2 ** 52 }),
    1,
    "INVALID_ARGUMENT",
  ],
  ["a second head", (lines) => lines.splice(1, 0, lines[0]), 2, "INVALID_ARGUMENT"],
  ["a second space", (lines) => lines.splice(2, 0, lines[1]), 3, "INVALID_ARGUMENT"],
  ["dimensions of another kind", (lines) => Object.assign(lines[1], { dimensions: "16" }), 2, "INVALID_ARGUMENT"],
  ["a key of no kind", (lines) => lines.splice(3, 0, { type: "key", name: "a", kind: "blob" }), 4, "INVALID_ARGUMENT"],
  [
    "a key that is a path",
    (lines) => lines.splice(3, 0, { type: "key", name: "../a", kind: "int" }),
    4,
    "INVALID_NAME",
  ],
  ["a tenant id of 513 bytes", (lines) => Object.assign(lines[3], { id: "x".repeat(513) }), 4, "INVALID_NAME"],
  ["an id of half a pair", (lines) => Object.assign(lines[4], { id: "\ud800" }), 5, "INVALID_NAME"],
  ["an empty user", (lines) => Object.assign(lines[4], { user: "" }), 5, "INVALID_NAME"],
  ["a line of another type", (lines) => Object.assign(lines[4], { type: "__proto__" }), 5, "INVALID_ARGUMENT"],
  ["a line of a type that is no text", (lines) => Object.assign(lines[4], { type: 7 }), 5, "INVALID_ARGUMENT"],
  ["a session twice", (lines) => lines.splice(5, 0, lines[4]), 6, "INVALID_ARGUMENT"],
  ["a session behind events", (lines) => lines.splice(8, 0, { ...lines[4], id: "late" }), 9, "INVALID_ARGUMENT"],
  ["an event of no session", (lines) => Object.assign(lines[5], { session: "nowhere" }), 6, "INVALID_ARGUMENT"],
  ["an event id twice", (lines) => Object.assign(lines[8], { id: "e1" }), 9, "INVALID_ARGUMENT"],
  ["an event number twice", (lines) => Object.assign(lines[8], { number: lines[5].number }), 9, "INVALID_ARGUMENT"],
  ["an event number beyond the head's", (lines) => Object.assign(lines[5], { number: 99 }), 6, "INVALID_ARGUMENT"],
  ["an event number of another kind", (lines) => Object.assign(lines[5], { number: 1.5 }), 6, "INVALID_ARGUMENT"],
  ["a segment number twice", (lines) => Object.assign(lines[9], { number: lines[7].number }), 9, "INVALID_ARGUMENT"],
  [
    "a text and blocks",
    (lines) => Object.assign(lines[5], { blocks: [{ type: "text", text: "x" }] }),
    6,
    "INVALID_ARGUMENT",
  ],
  ["an empty text", (lines) => Object.assign(lines[5], { text: " " }), 6, "INVALID_TEXT"],
  ["half of a pair in a text", (lines) => Object.assign(lines[5], { text: "a\udc00" }), 6, "INVALID_TEXT"],
  ["a time without a date", (lines) => Object.assign(lines[5], { at: "12:00" }), 6, "INVALID_ARGUMENT"],
  [
    "a time that is not in UTC",
    (lines) => Object.assign(lines[5], { at: "2026-05-01T12:00:00+02:00" }),
    6,
    "INVALID_ARGUMENT",
  ],
  ["an offset of a day", (lines) => Object.assign(lines[5], { offset: "+24:00" }), 6, "INVALID_ARGUMENT"],
  [
    "an integer beyond 64 bits",
    (lines) => Object.assign(lines[5], { properties: { n: { $int: "9223372036854775808" } } }),
    6,
    "INVALID_ARGUMENT",
  ],
  [
    "a number that JSON has rounded",
    (lines) => Object.assign(lines[5], { properties: { n: 2 ** 60 } }),
    6,
    "INVALID_ARGUMENT",
  ],
  [
    "a float that is none",
    (lines) => Object.assign(lines[5], { properties: { n: { $float: "1e+999" } } }),
    6,
    "INVALID_ARGUMENT",
  ],
  ["a list as a property", (lines) => Object.assign(lines[5], { properties: { n: [1] } }), 6, "INVALID_ARGUMENT"],
  ["properties of a list", (lines) => Object.assign(lines[5], { properties: [] }), 6, "INVALID_ARGUMENT"],
  [
    "a property of 513 bytes",
    (lines) => Object.assign(lines[5], { properties: { ["x".repeat(513)]: 1 } }),
    6,
    "INVALID_NAME",
  ],
  [
    "257 properties",
    (lines) =>
      Object.assign(lines[5], { properties: Object.fromEntries(Array.from({ length: 257 }, (_, n) => [`k${n}`, n])) }),
    6,
    "LIMIT_EXCEEDED",
  ],
  ["pieces that are not there", (lines) => Object.assign(lines[5], { text: { $pieces: 2 } }), 6, "INVALID_ARGUMENT"],
  [
    "pieces that nobody names",
    (lines) => lines.splice(5, 0, { type: "text", text: "left over" }),
    7,
    "INVALID_ARGUMENT",
  ],
  ["fewer segments than are told", (lines) => Object.assign(lines[5], { segments: 2 }), 9, "INVALID_ARGUMENT"],
  ["more revisions than are told", (lines) => Object.assign(lines[5], { revisions: 0 }), 7, "INVALID_ARGUMENT"],
  ["a revision of the future", (lines) => Object.assign(lines[6], { revision: 2 }), 7, "INVALID_ARGUMENT"],
  ["a segment beyond the text", (lines) => Object.assign(lines[7], { end: 99 }), 6, "INVALID_ARGUMENT"],
  [
    "a segment that ends before it begins",
    (lines) => Object.assign(lines[7], { start: 5, end: 5 }),
    8,
    "INVALID_ARGUMENT",
  ],
  ["a vector and a reason", (lines) => Object.assign(lines[7], { pending: {} }), 8, "INVALID_ARGUMENT"],
  [
    "a vector of other dimensions",
    (lines) => Object.assign(lines[7], { vectors: ["AAAAAA=="] }),
    8,
    "DIMENSION_MISMATCH",
  ],
  [
    "a vector of zeros",
    (lines) => Object.assign(lines[7], { vectors: [Buffer.alloc(64).toString("base64")] }),
    8,
    "INVALID_VECTOR",
  ],
  ["a vector of no base64", (lines) => Object.assign(lines[7], { vectors: ["?"] }), 8, "INVALID_ARGUMENT"],
  ["vectors of no space", (lines) => lines.splice(1, 1), 7, "INVALID_ARGUMENT"],
  [
    "a summary of an event elsewhere",
    (lines) => Object.assign(lines.at(-2), { to: "nothing" }),
    11,
    "INVALID_ARGUMENT",
  ],
  [
    "a summary that ends before it begins",
    (lines) => Object.assign(lines.at(-2), { from: "e2", to: "e1" }),
    11,
    "INVALID_ARGUMENT",
  ],
  ["a summary twice", (lines) => lines.splice(10, 0, lines.at(-2)), 12, "INVALID_ARGUMENT"],
  ["fewer events than are counted", (lines) => Object.assign(lines.at(-1), { events: 3 }), 12, "INVALID_ARGUMENT"],
  ["another count of lines", (lines) => Object.assign(lines.at(-1), { lines: 13 }), 12, "INVALID_ARGUMENT"],
  ["more tenants than there are", (lines) => Object.assign(lines[0], { tenants: 2 }), 12, "INVALID_ARGUMENT"],
];

describe("an archive that says what cannot be, with checks that hold", () => {
  it("[O2, V12] is refused with its line and what is wrong with it, and leaves nothing", async () => {
    const archive = await smallArchive();
    const bed = await openTarget();
    const before = await stateOf(bed);
    for (const [what, forge, line, reason] of FORGERIES) {
      const lines = structuredClone(fieldsOf(archive));
      forge(lines);
      if (line < lines.length) recount(lines);
      const text = sealed(lines);
      for (const source of [sourceOf(text), sourceOf(text)()])
        await expect(bed.memory.importArchive(source), what).rejects.toMatchObject({
          code: "INVALID_ARCHIVE",
          details: { line, reason },
          message: expect.stringContaining("Nothing of the archive was made visible"),
        });
    }
    expect(await stateOf(bed)).toEqual(before);
    expect(await bed.memory.importArchive(sourceOf(sealed(fieldsOf(archive))))).toMatchObject({ events: 2 });
  });

  it("[O2] keeps keys of any name, and deep data within its bound", async () => {
    const bed = await openTarget();
    const lines = fieldsOf(await smallArchive());
    const properties = '"properties":{"__proto__":1,"constructor":"c","n":{"$int":"7"}}';
    lines[5] = JSON.stringify(lines[5]).replace(/"properties":\{[^}]*\}/, properties);
    await bed.memory.importArchive(sourceOf(sealed(lines)));
    const { properties: read } = (await bed.memory.getEvent("e1")) ?? {};
    expect(Object.entries(read ?? {}).sort()).toEqual([
      ["__proto__", 1],
      ["constructor", "c"],
      ["n", 7],
    ]);
    for (const depth of [1_000, 1_000_000]) {
      const deep = fieldsOf(await smallArchive());
      const { text: _text, ...event } = deep[5];
      const data = `${"[".repeat(depth)}${"]".repeat(depth)}`;
      deep[5] = `${JSON.stringify(event).slice(0, -1)},"blocks":[{"type":"text","text":"deep","data":${data}}]}`;
      await expect((await openTarget()).memory.importArchive(sourceOf(sealed(deep)))).rejects.toMatchObject({
        code: "INVALID_ARCHIVE",
        details: { line: 6 },
      });
    }
  });

  it("[O2, P1] declares a key with another type than this empty folder does: refused before anything is taken in", async () => {
    const source = await openTarget({ properties: { year: "int" } });
    await (await source.memory.createSession("s")).remember({ text: "x", properties: { year: 1 } });
    const archive = await textOf(source.memory.exportArchive());
    const bed = await openTarget({ properties: { year: "string" } });
    await expect(bed.memory.importArchive(sourceOf(archive))).rejects.toMatchObject({
      code: "PARTITION_SCHEMA_MISMATCH",
    });
    expect(bed.count("imports")).toBe(0);
  });
});
