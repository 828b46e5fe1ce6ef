/** Slots of a worker: what an organization, a provider and free runs may use, whatever happens in which order. */
import { describe, expect, test } from "bun:test"
import { allot } from "../../src/actors/runs/FairClaim.ts"
import { freePerOrganizationMax, noShare, type Slot, Slots } from "../../src/schema/runs/Slots.ts"

const bounds = { slots: 100, perOrganization: 25, callsOf: (provider: string) => (provider === "narrow" ? 3 : 1_000) }
const paid = (org_id: string, provider = "wide") => ({ org_id, provider, free: false })
const free = (org_id: string, provider = "wide") => ({ org_id, provider, free: true })
const fill = (slots: Slots, claimant: ReturnType<typeof paid>) => {
  const taken: Array<Slot> = []
  for (let slot = slots.take(claimant); slot !== null; slot = slots.take(claimant)) taken.push(slot)
  return taken
}

describe("slots", () => {
  test("one organization gets its share, and what it gives back others and it can take again", () => {
    const slots = new Slots(bounds)
    const mine = fill(slots, paid("a"))
    expect([mine.length, slots.room]).toEqual([25, 75])
    expect(["b", "c", "d", "e"].map((org) => fill(slots, paid(org)).length)).toEqual([25, 25, 25, 0])
    for (const slot of mine.splice(0, 5)) slots.release(slot)
    expect(fill(slots, paid("e")).length).toBe(5)
    expect(slots.take(paid("a"))).toBeNull()
  })

  test("free runs: twenty of one organization, and the last quarter is for those that have none", () => {
    const slots = new Slots(bounds)
    expect(fill(slots, free("a")).length).toBe(freePerOrganizationMax)
    expect(fill(slots, paid("a")).length).toBe(5)
    expect(["b", "c", "d", "e"].map((org) => fill(slots, free(org)).length)).toEqual([17, 1, 1, 1])
    expect(fill(slots, paid("d")).length).toBe(24)
  })

  test("free runs of organizations that end nothing leave slots to the others, and half of all slots to paid runs", () => {
    const slots = new Slots({ ...bounds, slots: 200 })
    const hung = Array.from({ length: 20 }, (_, n) => free(`hung${n}`))
    // Each takes a slot in turn, as queued runs do.
    const rounds = (orgs: typeof hung) => {
      for (let took = true; took; ) took = orgs.map((org) => slots.take(org) !== null).includes(true)
    }
    for (const some of [5, 10, 20]) {
      rounds(hung.slice(0, some))
      const slot = slots.take(free("another"))
      if (slot === null) return expect.unreachable(`${some} organizations left nothing`)
      slots.release(slot)
    }
    expect(slots.room).toBeGreaterThanOrEqual(100)
  })

  test("free runs that end give back what they took of both shares, and paid runs give back none of it", () => {
    const slots = new Slots(bounds)
    const [mine, paidFor] = [fill(slots, free("a")), fill(slots, paid("a"))]
    for (const slot of mine.slice(0, 5)) slots.release(slot)
    for (const slot of paidFor.slice(0, 2)) slots.release(slot)
    expect(fill(slots, free("a")).length).toBe(5)
    const others = ["b", "c"].flatMap((org) => fill(slots, free(org)))
    expect(others.length).toBe(18)
    for (const slot of paidFor.slice(2)) slots.release(slot)
    for (const slot of others.slice(0, 3)) slots.release(slot)
    expect(fill(slots, free("d")).length).toBe(2)
  })

  test("a provider gets as many calls as it takes at once; its jobs use no call, and a quarter of the slots", () => {
    const slots = new Slots(bounds)
    const jobs: Array<Slot> = []
    for (const org of ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"])
      for (const slot of fill(slots, paid(org, "narrow"))) {
        slots.beginJob(slot)
        jobs.push(slot)
      }
    expect(jobs.length).toBe(25)
    expect(slots.take(paid("z"))).not.toBeNull()
    for (const job of jobs) slots.release(job)
    expect(fill(slots, paid("a", "narrow")).length).toBe(3)
  })

  test("a run that goes on to another provider counts there, or nowhere when that one is full", () => {
    const slots = new Slots(bounds)
    const [first, second] = [slots.take(paid("a")), slots.take(paid("b"))]
    if (first === null || second === null) return expect.unreachable("there is room")
    expect(slots.enter(first, "narrow")).toBe(true)
    expect(fill(slots, paid("c", "narrow")).length).toBe(2)
    expect(slots.enter(second, "narrow")).toBe(false)
    // The one that it has is its own.
    expect(slots.enter(first, "narrow")).toBe(true)
    slots.release(first)
    expect(slots.enter(second, "narrow")).toBe(true)
    slots.release(second)
    expect(slots.room).toBe(98)
  })

  test("shares are rounded down, and a small worker has a free run and a provider's calls all the same", () => {
    const small = (slots: number) => new Slots({ slots, perOrganization: 25, callsOf: () => 1 })
    expect([1, 2, 3, 4, 5].map((slots) => fill(small(slots), free("a", noShare)).length)).toEqual([1, 1, 1, 1, 1])
    const jobsOf = (slots: Slots) => {
      let jobs = 0
      for (let slot = slots.take(paid("a")); slot !== null; slot = slots.take(paid("a"))) {
        slots.beginJob(slot)
        jobs += 1
      }
      return jobs
    }
    expect([1, 4, 7, 8, 11, 12].map((slots) => jobsOf(small(slots)))).toEqual([1, 1, 1, 2, 2, 3])
  })

  test("a provider that takes more calls than a quarter of the slots has them, with its jobs among them", () => {
    const slots = new Slots({ slots: 100, perOrganization: 100, callsOf: () => 40 })
    const calls = fill(slots, paid("a"))
    expect(calls.length).toBe(40)
    for (const slot of calls.slice(0, 10)) slots.beginJob(slot)
    expect(slots.take(paid("b"))).toBeNull()
    slots.release(calls[0]!)
    expect(fill(slots, paid("b")).length).toBe(1)
  })

  test("a job that is begun twice counts once, and none is begun without a provider", () => {
    const slots = new Slots(bounds)
    const [first, second] = [slots.take(paid("a", "narrow")), slots.take(paid("b"))]
    if (first === null || second === null) return expect.unreachable("there is room")
    slots.beginJob(first)
    slots.beginJob(first)
    const others = fill(slots, paid("c", "narrow"))
    expect(others.length).toBe(3)
    expect([slots.enter(second, "narrow"), second.provider]).toEqual([false, null])
    slots.beginJob(second)
    expect(second.job).toBe(false)
    slots.release(others[0]!)
    expect([slots.enter(second, "narrow"), slots.enter(second, "narrow")]).toEqual([true, true])
    // A run that leaves its job gives back the job's share, and no call.
    expect([slots.enter(first, "wide"), first.job]).toEqual([true, false])
    expect(slots.take(paid("d", "narrow"))).toBeNull()
  })

  test("a run through its organization's own account takes no share of a provider", () => {
    const slots = new Slots({ slots: 100, perOrganization: 25, callsOf: () => 0 })
    expect(slots.take(paid("a"))).toBeNull()
    expect(fill(slots, paid("a", noShare)).length).toBe(25)
  })

  test("whatever is taken, moved and given back, no share is passed and nothing is lost", () => {
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % below
    }
    const slots = new Slots(bounds)
    const held: Array<Slot> = []
    const providers = ["narrow", "wide"]
    for (let step = 0; step < 20_000; step++) {
      const [action, at] = [random(5), random(Math.max(1, held.length))]
      const slot = held[at]
      if (action < 2) {
        const made = slots.take({
          org_id: `o${random(6)}`,
          provider: providers[random(2)] ?? "",
          free: random(2) === 0
        })
        if (made !== null) held.push(made)
      } else if (slot === undefined) continue
      else if (action === 2) slots.release(held.splice(at, 1)[0] ?? slot)
      else if (action === 3) slots.enter(slot, providers[random(2)] ?? "")
      else slots.beginJob(slot)
      const count = (which: (one: Slot) => boolean) => held.filter(which).length
      expect(slots.room).toBe(100 - held.length)
      expect(count((one) => one.provider === "narrow" && !one.job)).toBeLessThanOrEqual(3)
      expect(count((one) => one.free)).toBeLessThanOrEqual(50)
      for (let org = 0; org < 6; org++) {
        expect(count((one) => one.org_id === `o${org}`)).toBeLessThanOrEqual(25)
        expect(count((one) => one.org_id === `o${org}` && one.free)).toBeLessThanOrEqual(20)
      }
    }
    for (const slot of held) slots.release(slot)
    expect([slots.room, fill(slots, paid("o1")).length]).toEqual([100, 25])
  })
})

describe("slots for queued runs", () => {
  const group = (org_id: string, provider = "wide", since = 0) => ({ ...paid(org_id, provider), since })
  const shares = (groups: ReadonlyArray<ReturnType<typeof group>>, most: number, slots = new Slots(bounds)) =>
    Object.fromEntries(
      allot(groups, most, (claimant) => slots.take(claimant)).map((one) => [
        `${one.group.org_id} ${one.group.provider}`,
        one.slots.length
      ])
    )

  test("go round the organizations, not the runs", () => {
    expect(shares([group("a"), group("b"), group("c")], 7)).toEqual({ "a wide": 3, "b wide": 2, "c wide": 2 })
    expect(shares([group("a"), group("b")], 100)).toEqual({ "a wide": 25, "b wide": 25 })
  })

  test("go to the provider whose runs waited longest first, and past one that is full", () => {
    expect(shares([group("a", "narrow", 5), group("a", "wide", 9)], 1)).toEqual({ "a narrow": 1 })
    expect(shares([group("a", "narrow", 5), group("a", "wide", 9)], 10)).toEqual({ "a narrow": 3, "a wide": 7 })
  })
})
