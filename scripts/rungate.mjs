#!/usr/bin/env node
/** The `rungate` command: `npm link` (or `npm install -g .`) puts it on the PATH. Runs src/main.ts with the Bun that npm brought. */
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

process.argv.splice(2, 0, join(dirname(fileURLToPath(import.meta.url)), "..", "src", "main.ts"))
await import("./bun.mjs")
