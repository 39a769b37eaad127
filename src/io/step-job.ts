/** How far long work has come, in a unit of its own. */
export interface StepProgress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

/**
 * Long work in steps: what it does between two yields is short, and a caller who stops ends it at a yield, where its
 * `finally` blocks clean up.
 */
export type Steps<Output> = Generator<StepProgress, Output, void>;

/** Long work that runs in a thread of its own, found there by its name. */
export interface StepJob<Input, Output> {
  readonly name: string;
  readonly run: (input: Input) => Steps<Output>;
}

export interface StepWatch {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: StepProgress) => void;
}

export function stepJob<Input, Output>(name: string, run: (input: Input) => Steps<Output>): StepJob<Input, Output> {
  return { name, run };
}
