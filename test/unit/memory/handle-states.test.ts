import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Memory, Session, Tenant } from "../../../src/memory/contract.ts";
import { type MemoryOptions, openMemory } from "../../../src/open-memory.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { temporaryFolder } from "../database/connections.ts";
import { sourceOf, textOf } from "./archive-worlds.ts";
import { type Calls, fill, methodsOf, SESSION_CALLS, TENANT_CALLS } from "./handle-calls.ts";

type State = "open" | "loading" | "closing" | "closed" | "failed" | "read-only";

/** What a call comes to; `waits`: for the model that is loading, or for the calls in flight, and then it answers. */
type Outcome = "answers" | "waits" | "CLOSED" | "FAILED" | "READ_ONLY";

/** What a method needs decides what it comes to. */
type Need = "reads" | "asks" | "writes" | "embeds" | "ends";

const STATES: Readonly<Record<Need, Readonly<Record<State, Outcome>>>> = {
  reads: row("answers", "answers", "CLOSED", "CLOSED", "FAILED", "answers"),
  // A question's vector is waited for, and words answer where it does not come.
  asks: row("answers", "waits", "CLOSED", "CLOSED", "FAILED", "answers"),
  writes: row("answers", "answers", "CLOSED", "CLOSED", "FAILED", "READ_ONLY"),
  embeds: row("answers", "waits", "CLOSED", "CLOSED", "FAILED", "READ_ONLY"),
  ends: row("answers", "answers", "waits", "answers", "answers", "answers"),
};

type Needs = Readonly<Record<string, Need>>;

const SESSION_NEEDS: Needs = {
  changes: "reads",
  count: "reads",
  // With nothing pending.
  embedPending: "writes",
  exportEvents: "reads",
  forget: "writes",
  getEvent: "reads",
  history: "reads",
  list: "reads",
  pendingEmbeddings: "reads",
  recall: "asks",
  recent: "reads",
  remember: "embeds",
  rememberMany: "embeds",
  summary: "reads",
  updateEvent: "embeds",
  updateSummary: "writes",
};

const TENANT_NEEDS: Needs = {
  changes: "reads",
  count: "reads",
  createSession: "writes",
  deleteSession: "writes",
  embedPending: "writes",
  exportEvents: "reads",
  forget: "writes",
  getEvent: "reads",
  getSession: "reads",
  history: "reads",
  list: "reads",
  listSessions: "reads",
  pendingEmbeddings: "reads",
  recall: "asks",
  session: "reads",
  stats: "reads",
  updateEvent: "embeds",
};

const MEMORY_NEEDS: Needs = {
  ...TENANT_NEEDS,
  backup: "reads",
  close: "ends",
  createTenant: "writes",
  deleteTenant: "writes",
  exportArchive: "reads",
  fillDeclared: "writes",
  folderStats: "reads",
  getTenant: "reads",
  importArchive: "writes",
  listTenants: "reads",
  tenant: "reads",
};

/** Each with a tenant of that name, beside those that every tenant has. */
const MEMORY_CALLS: Calls<Memory> = {
  ...TENANT_CALLS,
  backup: (on, name) => on.backup(join(temporaryFolder(), `${name}.backup`)),
  close: (on) => on.close(),
  createTenant: (on, name) => on.createTenant(`${name}-new`),
  deleteTenant: (on, name) => on.deleteTenant(name),
  exportArchive: async (on) => textOf(on.exportArchive()),
  fillDeclared: (on) => on.fillDeclared(),
  folderStats: (on) => on.folderStats(),
  getTenant: (on, name) => on.getTenant(name),
  importArchive: async (on) => on.importArchive(sourceOf(await archiveOfOne()), { as: "imported" }),
  listTenants: (on) => on.listTenants(),
  tenant: (on, name) => on.tenant(name),
};

async function archiveOfOne(): Promise<string> {
  const { memory } = await openFilled();
  return textOf(memory.exportArchive({ tenant: "t" }));
}

interface Handles {
  readonly memory: Memory;
  readonly tenant: Tenant;
  readonly session: Session;
}

/** A memory of one tenant, brought into a state; what was started by it is ended by `settle`. */
interface Bed extends Handles {
  settle(): Promise<void>;
}

/** What takes away what the others ask for. */
const LAST: readonly string[] = ["forget", "deleteSession", "deleteTenant", "close"];

type Call = (handles: Handles, method: string) => Promise<unknown> | undefined;

const HANDLES: Readonly<Record<"Memory" | "Tenant" | "Session", { readonly needs: Needs; readonly call: Call }>> = {
  Memory: { needs: MEMORY_NEEDS, call: ({ memory }, method) => MEMORY_CALLS[method]?.(memory, nameFor(method)) },
  Tenant: { needs: TENANT_NEEDS, call: ({ tenant }, method) => TENANT_CALLS[method]?.(tenant, nameFor(method)) },
  Session: { needs: SESSION_NEEDS, call: ({ session }, method) => SESSION_CALLS[method]?.(session, nameFor(method)) },
};

/** Of what is there, or of what is made. */
function nameFor(method: string): string {
  return ["createSession", "remember", "rememberMany"].includes(method) ? method : "t";
}

const BEDS: Readonly<Record<State, () => Promise<Bed>>> = {
  open: async () => withNothingLeft(await handlesOf(await openFilled())),
  loading: async () => {
    const { path } = await openFilled();
    const { gate, open } = gateOf();
    const loading = await openAt(path, { embedder: { ...createHashEmbedder(), open: () => gate } });
    return { ...(await handlesOf({ memory: loading })), settle: async () => open() };
  },
  closing: async () => {
    const { gate, open } = gateOf();
    const { gate: embedding, open: reached } = gateOf();
    let isHeld = false;
    const before = (): Promise<void> | undefined => {
      if (!isHeld) return undefined;
      reached();
      return gate;
    };
    const handles = await handlesOf(await openFilled({ embedder: createHashEmbedder({ before }) }));
    isHeld = true;
    const late = handles.session.remember({ text: "said before the close" });
    await embedding;
    const closing = handles.memory.close();
    const settle = async (): Promise<void> => {
      open();
      expect(await late).toMatchObject({ created: true });
      await closing;
    };
    return { ...handles, settle };
  },
  closed: async () => {
    const handles = await handlesOf(await openFilled());
    await handles.memory.close();
    return withNothingLeft(handles);
  },
  failed: async () => {
    const { memory, path } = await openFilled();
    const handles = await handlesOf({ memory });
    rmSync(path, { recursive: true });
    await expect(handles.session.remember({ text: "lost" })).rejects.toMatchObject({ code: "FAILED" });
    return withNothingLeft(handles);
  },
  "read-only": async () => {
    const { memory, path } = await openFilled();
    await memory.close();
    return withNothingLeft(await handlesOf({ memory: await openAt(path, { readOnly: true }) }));
  },
};

describe.each(Object.keys(HANDLES) as (keyof typeof HANDLES)[])("%s", (name) => {
  const { needs, call } = HANDLES[name];

  it("[E12] has a row for each of its methods in the table of states", async () => {
    const { memory, tenant, session } = await BEDS.open();
    const handle = { Memory: memory, Tenant: tenant, Session: session }[name];
    expect(Object.keys(needs).sort()).toEqual([...methodsOf(handle)].sort());
  });

  it.each(Object.keys(BEDS) as State[])("[E12] %s: every method does what the table says", async (state) => {
    const bed = await BEDS[state]();
    const expected = Object.entries(needs).map(([method, need]) => [method, STATES[need][state]] as const);
    const outcomes: Record<string, Outcome> = {};
    const run = async (methods: readonly string[]): Promise<void> => {
      for (const method of methods) outcomes[method] = await outcomeOf(call(bed, method));
    };
    const atOnce = expected.filter(([, outcome]) => outcome !== "waits").map(([method]) => method);
    await run(atOnce.filter((method) => !LAST.includes(method)));
    const waiting = expected.filter(([, outcome]) => outcome === "waits").map(([method]) => method);
    Object.assign(outcomes, await waitingOutcomes(bed, waiting, call));
    await run(LAST.filter((method) => atOnce.includes(method)));
    expect(outcomes).toEqual(Object.fromEntries(expected));
  });
});

async function outcomeOf(call: Promise<unknown> | undefined): Promise<Outcome> {
  if (call === undefined) throw new Error("No call of this method is listed.");
  try {
    await call;
    return "answers";
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "CLOSED" || code === "FAILED" || code === "READ_ONLY") return code;
    throw error;
  }
}

/** By so many turns of the event loop a call that waits for nothing has answered: all of it runs on this thread. */
const TURNS = 100;

/** Calls that are expected to wait: whether each did until the bed was settled, and answered then. */
async function waitingOutcomes(
  bed: Bed,
  methods: readonly string[],
  call: (bed: Bed, method: string) => Promise<unknown> | undefined,
): Promise<Record<string, Outcome>> {
  const early: Record<string, Outcome> = {};
  const calls = methods.map((method) => {
    const outcome = outcomeOf(call(bed, method));
    outcome.then(
      (came) => {
        early[method] = came;
      },
      () => undefined,
    );
    return { method, outcome };
  });
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  const before = { ...early };
  await bed.settle();
  const outcomes: Record<string, Outcome> = {};
  for (const { method, outcome } of calls) {
    const came = await outcome;
    outcomes[method] = before[method] ?? (came === "answers" ? "waits" : came);
  }
  return outcomes;
}

function row(...outcomes: readonly [Outcome, Outcome, Outcome, Outcome, Outcome, Outcome]): Record<State, Outcome> {
  const [open, loading, closing, closed, failed, readOnly] = outcomes;
  return { open, loading, closing, closed, failed, "read-only": readOnly };
}

async function openFilled(options: Partial<MemoryOptions> = {}) {
  const path = join(temporaryFolder(), "memory.holdfast");
  const memory = await openAt(path, options);
  await fill(memory, "t");
  await fill(await memory.createTenant("t"), "t");
  return { memory, path };
}

async function openAt(path: string, options: Partial<MemoryOptions> = {}): Promise<Memory> {
  const hooks = { embedder: createHashEmbedder(), summarise: async () => "A summary." };
  const memory = await openMemory({ ...hooks, ...options, path, threads: "inline" } as MemoryOptions);
  onTestFinished(() => memory.close());
  return memory;
}

async function handlesOf({ memory }: { readonly memory: Memory }): Promise<Handles> {
  const tenant = await memory.tenant("t");
  return { memory, tenant, session: await tenant.session("t-chat") };
}

function withNothingLeft(handles: Handles): Bed {
  return { ...handles, settle: async () => undefined };
}

function gateOf(): { readonly gate: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { gate, open };
}
