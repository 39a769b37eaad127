import type { Connection } from "../../../src/database/connection.ts";
import { openConnection } from "../../../src/database/drivers/open-connection.ts";
import {
  indexSegment,
  searchText,
  type TextQuery,
  textIndexSchema,
  unindexSegment,
} from "../../../src/segments/sqlite/text-index.ts";

type Scored = ReturnType<typeof searchText>;
type QueryOptions = Partial<Pick<TextQuery, "limit" | "admits" | "admitted">>;

interface Held {
  readonly tenant: number;
  readonly tokens: readonly string[];
  readonly tokenString: string;
}

/** A text index with the table of segments that the memory keeps beside it, and a plain copy of what it holds. */
export class TextIndexBed {
  readonly connection: Connection;
  readonly held: Map<number, Held> = new Map();

  constructor(path = ":memory:") {
    this.connection = openConnection(path, { readOnly: false, mustExist: false });
    this.connection.exec("PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON;");
    this.connection.exec(textIndexSchema);
    this.connection.exec(
      "CREATE TABLE segments (segment INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, token_string TEXT NOT NULL) STRICT",
    );
  }

  add(tenant: number, tokens: readonly string[]): number {
    const insert = this.connection.prepare("INSERT INTO segments (tenant, token_string) VALUES (?, '')");
    const segment = insert.run(tenant).lastInsertRowid;
    const { tokenString } = indexSegment(this.connection, { segment, tenant, tokens });
    this.connection.prepare("UPDATE segments SET token_string = ? WHERE segment = ?").run(tokenString, segment);
    this.held.set(segment, { tenant, tokens, tokenString });
    return segment;
  }

  remove(segment: number): void {
    const row = this.connection.prepare("SELECT token_string FROM segments WHERE segment = ?").get(segment);
    unindexSegment(this.connection, { segment, tokenString: String(row?.token_string) });
    this.connection.prepare("DELETE FROM segments WHERE segment = ?").run(segment);
    this.held.delete(segment);
  }

  inOneCommit(work: () => void): void {
    this.connection.exec("BEGIN IMMEDIATE");
    work();
    this.connection.exec("COMMIT");
  }

  search(tenant: number, queryTokens: readonly string[], options: QueryOptions = {}): Scored {
    const own = [...this.held.values()].filter((held) => held.tenant === tenant);
    const totalTokens = own.reduce((sum, held) => sum + held.tokens.length, 0);
    return searchText(this.connection, {
      tenant,
      documents: own.length,
      totalTokens,
      queryTokens,
      limit: 10_000,
      ...options,
    });
  }

  /** BM25 written down once more, over the plain copy. */
  expected(tenant: number, queryTokens: readonly string[], admits: (segment: number) => boolean = () => true): Scored {
    const own = [...this.held].filter(([, held]) => held.tenant === tenant);
    const mean = own.reduce((sum, [, held]) => sum + held.tokens.length, 0) / own.length;
    const scored = own.map(([segment, { tokens }]) => {
      let score = 0;
      for (const word of new Set(queryTokens)) {
        const containing = own.filter(([, held]) => held.tokens.includes(word)).length;
        const idf = Math.log(1 + (own.length - containing + 0.5) / (containing + 0.5));
        const tf = tokens.filter((token) => token === word).length;
        score += (idf * tf * 1.9) / (tf + 0.9 * (0.6 + (0.4 * tokens.length) / mean));
      }
      return { segment, score };
    });
    return scored
      .filter(({ segment, score }) => score > 0 && admits(segment))
      .sort((a, b) => b.score - a.score || a.segment - b.segment);
  }

  /** The terms that FTS5 itself sees. */
  terms(): readonly string[] {
    return this.connection
      .prepare("SELECT term FROM segment_word_counts")
      .all()
      .map(({ term }) => String(term));
  }

  checkIntegrity(): void {
    this.connection.exec("INSERT INTO segment_words (segment_words) VALUES ('integrity-check')");
  }
}
