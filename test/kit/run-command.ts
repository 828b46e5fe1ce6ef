/** A process of a command, with just the environment that it is given: started, watched, and never left behind. */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dir, "..", "..")
const logLengthMax = 200_000

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A shell that waits on a pipe which only we hold, and kills the child when we are gone. */
const guard = (child: ChildProcess) => {
  const script = 'read _; kill -CONT "$1"; kill -KILL "$1"'
  const shell = spawn("sh", ["-c", script, "sh", String(child.pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true
  })
  shell.unref()
  child.once("exit", () => shell.kill("SIGKILL"))
}

/** Only what a process needs: nothing that the tests' own environment says may change a run. */
const environment = () => {
  const { PATH = "/usr/bin:/bin", HOME = "/", TMPDIR = "/tmp" } = process.env
  // The tests' server runs with fsync=off, also for production.
  return { PATH, HOME, TMPDIR, NO_COLOR: "1", RUNGATE_DATABASE_CHECKS: "warn" }
}

export type Command = readonly [string, ...ReadonlyArray<string>]

export interface Run {
  readonly child: ChildProcess
  readonly output: () => string
  readonly errors: () => string
  readonly ended: Promise<Ended>
}

/** The command with these arguments and just this environment. */
export const runCommand = (
  [program, ...first]: Command,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>
): Run => {
  const child = spawn(program, [...first, ...args], {
    cwd: root,
    env: { ...environment(), ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  guard(child)
  const text = { out: "", err: "" }
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text.out = (text.out + part).slice(-logLengthMax)
  })
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    text.err = (text.err + part).slice(-logLengthMax)
  })
  const ended = new Promise<Ended>((resolve) => child.once("close", (code, signal) => resolve({ code, signal })))
  return { child, output: () => text.out, errors: () => text.err, ended }
}
