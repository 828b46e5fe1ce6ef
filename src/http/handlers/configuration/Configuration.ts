/**
 * The configuration of an organization as one document: exported, compared, and applied whole or not at all.
 *
 * A preview makes all changes and rolls them back, so both are one way. The caller's digest is compared under the locks of the transaction.
 */
import { createHash } from "node:crypto"
import { Clock, Effect, Semaphore } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Simulations } from "../../../actors/simulation/Simulations.ts"
import { EventFeed } from "../../../actors/events/EventFeed.ts"
import { Books } from "../../../layers/ledger/Books.ts"
import { WalletLimits } from "../../../layers/ledger/WalletLimits.ts"
import { Signals, webhooksDue } from "../../../layers/queues/Signals.ts"
import { type Existing, shownValue, type Step, stepsOf } from "../../../schema/configuration/Diff.ts"
import { problem, refused } from "../../../schema/Errors.ts"
import { canonicalJson } from "../../../schema/json/CanonicalJson.ts"
import { dayMillis } from "../../../schema/money/SpendDay.ts"
import type { ConfigurationChange } from "../../../schema/configuration/Configuration.ts"
import { Api } from "../../api/Api.ts"
import type { Configuration } from "../../api/Configuration.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { type Entry, located, type Part, type Rules } from "./Entry.ts"
import { makeParts } from "./Parts.ts"

/** Changes of one request, each a few statements under the wallet's lock. */
const changesMax = 200
/** Turns of other wallets of the lane wait for the lock. After this long everything is rolled back. */
const lockedMillisMax = 2_000
/** Days of runs that a preview replays. */
const replayDays = 30

const changed = problem(
  "configuration_changed",
  "The configuration changed since digest was computed, and nothing was applied. Preview it again."
)

const tooSlow = problem(
  "service_unavailable",
  "The configuration has too many parts to be compared at once, and nothing was applied. Try again, or apply a part of the file."
)

interface State {
  readonly parts: ReadonlyArray<{ readonly part: Part; readonly existing: ReadonlyArray<Existing> }>
  readonly digest: string
}

/** Objects that a file can't tell apart. */
const checkUnique = Effect.fnUntraced(function* (
  section: string,
  existing: ReadonlyArray<Existing>,
  names?: ReadonlySet<string>
) {
  const ids = Map.groupBy(existing, ({ name }) => name)
  for (const [name, same] of ids)
    if (same.length > 1 && (names === undefined || names.has(name)))
      yield* refused(
        `configuration.${section}`,
        `can't tell ${same.length} of them apart by the name "${name}": ${same.map(({ id }) => id).join(", ")}. Rename or remove all but one`
      )
})

const viewOf = (section: ConfigurationChange["section"], step: Step<Entry>): ConfigurationChange => {
  const after = step.action === "remove" ? {} : step.wanted.fields
  const before = step.action === "create" ? {} : step.existing.fields
  const { name } = step.action === "remove" ? step.existing : step.wanted
  const names = step.action === "change" ? [...step.names] : step.action === "create" ? Object.keys(after) : []
  const fields = names.map((field) => ({
    field,
    before: shownValue(field, before[field]),
    after: shownValue(field, after[field])
  }))
  return { action: step.action, section, name, fields: fields.filter((one) => one.before !== one.after) }
}

const allNames = (step: Step<Entry>) =>
  step.action === "change" ? step.names : new Set(step.action === "create" ? Object.keys(step.wanted.fields) : [])

const order = ["remove", "change", "create"] as const

export const ConfigurationHandlers = HttpApiBuilder.group(
  Api,
  "configuration",
  Effect.fnUntraced(function* (handlers) {
    const all = yield* makeParts
    const books = yield* Books
    const limits = yield* WalletLimits
    const simulations = yield* Simulations
    const feed = yield* EventFeed
    const signals = yield* Signals
    const caller = yield* makeAsCaller
    const oneAtATime = Semaphore.makeUnsafe(1)
    /** One after the other, so that a flood of previews holds one lock at a time. */
    const asCaller = <A, E, R>(work: Effect.Effect<A, E, R>) =>
      caller(
        Effect.timeoutOrElse(work, { duration: `${lockedMillisMax} millis`, orElse: () => Effect.fail(tooSlow) })
      ).pipe(oneAtATime.withPermits(1))

    const stateOf = Effect.fnUntraced(function* (org_id: string) {
      const parts = yield* Effect.forEach(all, (part) =>
        Effect.map(part.existing(org_id), (existing) => ({ part, existing }))
      )
      const text = JSON.stringify(parts.map(({ existing }) => canonicalJson(existing)))
      return { parts, digest: `sha256:${createHash("sha256").update(text).digest("hex")}` } satisfies State
    })

    const stepsIn = Effect.fnUntraced(function* (
      { part, existing }: State["parts"][number],
      configuration: typeof Configuration.Type,
      prune: boolean
    ) {
      const entries = yield* part.entries(configuration, existing)
      if (entries === null) return []
      const paths = new Map<string, string>()
      for (const { name, path } of entries) {
        const first = paths.get(name)
        if (first !== undefined) return yield* refused(path, `is the same object as ${first}: ${name}`)
        paths.set(name, path)
      }
      yield* checkUnique(part.section, existing, prune ? undefined : new Set(paths.keys()))
      return stepsOf(existing, entries, prune).map((step) => ({ part, step }))
    })

    /** Makes all changes. Runs in a transaction, on behalf of the caller. */
    const write = Effect.fnUntraced(function* <E>(
      configuration: typeof Configuration.Type,
      prune: boolean,
      check: (digest: string) => Effect.Effect<void, E>
    ) {
      const { org_id } = yield* CurrentCaller
      yield* limits.lock(org_id)
      const state = yield* stateOf(org_id)
      yield* check(state.digest)
      const steps = (yield* Effect.forEach(state.parts, (one) => stepsIn(one, configuration, prune))).flat()
      if (steps.length > changesMax)
        return yield* refused(
          "configuration",
          `makes ${steps.length} changes, and one request makes at most ${changesMax}; apply a part of it first`
        )
      const created: Array<{ section: Part["section"]; name: string; id: string; secret: string }> = []
      for (const action of order)
        for (const { part, step } of steps) {
          if (step.action !== action) continue
          if (step.action === "remove") yield* part.remove(step.existing)
          else {
            const at = located(step.wanted.path)
            if (step.action === "change") yield* Effect.mapError(step.wanted.change(step.existing, step.names), at)
            else {
              const secret = yield* Effect.mapError(step.wanted.create, at)
              if (secret !== null) created.push({ section: part.section, name: step.wanted.name, ...secret })
            }
          }
        }
      const rules = steps.map(
        ({ part, step }): Rules =>
          step.action === "remove"
            ? part.removed(step.existing)
            : step.wanted.rules(step.action === "create" ? null : step.existing, allNames(step))
      )
      return {
        before: state.digest,
        digest: steps.length === 0 ? state.digest : (yield* stateOf(org_id)).digest,
        changes: steps.map(({ part, step }) => viewOf(part.section, step)),
        created,
        rules
      }
    })

    const replayOf = Effect.fnUntraced(function* (org_id: string, all: ReadonlyArray<Rules>) {
      const rules = all.flatMap((one) => one.rules)
      const not_replayed = all.flatMap(({ unknown }) => unknown)
      const now = yield* Clock.currentTimeMillis
      const from = new Date(now - replayDays * dayMillis)
      if (rules.length === 0)
        return not_replayed.length === 0
          ? null
          : { from: from.toISOString(), runs: 0, blocked_runs: 0, rules: [], not_replayed, cut: false }
      const labels = rules.some(({ rule }) => rule.startsWith("label_budgets."))
      const zones = yield* books.zones(org_id)
      const replay = yield* Effect.mapError(simulations.replay({ org_id, from, rules, labels, zones }), ({ message }) =>
        problem("service_unavailable", message)
      )
      return { ...replay, from: replay.from.toISOString(), not_replayed }
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

      preview: Effect.fnUntraced(function* ({ payload: { configuration, prune } }) {
        const { org_id } = yield* CurrentCaller
        const undone = yield* Effect.flip(
          asCaller(
            Effect.flatMap(
              write(configuration, prune ?? false, () => Effect.void),
              (written) => Effect.fail({ written })
            )
          )
        )
        if (!("written" in undone)) return yield* Effect.fail(undone)
        const { before: digest, changes, rules } = undone.written
        return { digest, changes, replay: yield* replayOf(org_id, rules) }
      }),

      apply: Effect.fnUntraced(function* ({ payload: { configuration, prune, digest } }) {
        const { org_id } = yield* CurrentCaller
        const written = yield* asCaller(
          write(configuration, prune ?? false, (now) => (now === digest ? Effect.void : Effect.fail(changed)))
        )
        yield* feed.changed(org_id)
        yield* signals.publish([webhooksDue])
        return { digest: written.digest, changes: written.changes, created: written.created }
      })
    })
  })
)
