import { describe, expect, it } from "vitest";
import { ChunkPool } from "../../../src/backends/embedded/kernel/chunk-pool.ts";
import { cosine } from "../../../src/backends/embedded/kernel/cosine.ts";
import { norms, prepareQuery, scoreRows } from "../../../src/backends/embedded/kernel/kernel.ts";
import { type CompareIds, type Ranked, TopK } from "../../../src/backends/embedded/kernel/top-k.ts";
import { nextFloat32, seededRandom } from "./vectors.ts";

const byPlace: CompareIds = (blockA, slotA, blockB, slotB) => blockA - blockB || slotA - slotB;

/** Ids that do not follow the order of places. */
function shuffledIds(count: number, random: () => number): number[] {
  const ids = Array.from({ length: count }, (_, index) => index);
  for (let i = count - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [ids[i], ids[j]] = [ids[j] ?? 0, ids[i] ?? 0];
  }
  return ids;
}

function ones(count: number): Float64Array {
  return new Float64Array(count).fill(1);
}

describe("top-k", () => {
  it("[Q3] selects what a full sort by score and id selects, with many ties, in any order of offers", () => {
    const random = seededRandom(21);
    for (let round = 0; round < 300; round += 1) {
      const count = 1 + Math.floor(random() * 200);
      const limit = Math.floor(random() * 40);
      const kinds = 1 + Math.floor(random() * 8);
      const ids = shuffledIds(count, random);
      const compare: CompareIds = (_a, slotA, _b, slotB) => (ids[slotA] ?? 0) - (ids[slotB] ?? 0);
      const rows = Array.from({ length: count }, (_, slot) => ({
        score: Math.floor(random() * kinds) / 10 - 0.3,
        block: slot % 3,
        slot,
      }));
      const expected = [...rows]
        .sort((a, b) => b.score - a.score || compare(a.block, a.slot, b.block, b.slot))
        .slice(0, limit);
      const top = new TopK(limit, compare);
      for (const index of shuffledIds(count, random)) {
        const row = rows[index];
        if (row !== undefined) top.offer(row.score, row.block, row.slot);
      }
      expect(top.sorted()).toEqual(expected);
      expect(top.size).toBe(expected.length);
    }
  });

  it("[Q3] asks for ids only where scores are equal", () => {
    let asked = 0;
    const top = new TopK(10, () => {
      asked += 1;
      return 0;
    });
    for (let i = 0; i < 1000; i += 1) top.offer(((i * 7919) % 1000) / 1000, 0, i);
    expect(top.sorted().map(({ score }) => score)).toEqual([
      0.999, 0.998, 0.997, 0.996, 0.995, 0.994, 0.993, 0.992, 0.991, 0.99,
    ]);
    expect(asked).toBe(0);
  });

  it("[Q10] rows with equal vectors are all selected", () => {
    const top = new TopK(5, byPlace);
    top.offerAll({ block: 4, dots: ones(3), count: 3, norms: ones(3), queryNorm: 1 });
    expect(top.sorted()).toEqual([0, 1, 2].map((slot) => ({ score: 1, block: 4, slot })));
  });

  it("[Q6] a block offered at once selects what its rows offered one by one select", () => {
    const random = seededRandom(22);
    for (let round = 0; round < 100; round += 1) {
      const count = 1 + Math.floor(random() * 300);
      const dots = Float64Array.from({ length: count }, () => Math.floor(random() * 21 - 10) / 8);
      const lengths = Float64Array.from({ length: count }, () => 0.5 + Math.floor(random() * 3) / 2);
      const alive = Uint8Array.from({ length: count }, () => (random() < 0.6 ? 1 : 0));
      const slots = Uint32Array.from(shuffledIds(count, random).slice(0, Math.ceil(count / 2)));
      const [limit, minCosine] = [
        1 + Math.floor(random() * 20),
        random() < 0.5 ? -1 : Math.floor(random() * 9 - 4) / 4,
      ];
      const [whole, byRow, bySlot, bySlotRow] = Array.from({ length: 4 }, () => new TopK(limit, byPlace, minCosine));
      whole?.offerAll({ block: 1, dots, count, norms: lengths, queryNorm: 1.25, alive });
      for (let i = 0; i < count; i += 1) {
        if (alive[i] === 1) byRow?.offer(cosine(dots[i] ?? 0, lengths[i] ?? 0, 1.25), 1, i);
      }
      expect(whole?.sorted()).toEqual(byRow?.sorted());
      bySlot?.offerAll({ block: 1, dots, count: slots.length, norms: lengths, queryNorm: 1.25, slots, alive });
      for (const [i, slot] of slots.entries()) {
        if (alive[slot] === 1) bySlotRow?.offer(cosine(dots[i] ?? 0, lengths[slot] ?? 0, 1.25), 1, slot);
      }
      expect(bySlot?.sorted()).toEqual(bySlotRow?.sorted());
    }
  });

  it("[Q2] the threshold is inclusive to the last bit", () => {
    const at = 0.1 + 0.2;
    const below = 0.3;
    expect(below).toBeLessThan(at);
    const top = new TopK(10, byPlace, at);
    top.offerAll({ block: 0, dots: Float64Array.of(at, below, 0.9), count: 3, norms: ones(3), queryNorm: 1 });
    expect(top.sorted().map(({ slot }) => slot)).toEqual([2, 0]);
    expect(top.threshold).toBe(at);
  });

  it("[Q2] a threshold of 0 and of −0 admits a cosine of −0, answered as 0", () => {
    for (const minCosine of [0, -0]) {
      const top = new TopK(10, byPlace, minCosine);
      top.offerAll({ block: 0, dots: Float64Array.of(-0, 0, -1e-300), count: 3, norms: ones(3), queryNorm: 1 });
      expect(top.sorted()).toEqual([0, 1].map((slot) => ({ score: 0, block: 0, slot })));
    }
  });

  it("[Q3] quotients beyond 1 and −1 are clamped before they are ranked, so that they tie", () => {
    const over = 1 + Number.EPSILON;
    const best = new TopK(2, byPlace);
    best.offerAll({ block: 0, dots: Float64Array.of(1, over, over, 1), count: 4, norms: ones(4), queryNorm: 1 });
    expect(best.sorted()).toEqual([0, 1].map((slot) => ({ score: 1, block: 0, slot })));
    const worst = new TopK(1, (_a, slotA, _b, slotB) => slotB - slotA);
    worst.offerAll({ block: 0, dots: Float64Array.of(-1, -over), count: 2, norms: ones(2), queryNorm: 1 });
    expect(worst.sorted()).toEqual([{ score: -1, block: 0, slot: 1 }]);
  });

  it("[Q8] a row that is not alive is never selected, whatever its norm", () => {
    const top = new TopK(3, byPlace);
    const dots = Float64Array.of(5, Number.NaN, 0.5);
    top.offerAll({
      block: 0,
      dots,
      count: 3,
      norms: Float64Array.of(0, 0, 1),
      queryNorm: 1,
      alive: Uint8Array.of(0, 0, 1),
    });
    expect(top.sorted()).toEqual([{ score: 0.5, block: 0, slot: 2 }]);
  });

  it("[V10] a score that is no number is never selected", () => {
    const top = new TopK(3, byPlace);
    top.offer(Number.NaN, 0, 0);
    top.offerAll({ block: 0, dots: Float64Array.of(Number.NaN), count: 1, norms: ones(1), queryNorm: 1 });
    expect(top.size).toBe(0);
  });

  it("[Q5] a limit of 0 selects nothing", () => {
    const top = new TopK(0, byPlace);
    top.offer(1, 0, 0);
    top.offerAll({ block: 0, dots: ones(4), count: 4, norms: ones(4), queryNorm: 1 });
    expect(top.sorted()).toEqual([]);
    expect(top.threshold).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("cosine", () => {
  it("[Q1] is right for the smallest and the largest norms", () => {
    expect(cosine(2 ** -252, 2 ** -126, 2 ** -126)).toBe(1);
    const most = 3.4028234663852886e38;
    const square = 16_384 * most * most;
    expect(cosine(-square, Math.sqrt(square), Math.sqrt(square))).toBe(-1);
    expect(cosine(2 ** -126 * most, 2 ** -126, most)).toBe(1);
    expect(cosine(2 ** -150 * 1e38 * 128, 2 ** -126, 1e38 * 128)).toBe(2 ** -24);
  });

  it("[Q1] stays in [−1, 1] and has no −0", () => {
    expect(cosine(1 + Number.EPSILON, 1, 1)).toBe(1);
    expect(cosine(-1 - Number.EPSILON, 1, 1)).toBe(-1);
    expect(Object.is(cosine(-0, 1, 1), 0)).toBe(true);
  });

  it.each(["auto", "fallback"] as const)(
    "[Q1] vectors one unit in the last place apart keep their order (%s)",
    (kernel) => {
      const dimensions = 384;
      const random = seededRandom(31);
      const chunk = new ChunkPool({ kernel }).allocate("large");
      const base = Float32Array.from({ length: dimensions }, () => random() - 0.5);
      const query = Float32Array.from(base, (value, index) => (index === 0 ? value : value + (random() - 0.5) / 10));
      query[5] = 0.75;
      // Each row raises one more unit of a component in which it points away less than the query does.
      const rows = 64;
      const value = { now: Math.fround(0.125) };
      for (let row = 0; row < rows; row += 1) {
        chunk.floats.set(base, row * dimensions);
        chunk.floats[row * dimensions + 5] = value.now;
        value.now = nextFloat32(value.now);
      }
      const prepared = prepareQuery(query);
      const dots = new Float64Array(rows);
      const lengths = new Float64Array(rows);
      scoreRows(chunk, rows, prepared, dots);
      norms(chunk, { from: 0, to: rows, dimensions }, lengths);
      const top = new TopK(10, byPlace);
      top.offerAll({ block: 0, dots, count: rows, norms: lengths, queryNorm: prepared.norm });
      const found: readonly Ranked[] = top.sorted();
      expect(found.map(({ slot }) => slot)).toEqual([63, 62, 61, 60, 59, 58, 57, 56, 55, 54]);
      expect(new Set(found.map(({ score }) => score)).size).toBe(10);
    },
  );
});
