import assert from "node:assert/strict";
import { afterEach, describe, it } from "vitest";
import { Child } from "../doubles/child.ts";
import { temporaryFolder } from "../doubles/embedded-places.ts";

/** Segments that are embedded before they are committed. */
const WINDOW = 32;

const IDS = Array.from({ length: 100 }, (_, index) => `n${index}`);

const undo: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const action of undo.splice(0).reverse()) await action();
});

describe("[backend embedded] a process that is killed with embeddings pending", () => {
  it("[S7, E2] between the commit of its events and their embedding has lost nothing, and nothing is embedded twice", async () => {
    const path = folder();
    const writer = await start(path);
    assert.deepEqual(await writer.ask({ type: "remember", ids: IDS }), { pending: 100, sent: 0 });
    await writer.kill();
    const next = await start(path);
    assert.deepEqual(await next.ask({ type: "state", ids: IDS }), {
      events: 100,
      segments: 100,
      vectors: 0,
      pending: { waiting: 100, parked: 0 },
      found: IDS,
      sent: 0,
    });
    assert.equal(await drain(next), 100);
    await assertWhole(next);
  });

  it("[S7, E2] in the middle of embedding has lost what was not committed, at most one window", async () => {
    const path = folder();
    const writer = await start(path);
    await writer.ask({ type: "remember", ids: IDS });
    const last = (await writer.ask({ type: "drain", hang: 3 })) as { readonly sent: number };
    await writer.kill();
    const next = await start(path);
    const { vectors } = (await next.ask({ type: "state" })) as { readonly vectors: number };
    assert.ok(last.sent - vectors <= WINDOW, `${last.sent} texts were sent and ${vectors} vectors kept`);
    assert.ok(last.sent > vectors, "it was killed with a window in flight");
    // The lease of the process that was killed is free at once.
    assert.equal(await drain(next), 100 - vectors);
    await assertWhole(next);
  });

  it("[S7, E5] of two processes that embed at the same time each text is sent by one", async () => {
    const path = folder();
    const [left, right] = [await start(path), await start(path)];
    await left.ask({ type: "remember", ids: IDS });
    const sent = await Promise.all([left, right].map(drain));
    assert.equal(
      sent.reduce((sum, own) => sum + own, 0),
      100,
    );
    await assertWhole(right);
  });
});

/** Embeds all that is pending; answers how many texts the process has sent, by itself or asked to. */
async function drain(child: Child): Promise<number> {
  const { waiting, parked, sent } = (await child.ask({ type: "drain" })) as Record<
    "waiting" | "parked" | "sent",
    number
  >;
  assert.deepEqual({ waiting, parked }, { waiting: 0, parked: 0 });
  return sent;
}

async function assertWhole(child: Child): Promise<void> {
  const { sent: _, ...state } = (await child.ask({ type: "state", ids: IDS })) as Record<string, unknown>;
  const pending = { waiting: 0, parked: 0 };
  assert.deepEqual(state, { events: 100, segments: 100, vectors: 100, pending, found: IDS });
}

function folder(): string {
  const { path, remove } = temporaryFolder();
  undo.push(remove);
  return path;
}

async function start(path: string): Promise<Child> {
  const child = await Child.start("pending-writer", path);
  undo.push(() => child.kill());
  return child;
}
