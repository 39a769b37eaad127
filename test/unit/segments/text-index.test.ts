import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toTokenString } from "../../../src/segments/sqlite/terms.ts";
import { clearTextIndex, indexSegment, unindexSegment } from "../../../src/segments/sqlite/text-index.ts";
import { tokeniseWords } from "../../../src/segments/words.ts";
import { TextIndexBed } from "./text-index-bed.ts";

const hostileToken = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom(
    "a",
    "A",
    "_",
    "__",
    "_61",
    "_41",
    "a_",
    '"',
    "'",
    "*",
    "a b",
    "\0",
    "a\0b",
    "-",
    "NOT",
    "or",
    "^",
    "🎉",
    "日本",
    "e\u0301",
    "é",
  ),
);

describe("the text index", () => {
  it("[S5] shows FTS5 exactly its tokens, whatever they hold", () => {
    fc.assert(
      fc.property(fc.array(hostileToken, { maxLength: 12 }), (tokens) => {
        const bed = new TextIndexBed();
        const segment = bed.add(7, tokens);
        const whole = tokens.filter((token) => token !== "");
        const terms = new Set(whole.map((token) => `7_${toTokenString([token])}`));
        expect(new Set(bed.terms())).toEqual(terms);
        expect(terms.size).toBe(new Set(whole).size);
        for (const token of whole) expect(bed.search(7, [token]).map((hit) => hit.segment)).toEqual([segment]);
        bed.remove(segment);
        expect(bed.terms()).toEqual([]);
        bed.connection.close();
      }),
      { numRuns: 300 },
    );
  });

  it("[S5] answers BM25 with exact frequencies and lengths, over many commits and removals", () => {
    const token = fc.constantFrom("a", "b", "c", "d", "e", "é", "x y", "z");
    const write = fc.record({
      tenant: fc.constantFrom(1, 36, 37),
      tokens: fc.array(token, { maxLength: 30 }),
      remove: fc.nat(9),
    });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 60 }), fc.array(token, { maxLength: 6 }), (writes, query) => {
        const bed = new TextIndexBed();
        for (const { tenant, tokens, remove } of writes) {
          bed.add(tenant, tokens);
          const old = [...bed.held.keys()][remove];
          if (old !== undefined && remove < 4) bed.remove(old);
        }
        bed.checkIntegrity();
        for (const tenant of [1, 36, 37]) {
          const [answer, expected] = [bed.search(tenant, query), bed.expected(tenant, query)];
          expect(new Set(answer.map(({ segment }) => segment))).toEqual(
            new Set(expected.map(({ segment }) => segment)),
          );
          const scores = new Map(expected.map(({ segment, score }) => [segment, score]));
          for (const { segment, score } of answer) expect(score).toBeCloseTo(scores.get(segment) ?? 0, 10);
        }
        bed.connection.close();
      }),
      { numRuns: 60 },
    );
  });

  it("[S5] answers best first, ties by segment, at most the limit, and each repeated word once", () => {
    const bed = new TextIndexBed();
    const [one, two, three, four] = [
      ["a", "b"],
      ["a", "b"],
      ["a", "a"],
      ["c", "b"],
    ].map((tokens) => bed.add(1, tokens));
    expect(bed.search(1, ["a"]).map(({ segment }) => segment)).toEqual([three, one, two]);
    expect(bed.search(1, ["a"], { limit: 2 }).map(({ segment }) => segment)).toEqual([three, one]);
    expect(bed.search(1, ["a", "a"])).toEqual(bed.search(1, ["a"]));
    expect(bed.search(1, ["c"]).map(({ segment }) => segment)).toEqual([four]);
    for (const query of [[], ["q"], [""]]) expect(bed.search(1, query)).toEqual([]);
    expect(bed.search(1, ["a"], { limit: 0 })).toEqual([]);
  });

  it("[S5, E7] answers a query of thousands of words by its rarest, and reads no list of the others", () => {
    const bed = new TextIndexBed();
    const word = (index: number): string => `w${index}`;
    // The higher a word's number, the rarer it is: w0 is in every segment, w199 in one.
    const segments = Array.from({ length: 200 }, (_, last) =>
      bed.add(
        1,
        Array.from({ length: last + 1 }, (__, index) => word(index)),
      ),
    );
    const query = Array.from({ length: 3_000 }, (_, index) => word(index));
    const rarest = Array.from({ length: 64 }, (_, index) => word(199 - index));
    expect(bed.search(1, query, { limit: 500 })).toEqual(bed.search(1, rarest, { limit: 500 }));
    expect(bed.search(1, query, { limit: 1 })).toMatchObject([{ segment: segments[199] }]);
    expect(bed.search(1, query, { limit: 500 })).toHaveLength(64);
    const short = rarest.concat(word(0)).slice(1);
    expect(bed.search(1, short, { limit: 500 })).toHaveLength(200);
  });

  it("[S10] keeps one tenant's scores where they are whatever others write or remove", () => {
    const bed = new TextIndexBed();
    for (const text of ["the cat sat", "the dog sat on the cat", "a bird"]) bed.add(5, tokeniseWords(text));
    const before = bed.search(5, ["cat", "the"]);
    // 5 in base 36 is a prefix of both.
    for (const tenant of [180, 6485])
      for (let i = 0; i < 50; i++) bed.add(tenant, tokeniseWords("the cat cat and the long tail of texts"));
    expect(bed.search(5, ["cat", "the"])).toEqual(before);
    for (const segment of [...bed.held.keys()].filter((id) => bed.held.get(id)?.tenant === 180)) bed.remove(segment);
    expect(bed.search(5, ["cat", "the"])).toEqual(before);
  });

  it("[S10] never answers another tenant's segment, even when the admitted set names it", () => {
    const bed = new TextIndexBed();
    const foreign = bed.add(2, ["secret", "word"]);
    const own = Array.from({ length: 100 }, () => bed.add(1, ["secret"]));
    expect(
      bed.search(1, ["secret"], { admitted: new Set([foreign, own[0] ?? 0]) }).map(({ segment }) => segment),
    ).toEqual([own[0]]);
    expect(bed.search(3, ["secret"])).toEqual([]);
  });

  it("[Q6] lets the filter act before the limit", () => {
    const bed = new TextIndexBed();
    for (let i = 0; i < 5; i++) bed.add(1, ["near", "near"]);
    const far = bed.add(1, ["near", ...Array.from({ length: 30 }, () => "pad")]);
    expect(
      bed.search(1, ["near"], { limit: 1, admits: (segment) => segment === far }).map((hit) => hit.segment),
    ).toEqual([far]);
    expect(bed.search(1, ["near"], { limit: 1, admitted: new Set([far]) }).map((hit) => hit.segment)).toEqual([far]);
    expect(bed.search(1, ["near"], { limit: 1, admits: () => false })).toEqual([]);
    expect(bed.search(1, ["near"], { limit: 1, admitted: new Set() })).toEqual([]);
  });

  it("[Q6] asks the filter at most once a segment, and only about those that could win", () => {
    const bed = new TextIndexBed();
    for (let i = 0; i < 200; i++) bed.add(1, ["near", ...Array.from({ length: i }, () => "pad")]);
    const asked: number[] = [];
    bed.search(1, ["near", "near"], { limit: 5, admits: (segment) => asked.push(segment) > 0 });
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked).toEqual([1, 2, 3, 4, 5]);
    asked.length = 0;
    bed.search(1, ["near", "pad"], { limit: 5, admits: (segment) => asked.push(segment) < 0 });
    expect(asked.sort((a, b) => a - b)).toEqual([...bed.held.keys()]);
  });

  it("[Q1] answers the same scores, bit for bit, whichever plan reads them", () => {
    const bed = new TextIndexBed();
    const random = seeded(11);
    bed.inOneCommit(() => {
      // Word n comes about half as often as word n − 1: a long common list behind a few rare segments.
      for (let i = 0; i < 4000; i++) {
        const tokens = Array.from(
          { length: 1 + Math.floor(random() * 20) },
          () => `w${Math.floor(-Math.log2(random()))}`,
        );
        bed.add(1, tokens);
      }
    });
    const counts = countStatements(bed);
    for (const query of [["w9", "w1", "w0"], ["w7", "w5", "w0", "w2"], ["w8"], ["w0", "w1"]]) {
      const all = bed.search(1, query);
      const sample = new Set(all.filter((_, index) => index % 97 === 0).map(({ segment }) => segment));
      expect(bed.search(1, query, { limit: 5 })).toEqual(all.slice(0, 5));
      expect(bed.search(1, query, { limit: 3, admits: (segment) => segment % 3 === 0 })).toEqual(
        all.filter(({ segment }) => segment % 3 === 0).slice(0, 3),
      );
      expect(bed.search(1, query, { admitted: sample })).toEqual(all.filter(({ segment }) => sample.has(segment)));
    }
    const before = { ...counts };
    bed.search(1, ["w9", "w0"], { limit: 2 });
    expect(counts.lists - before.lists).toBe(1);
    const reads = counts.segments - before.segments;
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(bed.search(1, ["w9"]).length);
    const afterwards = counts.lists;
    bed.search(1, ["w9", "w0"], { admitted: new Set([1, 2, 3]) });
    expect(counts.lists).toBe(afterwards);
  });

  it("[Q6] lets a segment win that holds only the common words, where the rare one is lost in long texts", () => {
    const bed = new TextIndexBed();
    bed.inOneCommit(() => {
      for (let i = 0; i < 3; i++) bed.add(1, ["rare", ...Array.from({ length: 3000 }, (_, n) => `pad${n}`)]);
      for (let i = 0; i < 3000; i++) bed.add(1, i % 3 === 0 ? ["common"] : ["other"]);
    });
    const answer = bed.search(1, ["rare", "common"], { limit: 2 });
    expect(answer.map(({ segment }) => segment)).toEqual([4, 7]);
    expect(answer).toEqual(bed.search(1, ["rare", "common"]).slice(0, 2));
  });

  it("[S6] finds nothing of what was taken out, and takes it out once", () => {
    const bed = new TextIndexBed();
    const [kept, gone] = [bed.add(1, ["word", "word"]), bed.add(1, ["word", "gone"])];
    const { tokenString = "" } = bed.held.get(gone) ?? {};
    bed.remove(gone);
    const after = bed.search(1, ["word", "gone"]);
    expect(after.map(({ segment }) => segment)).toEqual([kept]);
    unindexSegment(bed.connection, { segment: gone, tokenString });
    unindexSegment(bed.connection, { segment: 999, tokenString });
    expect(bed.search(1, ["word", "gone"])).toEqual(after);
    bed.checkIntegrity();
  });

  it("keeps segments without words, and empties itself to be built anew", () => {
    const bed = new TextIndexBed();
    const empty = bed.add(1, []);
    bed.add(1, ["a"]);
    expect(bed.search(1, ["a"])).toHaveLength(1);
    bed.remove(empty);
    clearTextIndex(bed.connection);
    expect(bed.terms()).toEqual([]);
    expect(bed.search(1, ["a"])).toEqual([]);
    const tokens = ["b", "c", "b"];
    expect(indexSegment(bed.connection, { segment: 9, tenant: 1, tokens })).toEqual({
      tokenString: "b c b",
      tokenCount: 3,
    });
    expect(bed.terms()).toEqual(["1_b", "1_c"]);
  });

  it("[E8] reads a tenant's own lists only, with 2,000 tenants beside it", () => {
    const bed = new TextIndexBed();
    bed.inOneCommit(() => {
      for (let tenant = 1; tenant <= 2000; tenant++)
        for (const text of ["we met the team", "the plan"]) bed.add(tenant, tokeniseWords(text));
    });
    const counts = countStatements(bed);
    expect(bed.search(1234, ["the", "team"])).toHaveLength(2);
    expect(counts.read).toBe(3);
  });
});

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (state + 1) / 2_147_483_649;
  };
}

interface Counts {
  /** Lists of places read, segments read on their own, and entries of lists in all. */
  lists: number;
  segments: number;
  read: number;
}

function countStatements(bed: TextIndexBed): Counts {
  const counts: Counts = { lists: 0, segments: 0, read: 0 };
  const prepare = bed.connection.prepare.bind(bed.connection);
  bed.connection.prepare = (sql, options) => {
    const statement = prepare(sql, options);
    const get: typeof statement.get = (...parameters) => {
      const row = statement.get(...parameters);
      if (sql.includes("json_group_array")) {
        counts.lists++;
        counts.read += (JSON.parse(String(row?.segments)) as readonly unknown[]).length;
      } else if (sql.includes("token_string")) counts.segments++;
      return row;
    };
    return {
      run: statement.run.bind(statement),
      all: statement.all.bind(statement),
      iterate: statement.iterate.bind(statement),
      get,
    };
  };
  return counts;
}
