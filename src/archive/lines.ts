import { HoldfastError } from "../errors/index.ts";

/** One line of a file, without its line break. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Why it could not be read, or its text. */
  readonly text: string | HoldfastError;
  /** Bytes of the input that it took, its line break included. */
  readonly bytes: number;
}

/** A text of 256 MiB with some escapes fits; more is no event, and Node makes no string of it either. */
const LINE_BYTES_MAX = 448 * 1024 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Cuts a stream of bytes into lines: UTF-8, `\n` or `\r\n`, a byte order mark allowed, the last line break optional.
 * At most one line is held. A line that is too long or no UTF-8 is answered as an error, and the next one follows.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  lineBytesMax: number = LINE_BYTES_MAX,
): AsyncGenerator<Line> {
  const line = new LineBuffer(lineBytesMax);
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      line.append(chunk.subarray(start, end));
      yield line.take(1);
      start = end + 1;
    }
    line.append(chunk.subarray(start));
  }
  if (!line.isEmpty) yield line.take(0);
}

class LineBuffer {
  readonly #bytesMax: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #number = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  append(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    if (this.#bytes <= this.#bytesMax) this.#parts.push(part);
    else this.#parts = [];
  }

  take(breakBytes: number): Line {
    this.#number += 1;
    const bytes = this.#bytes + breakBytes;
    const text = this.#bytes > this.#bytesMax ? this.#tooLong() : decode(Buffer.concat(this.#parts), this.#number);
    this.#parts = [];
    this.#bytes = 0;
    return { number: this.#number, text, bytes };
  }

  #tooLong(): HoldfastError {
    const message = `The line has ${this.#bytes} bytes; at most ${this.#bytesMax} can be read.`;
    return new HoldfastError("LIMIT_EXCEEDED", message, { details: { bytes: this.#bytes } });
  }
}

function decode(bytes: Uint8Array, number: number): string | HoldfastError {
  const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, end));
    return number === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  } catch (cause) {
    return new HoldfastError("INVALID_TEXT", "The line is not UTF-8; convert the file first.", { cause });
  }
}
