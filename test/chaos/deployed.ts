/** The files of deploy/patroni as a test runs them: unchanged, but for the addresses and secrets in the files that end with `.env`. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

const folder = join(import.meta.dir, "..", "..", "deploy", "patroni")

export const pathOf = (name: string): string => join(folder, name)

/** The variables of such a file, with these in place of its examples. Each of these must be in the file, or operators would miss it. */
export const deployed = (name: string, given: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const lines = readFileSync(pathOf(name), "utf8").split("\n")
  const examples = Object.fromEntries(
    lines.flatMap((line) => [...line.matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/g)].map(([, key, value]) => [key, value]))
  )
  for (const key of Object.keys(given)) if (!(key in examples)) throw new Error(`${name} has no ${key}`)
  return { ...examples, ...given }
}
