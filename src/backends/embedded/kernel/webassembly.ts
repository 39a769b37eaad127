import { KERNEL_BYTES } from "./kernel-bytes.ts";

/** The part of `WebAssembly.Memory` that is used; sizes in pages of 64 KiB. */
export interface SharedMemory {
  /** A new object after each growth, always of the same bytes: views of earlier ones stay valid. */
  readonly buffer: SharedArrayBuffer;
  grow(pages: number): number;
}

/** What kernel.c exports. Addresses are bytes from the start of the memory. */
export interface KernelExports {
  score_rows(rows: number, count: number, dimensions: number, query: number, out: number): void;
  score_slots(rows: number, slots: number, count: number, dimensions: number, query: number, out: number): void;
  /** `query` and `out` are float32. */
  estimate_rows(rows: number, count: number, dimensions: number, query: number, out: number): void;
  squared_norms(rows: number, count: number, dimensions: number, out: number): void;
  sum_region(region: number, count: number): number;
}

interface MemoryDescriptor {
  readonly initial: number;
  readonly maximum: number;
  readonly shared: true;
}

/** The part of the global `WebAssembly` that is used: Node's own types leave it to the DOM's. */
interface WebAssemblyApi {
  readonly Memory: new (descriptor: MemoryDescriptor) => SharedMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: { readonly env: { readonly memory: SharedMemory } },
  ) => { readonly exports: unknown };
  validate(bytes: Uint8Array): boolean;
}

interface Runtime {
  readonly api: WebAssemblyApi;
  readonly module: object;
}

// Compiled once a thread; V8 shares the machine code of equal modules between threads.
let runtime: Runtime | "untried" | "unsupported" = "untried";

/** Whether this runtime has WebAssembly with SIMD and shared memories. */
export function isWebAssemblySupported(): boolean {
  return loadRuntime() !== undefined;
}

/** Makes a shared memory, or answers `undefined` where the runtime or the machine has none to give. */
export function createSharedMemory(initialPages: number, maximumPages: number): SharedMemory | undefined {
  const loaded = loadRuntime();
  if (loaded === undefined) return undefined;
  try {
    return new loaded.api.Memory({ initial: initialPages, maximum: maximumPages, shared: true });
  } catch {
    // RangeError: no address space or no bytes left. The caller goes on without.
    return undefined;
  }
}

/** Grows `memory` and says whether it could. */
export function growSharedMemory(memory: SharedMemory, pages: number): boolean {
  try {
    memory.grow(pages);
    return true;
  } catch {
    return false;
  }
}

/** An instance of the kernel over `memory`, or `undefined` where the runtime has none. */
export function instantiateKernel(memory: SharedMemory): KernelExports | undefined {
  const loaded = loadRuntime();
  if (loaded === undefined) return undefined;
  // The build script checks that the module exports exactly these functions.
  return new loaded.api.Instance(loaded.module, { env: { memory } }).exports as KernelExports;
}

function loadRuntime(): Runtime | undefined {
  if (runtime === "untried") runtime = compileKernel() ?? "unsupported";
  return runtime === "unsupported" ? undefined : runtime;
}

function compileKernel(): Runtime | undefined {
  const { WebAssembly: api } = globalThis as { readonly WebAssembly?: WebAssemblyApi };
  if (api === undefined || typeof SharedArrayBuffer === "undefined") return undefined;
  const bytes = Buffer.from(KERNEL_BYTES, "base64");
  // False where SIMD or shared memories are missing.
  if (!api.validate(bytes)) return undefined;
  return { api, module: new api.Module(bytes) };
}
