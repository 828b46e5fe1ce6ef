/**
 * Reads the environment file `.env` again, which Bun reads once when the process starts.
 *
 * A variable of the real environment wins over the file, then and later. A process can't ask which of its variables came from the file, so
 * those count that have the file's value at the start.
 */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { parseEnv } from "node:util"
import type { Variables } from "./secretFiles.ts"

export interface Environment {
  readonly variables: Variables
  /** Names of variables that came from the file. */
  readonly fromFile: ReadonlySet<string>
}

/** Bun's flag for a process that reads no such file. */
const noFile = "--no-env-file"

const parsed = (path: string): Variables => {
  try {
    return parseEnv(readFileSync(path, "utf8"))
  } catch {
    return {}
  }
}

/** `initial` are the variables of the process. Each call of the result reads the file. */
export const environmentOf = (
  initial: Variables,
  flags: ReadonlyArray<string> = process.execArgv,
  path = resolve(".env")
): (() => Environment) => {
  if (flags.includes(noFile)) return () => ({ variables: initial, fromFile: new Set() })
  const first = parsed(path)
  const isFiles = (name: string) =>
    initial[name] === undefined || (first[name] !== undefined && initial[name] === first[name])
  const real = Object.fromEntries(Object.entries(initial).filter(([name]) => !isFiles(name)))
  return () => {
    const now = Object.entries(parsed(path)).filter(([name]) => real[name] === undefined)
    return { variables: { ...real, ...Object.fromEntries(now) }, fromFile: new Set(now.map(([name]) => name)) }
  }
}
