/**
 * `node scripts/rungate.mjs …`: what scripts/rungate leaves to Node, as long as it is not all in place: Bun, packages, the one file.
 */
import { devNull } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
/** They work on the service of the folder they are called in, by its settings. */
const operators = ["serve", "migrate", "audit", "catalog", "config", "providers", "admin"]
/** These take the next word. */
const withValue = ["--profile", "--log-level"]
const words = process.argv.slice(2)
const command = words.find((word, index) => !word.startsWith("-") && !withValue.includes(words[index - 1]))
const operates = operators.includes(command)
// Else the folder that somebody happens to stand in could run code (bunfig.toml), or have the key sent elsewhere (.env).
const flags = [`--config=${devNull}`, ...(operates ? [] : ["--no-env-file"])]
process.argv.splice(2, 0, ...flags, join(root, "scripts", operates ? "operator.ts" : "client.ts"))
await import("./bun.mjs")
