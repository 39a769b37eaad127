import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { Child } from "../doubles/child.ts";
import { type DiskCalls, type Fault, FaultyDisk } from "../doubles/faulty-disk.ts";
import { allowedTexts, type CaughtError, type ImportStep } from "../doubles/import-model.ts";

/** Moments at which each kind of fault begins, spread over the calls of an import. */
const POINTS = Number(process.env.HOLDFAST_FAULT_POINTS ?? 200);

const READ_POINTS = Math.ceil(POINTS / 4);

/** One import in so many runs in threads, as a folder is opened by default; the others, on one thread, take a sixth of the time. */
const THREADED_EVERY = 10;

type Threads = "inline" | "workers";

interface Import {
  readonly openError?: CaughtError;
  readonly steps: readonly ImportStep[];
}

interface Closed {
  readonly closeError?: CaughtError;
  readonly calls: DiskCalls;
}

interface State {
  readonly texts: Readonly<Record<string, string>>;
  readonly wrong: readonly string[];
}

interface Inspection {
  readonly found: State;
  readonly repeated: readonly ImportStep[];
  readonly after: State["texts"];
  /** Of `verifyFolder`. */
  readonly findings: readonly string[];
}

let disk: FaultyDisk;

beforeAll(() => {
  disk = new FaultyDisk();
});
afterAll(() => disk.remove());

describe("[backend embedded] an import on a disk that fails", () => {
  it(`[E10, V13] that is full from one of ${POINTS} writes on: nothing acknowledged is lost, answers are right, errors say what to do`, async () => {
    const errors = await spoil("writes", (at, round) => ({
      kind: "writes",
      at,
      error: round % 3 === 0 ? "EDQUOT" : "ENOSPC",
      lasting: true,
    }));
    for (const { code, reason, message } of errors) {
      assert.equal(code === "FAILED" ? reason : code, "DISK_FULL", message);
      assert.match(message, /full|quota/);
      assert.match(message, /free space and try again/);
    }
  });

  it(`[E10, V13] that fails one of ${POINTS} syncs and loses what was not synced: nothing acknowledged is lost, answers are right`, async () => {
    const errors = await spoil("syncs", (at, round) => ({
      kind: "syncs",
      at,
      error: "EIO",
      lasting: round % 2 === 0,
      lossy: round % 4 < 2,
    }));
    for (const { code, reason, message } of errors) {
      assert.equal(code === "FAILED" ? reason : code, "IO_FAILED", message);
      assert.match(message, /check the medium/);
    }
  });

  it(`[E10, E11] that fails one of ${READ_POINTS} reads: each call says whether it was applied, and the next one goes on`, async () => {
    const errors = await spoil("reads", (at) => ({ kind: "reads", at, error: "EIO" }), READ_POINTS);
    // An update of an event whose step was refused finds none.
    for (const { code, reason, message } of errors.filter((error) => error.code !== "NOT_FOUND")) {
      // A commit reads too, where it moves the log into the file: then it is the commit that failed.
      const cause = code === "FAILED" ? reason : code;
      assert.ok(cause === "DAMAGED" || cause === "IO_FAILED", `${code}: ${message}`);
      assert.match(message, /medium/);
    }
  });
});

/** Runs the import once for each point; answers the errors that told of the fault. */
async function spoil(
  kind: Fault["kind"],
  fault: (at: number, round: number) => Fault,
  points = POINTS,
): Promise<CaughtError[]> {
  const threadedPoints = Math.ceil(points / THREADED_EVERY);
  const errors = await Promise.all([
    spoilOn("workers", kind, threadedPoints, fault),
    spoilOn("inline", kind, points - threadedPoints, fault),
  ]);
  return errors.flat();
}

async function spoilOn(
  threads: Threads,
  kind: Fault["kind"],
  points: number,
  fault: (at: number, round: number) => Fault,
): Promise<CaughtError[]> {
  const [faulty, sound] = [await disk.start("faulty-import"), await Child.start("faulty-import")];
  try {
    const whole = await runOnce(faulty, threads);
    assert.deepEqual(errorsOf(whole.steps), [], "nothing fails without a fault");
    const final = finalTexts(whole.steps);
    const errors: CaughtError[] = [];
    for (let round = 0; round < points; round += 1) {
      const at = 1 + Math.floor((round * whole.calls[kind]) / points);
      errors.push(...(await spoilOnce({ faulty, sound }, threads, fault(at, round), final)));
    }
    return errors;
  } finally {
    await sound.kill();
  }
}

async function runOnce(child: Child, threads: Threads): Promise<Import & Closed> {
  const folder = disk.folder();
  const ran = (await child.ask({ type: "import", path: join(folder, "memory.holdfast"), threads })) as Import;
  const closed = (await child.ask({ type: "close" })) as Closed;
  rmSync(folder, { recursive: true });
  return { ...ran, ...closed };
}

/**
 * The folder is then opened by the process whose handle failed, or, while that handle is still held, by one for which
 * the disk is sound. Answers the errors that told of the fault.
 */
async function spoilOnce(
  { faulty, sound }: { readonly faulty: Child; readonly sound: Child },
  threads: Threads,
  fault: Fault,
  final: Readonly<Record<string, string>>,
): Promise<readonly CaughtError[]> {
  const folder = disk.folder();
  const path = join(folder, "memory.holdfast");
  const where = `${threads} ${JSON.stringify(fault)}`;
  const inspectsWhileHeld = fault.at % 2 === 0;
  const { openError, steps } = (await faulty.ask({ type: "import", path, threads, fault })) as Import;
  const inspect = async (child: Child): Promise<void> => {
    assertWhole(steps, (await child.ask({ type: "inspect", path })) as Inspection, final, where);
  };
  if (inspectsWhileHeld) await inspect(sound);
  const { closeError, calls } = (await faulty.ask({ type: "close" })) as Closed;
  assert.equal(closeError, undefined, where);
  if (!inspectsWhileHeld) await inspect(faulty);
  rmSync(folder, { recursive: true });
  assertStopped(steps, where);
  const errors = [...(openError === undefined ? [] : [openError]), ...errorsOf(steps)];
  // Commits are shared and logs moved as it happens: one of the last points may lie behind the end.
  const reached = calls.failed > 0 || (errors.length === 0 && calls[fault.kind] < fault.at);
  assert.ok(reached, `${where}: ${JSON.stringify({ calls, errors })}`);
  return errors.filter(({ message }) => !/failed earlier/.test(message));
}

/** Behind a commit of unknown outcome the handle acknowledges nothing more. */
function assertStopped(steps: readonly ImportStep[], where: string): void {
  const failed = steps.find(({ error }) => error?.outcome === "unknown");
  if (failed === undefined) return;
  assert.equal(failed.error?.code, "FAILED", where);
  for (const { wave, error } of steps) {
    if (wave <= failed.wave) continue;
    assert.deepEqual([error?.code, error?.outcome], ["FAILED", "not-applied"], where);
  }
}

function assertWhole(
  steps: readonly ImportStep[],
  { found, repeated, after, findings }: Inspection,
  final: Readonly<Record<string, string>>,
  where: string,
): void {
  assert.deepEqual(found.wrong, [], where);
  const allowed = allowedTexts(steps);
  for (const id of Object.keys(found.texts)) assert.ok(allowed.has(id), `${where}: ${id} was never sent`);
  for (const [id, texts] of allowed) {
    const text = found.texts[id] ?? null;
    assert.ok(texts.has(text), `${where}: ${id} is ${text}, allowed is ${[...texts].join(" or ")}`);
  }
  // What was updated since is another event than the one that the first step tells.
  const refused = errorsOf(repeated).filter(({ code }) => code !== "EVENT_CONFLICT");
  assert.deepEqual(refused, [], where);
  assert.deepEqual(after, final, where);
  assert.deepEqual(findings, [], where);
}

function finalTexts(steps: readonly ImportStep[]): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [id, [text]] of allowedTexts(steps)) if (typeof text === "string") texts[id] = text;
  return texts;
}

function errorsOf(steps: readonly ImportStep[]): readonly CaughtError[] {
  return steps.flatMap(({ error }) => (error === undefined ? [] : [error]));
}
