/**
 * The runs that this process executes: their slots, their fibers, and the worker id of their leases.
 *
 * A run takes a slot before its lease is written and returns it when its fiber ends. So a process never leases more runs than it
 * executes, and never exceeds the share of an organization or provider.
 */
import { Context, Effect, FiberMap, Layer } from "effect"
import { newId } from "../../layers/platform/Ids.ts"
import { Leases } from "../../layers/runs/Leases.ts"
import { callsAtOnce } from "../../layers/executor/ProviderRequest.ts"
import { partOf, ProviderShares } from "../../layers/executor/ProviderShares.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { type Claimant, type Slot, Slots } from "../../schema/runs/Slots.ts"

export class RunSlots extends Context.Service<
  RunSlots,
  {
    readonly workerId: () => string
    /**
     * Takes a slot for a run that would start at once. False when no slot is free for it, when the process is stopping, or when
     * older queued runs of the organization need the rest of its share.
     */
    readonly tryTake: (run_id: string, claimant: Claimant) => boolean
    /** Returns the slot of a run that does not start after all. */
    readonly giveBack: (run_id: string) => void
    /** Takes a slot for a queued run that will be claimed next. */
    readonly reserve: (claimant: Claimant) => Slot | null
    readonly assign: (run_id: string, slot: Slot) => void
    /** Returns reserved slots that were not used. */
    readonly release: (slots: ReadonlyArray<Slot>) => void
    readonly room: () => number
    readonly running: () => ReadonlyArray<string>
    /** Runs `work` in its own fiber, in the slot that was taken for the run. */
    readonly start: (run_id: string, work: Effect.Effect<void>) => Effect.Effect<void>
    /** Call before a run calls a provider. False when the provider's concurrency limit is reached: then requeue the run. */
    readonly enter: (run_id: string, provider: string) => boolean
    readonly beginJob: (run_id: string) => void
    /** Returns the slot of a run that calls no provider any more and only waits for its settlement. */
    readonly leave: (run_id: string) => void
    /** Counts newly queued or claimed runs; one entry per run, naming its organization. */
    readonly queued: (org_ids: ReadonlyArray<string>) => void
    readonly claimed: (org_ids: ReadonlyArray<string>) => void
    /** Records which organizations have queued runs in the database. `all` is true when the list is complete. */
    readonly listed: (org_ids: ReadonlyArray<string>, all: boolean) => void
    /** Whether some organization may have queued runs. */
    readonly mayWait: () => boolean
    /** Registers the callback for a slot that becomes free. */
    readonly onRoom: (listener: () => void) => void
    /** Stops taking work and waits for running runs, at most the drain time. Returns how many were interrupted. */
    readonly drain: Effect.Effect<number>
    /** After a lost lease: interrupts all runs and continues under a new worker id. */
    readonly restart: Effect.Effect<void>
  }
>()("rungate/actors/runs/RunSlots") {
  static readonly layer = Layer.effect(
    RunSlots,
    Effect.gen(function* () {
      const { concurrency, orgConcurrency, leaseSeconds, drainSeconds, mode } = yield* Settings
      const leases = yield* Leases
      const shares = yield* ProviderShares
      const fibers = yield* FiberMap.make<string, void, never>()
      const slots = new Slots({
        slots: concurrency,
        perOrganization: orgConcurrency,
        // Simulated providers have no throttle.
        callsOf:
          mode === "sandbox"
            ? () => Number.POSITIVE_INFINITY
            : (provider) => partOf(callsAtOnce(provider), shares.workers())
      })
      /** Slots of runs that have not started yet (`taken`) and of started runs (`used`). */
      const taken = new Map<string, Slot>()
      const used = new Map<string, Slot>()
      /** Queued runs per organization, as far as this process knows. Other processes queue and claim runs too. */
      const waiting = new Map<string, number>()
      let workerId = newId("wrk")
      let stopping = false
      let notify = () => {}
      yield* leases.register(workerId, leaseSeconds)

      const ended = (slot: Slot) => {
        slots.release(slot)
        notify()
      }
      const left = new WeakSet<Slot>()
      /** Returns a slot once. The run may have been started again meanwhile, in another slot. */
      const leave = (run_id: string, slot: Slot | undefined) => {
        if (slot === undefined || left.has(slot)) return
        left.add(slot)
        if (used.get(run_id) === slot) used.delete(run_id)
        ended(slot)
      }
      const reserve = (claimant: Claimant) => (stopping ? null : slots.take(claimant))
      const start = (run_id: string, work: Effect.Effect<void>) =>
        Effect.suspend(() => {
          const slot = taken.get(run_id)
          taken.delete(run_id)
          if (slot !== undefined) used.set(run_id, slot)
          return Effect.map(FiberMap.run(fibers, run_id, work, { startImmediately: true }), (fiber) => {
            // Not Effect.ensuring, whose objects would live as long as the run.
            fiber.addObserver(() => leave(run_id, slot))
          })
        })
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
        leave: (run_id) => leave(run_id, used.get(run_id)),
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
