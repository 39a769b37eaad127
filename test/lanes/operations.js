import { laneVector } from "./embedder.js";

const TENANTS = 2;
const SESSIONS = 3;
const EVENTS = 24;
const RECORDS = 40;
const TOPICS = ["home", "work", "travel", "food"];

/** How often each call is made, against the others. */
const WEIGHTS = {
  remember: 30,
  rememberMany: 8,
  updateText: 10,
  updateTopic: 6,
  forgetEvents: 8,
  forgetWhere: 3,
  forgetSession: 2,
  createSession: 5,
  deleteSession: 3,
  createTenant: 2,
  deleteTenant: 2,
  updateSummary: 3,
  embedPending: 2,
  fillDeclared: 1,
  createPartition: 2,
  deletePartition: 2,
  upsert: 16,
  patch: 6,
  deleteRecords: 6,
  deleteWhere: 2,
};

export const KINDS = Object.keys(WEIGHTS);

const TOTAL = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);

/** The next call of an actor: one that its model allows. `serial` makes each text and version one of a kind. */
export function nextOperation(random, model, actor, serial) {
  for (;;) {
    const operation = MAKERS[pickKind(random)]({ random, model, actor, serial });
    if (operation !== undefined) return { ...operation, key: `${actor}-${serial}` };
  }
}

function pickKind(random) {
  let left = random.below(TOTAL);
  for (const [kind, weight] of Object.entries(WEIGHTS)) {
    if (left < weight) return kind;
    left -= weight;
  }
  throw new Error("The weights do not add up.");
}

const tenantName = (actor, number) => `${actor}-t${number}`;
const partitionName = (actor, number) => `${actor}_p${number}`;

const MAKERS = {
  createTenant: ({ random, actor }) => ({ kind: "createTenant", tenant: tenantName(actor, random.below(TENANTS)) }),
  deleteTenant: (maker) => inTenant(maker, (place) => ({ kind: "deleteTenant", ...place })),
  createSession: (maker) =>
    inTenant(maker, (place) => {
      const number = maker.random.below(SESSIONS);
      return { kind: "createSession", ...place, session: `s${number}`, user: `u${number % 2}` };
    }),
  deleteSession: (maker) => inSession(maker, (place) => ({ kind: "deleteSession", ...place })),
  remember: (maker) => remembering(maker, "remember", 1),
  rememberMany: (maker) => remembering(maker, "rememberMany", 2 + maker.random.below(6)),
  updateText: (maker) =>
    onEvent(maker, (place) => ({ kind: "updateText", ...place, text: textOf(maker, place.id, "said again") })),
  updateTopic: (maker) =>
    onEvent(maker, (place, { topic }) => ({
      kind: "updateTopic",
      ...place,
      topic: maker.random.pick(TOPICS.filter((other) => other !== topic)),
    })),
  forgetEvents: (maker) =>
    inSession(maker, (place, { events }) => {
      const ids = Object.keys(events).filter(() => maker.random.chance(0.2));
      return ids.length === 0 ? undefined : { kind: "forgetEvents", ...place, ids };
    }),
  forgetWhere: (maker) =>
    inTenant(maker, (place) => ({ kind: "forgetWhere", ...place, topic: maker.random.pick(TOPICS) })),
  forgetSession: (maker) => inSession(maker, (place) => ({ kind: "forgetSession", ...place })),
  updateSummary: (maker) => inSession(maker, (place) => ({ kind: "updateSummary", ...place })),
  embedPending: (maker) => inTenant(maker, (place) => ({ kind: "embedPending", ...place })),
  fillDeclared: () => ({ kind: "fillDeclared" }),
  createPartition: ({ random, model, actor }) => {
    const partition = partitionName(actor, random.below(TENANTS));
    return model.partitions[partition] === undefined ? { kind: "createPartition", partition } : undefined;
  },
  deletePartition: (maker) => inPartition(maker, (place) => ({ kind: "deletePartition", ...place })),
  upsert: (maker) =>
    inPartition(maker, (place) => {
      const ids = Array.from({ length: maker.random.pick([1, 1, 1, 5, 20]) }, () => `r${maker.random.below(RECORDS)}`);
      return { kind: "upsert", ...place, records: [...new Set(ids)].map((id) => ({ id, version: maker.serial })) };
    }),
  patch: (maker) => onRecord(maker, (place) => ({ kind: "patch", ...place, version: maker.serial })),
  deleteRecords: (maker) => onRecord(maker, ({ id, ...place }) => ({ kind: "deleteRecords", ...place, ids: [id] })),
  deleteWhere: (maker) =>
    inPartition(maker, (place, records) => {
      const versions = Object.values(records).sort((a, b) => a - b);
      const below = versions[Math.floor(versions.length / 4)];
      return below === undefined ? undefined : { kind: "deleteWhere", ...place, below };
    }),
};

function inTenant({ random, model }, make) {
  const names = Object.keys(model.tenants);
  if (names.length === 0) return undefined;
  const tenant = random.pick(names);
  return make({ tenant }, model.tenants[tenant]);
}

function inSession(maker, make) {
  return inTenant(maker, (place, { sessions }) => {
    const names = Object.keys(sessions);
    if (names.length === 0) return undefined;
    const session = maker.random.pick(names);
    return make({ ...place, session }, sessions[session]);
  });
}

function onEvent(maker, make) {
  return inSession(maker, (place, { events }) => {
    const ids = Object.keys(events);
    if (ids.length === 0) return undefined;
    const id = maker.random.pick(ids);
    return make({ ...place, id }, events[id]);
  });
}

function inPartition({ random, model }, make) {
  const names = Object.keys(model.partitions);
  if (names.length === 0) return undefined;
  const partition = random.pick(names);
  return make({ partition }, model.partitions[partition]);
}

function onRecord(maker, make) {
  return inPartition(maker, (place, records) => {
    const ids = Object.keys(records);
    return ids.length === 0 ? undefined : make({ ...place, id: maker.random.pick(ids) });
  });
}

/** Event ids are one of a kind in a tenant; a forgotten one comes back with another text. */
function remembering(maker, kind, count) {
  return inSession(maker, (place, { events }) => {
    const ids = Array.from({ length: EVENTS }, (_, index) => `${place.session}-e${index}`);
    const free = ids.filter((id) => events[id] === undefined && maker.random.chance(0.5)).slice(0, count);
    if (free.length === 0) return undefined;
    return {
      kind,
      ...place,
      events: free.map((id) => ({ id, text: textOf(maker, id, "said"), topic: maker.random.pick(TOPICS) })),
    };
  });
}

function textOf({ actor, serial, random }, id, verb) {
  const tail = random.chance(0.1) ? " and much more was told about that day".repeat(1 + random.below(60)) : "";
  // The number is the text's alone, also beside the others of one call.
  return `${actor} ${id} ${verb} number${serial * EVENTS + Number(id.slice(id.indexOf("-e") + 2))}${tail}`;
}

/**
 * Makes the call, under its key: whoever had no answer may make it again. Nothing is kept between two calls but the open
 * memory and store.
 */
export async function perform(operation, { memory, store }) {
  const { kind } = operation;
  const key = { idempotencyKey: operation.key };
  if (kind === "createTenant") return memory.createTenant(operation.tenant, key);
  if (kind === "deleteTenant") return memory.deleteTenant(operation.tenant, key);
  if (kind === "fillDeclared") return memory.fillDeclared();
  if (operation.partition !== undefined) return performOnStore(operation, store);
  const tenant = await memory.tenant(operation.tenant);
  if (kind === "createSession") return tenant.createSession(operation.session, { user: operation.user, ...key });
  if (kind === "deleteSession") return tenant.deleteSession(operation.session, key);
  if (kind === "embedPending") return tenant.embedPending();
  if (kind === "forgetWhere") return tenant.forget({ where: { "m.topic": operation.topic } }, key);
  if (kind === "forgetSession") return tenant.forget({ session: operation.session }, key);
  return performOnSession(operation, await tenant.session(operation.session));
}

async function performOnSession(operation, session) {
  const key = { idempotencyKey: operation.key };
  switch (operation.kind) {
    case "remember":
      return session.remember(toEvent(operation.events[0]), key);
    case "rememberMany":
      return session.rememberMany(operation.events.map(toEvent), key);
    case "updateText":
      return session.updateEvent(operation.id, { text: operation.text }, key);
    case "updateTopic":
      return session.updateEvent(operation.id, { properties: { topic: operation.topic } }, key);
    case "forgetEvents":
      return session.forget({ events: operation.ids }, key);
    case "updateSummary":
      return session.updateSummary({ keepEvents: 2 });
    default:
      throw new Error(`No session has ${operation.kind}.`);
  }
}

async function performOnStore(operation, store) {
  const { kind, partition: name } = operation;
  const key = { idempotencyKey: operation.key };
  if (kind === "createPartition") return store.createPartition(name, key);
  if (kind === "deletePartition") return store.deletePartition(name, key);
  const partition = await store.getPartition(name);
  switch (kind) {
    case "upsert":
      return partition.upsert(operation.records.map(toRecord), key);
    case "patch":
      return partition.patch(operation.id, { version: operation.version }, key);
    case "deleteRecords":
      return partition.delete({ ids: operation.ids }, key);
    case "deleteWhere":
      return partition.delete({ where: (f) => f.version.lt(operation.below) }, key);
    default:
      throw new Error(`No partition has ${kind}.`);
  }
}

function toEvent({ id, text, topic }) {
  return { id, text, properties: { topic, length: text.length } };
}

/** The vector is the id's alone, because a patch keeps it. */
function toRecord({ id, version }) {
  return { id, vector: laneVector(id), properties: { version } };
}
