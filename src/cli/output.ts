import type { WriteStream } from "node:tty";

/** Where a command writes to. */
export interface Output {
  /** Resolves when the stream has taken the text: a slow reader is waited for. */
  write(text: string): Promise<void>;
  readonly isTerminal: boolean;
  /** Columns of a terminal; `Infinity` elsewhere, where nothing is cut. */
  readonly columns: number;
  /** Whether bold and dim may be used. */
  readonly styled: boolean;
  /** True when the reader has gone (`| head`): further text is for nobody. */
  readonly closed: boolean;
  /** Why writing failed, when it was not the reader who left. */
  readonly failure: Error | undefined;
}

/** Standard output or standard error; a reader that leaves early is no error. */
export class StreamOutput implements Output {
  readonly #stream: NodeJS.WriteStream;
  readonly #env: NodeJS.ProcessEnv;
  #closed = false;
  #failure: Error | undefined;

  constructor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv) {
    this.#stream = stream;
    this.#env = env;
    stream.on("error", (error: NodeJS.ErrnoException) => {
      this.#closed = true;
      if (error.code !== "EPIPE") this.#failure = error;
    });
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  get columns(): number {
    return this.isTerminal ? (this.#stream as WriteStream).columns || 80 : Number.POSITIVE_INFINITY;
  }

  /** https://no-color.org: any value that is not empty turns it off. */
  get styled(): boolean {
    const { NO_COLOR: off, TERM: terminal } = this.#env;
    return this.isTerminal && (off === undefined || off === "") && terminal !== "dumb";
  }

  get closed(): boolean {
    return this.#closed;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  async write(text: string): Promise<void> {
    if (this.#closed) return;
    await new Promise<void>((resolve) => {
      this.#stream.write(text, () => resolve());
    });
  }
}

export function bold(output: Output, text: string): string {
  return output.styled ? `\u001b[1m${text}\u001b[22m` : text;
}

export function dim(output: Output, text: string): string {
  return output.styled ? `\u001b[2m${text}\u001b[22m` : text;
}
