/**
 * Real processes of the service: started, watched, killed. None outlives the test process, however that ends.
 */
import { plans } from "../kit/credit-prices.ts"
import { type Command, type Ended, type Run, runCommand } from "../kit/run-command.ts"
import { serviceFile } from "../kit/service-file.ts"
import { slowness } from "../kit/slowness.ts"

export type { Command, Run }

const startMillisMax = 90_000

export type Role = "all" | "http" | "worker"

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

const ours: Command = [process.execPath, await serviceFile()]

/** `rungate <args>` with just this environment, from the service's one file or by another command (`../kit/compiled-command.ts`). */
export const runMain = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  command: Command = ours
): Run => runCommand(command, args, env)

const ready = async (url: string) => {
  const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
  return answer?.status === 200
}

export interface Start {
  readonly millisMax?: number
  readonly watch?: (output: () => string) => void
  /** Of another release. Without it ours runs. */
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
