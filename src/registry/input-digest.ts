import { createHash, type Hash } from "node:crypto";

/**
 * SHA-256 over plain data in one canonical form: what is equal as data is equal here, whatever the order of its keys. −0
 * is 0, absent and `undefined` are one, a whole number and the bigint that equals it are one. Version 1 of the form.
 */
export class InputDigest {
  readonly #hash: Hash;

  /** @param call - two calls of one input are two inputs */
  constructor(call: string) {
    this.#hash = createHash("sha256").update("holdfast-input-1");
    this.add(call);
  }

  add(value: unknown): this {
    if (value === undefined || value === null) this.#put("n", "");
    else if (typeof value === "string") this.#put("s", value);
    else if (typeof value === "boolean") this.#put("b", String(value));
    else if (typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value)))
      this.#put("i", String(BigInt(value)));
    else if (typeof value === "number") this.#put("f", String(value));
    else if (ArrayBuffer.isView(value))
      this.#put("v", new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    else if (Array.isArray(value)) this.#list(value);
    else if (value instanceof Map) this.#entries([...value]);
    else this.#entries(Object.entries(value as object));
    return this;
  }

  /** In base64; nothing can be added behind it. */
  end(): string {
    return this.#hash.digest("base64");
  }

  #list(values: readonly unknown[]): void {
    this.#put("l", String(values.length));
    for (const value of values) this.add(value);
  }

  #entries(entries: readonly (readonly [unknown, unknown])[]): void {
    const given = entries.filter(([, value]) => value !== undefined && value !== null);
    given.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    this.#put("o", String(given.length));
    for (const [key, value] of given) this.add(String(key)).add(value);
  }

  /** With its length before it, so that no two sequences of values run into one. */
  #put(kind: string, content: string | Uint8Array): void {
    const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
    this.#hash.update(`${kind}${bytes.byteLength}:`).update(bytes);
  }
}
