import { formatDatetime } from "../contract/datetime.ts";
import { LIMITS } from "../contract/limits.ts";
import { withDeadline } from "../database/call.ts";
import { failureReason } from "../embedding/failure-reason.ts";
import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { cancelError } from "../io/cancellation.ts";
import type { MemoryCore } from "./core.ts";
import { openPlace, sealPlace } from "./cursors.ts";
import type { Scope } from "./event-rows.ts";
import type { EmbedPendingAnswer, EmbedPendingOptions, PendingOptions, PendingPage } from "./pending-contract.ts";
import { countPendingRows, listPendingRows } from "./pending-rows.ts";
import type { TenantLife } from "./tenants.ts";

const DEFAULT_PAGE = 100;

/** The pending embeddings of a tenant or of one session: listed, and embedded on demand. */
export class Pending {
  readonly #core: MemoryCore;
  readonly #scope: Scope;

  constructor(core: MemoryCore, scope: Scope) {
    this.#core = core;
    this.#scope = scope;
  }

  async list(options: PendingOptions): Promise<PendingPage> {
    const { state, after, limit = DEFAULT_PAGE, ...call } = options;
    if (state !== undefined && state !== "waiting" && state !== "parked")
      throw new HoldfastError("INVALID_ARGUMENT", 'state is "waiting" or "parked", or left out for both.');
    if (!(Number.isInteger(limit) && limit >= 1 && limit <= LIMITS.scanPageMax))
      throw new HoldfastError("INVALID_ARGUMENT", `limit is a whole number from 1 to ${LIMITS.scanPageMax}.`);
    const input = { scope: this.#scope, state, after: placeOf(this.#scope.tenant, after), limit: limit + 1 };
    const rows = await this.#core.database.read(listPendingRows, input, call);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      segments: page.map(({ event, session, range, state: stands, attempts, reason, nextAt }) => ({
        event,
        session,
        range,
        state: stands,
        attempts,
        reason,
        ...(stands === "waiting" && { nextAt: formatDatetime(BigInt(nextAt)) }),
      })),
      ...(last && { next: `p${sealPlace(this.#scope.tenant, "pending", { at: 0n, event: last.segment })}` }),
    };
  }

  async embed(options: EmbedPendingOptions): Promise<EmbedPendingAnswer> {
    const { includeParked = false, onProgress, ...call } = options;
    if (typeof includeParked !== "boolean")
      throw new HoldfastError("INVALID_ARGUMENT", "includeParked is true or false.");
    if (onProgress !== undefined && typeof onProgress !== "function")
      throw new HoldfastError("INVALID_ARGUMENT", "onProgress is a function.");
    const bounds = withDeadline(call, "write");
    const counted = { scope: this.#scope, space: this.#core.pipeline.identity };
    const before = await this.#core.database.read(countPendingRows, counted, bounds);
    const total = before.waiting + before.parked;
    const selection = { scope: this.#scope, dueAt: undefined, includeParked };
    let done = 0;
    const onCommit = (embedded: number): void => {
      done = embedded;
      onProgress?.({ embedded, total });
    };
    const { embedded, failure } = await this.#core.retrier
      .drain(selection, bounds.signal, onCommit)
      .catch((error: unknown) => {
        if (!isHoldfastError(error) || error.group !== "abort") throw error;
        throw cancelError(error.code === "TIMEOUT" ? "timeout" : "aborted", done > 0 ? "applied" : "not-applied");
      });
    this.#core.retrier.wake();
    const { waiting, parked } = await this.#core.database.read(countPendingRows, counted);
    return { embedded, waiting, parked, ...(failure && { reason: failureReason(failure) }) };
  }
}

function placeOf(tenant: TenantLife, cursor: unknown): number {
  if (cursor === undefined) return 0;
  const place = typeof cursor === "string" && cursor.startsWith("p") && openPlace(tenant, "pending", cursor.slice(1));
  if (place && place.at === 0n) return place.event;
  throw new HoldfastError(
    "INVALID_ARGUMENT",
    "after is the next of an earlier page of this tenant, as it was answered.",
  );
}
