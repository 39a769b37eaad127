import { describe, expect, it } from "vitest";
import type { Connection } from "../../../src/database/connection.ts";
import { segmentLines } from "../../../src/segments/sqlite/neighbours.ts";
import { openMemoryBed } from "./memories.ts";

const REACH = 4;

/** The connection with a count of the rows that its statements answer. */
function counting(connection: Connection) {
  let rows = 0;
  const counted: Connection = {
    ...connection,
    prepare: (sql, options) => {
      const statement = connection.prepare(sql, options);
      return {
        ...statement,
        get: (...parameters) => {
          rows += 1;
          return statement.get(...parameters);
        },
        all: (...parameters) => {
          const found = statement.all(...parameters);
          rows += found.length;
          return found;
        },
      };
    },
  };
  return { counted, rows: () => rows };
}

/** Events of one, a few and many segments, several of them of one moment. */
async function told(lengths: readonly number[]) {
  const bed = await openMemoryBed({ segmenter: "sentences" });
  const session = await bed.memory.createSession("s");
  const sentences = (event: number, count: number): string =>
    Array.from({ length: count }, (_, index) => `Sentence ${index} of event ${event}.`).join(" ");
  await session.rememberMany(
    lengths.map((count, event) => ({ at: new Date((event >> 1) * 1_000), text: sentences(event, count) })),
  );
  const segments = bed.raw.prepare("SELECT segment FROM segments ORDER BY segment").all();
  return { ...bed, segments: segments.map(({ segment }) => Number(segment)) };
}

describe("the segments around one", () => {
  it("[S5] are the same whether the session is read whole or around each", async () => {
    const { raw, segments } = await told([1, 30, 1, 1, 2, 40, 3, 1, 1, 1, 25, 1]);
    const whole = segmentLines(raw, 1, { segments, reach: REACH });
    for (const [at, segment] of segments.entries()) {
      const line = segmentLines(raw, 1, { segments: [segment], reach: REACH }).get(segment);
      expect(line).toEqual(whole.get(segment));
      const from = Math.max(0, at - REACH);
      expect(line).toEqual({ segments: segments.slice(from, at + REACH + 1), at: at - from });
    }
  });

  it("[S5, E7] are found in a few rows, however long their events are", async () => {
    const { raw, segments } = await told([1_500, 1, 1_500]);
    for (const place of [0, 700, 1_499, 1_500, 1_501, 3_000]) {
      const segment = segments[place] ?? 0;
      const { counted, rows } = counting(raw);
      const line = segmentLines(counted, 1, { segments: [segment], reach: REACH }).get(segment);
      expect(line?.segments).toEqual(segments.slice(Math.max(0, place - REACH), place + REACH + 1));
      expect(rows()).toBeLessThan(100);
    }
  });
});
