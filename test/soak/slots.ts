/**
 * The processes of a soak and whoever restarts them: each slot has one process of its role, and a new one when that ends.
 *
 * A process that ends though no fault ended it is a finding, and so are one that answers SIGTERM with another exit code than 0, and a start
 * that ends because Redis is away. A start that PostgreSQL's absence ends is tried again, as a supervisor would.
 */
import { type Role, type Service, until } from "../chaos/processes.ts"
import type { World } from "../chaos/world.ts"

/** A process takes 2 s to start on a quiet machine, and half a minute on one that ten others use. */
const startMillisMax = 150_000
/** With its repetitions. */
const startsMillisMax = 400_000
/** Runs under way may take 20 s to drain, and each layer has a limit of its own. */
const stopMillisMax = 90_000
const againMillis = 500

export type Tell = (text: string) => void

const reasonOf = (text: string) => /(?:rungate: |(?=not within ))(.+)/.exec(text)?.[1] ?? text.slice(0, 300)

export class Slots {
  readonly current: Array<Service | undefined>
  /** What the newest process of each slot has said so far. */
  readonly output: Array<() => string>
  /** Starts that ended before they were ready, because a server was away. */
  failedStarts = 0
  /** A start ended because Redis was away. */
  failed = false
  private readonly world: World
  private readonly roles: ReadonlyArray<Role>
  /** Settings of the last process, which reaches its servers through proxies. */
  private readonly proxied: Readonly<Record<string, string>>
  private readonly say: Tell
  private readonly violate: Tell
  private closed = false

  constructor(
    world: World,
    roles: ReadonlyArray<Role>,
    proxied: Readonly<Record<string, string>>,
    say: Tell,
    violate: Tell
  ) {
    this.world = world
    this.roles = roles
    this.current = roles.map(() => undefined)
    this.output = roles.map(() => () => "")
    this.proxied = proxied
    this.say = say
    this.violate = violate
  }

  async start(slot: number, extra: Readonly<Record<string, string>> = {}): Promise<void> {
    const role = this.roles[slot] ?? "all"
    const env = { ...(slot === this.roles.length - 1 ? this.proxied : {}), ...extra }
    for (const end = performance.now() + startsMillisMax; !this.closed; await Bun.sleep(againMillis)) {
      try {
        const watch = (output: () => string) => {
          this.output[slot] = output
        }
        const service = await this.world.start(role, env, { millisMax: startMillisMax, watch })
        this.current[slot] = service
        void service.ended.then((how) => this.noteEnd(slot, service, how.signal ?? how.code))
        return
      } catch (error) {
        if (this.closed) return
        this.failedStarts += 1
        const text = String(error)
        this.say(`process ${slot} did not start, again: ${reasonOf(text)}`)
        this.failed = text.includes("Can't reach Redis")
        if (this.failed) return this.violate(`a start without Redis ended: ${text.slice(0, 2_000)}`)
        if (performance.now() > end) return this.violate(`process ${slot} does not start: ${text.slice(-2_000)}`)
      }
    }
  }

  private noteEnd(slot: number, service: Service, how: string | number | null) {
    this.world.services.splice(this.world.services.indexOf(service), 1)
    if (this.current[slot] !== service || this.closed) return
    this.current[slot] = undefined
    this.violate(`process ${slot} ended by itself (${how}): ${service.output().slice(-2_000)}`)
  }

  private take(slot: number): Service | undefined {
    const service = this.current[slot]
    this.current[slot] = undefined
    return service
  }

  async kill(slot: number): Promise<void> {
    await this.take(slot)?.kill()
  }

  async stop(slot: number): Promise<void> {
    const service = this.take(slot)
    if (service === undefined) return
    service.signal("SIGTERM")
    const how = await until("its end", stopMillisMax, () => (service.alive() ? undefined : service.ended)).catch(
      () => null
    )
    // src/http/EndAtLast.ts ends a process that hangs.
    const forced = service.output().includes("did not stop within")
    if (how?.code === 0 && !forced) return
    const ended = forced
      ? "was ended by force"
      : how === null
        ? `does not end within ${stopMillisMax / 1_000} s of SIGTERM`
        : `ends with ${how.signal ?? how.code}`
    this.violate(`process ${slot} ${ended}: ${service.output().slice(-2_000)}`)
    await service.kill()
  }

  /** Those that clients can ask. */
  fronts(): ReadonlyArray<Service> {
    return this.current.flatMap((service) => (service === undefined || service.url === "" ? [] : [service]))
  }

  logs(): ReadonlyArray<readonly [string, string]> {
    return this.current.flatMap((service, slot) =>
      service === undefined ? [] : [[`process-${slot}.log`, service.output()] as const]
    )
  }

  /** From now on the end of a process is nothing unusual. */
  close(): void {
    this.closed = true
  }
}
