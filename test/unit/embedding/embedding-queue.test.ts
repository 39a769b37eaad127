import { describe, expect, it } from "vitest";
import type { EmbeddingKind } from "../../../src/embedding/embedder.ts";
import {
  EmbeddingQueue,
  type EmbeddingQueueSettings,
  type EmbeddingThread,
} from "../../../src/embedding/providers/embedding-queue.ts";
import { HoldfastError } from "../../../src/errors/index.ts";

interface Sent {
  readonly thread: number;
  readonly texts: readonly string[];
  answer(): void;
  fail(error: unknown): void;
}

/** Threads whose every answer is the test's to give. */
class ScriptedThreads {
  readonly sent: Sent[] = [];
  readonly ended: number[] = [];
  readonly terminated: number[] = [];
  /** Tells the queue that a thread ended by itself, by the thread's number. */
  readonly lose: (() => void)[] = [];
  endsByItself = true;

  start(onGone: () => void): EmbeddingThread {
    const thread = this.lose.push(onGone) - 1;
    let gone: () => void = () => undefined;
    const end = new Promise<void>((resolve) => {
      gone = resolve;
    });
    return {
      embed: (texts) =>
        new Promise((resolve, reject) => {
          this.sent.push({ thread, texts, answer: () => resolve(texts.map(toVector)), fail: reject });
        }),
      end: () => {
        this.ended.push(thread);
        if (this.endsByItself) gone();
        return end;
      },
      terminate: async () => {
        this.terminated.push(thread);
        gone();
      },
    };
  }

  get last(): Sent {
    const sent = this.sent.at(-1);
    if (sent === undefined) throw new Error("nothing was sent");
    return sent;
  }

  /** Answers slice after slice until nothing more is sent. */
  async drain(): Promise<void> {
    for (let index = 0; index < this.sent.length; index += 1) {
      this.sent[index]?.answer();
      await settled();
    }
  }
}

const toVector = (text: string): Float32Array => Float32Array.of(Number(text.replace(/\D/gu, "")) || 0, 1);

/** Lets every promise that can settle do so. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setUp(change: Partial<EmbeddingQueueSettings> = {}): { queue: EmbeddingQueue; threads: ScriptedThreads } {
  const threads = new ScriptedThreads();
  const queue = new EmbeddingQueue({
    start: (onGone) => threads.start(onGone),
    threads: 1,
    textsPerSliceMax: 3,
    tokensPerSliceMax: 100,
    queueBytesMax: 10_000,
    closeGraceMs: 60_000,
    ...change,
  });
  return { queue, threads };
}

function embed(
  queue: EmbeddingQueue,
  texts: readonly string[],
  kind: EmbeddingKind = "document",
  signal?: AbortSignal,
) {
  const call = queue.embed(
    texts,
    texts.map(() => 10),
    { kind, ...(signal !== undefined && { signal }) },
  );
  // A test may look at the rejection later.
  call.catch(() => undefined);
  return call;
}

const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe("the queue of an offline embedder", () => {
  it("cuts a call into slices and answers its vectors in input order", async () => {
    const { queue, threads } = setUp();
    const call = embed(queue, names("t", 7));
    await threads.drain();
    expect(threads.sent.map(({ texts }) => texts.length)).toEqual([3, 3, 1]);
    expect((await call).map((vector) => vector[0])).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it("bounds a slice by tokens, and sends a text that is longer than the bound alone", async () => {
    const { queue, threads } = setUp({ textsPerSliceMax: 23 });
    const call = queue.embed(["a", "b", "long", "c", "d"], [60, 40, 256, 50, 51], { kind: "document" });
    await threads.drain();
    await call;
    expect(threads.sent.map(({ texts }) => texts)).toEqual([["a", "b"], ["long"], ["c"], ["d"]]);
  });

  it("starts no thread before the first call", () => {
    expect(setUp().threads.lose).toEqual([]);
  });

  it("sends a query before documents that wait, and documents in between many queries", async () => {
    const { queue, threads } = setUp({ textsPerSliceMax: 1 });
    const calls = [embed(queue, names("doc", 3))];
    for (const name of names("query", 10)) calls.push(embed(queue, [name], "query"));
    await threads.drain();
    await Promise.all(calls);
    const order = threads.sent.map(({ texts }) => texts[0]?.replace(/\d/gu, ""));
    expect(order.slice(0, 2)).toEqual(["doc", "query"]);
    expect(order.lastIndexOf("query")).toBeGreaterThan(order.indexOf("doc", 1));
    expect(order.indexOf("doc", 1)).toBe(8);
  });

  it("[E7] refuses more than its bytes with BUSY, takes any size when nothing waits, and recovers", async () => {
    const { queue, threads } = setUp({ queueBytesMax: 500, textsPerSliceMax: 1 });
    const big = embed(queue, ["x".repeat(1000), "y".repeat(1000)]);
    await expect(embed(queue, ["small"])).rejects.toMatchObject({ code: "BUSY", retry: "later" });
    await threads.drain();
    expect(await big).toHaveLength(2);
    const again = embed(queue, ["small"]);
    threads.last.answer();
    expect(await again).toHaveLength(1);
  });

  it("[Q11] lets an aborted call go at once, sends none of its waiting texts, and gives its bytes back", async () => {
    const { queue, threads } = setUp({ queueBytesMax: 500 });
    const first = embed(queue, ["first"]);
    const controller = new AbortController();
    const aborted = embed(queue, ["z".repeat(200)], "document", controller.signal);
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: "ABORTED" });
    const next = embed(queue, ["n".repeat(200)]);
    await threads.drain();
    expect(await first).toHaveLength(1);
    expect(await next).toHaveLength(1);
    expect(threads.sent.map(({ texts }) => texts[0]?.[0])).toEqual(["f", "n"]);
  });

  it("[Q11] lets a call go whose slice is in the thread, and goes on with the next", async () => {
    const { queue, threads } = setUp();
    const controller = new AbortController();
    const aborted = embed(queue, names("t", 7), "document", controller.signal);
    controller.abort(new DOMException("late", "TimeoutError"));
    await expect(aborted).rejects.toMatchObject({ code: "TIMEOUT" });
    const next = embed(queue, ["next"]);
    await threads.drain();
    expect(await next).toHaveLength(1);
    expect(threads.sent).toHaveLength(2);
    await expect(embed(queue, ["a"], "query", controller.signal)).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  it("[S7] fails the call whose thread failed and serves those that wait with a fresh thread", async () => {
    const { queue, threads } = setUp();
    const lost = embed(queue, names("t", 5));
    const waiting = embed(queue, ["waiting"]);
    const cause = new Error("unreachable");
    threads.last.fail(cause);
    await expect(lost).rejects.toMatchObject({ code: "EMBEDDING_FAILED", cause });
    expect(threads.ended).toEqual([0]);
    await threads.drain();
    expect(await waiting).toHaveLength(1);
    expect(threads.last).toMatchObject({ thread: 1, texts: ["waiting"] });
  });

  it("starts a fresh thread for the next call when an idle one ended by itself", async () => {
    const { queue, threads } = setUp();
    const first = embed(queue, ["a"]);
    threads.last.answer();
    await first;
    threads.lose[0]?.();
    const second = embed(queue, ["b"]);
    threads.last.answer();
    await second;
    expect(threads.last.thread).toBe(1);
  });

  it("[B6] passes PACKAGE_MISSING on as it is", async () => {
    const { queue, threads } = setUp();
    const call = embed(queue, ["a"]);
    const missing = new HoldfastError("PACKAGE_MISSING", "install it");
    threads.last.fail(missing);
    await expect(call).rejects.toBe(missing);
  });

  it("starts a second thread only when many texts wait", async () => {
    const few = setUp({ threads: 2 });
    void embed(few.queue, names("t", 60));
    expect(few.threads.lose).toHaveLength(1);
    const many = setUp({ threads: 2 });
    const call = embed(many.queue, names("t", 100));
    await settled();
    void embed(many.queue, ["one more"]);
    expect(many.threads.lose).toHaveLength(2);
    await many.threads.drain();
    expect((await call).map((vector) => vector[0])).toEqual([...Array(100).keys()]);
  });

  it("[E12] close refuses what waits, ends its threads once, and later calls raise CLOSED", async () => {
    const { queue, threads } = setUp();
    const running = embed(queue, ["a"]);
    const waiting = embed(queue, ["b"]);
    await Promise.all([queue.close(), queue.close()]);
    await expect(running).rejects.toMatchObject({ code: "CLOSED" });
    await expect(waiting).rejects.toMatchObject({ code: "CLOSED" });
    await expect(embed(queue, ["c"])).rejects.toMatchObject({ code: "CLOSED" });
    threads.last.answer();
    await settled();
    expect(threads.sent).toHaveLength(1);
    expect([threads.ended, threads.terminated]).toEqual([[0], []]);
  });

  it("[E12] close starts no thread for a call that waits while a slice is answered", async () => {
    const { queue, threads } = setUp();
    void embed(queue, ["a"]);
    void embed(queue, ["b"]);
    threads.last.answer();
    await queue.close();
    await settled();
    expect(threads.sent).toHaveLength(1);
    expect(threads.lose).toHaveLength(1);
    expect(queue.close()).toBe(queue.close());
  });

  it("[E12] close ends a thread that does not end by itself when the grace time is over", async () => {
    const { queue, threads } = setUp({ closeGraceMs: 1 });
    threads.endsByItself = false;
    void embed(queue, ["a"]);
    await queue.close();
    expect(threads.terminated).toEqual([0]);
  });
});
