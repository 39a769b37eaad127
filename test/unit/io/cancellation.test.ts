import { describe, expect, it } from "vitest";
import { CancelFlags } from "../../../src/io/cancellation.ts";

describe("flags of calls", () => {
  it("[Q11] a signal that comes behind its call's answer never ends the call that has the flag by then", () => {
    const flags = new CancelFlags(new SharedArrayBuffer(4));
    const answered = flags.take();
    answered.giveBack();
    const next = flags.take();
    expect(next.index).toBe(answered.index);
    answered.raise("aborted");
    expect(() => flags.watch(next.index, "not-applied").assertLive()).not.toThrow();
    next.raise("timeout");
    expect(() => flags.watch(next.index, "not-applied").assertLive()).toThrow("nothing was written");
  });

  it("[Q11] a flag that is given back twice is taken by one call alone", () => {
    const flags = new CancelFlags(new SharedArrayBuffer(8));
    const once = flags.take();
    once.giveBack();
    once.giveBack();
    expect(flags.take().index).not.toBe(flags.take().index);
    expect(flags.take().index).toBe(-1);
  });
});
