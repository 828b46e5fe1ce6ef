/**
 * The owners of a soak's organizations: their sessions, and how they call the service.
 *
 * Now and then an owner signs out and has a new session. What has ended must answer nothing from then on, in every process.
 */
import type { World } from "../chaos/world.ts"
import type { Slots, Tell } from "./slots.ts"

const answerMillisMax = 8_000

/** Asks a process that has an address. Null: nobody answered, or the service had to refuse. */
const call = async (url: string | undefined, token: string, method: string, path: string, body?: object) => {
  if (url === undefined) return null
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    signal: AbortSignal.timeout(answerMillisMax),
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  }).catch(() => null)
  const text = await answer?.text().catch(() => undefined)
  if (answer === null || text === undefined || answer.status >= 500 || answer.status === 429) return null
  return { status: answer.status, body: JSON.parse(text) }
}
export type Answer = Awaited<ReturnType<typeof call>>

export class Owners {
  readonly counts = { sessions_ended: 0 }
  private readonly sessions = new Map<string, string>()
  private readonly world: World
  private readonly slots: Slots
  private turn = 0

  constructor(world: World, slots: Slots) {
    this.world = world
    this.slots = slots
  }

  async begin(): Promise<void> {
    for (const customer of this.world.customers) this.sessions.set(customer.org_id, await this.world.session(customer))
  }

  /** Those of all processes in turn. */
  url(): string | undefined {
    const fronts = this.slots.fronts()
    this.turn += 1
    return fronts[this.turn % fronts.length]?.url
  }

  async ask(org_id: string, method: string, path: string, body?: object): Promise<Answer> {
    const token = this.sessions.get(org_id) ?? ""
    const answer = await call(this.url(), token, method, path, body)
    // The session ended meanwhile.
    return answer?.status === 401 && this.sessions.get(org_id) !== token ? null : answer
  }

  /** A new session in place of the one before, which is signed out. */
  async renew(org_id: string, violate: Tell): Promise<void> {
    const before = this.sessions.get(org_id) ?? ""
    const renewed = await this.world.session({ org_id }).catch(() => null)
    if (renewed === null) return
    this.sessions.set(org_id, renewed)
    const ended = await call(this.url(), before, "POST", "/v1/auth/sign-out")
    if (ended === null) return
    if (ended.status !== 200) return violate(`a sign-out was answered ${JSON.stringify(ended)}`)
    this.counts.sessions_ended += 1
    for (const { url } of this.slots.fronts()) {
      const after = await call(url, before, "GET", "/v1/auth/session")
      if (after !== null && after.status !== 401)
        violate(`a session that has ended was answered ${JSON.stringify(after)}`)
    }
  }
}
