import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { anySignal } from "../io/signals.ts";
import { assertNotAborted } from "./abort.ts";
import { type CheckedOptions, embedBatch, openEmbedder, type TextBatch, toBatches } from "./embed-call.ts";
import type { Embedder } from "./embedder.ts";
import { isAboutTexts } from "./failure-cause.ts";
import { checkTexts } from "./text-checks.ts";
import { type Embedded, failure } from "./vector-checks.ts";

export interface EachOptions extends CheckedOptions {
  /**
   * Texts that fail one by one, before any was embedded, after which the service is taken to be down and the rest to
   * fail like them: then a dead service costs a few calls and not two a text. Without it every text is tried.
   */
  readonly giveUpAfter?: number;
  /** How long one call may take before the service is taken to be down, in ms; without it for ever. */
  readonly callTimeoutMs?: number;
}

/** What the calls so far say of the service. */
interface Service {
  embeds: boolean;
  failedAlone: number;
  down: Embedded | undefined;
}

/**
 * Embeds what can be embedded: one outcome a text in input order, so that one poison text never stops
 * the others (S7, M8). A call that fails because of its texts is repeated in halves, down to one; a call
 * that fails because the service is not there fails all its texts at once.
 *
 * @throws ABORTED, TIMEOUT; every other error is the outcome of a text
 */
export async function embedEach(
  embedder: Embedder,
  texts: readonly string[],
  options: EachOptions,
): Promise<readonly Embedded[]> {
  assertNotAborted(options.signal);
  if (texts.length === 0) return [];
  try {
    await openEmbedder(embedder, options.signal);
  } catch (error) {
    const failed = toOutcome(error);
    return texts.map(() => failed);
  }
  const outcomes = new Map<number, Embedded>();
  const sound: number[] = [];
  for (const [position, check] of (await checkTexts(embedder, texts, options.signal)).entries()) {
    if ("error" in check) outcomes.set(position, check);
    else sound.push(position);
  }
  const service: Service = { embeds: false, failedAlone: 0, down: undefined };
  for (const batch of toBatches(texts, sound, options)) {
    for (const [position, outcome] of await embedInParts(embedder, batch, options, service))
      outcomes.set(position, outcome);
  }
  return texts.map((_, position) => outcomes.get(position) ?? { error: lost(position) });
}

type Outcomes = readonly (readonly [position: number, outcome: Embedded])[];

async function embedInParts(
  embedder: Embedder,
  batch: TextBatch,
  options: EachOptions,
  service: Service,
): Promise<Outcomes> {
  const { texts, positions } = batch;
  const { down } = service;
  if (down !== undefined) return positions.map((position) => [position, down] as const);
  try {
    const answers = await embedInTime(embedder, batch, options);
    service.embeds ||= answers.some((answer) => "vector" in answer);
    return answers.map((answer, index) => [positions[index] ?? -1, answer] as const);
  } catch (error) {
    const failed = toOutcome(error);
    const alone = positions.length === 1;
    if (alone && isAboutTexts(error)) service.failedAlone += 1;
    if (isDown(error, service, options)) service.down = failed;
    if (alone || !isAboutTexts(error)) return positions.map((position) => [position, failed] as const);
    const middle = positions.length >> 1;
    const left = { texts: texts.slice(0, middle), positions: positions.slice(0, middle) };
    const right = { texts: texts.slice(middle), positions: positions.slice(middle) };
    return [
      ...(await embedInParts(embedder, left, options, service)),
      ...(await embedInParts(embedder, right, options, service)),
    ];
  }
}

/** A call that hangs is one that failed, and not the caller's own deadline. */
async function embedInTime(embedder: Embedder, batch: TextBatch, options: EachOptions): Promise<readonly Embedded[]> {
  const { callTimeoutMs, signal } = options;
  if (callTimeoutMs === undefined) return embedBatch(embedder, batch, options);
  return withinMs(embedder, callTimeoutMs, signal, (bound) =>
    embedBatch(embedder, batch, { ...options, signal: bound }),
  );
}

/** Runs `work` under a signal that is raised when it takes too long: then EMBEDDING_FAILED, by the service. */
export async function withinMs<T>(
  embedder: Embedder,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (bound: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    return await work(signal === undefined ? late : anySignal([signal, late]));
  } catch (error) {
    if (!late.aborted || signal?.aborted === true || !isHoldfastError(error) || error.group !== "abort") throw error;
    const cause = Object.assign(new Error(`no answer within ${timeoutMs} ms`), { code: "ETIMEDOUT" });
    throw failure(embedder, "The embedder did not answer in time", {}, cause);
  }
}

function isDown(error: unknown, service: Service, { giveUpAfter }: EachOptions): boolean {
  if (giveUpAfter === undefined) return false;
  return !isAboutTexts(error) || (!service.embeds && service.failedAlone >= giveUpAfter);
}

/** The error as the outcome of a text, unless the caller has gone: then there is nobody to answer. */
function toOutcome(error: unknown): Embedded {
  if (!isHoldfastError(error) || error.group === "abort") throw error;
  return { error };
}

function lost(position: number): HoldfastError {
  return new HoldfastError("BUG", `The text at position ${position} was left without an outcome; please report it.`, {
    details: { position },
  });
}
