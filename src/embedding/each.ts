import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { assertNotAborted } from "./abort.ts";
import { type CheckedOptions, embedBatch, openEmbedder, type TextBatch, toBatches } from "./embed-call.ts";
import type { Embedder } from "./embedder.ts";
import { isAboutTexts } from "./failure-cause.ts";
import { checkTexts } from "./text-checks.ts";
import type { Embedded } from "./vector-checks.ts";

export interface EachOptions extends CheckedOptions {
  /**
   * Texts that fail one by one, before any was embedded, after which the service is taken to be down and the rest to
   * fail like them: then a dead service costs a few calls and not two a text. Without it every text is tried.
   */
  readonly giveUpAfter?: number;
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
    const answers = await embedBatch(embedder, batch, options);
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
