import { describe, expect, it } from "vitest";
import { ARCHIVE_START, openLine, sealLine } from "../../../src/archive/check-chain.ts";

describe("the checks of an archive's lines", () => {
  it("[O2] hold for each line behind those that it was written behind, and for no other place", () => {
    const first = sealLine('{"a":1}', ARCHIVE_START);
    const second = sealLine('{"b":"x"}', first.place);
    expect(first.line).toMatch(/^\{"a":1,"check":"[0-9a-f]{32}"\}$/);
    expect(openLine(first.line, ARCHIVE_START)).toEqual({ body: '{"a":1}', place: first.place });
    expect(openLine(second.line, first.place)).toEqual({ body: '{"b":"x"}', place: second.place });
    expect(openLine(second.line, ARCHIVE_START)).toBeUndefined();
    expect(openLine(first.line, first.place)).toBeUndefined();
    expect(second.place.lines).toBe(2);
  });

  it("[O2] fail for each changed character", () => {
    const { line } = sealLine('{"text":"I moved to Lisbon.","n":1}', ARCHIVE_START);
    for (let at = 0; at < line.length; at += 1) {
      const other = line[at] === "0" ? "1" : "0";
      expect(openLine(line.slice(0, at) + other + line.slice(at + 1), ARCHIVE_START), String(at)).toBeUndefined();
    }
  });
});
