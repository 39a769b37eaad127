import { describe, expectTypeOf, it } from "vitest";
import type { Store } from "../../src/contract/store.ts";
import type { Memory } from "../../src/memory/contract.ts";

describe("the types of handles", () => {
  it("[E12] let `await using` close a memory and a store", () => {
    expectTypeOf<Memory>().toExtend<AsyncDisposable>();
    expectTypeOf<Store>().toExtend<AsyncDisposable>();
  });
});
