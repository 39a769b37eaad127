import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/**
 * Runs npm under the Node binary `node` and answers whether it succeeded: the npm that started this script, when
 * one did, else the one on the PATH. With `quiet` its standard output is answered instead of printed.
 */
export function npm(args, { cwd, node = process.execPath, quiet = false }) {
  const own = process.env.npm_execpath;
  const viaNode = own !== undefined && /npm-cli\.[cm]?js$/.test(own);
  const [command, ...first] = viaNode ? [node, own] : ["npm"];
  const shell = !viaNode && process.platform === "win32";
  const stdio = ["ignore", quiet ? "pipe" : "inherit", "inherit"];
  const options = { cwd, stdio, env: environmentFor(node), shell, encoding: "utf8" };
  const result = spawnSync(command, [...first, ...args], options);
  return quiet && result.status === 0 ? result.stdout : result.status === 0;
}

/**
 * The environment in which `node` is the Node of every child. What an outer npm says about its own script and
 * package is taken out. Where `node` has its headers beside it, native modules are built from them, not from a download.
 */
export function environmentFor(node) {
  const entries = Object.entries(process.env).filter(([name]) => !/^npm_(lifecycle|package|command)/i.test(name));
  const env = Object.fromEntries(entries);
  if (node === process.execPath && process.env.npm_config_nodedir !== undefined) return env;
  env.PATH = `${dirname(node)}${delimiter}${process.env.PATH ?? ""}`;
  delete env.npm_config_nodedir;
  const prefix = dirname(dirname(node));
  if (headersVersion(prefix) === versionOf(node)) env.npm_config_nodedir = prefix;
  return env;
}

function headersVersion(prefix) {
  const path = join(prefix, "include", "node", "node_version.h");
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, "utf8");
  return ["MAJOR", "MINOR", "PATCH"].map((part) => text.match(`define NODE_${part}_VERSION (\\d+)`)?.[1]).join(".");
}

function versionOf(node) {
  if (node === process.execPath) return process.versions.node;
  return spawnSync(node, ["-p", "process.versions.node"], { encoding: "utf8" }).stdout?.trim();
}
