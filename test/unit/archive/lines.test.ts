import { describe, expect, it } from "vitest";
import { type Line, readLines } from "../../../src/archive/lines.ts";
import { isHoldfastError } from "../../../src/errors/index.ts";

/** The bytes in pieces of every size: a line break, a character, a mark may be cut anywhere. */
async function linesOf(bytes: Uint8Array, pieceBytes: number, lineBytesMax?: number): Promise<readonly Line[]> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const lines: Line[] = [];
  for await (const line of readLines(pieces(), lineBytesMax)) lines.push(line);
  return lines;
}

const textOf = ({ text }: Line): string => (typeof text === "string" ? text : text.code);

describe("lines of a file", () => {
  it("are the same however the bytes arrive", async () => {
    const bytes = Buffer.from("\ufeffone\r\nzwei ü 日本 🙂\n\nlast");
    for (let piece = 1; piece <= bytes.length; piece += 1) {
      const lines = await linesOf(bytes, piece);
      expect(lines.map(textOf)).toEqual(["one", "zwei ü 日本 🙂", "", "last"]);
      expect(lines.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
      expect(lines.reduce((sum, line) => sum + line.bytes, 0)).toBe(bytes.length);
    }
  });

  it("end with or without a line break, and an empty file has none", async () => {
    expect((await linesOf(Buffer.from("a\n"), 10)).map(textOf)).toEqual(["a"]);
    expect((await linesOf(Buffer.from("a\nb"), 10)).map(textOf)).toEqual(["a", "b"]);
    expect(await linesOf(Buffer.from(""), 10)).toEqual([]);
  });

  it("a byte order mark counts as one at the very start alone", async () => {
    const marked = Buffer.from("\ufeffa\n\ufeffb\n");
    expect((await linesOf(marked, 4)).map(textOf)).toEqual(["a", "\ufeffb"]);
  });

  it("a line that is not UTF-8 is an error of its own; the next one follows", async () => {
    const bytes = Buffer.concat([Buffer.from("a\n"), Buffer.from([0xff, 0x0a]), Buffer.from("c\n")]);
    const lines = await linesOf(bytes, 3);
    expect(lines.map(textOf)).toEqual(["a", "INVALID_TEXT", "c"]);
    expect(isHoldfastError(lines[1]?.text, "INVALID_TEXT")).toBe(true);
  });

  it("a line that is too long is an error of its own and is not kept in memory", async () => {
    const lines = await linesOf(Buffer.from(`${"x".repeat(100)}\nshort\n${"y".repeat(10)}\n`), 7, 10);
    expect(lines.map(textOf)).toEqual(["LIMIT_EXCEEDED", "short", "y".repeat(10)]);
    expect(lines.map((line) => line.bytes)).toEqual([101, 6, 11]);
  });

  it("may be many megabytes long", async () => {
    const [line] = await linesOf(Buffer.alloc(20 * 1024 * 1024, "z"), 65_536);
    expect(line && textOf(line).length).toBe(20 * 1024 * 1024);
  });
});
