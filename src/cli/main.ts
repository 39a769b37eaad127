#!/usr/bin/env node
import { run } from "./program.ts";
import { stopOnSignals } from "./stop.ts";
import { processSurroundings } from "./surroundings.ts";

process.exitCode = await run(process.argv.slice(2), processSurroundings(stopOnSignals()));
