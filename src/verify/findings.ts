/**
 * What `verify` can find, by kind: whether it is damage, or only worth knowing. Names are stable; a script may
 * switch on them.
 */
export const FINDING_KINDS = {
  header: { damage: true, meaning: "The database's first page cannot be read." },
  "empty-database": { damage: true, meaning: "The database file has no content." },
  "short-file": { damage: true, meaning: "The file ends before its last page: a part was cut off." },
  "log-missing": { damage: true, meaning: "The log held commits that are not in the file, and it is gone." },
  "log-damaged": { damage: true, meaning: "The log holds commits behind a damaged place; nobody reads them." },
  page: { damage: true, meaning: "A page of a table or index is damaged." },
  index: { damage: true, meaning: "An index does not hold exactly what its table holds." },
  unreadable: { damage: true, meaning: "Rows between two keys cannot be read." },
  schema: { damage: true, meaning: "A table or an index is missing or is not as it was made." },
  sequence: { damage: true, meaning: "A table would give a number a second time." },
  store: { damage: true, meaning: "A store's row is damaged." },
  space: { damage: true, meaning: "An embedding space and its store do not fit." },
  partition: { damage: true, meaning: "A partition has no store, or two lives have one number." },
  "partition-sum": { damage: true, meaning: "A partition's count or sum differs from its rows." },
  record: { damage: true, meaning: "A record's checksum does not hold." },
  vector: { damage: true, meaning: "A record's vector is missing, of another length, or not usable." },
  "orphan-record": { damage: true, meaning: "A record belongs to nothing that is there." },
  "orphan-vector": { damage: true, meaning: "A vector belongs to no record." },
  columns: { damage: true, meaning: "The values beside a vector are not those of its event." },
  nearest: { damage: true, meaning: "A vector is not its own nearest neighbour." },
  tenant: { damage: true, meaning: "A tenant's row is damaged, or its storage is gone." },
  "tenant-count": { damage: true, meaning: "A tenant's counts differ from its rows." },
  session: { damage: true, meaning: "A session belongs to no tenant." },
  event: { damage: true, meaning: "An event's checksum does not hold." },
  "orphan-event": { damage: true, meaning: "An event belongs to no session or tenant." },
  property: { damage: true, meaning: "A property belongs to no event." },
  revision: { damage: true, meaning: "An earlier revision is damaged or missing." },
  segment: { damage: true, meaning: "A segment's checksum does not hold, or it reaches beyond its text." },
  "orphan-segment": { damage: true, meaning: "A segment belongs to no event." },
  coverage: { damage: true, meaning: "A part of an event's text is in no segment, and so not found." },
  words: { damage: true, meaning: "A segment's words or their count are not those of its text." },
  "text-index": { damage: true, meaning: "The text index does not hold exactly the words of a segment." },
  "segment-vectors": { damage: true, meaning: "A segment's vectors are missing and nothing is about to embed it." },
  pending: { damage: true, meaning: "A segment is to be embedded that is gone, or has its vectors." },
  summary: { damage: true, meaning: "A summary covers an event that is not there." },
  changes: { damage: true, meaning: "The change feed does not fit its tenant." },
  reference: { damage: true, meaning: "A row names another that is not there." },
  unchecked: { damage: true, meaning: "A check could not be finished, and its reason is no damage that is known." },
  "foreign-file": { damage: false, meaning: "A file in the folder is not Holdfast's." },
  "set-aside": {
    damage: false,
    meaning: "What an earlier repair, restore or upgrade kept; remove it when nobody needs it.",
  },
  leftover: { damage: false, meaning: "What an interrupted repair or copy left; the next one removes it." },
} as const;

export type FindingKind = keyof typeof FINDING_KINDS;

/** One thing that was found. Holds ids and numbers, never texts or vectors (O4). */
export interface Finding {
  readonly kind: FindingKind;
  /** The file, table or index. */
  readonly place: string;
  /** The row's key or, for what cannot be read, the range of keys; absent where the place as a whole is meant. */
  readonly row?: string;
  readonly message: string;
}

/** Findings up to a bound, and the number of all by kind. */
export class Findings {
  readonly #max: number;
  readonly #listed: Finding[] = [];
  readonly #totals = new Map<FindingKind, number>();

  constructor(max: number) {
    this.#max = max;
  }

  add(finding: Finding): void {
    this.#totals.set(finding.kind, (this.#totals.get(finding.kind) ?? 0) + 1);
    if (this.#listed.length < this.#max) this.#listed.push(finding);
  }

  get listed(): readonly Finding[] {
    return this.#listed;
  }

  get totals(): Readonly<Partial<Record<FindingKind, number>>> {
    return Object.fromEntries(this.#totals);
  }

  get isWhole(): boolean {
    return [...this.#totals.keys()].every((kind) => !FINDING_KINDS[kind].damage);
  }
}
