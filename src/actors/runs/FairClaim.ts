/**
 * Claims queued runs round-robin: each organization with queued runs gets one slot per round. So a thousand runs of one
 * organization do not delay the others. Each claim starts after the organization at which the last one ended.
 */
import { Effect } from "effect"
import type { ClaimedRun, Leases, Waiting } from "../../layers/runs/Leases.ts"
import type { Claimant, Slot } from "../../schema/runs/Slots.ts"
import type { RunSlots } from "./RunSlots.ts"

export interface Allotment {
  readonly group: Waiting
  readonly slots: ReadonlyArray<Slot>
}

/**
 * Takes at most `most` slots for the groups, in the order of their organizations. Groups of one organization also alternate,
 * starting with the one that waited longest. Pure except for `take`.
 */
export const allot = (
  groups: ReadonlyArray<Waiting>,
  most: number,
  take: (claimant: Claimant) => Slot | null
): ReadonlyArray<Allotment> => {
  const allotted = new Map<Waiting, Array<Slot>>()
  let unserved = [...Map.groupBy(groups, (group) => group.org_id).values()].map((own) =>
    own.toSorted((a, b) => a.since - b.since)
  )
  let left = most
  while (left > 0 && unserved.length > 0) {
    const next: typeof unserved = []
    for (const [first, ...rest] of unserved) {
      if (left === 0 || first === undefined) break
      const slot = take(first)
      if (slot !== null) {
        left -= 1
        allotted.set(first, [...(allotted.get(first) ?? []), slot])
        next.push([...rest, first])
      } else if (rest.length > 0) next.push(rest)
    }
    unserved = next
  }
  return [...allotted].map(([group, slots]) => ({ group, slots }))
}

/** Groups read in one round. Further groups follow in the next round. */
const groupsMax = 200

export interface Round {
  readonly runs: ReadonlyArray<ClaimedRun>
  /** Whether any runs were queued, including those that were claimed. */
  readonly queued: boolean
}

const nameOf = ({ org_id, provider, free }: Claimant) => `${org_id} ${provider} ${free}`

export const fairClaims = (leases: Leases["Service"], runSlots: RunSlots["Service"]) => {
  let cursor = ""

  /** Groups in round-robin order, starting after the cursor. */
  const listed = Effect.gen(function* () {
    const behind = yield* leases.waiting(cursor, groupsMax)
    const before = cursor === "" || behind.length === groupsMax ? [] : yield* leases.waiting("", groupsMax)
    const groups = [...behind, ...before.filter((group) => group.org_id <= cursor)]
    const whole = behind.length < groupsMax && before.length < groupsMax
    runSlots.listed(
      groups.map((group) => group.org_id),
      whole
    )
    return groups
  })

  /** Claims at most `most` runs, each with its slot. */
  const round = (most: number): Effect.Effect<Round> =>
    Effect.gen(function* () {
      const groups = yield* listed
      const allotments = allot(groups, most, runSlots.reserve)
      const last = allotments.at(-1)
      if (last === undefined) return { runs: [], queued: groups.length > 0 }
      cursor = last.group.org_id
      const slots = new Map(allotments.map(({ group, slots }) => [nameOf(group), [...slots]]))
      const left = Effect.sync(() => {
        for (const rest of slots.values()) runSlots.release(rest.splice(0))
      })
      return yield* leases
        .claim(
          runSlots.workerId(),
          allotments.map(({ group, slots }) => ({ ...group, runs: slots.length }))
        )
        .pipe(
          Effect.map((runs) => {
            runSlots.claimed(runs.map((run) => run.org_id))
            for (const run of runs) {
              const slot = slots.get(nameOf({ ...run, provider: run.asks }))?.pop()
              if (slot !== undefined) runSlots.assign(run.run_id, slot)
            }
            return { runs, queued: true }
          }),
          Effect.ensuring(left)
        )
    })

  return { round }
}
