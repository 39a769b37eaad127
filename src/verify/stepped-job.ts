import { type CallBounds, withDeadline } from "../database/call.ts";
import { cancelError } from "../io/cancellation.ts";
import { systemClock, yieldToEventLoop } from "../io/clock.ts";
import { replyTo, WorkerChannel, type WorkerRequest, type WorkerStart } from "../io/workers.ts";
import type { Steps } from "./verification.ts";
import type { MaintenanceProgress } from "./verify-contract.ts";

/** Long synchronous work that gives way at each step, so that it can be watched and stopped. */
export interface SteppedJob<Result> {
  readonly progress: MaintenanceProgress;
  steps(): Steps;
  /** After the last step. */
  result(): Result;
}

type Stepped<Result> =
  | { readonly progress: MaintenanceProgress }
  | { readonly progress: MaintenanceProgress; readonly result: Result };

/** How long a job works in its thread before it answers how far it is. */
const STEP_MS = 150;
/** The same on the calling thread, which others wait for. */
const STEP_INLINE_MS = 10;

const STEPS_BETWEEN_LOOKS = 16;

class JobRunner<Result> {
  readonly #job: SteppedJob<Result>;
  readonly #steps: Steps;

  constructor(job: SteppedJob<Result>) {
    this.#job = job;
    this.#steps = job.steps();
  }

  run(budgetMs: number): Stepped<Result> {
    const began = systemClock.monotonicMs();
    for (let step = 1; ; step += 1) {
      if (this.#steps.next().done === true) return { progress: this.#job.progress, result: this.#job.result() };
      if (step % STEPS_BETWEEN_LOOKS === 0 && systemClock.monotonicMs() - began >= budgetMs)
        return { progress: this.#job.progress };
    }
  }

  /** Ends it where it stands; it closes what it opened. */
  stop(): void {
    this.#steps.return();
  }
}

/** Runs a job in a thread of its own, which `url` starts in this role. */
export async function runInThread<Result>(
  start: { readonly url: URL; readonly role: string; readonly settings: unknown },
  watch: JobWatch,
): Promise<Result> {
  const channel = new WorkerChannel(start.url, start.role, start.settings, () => undefined);
  try {
    return await drive(watch, async () => (await channel.call({ name: "step", input: null })) as Stepped<Result>);
  } finally {
    await channel.end();
  }
}

/** Runs a job on the calling thread, in slices. */
export async function runInline<Result>(job: SteppedJob<Result>, watch: JobWatch): Promise<Result> {
  const runner = new JobRunner(job);
  try {
    return await drive(watch, async () => {
      await yieldToEventLoop();
      return runner.run(STEP_INLINE_MS);
    });
  } finally {
    runner.stop();
  }
}

export interface JobWatch extends CallBounds {
  readonly onProgress?: ((progress: MaintenanceProgress) => void) | undefined;
}

async function drive<Result>(watch: JobWatch, step: () => Promise<Stepped<Result>>): Promise<Result> {
  const { onProgress, ...bounds } = watch;
  const { signal } = withDeadline(bounds, "read");
  for (;;) {
    if (signal?.aborted === true)
      throw cancelError((signal.reason as { name?: unknown })?.name === "TimeoutError" ? "timeout" : "aborted", "none");
    const stepped = await step();
    onProgress?.(stepped.progress);
    if ("result" in stepped) return stepped.result;
  }
}

/** The thread's end: each call does a step. */
export function serveJob(start: WorkerStart, job: SteppedJob<unknown>): void {
  const runner = new JobRunner(job);
  start.port.on("message", (request: WorkerRequest | null) => {
    if (request === null) {
      runner.stop();
      start.port.close();
      return;
    }
    try {
      replyTo(start.port, request.id, { value: runner.run(STEP_MS) });
    } catch (error) {
      replyTo(start.port, request.id, { error });
    }
  });
}
