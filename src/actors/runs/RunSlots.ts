/**
 * The runs that this process executes: their slots, their fibers, and the worker id that their leases belong to.
 *
 * A slot is taken before a lease is written and given back when the fiber ends, so a process never leases more than it executes,
 * and never more of one organization or provider than its share.
 */
import { Context, Effect, FiberMap, Layer } from "effect"
import { newId } from "../../layers/platform/Ids.ts"
import { Leases } from "../../layers/runs/Leases.ts"
import { callsAtOnce } from "../../layers/executor/ProviderRequest.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { type Claimant, type Slot, Slots } from "../../schema/runs/Slots.ts"

export class RunSlots extends Context.Service<
  RunSlots,
  {
    readonly workerId: () => string
    /**
     * Takes a slot for a run that would start at once. False when there is none for it, when the process is stopping, or when
     * the organization's share has no more slots than older runs of it are queued: those come first.
     */
    readonly tryTake: (run_id: string, claimant: Claimant) => boolean
    /** Gives back the slot of a run that does not start after all. */
    readonly giveBack: (run_id: string) => void
    /** Takes a slot for whichever queued run is claimed for it. */
    readonly reserve: (claimant: Claimant) => Slot | null
    readonly assign: (run_id: string, slot: Slot) => void
    /** Gives back slots that were reserved and not used. */
    readonly release: (slots: ReadonlyArray<Slot>) => void
    readonly room: () => number
    readonly running: () => ReadonlyArray<string>
    /** Runs `work` in a fiber of its own, in the slot that was taken for it. */
    readonly start: (run_id: string, work: Effect.Effect<void>) => Effect.Effect<void>
    /** The run is about to ask another provider. False when so many runs ask that one already that it should wait in the queue. */
    readonly enter: (run_id: string, provider: string) => boolean
    readonly beginJob: (run_id: string) => void
    /** Notes runs that were queued, by their organizations, or claimed. */
    readonly queued: (org_ids: ReadonlyArray<string>) => void
    readonly claimed: (org_ids: ReadonlyArray<string>) => void
    /** Notes which organizations have queued runs, as the database says it: all of them, or some. */
    readonly listed: (org_ids: ReadonlyArray<string>, all: boolean) => void
    /** Whether some organization may have queued runs. */
    readonly mayWait: () => boolean
    /** Called whenever a run has given its slot back. */
    readonly onRoom: (listener: () => void) => void
    /** Takes no more work and waits, within the drain time, for what runs; answers how many were left. */
    readonly drain: Effect.Effect<number>
    /** The lease was lost: stop everything and continue as a new worker. */
    readonly restart: Effect.Effect<void>
  }
>()("rungate/actors/runs/RunSlots") {
  static readonly layer = Layer.effect(
    RunSlots,
    Effect.gen(function* () {
      const { concurrency, orgConcurrency, leaseSeconds, drainSeconds, mode } = yield* Settings
      const leases = yield* Leases
      const fibers = yield* FiberMap.make<string, void, never>()
      const slots = new Slots({
        slots: concurrency,
        perOrganization: orgConcurrency,
        // Simulated providers have no throttle.
        callsOf: mode === "sandbox" ? () => Number.POSITIVE_INFINITY : callsAtOnce
      })
      /** Slots of runs that have not started yet, and of those that have. */
      const taken = new Map<string, Slot>()
      const used = new Map<string, Slot>()
      /** Queued runs by organization, as far as this process knows. Another one may have queued or claimed some. */
      const waiting = new Map<string, number>()
      let workerId = newId("wrk")
      let stopping = false
      let notify = () => {}
      yield* leases.register(workerId, leaseSeconds)

      const ended = (slot: Slot) => {
        slots.release(slot)
        notify()
      }
      const reserve = (claimant: Claimant) => (stopping ? null : slots.take(claimant))
      const start = (run_id: string, work: Effect.Effect<void>) =>
        Effect.suspend(() => {
          const slot = taken.get(run_id)
          taken.delete(run_id)
          if (slot !== undefined) used.set(run_id, slot)
          const end = Effect.sync(() => {
            if (slot === undefined) return
            if (used.get(run_id) === slot) used.delete(run_id)
            ended(slot)
          })
          return FiberMap.run(fibers, run_id, work.pipe(Effect.ensuring(end)), { startImmediately: true })
        }).pipe(Effect.asVoid)
      const drain = Effect.gen(function* () {
        stopping = true
        yield* FiberMap.awaitEmpty(fibers).pipe(Effect.timeoutOption(`${drainSeconds} seconds`))
        const left = yield* FiberMap.size(fibers)
        yield* FiberMap.clear(fibers)
        yield* leases.retire(workerId)
        return left
      })
      const restart = Effect.gen(function* () {
        yield* FiberMap.clear(fibers)
        workerId = newId("wrk")
        yield* leases.register(workerId, leaseSeconds)
      })

      return RunSlots.of({
        workerId: () => workerId,
        tryTake: (run_id, claimant) => {
          const before = waiting.get(claimant.org_id) ?? 0
          const slot = before > 0 && slots.left(claimant.org_id) <= before ? null : reserve(claimant)
          if (slot !== null) taken.set(run_id, slot)
          return slot !== null
        },
        giveBack: (run_id) => {
          const slot = taken.get(run_id)
          taken.delete(run_id)
          if (slot !== undefined) ended(slot)
        },
        reserve,
        assign: (run_id, slot) => taken.set(run_id, slot),
        release: (unused) => {
          for (const slot of unused) slots.release(slot)
        },
        room: () => (stopping ? 0 : slots.room),
        running: () => Array.from(fibers, ([run_id]) => run_id),
        start,
        enter: (run_id, provider) => {
          const slot = used.get(run_id)
          return slot === undefined || slots.enter(slot, provider)
        },
        beginJob: (run_id) => {
          const slot = used.get(run_id)
          if (slot !== undefined) slots.beginJob(slot)
        },
        queued: (org_ids) => {
          for (const org_id of org_ids) waiting.set(org_id, (waiting.get(org_id) ?? 0) + 1)
        },
        claimed: (org_ids) => {
          for (const org_id of org_ids) {
            const left = (waiting.get(org_id) ?? 0) - 1
            if (left > 0) waiting.set(org_id, left)
            else waiting.delete(org_id)
          }
        },
        listed: (org_ids, all) => {
          const present = new Set(org_ids)
          if (all) for (const org_id of [...waiting.keys()]) if (!present.has(org_id)) waiting.delete(org_id)
          for (const org_id of present) if (!waiting.has(org_id)) waiting.set(org_id, 1)
        },
        mayWait: () => waiting.size > 0,
        onRoom: (listener) => {
          notify = listener
        },
        drain,
        restart
      })
    })
  )
}
