/** The middle one; of an even number the lower. */
export function median(values) {
  return quantile(values, 0.5);
}

export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length - 1) * share))];
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Milliseconds of each of `count` calls, one after the other. */
export async function timesOf(count, call) {
  const times = [];
  for (let index = 0; index < count; index += 1) {
    const start = performance.now();
    await call(index);
    times.push(performance.now() - start);
  }
  return times;
}

/** How many a second: `count` things done by `call`. */
export async function rateOf(count, call) {
  const start = performance.now();
  await call();
  return (count / (performance.now() - start)) * 1000;
}

/**
 * Runs each of `runs` in turn, `rounds` times after `warmUps`, so that a slow moment of the machine
 * meets them all, and keeps what each answered by name.
 */
export async function inTurn(runs, { rounds, warmUps = 0 }) {
  const answers = new Map(Object.keys(runs).map((name) => [name, []]));
  for (let round = 0; round < warmUps + rounds; round += 1) {
    for (const [name, run] of Object.entries(runs)) {
      const answer = await run(round);
      if (round >= warmUps) answers.get(name).push(answer);
    }
  }
  return answers;
}

/** Milliseconds of a synchronous call. */
export function timeOf(call) {
  const start = performance.now();
  call();
  return performance.now() - start;
}
