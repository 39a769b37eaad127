import assert from "node:assert/strict";
import { fan, refuses } from "../assertions.ts";
import { everyPartitionCall, everyStoreCall } from "../every-call.ts";
import type { TestCase } from "../test-bed.ts";

/** Closing (E12). */
export function lifecycleSuite(it: TestCase): void {
  it("[E12] closing is idempotent, and every call of a closed store and of its partitions raises", async (bed) => {
    const store = await bed.open();
    const partition = await store.createPartition("main");
    await partition.upsert(fan(300));
    const closing = [store.close(), store.close()];
    await Promise.all(closing);
    await store.close();
    for (const [name, call] of [...everyStoreCall(store), ...everyPartitionCall(partition)]) {
      await refuses(call, "CLOSED", name);
    }
  });

  it("[E12] closing waits for writes in flight: each has answered, and none is lost", async (bed) => {
    const store = await bed.open();
    const { durable } = store.capabilities;
    const partition = await store.createPartition("main");
    const writes = fan(30).map((record) => partition.upsert([record]));
    const big = partition.upsert(fan(3_000, 3, "big"));
    await store.close();
    const outcomes = await Promise.allSettled([...writes, big]);
    const kept = outcomes.filter(({ status }) => status === "fulfilled").length;
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") await refuses(Promise.reject(outcome.reason), "CLOSED");
    }
    const again = await bed.open();
    const reopened = await again.getPartition("main");
    if (!durable) {
      assert.equal(reopened, undefined);
      return;
    }
    const expected = outcomes.reduce(
      (sum, { status }, index) => sum + (status === "fulfilled" ? (index < 30 ? 1 : 3_000) : 0),
      0,
    );
    assert.equal(await reopened?.count(), expected, `${kept} writes were answered`);
  });

  it("[E12] a handle can be disposed of", async (bed) => {
    const store = await bed.open();
    await store[Symbol.asyncDispose]();
    await refuses(store.listPartitions(), "CLOSED");
  });

  it("[E12] closing one handle leaves the others of the place open", async (bed) => {
    const [first, second] = [await bed.open(), await bed.open()];
    await first.close();
    const partition = await second.createPartition("main");
    await partition.upsert(fan(3));
    assert.equal(await partition.count(), 3);
    await refuses(first.listPartitions(), "CLOSED");
  });
}
