import { HoldfastError } from "../errors/index.ts";
import { cancelError } from "./cancellation.ts";
import { giveWay, systemClock } from "./clock.ts";
import type { StepJob, StepProgress, Steps, StepWatch } from "./step-job.ts";
import { replyTo, WorkerChannel, type WorkerRequest, type WorkerStart } from "./workers.ts";

/** The role of a worker that runs steps. */
export const STEP_ROLE = "steps";

const NEXT = "next";

/** Steps of one message: what the caller hears of progress, and how soon a stop is heard. */
const TURN_MS = 50;

interface Turn {
  readonly progress?: StepProgress;
  readonly answer?: { readonly value: unknown };
}

/**
 * Runs a job in a thread of its own, or without `url` on the calling one, which others get between steps. When the
 * signal is raised the job ends at its next step and the call answers ABORTED or TIMEOUT: nothing was done then.
 */
export async function runSteps<Input, Output>(
  job: StepJob<Input, Output>,
  input: Input,
  { url, ...watch }: StepWatch & { readonly url: URL | undefined },
): Promise<Output> {
  return url === undefined ? runHere(job.run(input), watch) : runThere(job, input, url, watch);
}

async function runHere<Output>(steps: Steps<Output>, { signal, onProgress }: StepWatch): Promise<Output> {
  try {
    for (;;) {
      assertWanted(signal);
      const { done, value } = steps.next();
      if (done === true) return value;
      onProgress?.(value);
      await giveWay();
    }
  } finally {
    steps.return(undefined as Output);
  }
}

async function runThere<Input, Output>(
  job: StepJob<Input, Output>,
  input: Input,
  url: URL,
  { signal, onProgress }: StepWatch,
): Promise<Output> {
  const channel = new WorkerChannel(url, STEP_ROLE, null, () => undefined);
  try {
    await channel.call({ name: job.name, input });
    for (;;) {
      assertWanted(signal);
      const { progress, answer } = (await channel.call({ name: NEXT, input: null })) as Turn;
      if (progress !== undefined) onProgress?.(progress);
      if (answer !== undefined) return answer.value as Output;
    }
  } finally {
    await channel.end();
  }
}

function assertWanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  const isTimeout = (signal.reason as { name?: unknown } | undefined)?.name === "TimeoutError";
  throw cancelError(isTimeout ? "timeout" : "aborted", "not-applied");
}

/** Steps of one job, and the phase that was told last: each is told, however short. */
interface Running {
  readonly steps: Steps<unknown>;
  phase: string | undefined;
}

/** The thread's end: one job, begun by its name. */
export function serveSteps({ port }: WorkerStart, jobs: ReadonlyMap<string, StepJob<never, unknown>>): void {
  let running: Running | undefined;
  const answerTo = ({ name, input }: { readonly name: string; readonly input: unknown }): Turn => {
    if (running !== undefined && name === NEXT) return runTurn(running);
    const job = jobs.get(name) as StepJob<unknown, unknown> | undefined;
    if (job === undefined) throw new HoldfastError("BUG", `No job is named ${name}.`);
    running = { steps: job.run(input), phase: undefined };
    return {};
  };
  port.on("message", (request: WorkerRequest | null) => {
    if (request === null) {
      running?.steps.return(undefined);
      port.close();
    } else if (request.type === "hello") replyTo(port, request.id, { value: undefined });
    else if (request.type === "call") {
      try {
        replyTo(port, request.id, { value: answerTo(request) });
      } catch (error) {
        replyTo(port, request.id, { error });
      }
    }
  });
}

function runTurn(running: Running): Turn {
  const endMs = systemClock.monotonicMs() + TURN_MS;
  for (;;) {
    const step = running.steps.next();
    if (step.done === true) return { answer: { value: step.value } };
    const { phase } = step.value;
    if (phase === running.phase && systemClock.monotonicMs() < endMs) continue;
    running.phase = phase;
    return { progress: step.value };
  }
}
