import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** What a child program answers: a value, or an error that it caught. */
interface Reply {
  readonly answer?: unknown;
  readonly error?: string;
}

/** A program of `test/doubles/children`, spoken to one message at a time. */
export class Child {
  readonly #process: ChildProcess;
  readonly #replies: Reply[] = [];
  readonly #closed: Promise<void>;
  #wake: (() => void) | undefined;
  #ended = false;

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.on("message", (message: unknown) => {
      this.#replies.push(typeof message === "object" && message !== null ? message : { answer: message });
      this.#wake?.();
    });
    this.#closed = new Promise((resolve) => {
      process.on("close", () => {
        this.#ended = true;
        this.#wake?.();
        resolve();
      });
    });
  }

  /** Starts the program and waits for its first message. */
  static start(program: string, ...args: readonly string[]): Promise<Child> {
    return Child.startWith({}, program, ...args);
  }

  /** The same, with more in its environment. */
  static async startWith(environment: NodeJS.ProcessEnv, program: string, ...args: readonly string[]): Promise<Child> {
    const path = fileURLToPath(new URL(`children/${program}.js`, import.meta.url));
    // A test runner's own flags would make the child another program.
    const child = new Child(
      fork(path, args, {
        execArgv: [],
        env: { ...process.env, ...environment },
        stdio: ["ignore", "inherit", "inherit", "ipc"],
        serialization: "advanced",
      }),
    );
    await child.#next();
    return child;
  }

  /** Sends a message and waits for its answer. */
  async ask(message: string | object): Promise<unknown> {
    this.#process.send(message);
    return this.#next();
  }

  /** Ends the process as a crash would. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#closed;
  }

  async #next(): Promise<unknown> {
    while (this.#replies.length === 0) {
      if (this.#ended) throw new Error("The child ended without an answer.");
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const reply = this.#replies.shift();
    if (reply?.error !== undefined) throw new Error(reply.error);
    return reply?.answer;
  }
}
