/** What is measured, in order; each in a file of its own that exports `run(options)`. */
export const SECTIONS = new Map([
  ["writes", { title: "Durable writes against the raw statements", load: () => import("./writes.js") }],
  ["callers", { title: "64 callers at once against one", load: () => import("./callers.js") }],
  ["kernel", { title: "The kernel against the bandwidth of memory", load: () => import("./kernel.js") }],
  ["scan", { title: "Exact search against kernel and bandwidth", load: () => import("./scan.js") }],
  ["filters", { title: "Filters", load: () => import("./filters.js") }],
  ["stalls", { title: "Longest hold of the calling thread", load: () => import("./stalls.js") }],
  ["processes", { title: "Eight writing processes on one folder", load: () => import("./processes.js") }],
  ["load", { title: "Opening, and bytes a record", load: () => import("./load.js") }],
  ["recall", { title: "Recall: the first answer, and filters of every plan", load: () => import("./recall.js") }],
]);
