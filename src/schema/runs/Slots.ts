/**
 * The slots of one worker process and their shares, so that no organization and no provider can fill them all.
 *
 * A run holds one slot from its lease to its end. It counts towards its organization, towards the provider that it currently calls,
 * and towards the free runs if it holds no money. Nothing waits here: a run without a slot stays in the queue.
 */

/** Maximum number of concurrent runs per organization that hold $0, because an empty wallet can start any number of them. */
export const freePerOrganizationMax = 20
/** Instead of a provider: a run that calls one through its organization's own account takes no share of the provider. */
export const noShare = ""
/** Free runs of all organizations together may use 1/2 of the slots. The rest is for paid runs. */
const freePart = 2
/** The rest of these slots is for organizations without a free run under way. So a few whose runs hang leave slots to the others. */
const freeShared = 3 / 4
/** The calls and jobs of one provider may use 1/4 of the slots, or as many as its concurrency. Jobs are only polled, so they do not count as calls. */
const jobsPart = 4

export interface Bounds {
  readonly slots: number
  readonly perOrganization: number
  /** The concurrency that a provider's throttle allows. */
  readonly callsOf: (provider: string) => number
}

/** A run that asks for a slot. */
export interface Claimant {
  readonly org_id: string
  readonly provider: string
  /** The run holds no money. */
  readonly free: boolean
}

export interface Slot {
  readonly org_id: string
  readonly free: boolean
  /** The provider that the run calls. Null between two providers, or if the run continues without a share of one. */
  provider: string | null
  /** The provider works on a job of the run, whose state is polled. */
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

  /** The number of free slots. */
  get room(): number {
    return this.bounds.slots - this.taken
  }

  /** The number of slots that an organization may still take. */
  left(org_id: string): number {
    return this.bounds.perOrganization - count(this.organizations, org_id)
  }

  private admitsProvider(provider: string): boolean {
    if (provider === noShare) return true
    const calls = this.bounds.callsOf(provider)
    const inAll = Math.max(calls, Math.floor(this.bounds.slots / jobsPart))
    return count(this.calls, provider) < calls && count(this.calls, provider) + count(this.jobs, provider) < inAll
  }

  private admitsFree(org_id: string): boolean {
    const most = Math.max(1, Math.floor(this.bounds.slots / freePart))
    const own = count(this.freeOf, org_id)
    if (own > 0 && this.free >= Math.floor(most * freeShared)) return false
    return this.free < most && own < freePerOrganizationMax
  }

  /** Null if the run has to wait, because no slot is free or one of its shares is used up. */
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

  /** Counts the run for another provider. False if the share of that provider is used up. Then the run counts for no provider. */
  enter(slot: Slot, provider: string): boolean {
    this.leave(slot)
    if (!this.admitsProvider(provider)) return false
    slot.provider = provider
    add(this.calls, provider, 1)
    return true
  }

  /** The provider has started a job for the run. */
  beginJob(slot: Slot): void {
    if (slot.provider === null || slot.job) return
    add(this.calls, slot.provider, -1)
    slot.job = true
    add(this.jobs, slot.provider, 1)
  }
}
