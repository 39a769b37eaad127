/**
 * What a folder should hold, as plain data, for one actor: the only one who writes under its names.
 *
 * tenants: id → { sessions: id → { user, events: id → { text, topic, revision } } }
 * partitions: key → { id → version }
 */
export function emptyModel() {
  return { tenants: {}, partitions: {} };
}

/** Changes a model as the call changes the folder. */
export function applyOperation(model, { kind, tenant, session, partition, ...rest }) {
  const sessions = model.tenants[tenant]?.sessions;
  const events = sessions?.[session]?.events;
  const records = model.partitions[partition];
  switch (kind) {
    case "createTenant":
      model.tenants[tenant] ??= { sessions: {} };
      return;
    case "deleteTenant":
      delete model.tenants[tenant];
      return;
    case "createSession":
      sessions[session] ??= { user: rest.user, events: {} };
      return;
    case "deleteSession":
      delete sessions[session];
      return;
    case "remember":
    case "rememberMany":
      for (const { id, text, topic } of rest.events) events[id] ??= { text, topic, revision: 1 };
      return;
    case "updateText":
      events[rest.id] = { ...events[rest.id], text: rest.text, revision: events[rest.id].revision + 1 };
      return;
    case "updateTopic":
      events[rest.id] = { ...events[rest.id], topic: rest.topic, revision: events[rest.id].revision + 1 };
      return;
    case "forgetEvents":
      for (const id of rest.ids) delete events[id];
      return;
    case "forgetWhere":
      for (const { events: those } of Object.values(sessions))
        for (const [id, { topic }] of Object.entries(those)) if (topic === rest.topic) delete those[id];
      return;
    case "forgetSession":
      for (const id of Object.keys(events)) delete events[id];
      return;
    case "createPartition":
      model.partitions[partition] ??= {};
      return;
    case "deletePartition":
      delete model.partitions[partition];
      return;
    case "upsert":
      for (const { id, version } of rest.records) records[id] = version;
      return;
    case "patch":
      records[rest.id] = rest.version;
      return;
    case "deleteRecords":
      for (const id of rest.ids) delete records[id];
      return;
    case "deleteWhere":
      for (const [id, version] of Object.entries(records)) if (version < rest.below) delete records[id];
      return;
    case "updateSummary":
    case "embedPending":
    case "fillDeclared":
      return;
    default:
      throw new Error(`The model knows no ${kind}.`);
  }
}

/** Calls that may be cut short between two of their commits: each event is as before or as after, by itself. */
export const IN_STEPS = new Set(["deleteSession", "forgetEvents", "forgetWhere", "forgetSession"]);

export function copyOf(model) {
  return structuredClone(model);
}
