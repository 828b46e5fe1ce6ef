#!/usr/bin/env node
/** The `rungate` command: `npm link` (or `npm install -g .`) puts it on the PATH. Runs src/main.ts with the Bun that npm brought. */
import { devNull } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const main = join(dirname(fileURLToPath(import.meta.url)), "..", "src", "main.ts")
/** They work on the service of the folder they are called in, by its settings. */
const operators = ["serve", "audit", "catalog", "admin"]
// Else the folder that somebody happens to stand in could run code (bunfig.toml), or have the key sent elsewhere (.env).
const flags = [`--config=${devNull}`, ...(operators.includes(process.argv[2]) ? [] : ["--no-env-file"])]
process.argv.splice(2, 0, ...flags, main)
await import("./bun.mjs")
