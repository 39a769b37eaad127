import { describe, expectTypeOf, it } from "vitest";
import type { Filter } from "../../src/contract/filter-tree.ts";
import type { Memory, RecallAnswer } from "../../src/memory/contract.ts";

/** Never called: what is wrong here must not compile, and the compiler is the test. */
function wrong(memory: Memory): void {
  // @ts-expect-error a field that events do not have
  void memory.recall("x", { where: (f) => f.rol.eq("user") });
  // @ts-expect-error a role is a text
  void memory.recall("x", { where: (f) => f.role.eq(5) });
  // @ts-expect-error texts have no order
  void memory.recall("x", { where: (f) => f.producer.gt("a") });
  // @ts-expect-error an option that recall does not have
  void memory.recall("x", { usr: "alice" });
}

/** Never called either. */
function right(memory: Memory): Promise<RecallAnswer> {
  return memory.recall("x", {
    where: (f): Filter => f.and(f.role.eq("user"), f.at.gte(new Date(0)), f.revision.lt(2n), f.m("topic").in(["home"])),
  });
}

describe("the types of recall", () => {
  it("[F4] know the fields of an event and their types", () => {
    expectTypeOf(wrong).returns.toBeVoid();
    expectTypeOf(right).returns.resolves.toEqualTypeOf<RecallAnswer>();
  });
});
