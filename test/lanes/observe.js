import { laneVector } from "./embedder.js";
import { IN_STEPS } from "./model.js";

const PAGE = 1_000;

/** What a folder answers about one actor's names, in the form of its model, by lists and counts. */
export async function observe({ memory, store }, actor) {
  const model = { tenants: {}, partitions: {} };
  const faults = [];
  for (const { id } of await memory.listTenants({ limit: PAGE })) {
    if (!id.startsWith(`${actor}-`)) continue;
    const tenant = await memory.tenant(id);
    model.tenants[id] = { sessions: await observeSessions(tenant, faults) };
  }
  for (const { key } of await store.listPartitions()) {
    if (!key.startsWith(`${actor}_`)) continue;
    model.partitions[key] = await observePartition(await store.getPartition(key), faults);
  }
  return { model, faults };
}

async function observeSessions(tenant, faults) {
  const sessions = {};
  for (const { id, user, events: count } of await tenant.listSessions({ limit: PAGE })) {
    const { events, damaged } = await tenant.list({ session: id, limit: PAGE });
    if (damaged > 0) faults.push(`${tenant.tenantId}/${id}: ${damaged} damaged events`);
    if (events.length !== count) faults.push(`${tenant.tenantId}/${id}: listed ${events.length}, counted ${count}`);
    sessions[id] = {
      user,
      events: Object.fromEntries(
        events.map(({ id: event, text, properties, revision }) => {
          if (properties.length !== undefined && !Number.isSafeInteger(properties.length))
            faults.push(`${event}: a property of another event`);
          return [event, { text, topic: properties.topic, revision }];
        }),
      ),
    };
  }
  const { events, segments, vectors, pending } = await tenant.stats();
  const listed = Object.values(sessions).reduce((sum, session) => sum + Object.keys(session.events).length, 0);
  if (events !== listed) faults.push(`${tenant.tenantId}: stats say ${events} events, lists ${listed}`);
  if (segments !== vectors + pending.waiting + pending.parked)
    faults.push(`${tenant.tenantId}: ${segments} segments, ${vectors} vectors, ${pending.waiting} waiting`);
  return sessions;
}

async function observePartition(partition, faults) {
  const records = {};
  for await (const page of partition.scan({ includeVectors: true })) {
    if (page.damaged > 0) faults.push(`${partition.key}: ${page.damaged} damaged records`);
    for (const { id, vector, properties } of page.records) {
      records[id] = properties.version;
      if (!sameVector(vector, laneVector(id))) faults.push(`${partition.key}/${id} has the vector of something else`);
    }
  }
  const count = await partition.count();
  if (count !== Object.keys(records).length) faults.push(`${partition.key}: scanned, but counted ${count}`);
  return records;
}

/**
 * Whether what a search finds is what is there: every event by its words and, where it is embedded, by its vector as
 * the nearest of all; every record by its own; nothing else. `share` of the events are asked for.
 */
export async function searchFaults({ memory, store }, model, random, share) {
  const faults = [];
  for (const [id, { sessions }] of Object.entries(model.tenants)) {
    const tenant = await memory.tenant(id);
    for (const [session, { events }] of Object.entries(sessions))
      for (const [event, { text, topic }] of Object.entries(events)) {
        if (!random.chance(share)) continue;
        const answer = await tenant.recall(text, { limit: 3, where: { "m.topic": topic }, channels: ["vector"] });
        const all = answer.coverage.pending + answer.coverage.parked;
        const [best] = answer.hits;
        if (answer.damaged > 0) faults.push(`${id}/${event}: ${answer.damaged} damaged rows in an answer`);
        const found = best?.event === event && best.session === session && best.cosineSimilarity > 0.999_999;
        if (!found && all === 0 && text.length < 256)
          faults.push(`${id}/${event} is not its own nearest: ${best?.event}`);
        for (const hit of answer.hits) faults.push(...strangers(hit, sessions, id));
        const word = /number\d+/.exec(text)[0];
        const { hits } = await tenant.recall(word, { limit: 3, channels: ["text"] });
        if (!hits.some((hit) => hit.event === event)) faults.push(`${id}/${event} is not found by ${word}`);
        for (const hit of hits) faults.push(...strangers(hit, sessions, id));
      }
  }
  for (const [key, records] of Object.entries(model.partitions)) {
    const ids = Object.keys(records).filter(() => random.chance(share));
    const partition = await store.getPartition(key);
    const answers = await partition.queryMany({ vectors: ids.map(laneVector), limit: 1 });
    for (const [index, { matches, damaged }] of answers.entries()) {
      if (matches[0]?.id !== ids[index]) faults.push(`${key}: ${matches[0]?.id} answers for ${ids[index]}`);
      if (damaged > 0) faults.push(`${key}: ${damaged} damaged rows in an answer`);
    }
  }
  return faults;
}

function strangers(hit, sessions, tenant) {
  const event = sessions[hit.session]?.events[hit.event];
  if (event === undefined) return [`${tenant}: ${hit.event} is answered and is not there`];
  const { start, end } = hit.range;
  if (event.text.slice(start, end) !== hit.text) return [`${tenant}: ${hit.event} is answered with another text`];
  return [];
}

/**
 * What was lost, what came back or came from nowhere, and what is neither as it was nor as it should be.
 * `under` is the call that nobody had an answer of: it is there whole or not at all, or, in steps, in parts.
 */
export function compare(observed, before, after, under) {
  const found = flatten(observed);
  const old = flatten(before);
  const next = after === undefined ? old : flatten(after);
  if (under !== undefined && !IN_STEPS.has(under.kind)) {
    const asOld = differences(found, old, old);
    const asNext = differences(found, next, next);
    return asOld.length <= asNext.length ? asOld : asNext.length === 0 ? [] : asNext;
  }
  return differences(found, old, next);
}

function differences(found, old, next) {
  const faults = [];
  for (const key of new Set([...found.keys(), ...old.keys(), ...next.keys()])) {
    const value = found.get(key);
    if (value === old.get(key) || value === next.get(key)) continue;
    const kind = value === undefined ? "lost" : old.has(key) || next.has(key) ? "wrong" : "ghost";
    faults.push({ kind, key, found: value, expected: old.get(key), orAfter: next.get(key) });
  }
  return faults;
}

/** One entry for each thing that is there by itself. */
function flatten({ tenants, partitions }) {
  const flat = new Map();
  for (const [tenant, { sessions }] of Object.entries(tenants)) {
    flat.set(tenant, "tenant");
    for (const [session, { user, events }] of Object.entries(sessions)) {
      flat.set(`${tenant}/${session}`, `session of ${user}`);
      for (const [event, { text, topic, revision }] of Object.entries(events))
        flat.set(`${tenant}/${session}/${event}`, JSON.stringify([text, topic, revision]));
    }
  }
  for (const [key, records] of Object.entries(partitions)) {
    flat.set(key, "partition");
    for (const [id, version] of Object.entries(records)) flat.set(`${key}/${id}`, String(version));
  }
  return flat;
}

function sameVector(a, b) {
  return a.length === b.length && a.every((component, index) => component === b[index]);
}
