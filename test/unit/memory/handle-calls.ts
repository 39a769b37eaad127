import type { Session, Tenant } from "../../../src/memory/contract.ts";

/** A session of two events, of which one was updated, under ids that begin with `name`. */
export async function fill(tenant: Tenant, name: string): Promise<Session> {
  const session = await tenant.createSession(`${name}-chat`, { user: `${name}-user` });
  await session.remember({ id: `${name}-1`, text: `${name} moved to Lisbon`, properties: { topic: "home" } });
  await session.remember({ id: `${name}-2`, text: `${name} bought a red bicycle` });
  await session.updateEvent(`${name}-2`, { text: `${name} bought a blue bicycle` });
  return session;
}

/** A call of each method, by the method's name; one that is not listed fails the tests that go through them. */
export type Calls<T> = Readonly<Record<string, (on: T, name: string) => Promise<unknown>>>;

/** Each with ids that a tenant of that name has. Scores move with one's own texts alone, so answers are compared whole. */
export const TENANT_CALLS: Calls<Tenant> = {
  createSession: async (on, name) => {
    const { id, created } = await on.createSession(`${name}-chat`);
    await on.deleteSession(id);
    return { id, created };
  },
  session: (on, name) => on.session(`${name}-chat`),
  getSession: (on, name) => on.getSession(`${name}-chat`),
  listSessions: (on, name) => on.listSessions({ user: `${name}-user` }),
  deleteSession: (on, name) => on.deleteSession(`${name}-chat`),
  recall: (on, name) => on.recall("Lisbon", { user: `${name}-user` }),
  getEvent: (on, name) => on.getEvent(`${name}-1`),
  list: (on, name) => on.list({ user: `${name}-user` }),
  exportEvents: (on, name) => on.exportEvents({ user: `${name}-user` }),
  count: (on, name) => on.count({ where: `session = '${name}-chat'` }),
  updateEvent: (on, name) => on.updateEvent(`${name}-1`, { text: "taken over" }),
  embedPending: (on) => on.embedPending(),
  history: (on, name) => on.history(`${name}-2`),
  forget: (on, name) => on.forget({ events: [`${name}-1`] }),
  changes: async (on, name) => (await on.changes()).changes.filter(({ event }) => event?.startsWith(name)),
  pendingEmbeddings: (on) => on.pendingEmbeddings(),
  stats: async (on) => (await on.stats()).events,
};

export const SESSION_CALLS: Calls<Session> = {
  changes: async (on, name) =>
    (await on.changes()).changes.filter(({ event }) => event?.startsWith(name)).map(({ kind }) => kind),
  recent: async (on, name) => (await on.recent()).events.filter(({ id }) => id.startsWith(name)),
  summary: (on) => on.summary(),
  updateSummary: (on) => on.updateSummary(),
  remember: async (on, name) => {
    const receipt = await on.remember({ id: `${name}-1`, text: "our own" });
    await on.forget({ events: [receipt.id] });
    return receipt;
  },
  rememberMany: async (on, name) => {
    const receipts = await on.rememberMany([{ id: `${name}-1`, text: "our own" }]);
    await on.forget({ events: receipts.map(({ id }) => id) });
    return receipts;
  },
  recall: (on, name) => on.recall("Lisbon", { where: `user = '${name}-user'` }),
  getEvent: (on, name) => on.getEvent(`${name}-1`),
  list: (on, name) => on.list({ where: `user = '${name}-user'` }),
  exportEvents: (on, name) => on.exportEvents({ where: `user = '${name}-user'` }),
  count: (on, name) => on.count({ where: `user = '${name}-user'` }),
  updateEvent: (on, name) => on.updateEvent(`${name}-1`, { text: "taken over" }),
  history: (on, name) => on.history(`${name}-2`),
  embedPending: (on) => on.embedPending(),
  pendingEmbeddings: (on) => on.pendingEmbeddings(),
  forget: (on, name) => on.forget({ events: [`${name}-1`] }),
};

/** Names of the methods of a handle, those of the classes above it with them. */
export function methodsOf(handle: object): readonly string[] {
  const names: string[] = [];
  for (let at = Object.getPrototypeOf(handle); at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (name !== "constructor" && typeof value === "function") names.push(name);
  }
  return [...new Set(names)];
}
