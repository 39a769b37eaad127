import { type CallBounds, withDeadline } from "../database/call.ts";
import type { StepJob, StepProgress, Steps as Turns } from "../io/step-job.ts";
import { runSteps } from "../io/step-thread.ts";
import type { Steps } from "./verification.ts";
import type { MaintenanceProgress } from "./verify-contract.ts";

/** Long synchronous work that gives way at each step, so that it can be watched and stopped. */
export interface SteppedJob<Result> {
  readonly progress: MaintenanceProgress;
  steps(): Steps;
  /** After the last step. */
  result(): Result;
}

/** Steps are rows: whoever watches is told of each stage, and of some of its rows. */
const STEPS_PER_TURN = 64;

/** A job as threads run it. */
export function* inTurns<Result>(job: SteppedJob<Result>): Turns<Result> {
  const steps = job.steps();
  try {
    let told: string | undefined;
    for (let count = 1; steps.next().done !== true; count += 1) {
      const { stage } = job.progress;
      if (count % STEPS_PER_TURN !== 0 && stage === told) continue;
      told = stage;
      yield toTurn(job.progress);
    }
    yield toTurn(job.progress);
    return job.result();
  } finally {
    steps.return();
  }
}

type MaintenanceTurn = StepProgress & Pick<MaintenanceProgress, "rows">;

function toTurn({ stage, stagesDone, stages, rows }: MaintenanceProgress): MaintenanceTurn {
  return { phase: stage, done: stagesDone, total: stages, rows };
}

export interface JobWatch extends CallBounds {
  readonly onProgress?: ((progress: MaintenanceProgress) => void) | undefined;
}

/** Runs a job in a thread of its own, or without `url` on the calling one, in slices. */
export function runWatched<Input, Result>(
  job: StepJob<Input, Result>,
  input: Input,
  { url, onProgress, ...bounds }: JobWatch & { readonly url: URL | undefined },
): Promise<Result> {
  const { signal } = withDeadline(bounds, "read");
  const tell = (progress: StepProgress): void => {
    const { phase, done, total, rows } = progress as MaintenanceTurn;
    onProgress?.({ stage: phase, stagesDone: done, stages: total, rows });
  };
  return runSteps(job, input, { url, onProgress: tell, ...(signal && { signal }) });
}
