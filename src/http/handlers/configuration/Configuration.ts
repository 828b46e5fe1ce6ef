/**
 * The configuration of an organization as one document: exported, compared, and applied whole or not at all.
 *
 * A preview makes all changes and rolls them back, so both are one way. The caller's digest is compared under the locks of the transaction.
 */
import { createHash } from "node:crypto"
import { Clock, Effect, RcMap, Semaphore } from "effect"
import { Simulations } from "../../../actors/simulation/Simulations.ts"
import { EventFeed } from "../../../actors/events/EventFeed.ts"
import { WalletLimits } from "../../../layers/ledger/WalletLimits.ts"
import { Signals, webhooksDue } from "../../../layers/queues/Signals.ts"
import type { NewSecret } from "../../../schema/configuration/Configuration.ts"
import { problem, refused } from "../../../schema/Errors.ts"
import { canonicalJson } from "../../../schema/json/CanonicalJson.ts"
import { dayMillis } from "../../../schema/money/SpendDay.ts"
import { group } from "../group.ts"
import type { ConfigurationPreviewRequest } from "../../api/Configuration.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { checkUnique, type Rules } from "./Part.ts"
import { makeParts } from "./Parts.ts"

/** Changes of one request, each a few statements under the wallet's lock. */
const changesMax = 200
/** Turns of other wallets of the lane wait for the lock. After this long everything is rolled back. */
const lockedMillisMax = 2_000
/** Organizations whose configurations are compared at the same time, each with a connection and a lock. */
const atOnceMax = 4
/** Days of runs that a preview replays. */
const replayDays = 30
/** Past runs are not read for rules of which they tell nothing. */
const noRuns = { runs: 0, blocked_runs: 0, waiting_runs: 0, rules: [], cut: false }

const changed = problem(
  "configuration_changed",
  "The configuration changed since digest was computed, and nothing was applied. Preview it again."
)

const tooSlow = problem(
  "service_unavailable",
  "The configuration has too many parts to be compared at once, and nothing was applied. Try again, or apply a part of the file."
)

const order = ["remove", "change", "create"] as const

export const ConfigurationHandlers = group(
  "configuration",
  Effect.fnUntraced(function* (handlers) {
    const sections = yield* makeParts
    const limits = yield* WalletLimits
    const simulations = yield* Simulations
    const feed = yield* EventFeed
    const signals = yield* Signals
    const caller = yield* makeAsCaller
    const turns = yield* RcMap.make({ lookup: (_org_id: string) => Semaphore.make(1) })
    const all = Semaphore.makeUnsafe(atOnceMax)
    /** Of an organization one after the other, so that a flood of previews holds one lock, and lets other organizations through. */
    const asCaller = <A, E, R>(work: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        const own = yield* RcMap.get(turns, (yield* CurrentCaller).org_id)
        const whole = caller(
          Effect.timeoutOrElse(work, { duration: `${lockedMillisMax} millis`, orElse: () => Effect.fail(tooSlow) })
        )
        return yield* whole.pipe(all.withPermit, own.withPermit)
      }).pipe(Effect.scoped)

    const stateOf = Effect.fnUntraced(function* (org_id: string) {
      const parts = yield* Effect.forEach(sections, (part) =>
        Effect.map(part.existing(org_id), (existing) => ({ part, existing }))
      )
      const text = JSON.stringify(parts.map(({ existing }) => canonicalJson(existing)))
      return { parts, digest: `sha256:${createHash("sha256").update(text).digest("hex")}` }
    })

    /** Makes all changes. Runs in a transaction, on behalf of the caller. */
    const write = Effect.fnUntraced(function* <E>(
      { configuration, prune }: typeof ConfigurationPreviewRequest.Type,
      check: (digest: string) => Effect.Effect<void, E>
    ) {
      const { org_id } = yield* CurrentCaller
      yield* limits.lock(org_id)
      const state = yield* stateOf(org_id)
      yield* check(state.digest)
      const changes = (yield* Effect.forEach(state.parts, ({ part, existing }) =>
        part.changes(configuration, existing, prune ?? false)
      )).flat()
      if (changes.length > changesMax)
        return yield* refused(
          "configuration",
          `makes ${changes.length} changes, and one request makes at most ${changesMax}; apply a part of it first`
        )
      const created: Array<typeof NewSecret.Type> = []
      for (const action of order)
        for (const { view, write } of changes.filter((one) => one.view.action === action)) {
          const secret = yield* write
          if (secret !== null) created.push({ section: view.section, name: view.name, ...secret })
        }
      return {
        before: state.digest,
        digest: changes.length === 0 ? state.digest : (yield* stateOf(org_id)).digest,
        changes: changes.map(({ view }) => view),
        created,
        rules: changes.flatMap(({ rules }) => rules)
      }
    })

    const replayOf = Effect.fnUntraced(function* (org_id: string, rules: Rules) {
      if (rules.length === 0) return null
      const from = new Date((yield* Clock.currentTimeMillis) - replayDays * dayMillis)
      const not_replayed = rules.filter((rule) => typeof rule === "string")
      if (not_replayed.length === rules.length) return { ...noRuns, from: from.toISOString(), not_replayed }
      return yield* Effect.mapError(
        simulations.replay({ org_id, from, to: null, capability: null, rules }),
        ({ message }) => problem("service_unavailable", message)
      )
    })

    return handlers.handleAll({
      export: Effect.fnUntraced(function* () {
        const { org_id } = yield* CurrentCaller
        const { parts, digest } = yield* stateOf(org_id)
        const configuration: Record<string, unknown> = {}
        for (const { part, existing } of parts) {
          yield* checkUnique(part.section, existing)
          const sorted = existing.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ fields }) => fields)
          configuration[part.section] = part.section === "spend_guard" ? sorted[0] : sorted
        }
        return { digest, configuration }
      }),

      preview: Effect.fnUntraced(function* ({ payload }) {
        const { org_id } = yield* CurrentCaller
        const undone = yield* write(payload, () => Effect.void).pipe(
          Effect.flatMap((written) => Effect.fail({ written })),
          asCaller,
          Effect.flip
        )
        if (!("written" in undone)) return yield* Effect.fail(undone)
        const { before: digest, changes, rules } = undone.written
        return { digest, changes, replay: yield* replayOf(org_id, rules) }
      }),

      apply: Effect.fnUntraced(function* ({ payload }) {
        const { org_id } = yield* CurrentCaller
        const written = yield* asCaller(
          write(payload, (digest) => (digest === payload.digest ? Effect.void : Effect.fail(changed)))
        )
        yield* feed.changed(org_id)
        yield* signals.publish([webhooksDue])
        return { digest: written.digest, changes: written.changes, created: written.created }
      })
    })
  })
)
