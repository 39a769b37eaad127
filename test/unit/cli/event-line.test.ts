import { describe, expect, it } from "vitest";
import { ContentIds } from "../../../src/cli/importing/content-ids.ts";
import { type EventLine, parseEventLine } from "../../../src/cli/importing/event-line.ts";
import { parseExactJson } from "../../../src/cli/importing/exact-json.ts";
import { OccurrenceTable } from "../../../src/cli/importing/occurrence-table.ts";

const parse = (line: object, defaults = {}): EventLine => parseEventLine(JSON.stringify(line), defaults);

describe("a line of JSON", () => {
  it("gives session, user and event", () => {
    const line = { session: "s", user: "u", id: "e", at: "2026-05-01T12:00:00Z", producer: "p", text: "t" };
    expect(parse(line)).toEqual({
      session: "s",
      user: "u",
      event: { id: "e", at: "2026-05-01T12:00:00Z", producer: "p", text: "t" },
    });
  });

  it("names the session in a field of the user's choice, or takes the default", () => {
    expect(parse({ thread: 7, text: "t" }, { sessionFrom: "thread" }).session).toBe("7");
    expect(parse({ text: "t" }, { session: "s", user: "u" })).toMatchObject({ session: "s", user: "u" });
    expect(parse({ session: "own", text: "t" }, { session: "s" }).session).toBe("own");
    expect(() => parse({ text: "t" })).toThrow(/names no session.*--session/);
  });

  it("[V5] keeps every digit of long integers, also inside properties, and leaves strings alone", () => {
    const text =
      '{"session":12345678901234567890,"text":"9007199254740993 \\" -1234567890123456","properties":{"n":-9007199254740993,"f":1e300,"d":0.1234567890123456}}';
    const { session, event } = parseEventLine(text, {});
    expect(session).toBe("12345678901234567890");
    expect(event.text).toBe('9007199254740993 " -1234567890123456');
    expect(event.properties).toEqual({ n: -9007199254740993n, f: 1e300, d: 0.1234567890123456 });
  });

  it("reads instants and integers that are written as such", () => {
    const properties = { at: { $datetime: "2026-05-01T12:00:00Z" }, n: { $int: "9007199254740993" }, s: "x" };
    expect(parse({ session: "s", text: "t", properties }).event.properties).toEqual({
      at: { datetime: "2026-05-01T12:00:00Z" },
      n: 9007199254740993n,
      s: "x",
    });
  });

  it("a key named __proto__ is a property like any other", () => {
    const { event } = parseEventLine('{"session":"s","text":"t","properties":{"__proto__":"x"}}', {});
    expect(Object.entries(event.properties ?? {})).toEqual([["__proto__", "x"]]);
  });

  it("that is no object, or no JSON, is refused without repeating it", () => {
    expect(() => parseEventLine("[1]", {})).toThrow(/JSON object/);
    expect(() => parseEventLine('{"secret": tru', {})).toThrow(/^The line is not valid JSON; (?!.*secret)/);
    expect(() => parse({ session: true, text: "t" })).toThrow(/"session" is a text or an integer/);
    expect(() => parse({ session: "s", text: "t", properties: [] })).toThrow(/"properties" is an object/);
  });

  it("of many megabytes with long integers is parsed", () => {
    const text = `{"text":"${"x\\\\ ".repeat(2_000_000)}","n":1234567890123456789}`;
    expect(parseExactJson(text)).toMatchObject({ n: { $int: "1234567890123456789" } });
  });

  it.each([
    ['{"session":"s","text":"four","text":"vier"}', "twice"],
    ['{"session":"s","text":"t","properties":{"a":1,"a":2}}', "twice"],
    ['{"session":"s","text":"t","properties":{"n":9007199254740993,"n":9007199254740994}}', "twice"],
    [`{"session":"s","text":"t","properties":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`, "nested deeper"],
  ])("[V3] refuses what would be lost in silence or is too deep to be looked at: %.60s", (text, why) => {
    expect(() => parseEventLine(text, {})).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringContaining(why) }),
    );
  });

  it("takes colons, quotes and names within texts for what they are", () => {
    const line = {
      session: "s",
      text: 'a "b": \\" {"x":1,"x":2} : 1234567890123456',
      properties: { "a:b": '":', n: 1 },
    };
    expect(parse(line).event).toEqual({ text: line.text, properties: line.properties });
    const blocks = [{ data: { "k:": [{ "": ":" }, { "": ":" }] } }, { text: "x" }];
    expect(parse({ session: "s", blocks }).event).toEqual({ blocks });
  });
});

describe("ids by content", () => {
  const line = (fields: object): EventLine => parse({ session: "s", text: "hello", ...fields });
  const idsOf = (lines: readonly EventLine[]): readonly (string | undefined)[] => {
    const ids = new ContentIds();
    return lines.map((one) => ids.identify(one).event.id);
  };

  it("are the same at each run, and different for each occurrence of the same words", () => {
    const lines = [line({}), line({}), line({ producer: "p" }), line({})];
    const first = idsOf(lines);
    expect(idsOf(lines)).toEqual(first);
    expect(new Set(first).size).toBe(4);
    expect(first[1]).toBe(`${first[0]}-2`);
    expect(first[3]).toBe(`${first[0]}-3`);
  });

  it("depend on the session and on every field, not on the order of keys", () => {
    const different = [{}, { session: "other" }, { at: "2026-01-01T00:00:00Z" }, { role: "user" }, { kind: "fact" }];
    const more = [{ properties: { a: 1 } }, { properties: { a: 2 } }, { properties: { a: "1" } }];
    const ids = [...different, ...more].map((fields) => idsOf([line(fields)])[0]);
    expect(new Set(ids).size).toBe(8);
    const [one, other] = [
      { a: 1, b: 2n },
      { b: 2n, a: 1 },
    ].map((properties) => {
      return new ContentIds().identify({ session: "s", user: undefined, event: { text: "t", properties } }).event.id;
    });
    expect(one).toBe(other);
  });

  it("an id of the line's own is kept", () => {
    expect(idsOf([line({ id: "mine" })])).toEqual(["mine"]);
  });

  it("occurrences are counted for more digests than the table starts with, colliding ones too", () => {
    const table = new OccurrenceTable();
    const digests = Array.from({ length: 2_000 }, (_, index) => BigInt(index) << 8n);
    for (const round of [1, 2, 3])
      expect(digests.map((digest) => table.count(digest))).toEqual(digests.map(() => round));
    expect(table.count(2n ** 64n - 1n)).toBe(1);
  });
});
