/**
 * Real processes of the service: started, watched, killed. None outlives the test process, however that ends.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { plans } from "../kit/credit-prices.ts"
import { slowness } from "../kit/slowness.ts"

const root = join(import.meta.dir, "..", "..")
const startMillisMax = 90_000
const logLengthMax = 200_000

export type Role = "all" | "http" | "worker"

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Service {
  readonly pid: number
  /** Empty for a worker. */
  readonly url: string
  readonly output: () => string
  readonly ended: Promise<Ended>
  readonly alive: () => boolean
  readonly how: () => string
  readonly signal: (signal: NodeJS.Signals) => void
  /** Kills it, frozen or not, and waits until it is gone. */
  readonly kill: () => Promise<void>
}

/** A step that takes a second may take some more on a machine that others use. What must be prompt is measured and compared by its test. */
const untilMillisMin = 60_000

/** Polls until `look` says something else than undefined or false. Waits a minute at least. */
export const until = async <A>(
  what: string,
  millisMax: number,
  look: () => Promise<A | undefined | false> | A | undefined | false
) => {
  const patience = Math.max(millisMax, untilMillisMin) * slowness
  for (const end = performance.now() + patience; ; await Bun.sleep(20)) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    if (performance.now() > end) throw new Error(`not within ${patience / 1000} s: ${what}`)
  }
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

const sources: Command = [process.execPath, "src/main.ts"]

/** `rungate <args>` with just this environment: the sources, or the one compiled file that `../command.ts` makes. */
export const runMain = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  [program, ...first]: Command = sources
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

const ready = async (url: string) => {
  const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
  return answer?.status === 200
}

export interface Start {
  readonly millisMax?: number
  readonly watch?: (output: () => string) => void
  /** Of another release. Without it the sources run. */
  readonly command?: Command | undefined
}

/** Ready when it answers: an HTTP role by /readyz, a worker by what it says. */
export const startService = async (
  role: Role,
  env: Readonly<Record<string, string>>,
  /** `watch` gets what the process says before it is ready. */
  { millisMax = startMillisMax, watch = () => {}, command }: Start = {}
): Promise<Service> => {
  const { child, output, errors, ended } = runMain(["serve", "--role", role], { PORT: "0", ...plans, ...env }, command)
  const pid = child.pid
  if (pid === undefined) throw new Error("no process was started")
  const all = () => `${output()}${errors()}`
  watch(all)
  let over: Ended | undefined
  void ended.then((how) => {
    over = how
  })
  const service = {
    pid,
    output: all,
    ended,
    alive: () => over === undefined,
    how: () => (over === undefined ? "running" : `ended: ${over.signal ?? over.code}`),
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    kill: async () => {
      child.kill("SIGKILL")
      await ended
    }
  }
  const started = until(`a ready process of role ${role}`, millisMax, async () => {
    if (over !== undefined) throw new Error(`the process of role ${role} ended:\n${all()}`)
    if (role === "worker") return output().includes("worker is taking turns") ? "" : undefined
    const url = /listens on (http:\/\/\S+)/.exec(output())?.[1]
    return url !== undefined && (await ready(url)) ? url : undefined
  })
  const url = await started.catch(async (error) => {
    await service.kill()
    throw new Error(`${error}\n${all()}`)
  })
  return { ...service, url }
}
