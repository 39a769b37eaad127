import type { SqlValue } from "../database/connection.ts";
import type { LineFile } from "../io/line-file.ts";
import type { RepairedTable } from "./repair-contract.ts";

/** What is known of a row that is not in the repaired database. */
export interface MissingRow {
  readonly table: string;
  /** Its number or key, where it is known. */
  readonly row?: SqlValue | undefined;
  /** `lost`: an index names it, and its page is damaged. `remade`: it is derived, and is made anew. */
  readonly fate: "set-aside" | "lost" | "remade";
  readonly reason: string;
  /** Its columns by name, where they could be read. Holds texts. */
  readonly values?: Readonly<Record<string, SqlValue>>;
}

interface Tally {
  read: number;
  kept: number;
  setAside: number;
  lost: number;
}

/** Lists each row that a repair does not keep, with its reason, and counts them all by table. */
export class Ledger {
  readonly #file: Pick<LineFile, "write">;
  readonly #tallies = new Map<string, Tally>();
  readonly notes: string[] = [];

  constructor(file: Pick<LineFile, "write">) {
    this.#file = file;
  }

  read(table: string, count = 1): void {
    this.#of(table).read += count;
  }

  kept(table: string, count = 1): void {
    this.#of(table).kept += count;
  }

  miss(row: MissingRow): void {
    const tally = this.#of(row.table);
    if (row.fate === "lost") tally.lost += 1;
    if (row.fate === "set-aside") tally.setAside += 1;
    this.#file.write(toLine(row));
  }

  /** A place in which rows may have been; it counts as no row. */
  noteDamage(table: string, place: string, reason: string): void {
    this.#file.write(toLine({ table, place, reason }));
  }

  /** Whether every row that was there is there, or is made anew. */
  get isComplete(): boolean {
    return [...this.#tallies.values()].every(({ setAside, lost }) => setAside === 0 && lost === 0);
  }

  get tables(): readonly RepairedTable[] {
    return [...this.#tallies]
      .map(([table, tally]) => ({ table, ...tally }))
      .sort((a, b) => (a.table < b.table ? -1 : 1));
  }

  #of(table: string): Tally {
    const tally = this.#tallies.get(table) ?? { read: 0, kept: 0, setAside: 0, lost: 0 };
    this.#tallies.set(table, tally);
    return tally;
  }
}

/** Whole numbers beyond 2^53 as texts of digits, bytes in base64. */
function toLine(value: object): string {
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === "bigint") return Number.isSafeInteger(Number(part)) ? Number(part) : String(part);
    if (part instanceof Uint8Array) return { base64: Buffer.from(part).toString("base64") };
    return part;
  });
  return `${text}\n`;
}
