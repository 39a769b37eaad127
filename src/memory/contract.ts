/// <reference lib="esnext.disposable" preserve="true" />

import type { PropertyValues } from "../contract/properties.ts";
import type { CallOptions, Erasure, WriteOptions } from "../contract/store.ts";
import type { Where } from "../contract/where.ts";
import type { EventFields } from "../segments/sqlite/event-filter.ts";
import type { ArchiveCalls } from "./archive-contract.ts";
import type { DeclaredProperties, DeclaredProperty } from "./declared-contract.ts";
import type {
  CountOptions,
  EventCalls,
  EventPage,
  ListOptions,
  ScopedCountOptions,
  ScopedListOptions,
} from "./event-contract.ts";
import type { EventInput } from "./event-input.ts";
import type { ExportCalls } from "./export-contract.ts";
import type { FolderCalls } from "./folder-contract.ts";
import type { ChangesOptions, ChangesPage, SessionLog } from "./log-contract.ts";
import type { PendingCalls } from "./pending-contract.ts";

/** What `remember` answers for one event. */
export interface RememberReceipt {
  readonly id: string;
  /** `false` when the same event was there already. */
  readonly created: boolean;
  /**
   * `pending` when the embedder failed on a part of it: the event is kept and found by its words, and embedded as soon
   * as the embedder answers (S7).
   */
  readonly embedded: "embedded" | "pending";
  /** A retry under the same idempotency key came behind the event's forgetting; it does not bring it back (E14). */
  readonly forgotten?: true;
}

export interface ScopedRecallOptions extends CallOptions {
  /** Hits at most, 0…10,000; default 10. */
  readonly limit?: number;
  /** A filter on system fields (`producer`, `at`, …) and keys of your own (`m.topic`). */
  readonly where?: Where<EventFields>;
  /** In [−1, 1], inclusive: drops hits of the vector channel below it; a text hit stands by its own. */
  readonly minCosineSimilarity?: number;
  /** What is searched; default both. With one alone its own score orders. */
  readonly channels?: readonly ("vector" | "text")[];
  /** Events of the same session before and after each hit, 0…20; a number means both; default 1. */
  readonly context?: number | { readonly before?: number; readonly after?: number };
  /** Adds how the answer came about. */
  readonly explain?: boolean;
  /**
   * How long an embedder that is still opening is waited for: `false` not at all, `true` a minute, by default as long as
   * for a question's vector (`queryTimeoutMs` of `openMemory`, 5 s). Then
   * the words answer alone, and the answer says `model-loading`.
   */
  readonly waitForModel?: boolean;
  /**
   * Orders the best hits by the memory's reranker, which is asked about 50 of them, or `candidates` (1…1,000). When it
   * fails the order before it stands and the answer says so. Default `false`.
   */
  readonly rerank?: boolean | { readonly candidates: number };
}

export interface RecallOptions extends ScopedRecallOptions {
  /** Only sessions of this user. */
  readonly user?: string;
  /** Only this session; raises NOT_FOUND when there is none (S1). */
  readonly session?: string;
}

/** A part of an event that answers the question. */
export interface RecallHit {
  /** The event's id. */
  readonly event: string;
  readonly session: string;
  readonly user?: string;
  /** `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  readonly at: string;
  readonly producer?: string;
  readonly role?: string;
  readonly kind?: string;
  /** The whole event's text when it is one segment, else the segment that was found. */
  readonly text: string;
  /** Where `text` stands in the event's text, in UTF-16 units. */
  readonly range: { readonly start: number; readonly end: number };
  readonly properties: PropertyValues;
  readonly revision: number;
  /** In (0, 1): 0.5 is an average candidate of this question. Orders the hits of one answer alone; see `ranking`. */
  readonly score: number;
  /** In [−1, 1]; absent where vectors did not take part, or the segment has none yet. */
  readonly cosineSimilarity?: number;
  /** BM25; absent where none of the question's telling words is in the text. */
  readonly textScore?: number;
  /** The reranker's, on its own scale, where it judged the hit; then it orders. */
  readonly rerankScore?: number;
  /** Which channels admit it. */
  readonly channels: readonly ("vector" | "text")[];
  /** What was said around it in the same session, in the order of time. */
  readonly context: { readonly before: readonly ContextEvent[]; readonly after: readonly ContextEvent[] };
  /** With `explain`: what made the score, in deviations from the mean of the question's candidates. */
  readonly parts?: {
    readonly text: number;
    readonly vector: number;
    readonly neighbours: number;
    readonly producer: number;
  };
}

/** An event beside a hit. */
export interface ContextEvent {
  readonly event: string;
  readonly at: string;
  readonly producer?: string;
  readonly role?: string;
  readonly text: string;
}

/** What became of reranking. */
export interface Reranking {
  /** The reranker's. */
  readonly name: string;
  /** Hits that it was asked about. */
  readonly candidates: number;
  /** Why it did not order them: the order before it stands. */
  readonly failed?: string;
}

export interface RecallAnswer {
  /** Best first. "Nothing relevant" is an answer: an empty list. */
  readonly hits: readonly RecallHit[];
  /** Name and version of what ordered the hits. */
  readonly ranking: string;
  /**
   * Whether vectors took part: `searched`; `model-loading` while the embedder opens; `not-embedded` when the question
   * could not be embedded; `no-vectors` before the first event; `other-space` when another model made the vectors;
   * `not-asked` when `channels` leaves them out.
   */
  readonly vectorSearch: "searched" | "model-loading" | "not-embedded" | "no-vectors" | "other-space" | "not-asked";
  /** Segments in scope that are not searchable by vector: waiting for the embedder, parked, of another model (S5). */
  readonly coverage: { readonly pending: number; readonly parked: number; readonly otherSpace: number };
  /** Rows left out because their checksum did not hold (E11). */
  readonly damaged: number;
  /** With `rerank`. */
  readonly reranking?: Reranking;
  /** With `explain`. */
  readonly explanation?: RecallExplanation;
}

/** How an answer came about. */
export interface RecallExplanation {
  /** The question's telling words, folded and stemmed as the text index has them. */
  readonly words: readonly string[];
  /** `columns`: the filter acted during the scan; `listed`: what it admits was listed first; both are exact. */
  readonly filter: "none" | "columns" | "listed";
  readonly textCandidates: number;
  readonly vectorCandidates: number;
  /** Segments that were ranked, neighbours with them. */
  readonly ranked: number;
  readonly milliseconds: {
    readonly embedding: number;
    readonly filter: number;
    readonly text: number;
    readonly vector: number;
    readonly ranking: number;
  };
}

export interface ForgetOptions extends WriteOptions {
  /** Answers what would be forgotten and changes nothing. */
  readonly dryRun?: boolean;
  /** Returns only when the bytes have left the files, or says `pending` (E14). */
  readonly erase?: boolean;
  /** Of one event given by its id: raises REVISION_CONFLICT unless this is its newest revision. */
  readonly expectedRevision?: number;
}

export interface ForgetReceipt {
  /** Events forgotten, or with `dryRun` those that would be; unknown ids are no error. */
  readonly forgotten: number;
  readonly erasure?: Erasure;
}

/** What a session forgets: events by their ids, or those that a filter admits. */
export interface ScopedForgetSelection {
  /** Event ids; not together with a filter. */
  readonly events?: readonly string[];
  /** A filter on system fields and keys of your own; one that admits everything is refused (F3). */
  readonly where?: Where<EventFields>;
}

/** What a tenant forgets: events by their ids, or everything of a session, of a user, or that a filter admits; several narrow. */
export interface ForgetSelection extends ScopedForgetSelection {
  readonly session?: string;
  readonly user?: string;
}

/** What `deleteTenant` and `deleteSession` take. */
export interface DeletionOptions extends WriteOptions {
  /** Returns only when the bytes have left the files, or says `pending` (E14). */
  readonly erase?: boolean;
}

export interface DeletionReceipt {
  /** `false` when there was none. */
  readonly deleted: boolean;
  readonly erasure?: Erasure;
}

export interface TenantInfo {
  readonly id: string;
  readonly segments: number;
  readonly createdAt: string;
}

export interface SessionInfo {
  readonly id: string;
  readonly user?: string;
  readonly events: number;
  /** When its oldest and newest events were said; absent in an empty session. */
  readonly firstAt?: string;
  readonly lastAt?: string;
}

export interface MemoryStats {
  readonly tenant: string;
  readonly sessions: number;
  readonly events: number;
  readonly segments: number;
  readonly words: number;
  readonly vectors: number;
  /** Segments that wait for their vector, and those that are parked (S7). */
  readonly pending: { readonly waiting: number; readonly parked: number };
  /** Answers that are kept for retries (V17). */
  readonly receipts: number;
  readonly dimensions?: number;
  /** The identity of the model that made the vectors. */
  readonly space?: string;
  /**
   * The segmenters and derivations that the folder was written with, in the order of their first use: more than one when
   * it was opened with other options meanwhile. What was written stays as it was cut.
   */
  readonly pipelines: readonly { readonly segmenter: string; readonly derive: string }[];
  /** The keys that lie as columns beside the vectors, in the order of their declaration (S4). */
  readonly declared: readonly DeclaredProperty[];
  readonly fileBytes: number;
  readonly path: string;
  readonly threads: "workers" | "inline";
  readonly sqlite: string;
  readonly driver: string;
}

/** One conversation, bound to one life: after its deletion every call raises STALE (S11). */
export interface Session extends EventCalls, ExportCalls<ScopedListOptions>, PendingCalls, SessionLog {
  readonly id: string;
  readonly user?: string;
  /** Whether `createSession` made it. */
  readonly created: boolean;
  /**
   * Keeps an event; durable and findable when it answers. The same event under the same id may be sent
   * again; another one under that id, or the same one in another session, raises EVENT_CONFLICT.
   */
  remember(event: EventInput, options?: WriteOptions): Promise<RememberReceipt>;
  /** Keeps many events in one commit: all or none. */
  rememberMany(events: readonly EventInput[], options?: WriteOptions): Promise<readonly RememberReceipt[]>;
  /** Searches this session by meaning and by words; see `Tenant.recall`. */
  recall(question: string, options?: ScopedRecallOptions): Promise<RecallAnswer>;
  /** What happened in this session alone; see `Tenant.changes`. */
  changes(options?: ChangesOptions): Promise<ChangesPage>;
  /** Its events by time, in pages. */
  list(options?: ScopedListOptions): Promise<EventPage>;
  /** Its events, or those that a filter admits. */
  count(options?: ScopedCountOptions): Promise<number>;
  /** Forgets events of this session alone; visible in every read when it returns (S6). */
  forget(selection: ScopedForgetSelection, options?: ForgetOptions): Promise<ForgetReceipt>;
}

/** One tenant's memory, bound to one life: nothing in it meets another tenant's (S10). */
export interface Tenant extends EventCalls, ExportCalls, PendingCalls {
  readonly tenantId: string;
  /** Answers the session that stands when its user is the same; raises ALREADY_EXISTS when not (S1). */
  createSession(id: string, options?: { readonly user?: string } & WriteOptions): Promise<Session>;
  /** Raises NOT_FOUND for an unknown session. */
  session(id: string): Promise<Session>;
  /** `undefined` for an unknown session. */
  getSession(id: string): Promise<Session | undefined>;
  /** Sessions by id, in pages. */
  listSessions(
    options?: { readonly user?: string; readonly after?: string; readonly limit?: number } & CallOptions,
  ): Promise<readonly SessionInfo[]>;
  /**
   * Ends the session's life at once and forgets its events, in steps of bounded size; returns when they are gone.
   * A deletion that a crash cut short is finished by the next one, by `createSession` of the id, or after the next open.
   */
  deleteSession(id: string, options?: DeletionOptions): Promise<DeletionReceipt>;
  /** Searches all sessions, or a user's, or one, by meaning and by words. */
  recall(question: string, options?: RecallOptions): Promise<RecallAnswer>;
  /** Events by time, in pages; of all sessions, a user's, or one. */
  list(options?: ListOptions): Promise<EventPage>;
  /** Events, of all sessions, a user's, or one, or those that a filter admits. */
  count(options?: CountOptions): Promise<number>;
  /** In commits of bounded size; visible in every read when it returns (S6). */
  forget(selection: ForgetSelection, options?: ForgetOptions): Promise<ForgetReceipt>;
  /**
   * What was written, changed and forgotten, in the order of commits, each once (S14). The newest 100,000 are kept.
   *
   * @throws CURSOR_EXPIRED
   */
  changes(options?: ChangesOptions): Promise<ChangesPage>;
  /** What this tenant holds, and what the folder is written with. */
  stats(options?: CallOptions): Promise<MemoryStats>;
}

/** A tenant as `createTenant` answers it. */
export interface CreatedTenant extends Tenant {
  readonly created: boolean;
}

/** A folder's memory: the default tenant's, with the way to the others. `await using` closes it (E12). */
export interface Memory extends Tenant, DeclaredProperties, FolderCalls, ArchiveCalls, AsyncDisposable {
  /** Answers the tenant that stands under this id, or a new one (S1). */
  createTenant(id: string, options?: WriteOptions): Promise<CreatedTenant>;
  /** Raises NOT_FOUND for an unknown tenant. */
  tenant(id: string): Promise<Tenant>;
  /** `undefined` for an unknown tenant. */
  getTenant(id: string): Promise<Tenant | undefined>;
  /** Tenants by id, in pages. */
  listTenants(
    options?: { readonly after?: string; readonly limit?: number } & CallOptions,
  ): Promise<readonly TenantInfo[]>;
  /**
   * Ends a tenant's life in constant time: nothing of it can be read any more. Its bytes are reclaimed in steps beside
   * the traffic, or, with `erase`, before the call returns. Deleting the default tenant ends the memory's own calls on it
   * until it is opened again.
   */
  deleteTenant(id: string, options?: DeletionOptions): Promise<DeletionReceipt>;
  /** Idempotent; waits for calls in flight, at most 10 s (E12). */
  close(): Promise<void>;
}
