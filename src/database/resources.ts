import type { EngineSettings } from "./operation.ts";

type Factory<T> = (settings: EngineSettings) => T;

/** State of one thread, made at first use and keyed by the function that makes it. */
export class Resources {
  readonly #settings: EngineSettings;
  readonly #held = new Map<Factory<unknown>, unknown>();

  constructor(settings: EngineSettings) {
    this.#settings = settings;
  }

  get<T>(factory: Factory<T>): T {
    if (!this.#held.has(factory)) this.#held.set(factory, factory(this.#settings));
    return this.#held.get(factory) as T;
  }

  close(): void {
    this.#held.clear();
  }
}
