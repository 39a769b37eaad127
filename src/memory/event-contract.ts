import type { PropertyValues } from "../contract/properties.ts";
import type { UserInputValue } from "../contract/property-values.ts";
import type { CallOptions, WriteOptions } from "../contract/store.ts";
import type { Where } from "../contract/where.ts";
import type { EventFields } from "../segments/sqlite/event-filter.ts";
import type { Block } from "./blocks.ts";

/** An event as it is kept. */
export interface MemoryEvent {
  readonly id: string;
  readonly session: string;
  readonly user?: string;
  /** When it was said: `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  readonly at: string;
  readonly producer?: string;
  readonly role?: string;
  readonly kind?: string;
  /** The whole text; with blocks theirs, parted by an empty line. */
  readonly text: string;
  /** As they were given. */
  readonly blocks?: readonly Block[];
  /** Whole numbers beyond ±(2^53 − 1) are bigints, instants texts in UTC; has no prototype. */
  readonly properties: PropertyValues;
  /** 1 for what was remembered first, one more with each update. */
  readonly revision: number;
  readonly createdAt: string;
  /** When the newest revision was written; absent for the first. */
  readonly updatedAt?: string;
}

/** What an event said up to some moment, or says now. */
export interface EventRevision {
  readonly revision: number;
  readonly text: string;
  readonly blocks?: readonly Block[];
  readonly properties: PropertyValues;
  /** When the next revision took its place; absent for what it says now. */
  readonly replacedAt?: string;
}

/** What changes; what is left out stays. */
export interface EventUpdate {
  /** In the place of the old text, and of the old blocks. */
  readonly text?: string;
  /** In the place of the old blocks, and of the old text. */
  readonly blocks?: readonly Block[];
  /** Keys to set; `null` removes one. Others stay. */
  readonly properties?: Readonly<Record<string, UserInputValue | null | undefined>>;
}

export interface UpdateOptions extends WriteOptions {
  /** Raises REVISION_CONFLICT unless this is the newest revision. Without it an update of the newest always applies. */
  readonly expectedRevision?: number;
}

export interface ScopedListOptions extends CallOptions {
  /** A filter on system fields and on keys of your own (`m.topic`). */
  readonly where?: Where<EventFields>;
  /** Events at most, 1…10,000; default 100. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: string;
}

export interface ListOptions extends ScopedListOptions {
  /** Only sessions of this user. */
  readonly user?: string;
  /** Only this session; raises NOT_FOUND when there is none (S1). */
  readonly session?: string;
}

export interface EventPage {
  /** By time, and at one time in the order in which they were remembered. */
  readonly events: readonly MemoryEvent[];
  /** Give it as `after` for the next page; absent when this is the last. */
  readonly next?: string;
  /** Events left out because their checksum did not hold (E11). */
  readonly damaged: number;
}

export interface ScopedCountOptions extends CallOptions {
  readonly where?: Where<EventFields>;
}

export interface CountOptions extends ScopedCountOptions {
  readonly user?: string;
  readonly session?: string;
}

/** Reading and changing single events, of a tenant or of one session. */
export interface EventCalls {
  /** `undefined` for an unknown id. Raises DAMAGED when its checksum does not hold. */
  getEvent(id: string, options?: CallOptions): Promise<MemoryEvent | undefined>;
  /**
   * Writes a new revision; the text, its segments, words and vectors change in one commit. An unchanged text is not
   * embedded again, and an update that changes nothing makes no revision (S12).
   *
   * @throws NOT_FOUND, REVISION_CONFLICT
   */
  updateEvent(id: string, update: EventUpdate, options?: UpdateOptions): Promise<MemoryEvent>;
  /** Every revision, oldest first, the newest with them; raises NOT_FOUND for an unknown id. Forgetting removes them. */
  history(id: string, options?: CallOptions): Promise<readonly EventRevision[]>;
}
