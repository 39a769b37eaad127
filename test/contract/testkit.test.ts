import type { Capabilities, Store } from "holdfast";
import { type StoreFactory, storeContract } from "holdfast/testkit";
import { describe, expect, it } from "vitest";
import { inMemory, onDisk } from "../doubles/embedded-places.ts";

interface Collected {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** The suites' tests, not run: any framework with `describe` and `it` will do. */
function collect(factory: StoreFactory): readonly Collected[] {
  const tests: Collected[] = [];
  storeContract({ describe: (_, body) => body(), it: (name, run) => tests.push({ name, run }) }, factory);
  return tests;
}

/** The same backend with another capability table. */
function claiming(factory: StoreFactory, claims: Partial<Capabilities>): StoreFactory {
  return {
    name: factory.name,
    async createPlace() {
      const place = await factory.createPlace();
      const open = async (spec: Parameters<typeof place.open>[0]): Promise<Store> => {
        const store = await place.open(spec);
        const capabilities = { ...store.capabilities, ...claims };
        return new Proxy(store, {
          get(target, key) {
            if (key === "capabilities") return capabilities;
            const value: unknown = Reflect.get(target, key, target);
            return typeof value === "function" ? value.bind(target) : value;
          },
        });
      };
      return { open, remove: () => place.remove() };
    },
  };
}

async function outcomeOf(tests: readonly Collected[], name: string): Promise<"passes" | "fails"> {
  const test = tests.find((candidate) => candidate.name.startsWith(name));
  if (test === undefined) throw new Error(`No test is named ${name}…`);
  return test.run().then(
    () => "passes" as const,
    () => "fails" as const,
  );
}

const REOPENED = "[V13] a store that is opened again has everything";
const LONG_TEXT = "[V8] a text of any length round-trips";

describe("testkit", () => {
  it.each([
    ["says that it is durable and is not", inMemory("lying"), { durable: true }, REOPENED],
    ["says that it is not durable and is", onDisk("lying"), { durable: false }, REOPENED],
    ["names a limit of texts that it does not keep", inMemory("lying"), { stringBytesMax: 1_000 }, LONG_TEXT],
  ] as const)("[B1] a backend that %s fails the suite", async (_, factory, claims, name) => {
    expect(await outcomeOf(collect(factory), name)).toBe("passes");
    expect(await outcomeOf(collect(claiming(factory, claims)), name)).toBe("fails");
  });

  it("[B1] one statement registers every test, under the backend's name", () => {
    const names: string[] = [];
    const describeSuite = (name: string, body: () => void): void => {
      names.push(name);
      body();
    };
    storeContract({ describe: describeSuite, it: () => undefined }, onDisk("embedded"));
    expect(names[0]).toContain("[backend embedded]");
    expect(collect(onDisk("embedded")).length).toBeGreaterThan(90);
  });
});
