/**
 * The slots of one worker process and their shares, so that no organization and no provider can fill them all.
 *
 * A run holds one slot from its lease to its end. It counts towards its organization, towards the provider that it currently calls,
 * and towards the free runs if it holds no money. Nothing waits here: a run without a slot stays in the queue.
 */

/** Runs of one organization at once that hold $0: an empty wallet can start any number of them. */
export const freePerOrganizationMax = 20
/** Of all slots, the part that free runs of all organizations together may use: paid runs always find the rest. */
const freePart = 2
/** The same for one provider's jobs, which are polled now and then and use no call in between. */
const jobsPart = 4

export interface Bounds {
  readonly slots: number
  readonly perOrganization: number
  /** Calls at once that a provider's throttle lets through. */
  readonly callsOf: (provider: string) => number
}

/** What a run is counted for. */
export interface Claimant {
  readonly org_id: string
  readonly provider: string
  /** It holds no money. */
  readonly free: boolean
}

export interface Slot {
  readonly org_id: string
  readonly free: boolean
  /** Whom the run asks; null while it is between two providers, or goes on without a share of one. */
  provider: string | null
  /** The provider works on a job; it is asked for its state now and then. */
  job: boolean
}

const count = (counts: Map<string, number>, name: string): number => counts.get(name) ?? 0
const add = (counts: Map<string, number>, name: string, delta: number) => {
  const next = count(counts, name) + delta
  if (next === 0) counts.delete(name)
  else counts.set(name, next)
}

export class Slots {
  private taken = 0
  private free = 0
  private readonly organizations = new Map<string, number>()
  private readonly freeOf = new Map<string, number>()
  private readonly calls = new Map<string, number>()
  private readonly jobs = new Map<string, number>()
  private readonly bounds: Bounds
  constructor(bounds: Bounds) {
    this.bounds = bounds
  }

  /** Slots that nobody uses. */
  get room(): number {
    return this.bounds.slots - this.taken
  }

  /** Slots that an organization may still take of its share. */
  left(org_id: string): number {
    return this.bounds.perOrganization - count(this.organizations, org_id)
  }

  private admitsProvider(provider: string): boolean {
    const calls = this.bounds.callsOf(provider)
    const inAll = Math.max(calls, Math.floor(this.bounds.slots / jobsPart))
    return count(this.calls, provider) < calls && count(this.calls, provider) + count(this.jobs, provider) < inAll
  }

  private admitsFree(org_id: string): boolean {
    const most = Math.max(1, Math.floor(this.bounds.slots / freePart))
    return this.free < most && count(this.freeOf, org_id) < freePerOrganizationMax
  }

  /** Null when the run has to wait: there is no slot, or the share that it belongs to is used up. */
  take({ org_id, provider, free }: Claimant): Slot | null {
    if (this.room <= 0 || this.left(org_id) <= 0) return null
    if (!this.admitsProvider(provider) || (free && !this.admitsFree(org_id))) return null
    this.taken += 1
    add(this.organizations, org_id, 1)
    add(this.calls, provider, 1)
    if (free) {
      this.free += 1
      add(this.freeOf, org_id, 1)
    }
    return { org_id, free, provider, job: false }
  }

  private leave(slot: Slot): void {
    if (slot.provider !== null) add(slot.job ? this.jobs : this.calls, slot.provider, -1)
    slot.provider = null
    slot.job = false
  }

  release(slot: Slot): void {
    this.leave(slot)
    this.taken -= 1
    add(this.organizations, slot.org_id, -1)
    if (!slot.free) return
    this.free -= 1
    add(this.freeOf, slot.org_id, -1)
  }

  /** The run goes on to another provider. False when that one's share is used up: the run then counts for none. */
  enter(slot: Slot, provider: string): boolean {
    this.leave(slot)
    if (!this.admitsProvider(provider)) return false
    slot.provider = provider
    add(this.calls, provider, 1)
    return true
  }

  /** What the run has asked for is now a job at its provider. */
  beginJob(slot: Slot): void {
    if (slot.provider === null || slot.job) return
    add(this.calls, slot.provider, -1)
    slot.job = true
    add(this.jobs, slot.provider, 1)
  }
}
