/**
 * Cleans up after a test process however it ends, `kill -9` included.
 *
 * A small shell waits on a pipe that only this process holds; when the process is gone the pipe closes and the script runs.
 */
import { spawn } from "node:child_process"

export const afterwards = (script: string, ...args: ReadonlyArray<string>) => {
  const shell = spawn("sh", ["-c", `read _; ${script}`, "sh", ...args], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true
  })
  shell.unref()
}

/** One value per test process: `bun test` may load a module again for every file. */
export const once = <A>(name: string, make: () => A): A => {
  const made: Map<string, unknown> = (Reflect.get(globalThis, registry) ?? new Map()) as Map<string, unknown>
  Reflect.set(globalThis, registry, made)
  if (!made.has(name)) made.set(name, make())
  return made.get(name) as A
}
const registry = Symbol.for("rungate/test/once")
