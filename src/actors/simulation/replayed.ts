/** Replays rules over the newest runs of an organization, as many as fit into the limits. */
import { Clock, Effect, Option, Schema } from "effect"
import { GuardStore } from "../../layers/guards/GuardStore.ts"
import { refusalOf } from "../../layers/guards/OptOutTurn.ts"
import { Books } from "../../layers/ledger/Books.ts"
import { inSlices } from "../../layers/platform/inSlices.ts"
import { Reads } from "../../layers/standby/Reads.ts"
import { replay, type Replayed, type ReplayRule, type ReplayRun } from "../../schema/simulation/Replay.ts"
import { MicroUsd } from "../../schema/money/Money.ts"

/** They take about a second. */
const runsMax = 50_000
const pageRows = 2_000
/** Older runs are left out after this time. */
const readSecondsMax = 5

export interface ReplayQuestion {
  readonly org_id: string
  readonly from: Date
  /** Null: until now. */
  readonly to: Date | null
  /** Whose runs are shown. Null: of all. */
  readonly capability: string | null
  /** Beside the opt-outs, which always count as they are. A text: the name of a rule of which past runs tell nothing. */
  readonly rules: ReadonlyArray<ReplayRule | string>
}

export interface Replay extends Replayed {
  readonly runs: number
  /** The beginning, or the time of the oldest run if older ones were left out. */
  readonly from: string
  readonly not_replayed: ReadonlyArray<string>
  readonly cut: boolean
}

const labelsOf = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

const optOuts: ReplayRule = { rule: "opt_outs", counterOf: (run) => (run.opted_out ? "" : null), limit: null }

export const makeReplayed = Effect.gen(function* () {
  const [reads, guards, books] = [yield* Reads, yield* GuardStore, yield* Books]
  /** Null without any rule. */
  return Effect.fnUntraced(function* ({ org_id, from, to, capability, rules: given }: ReplayQuestion) {
    const contacts = yield* guards.hasOptOuts(org_id)
    const rules = [...given.filter((rule) => typeof rule !== "string"), ...(contacts ? [optOuts] : [])]
    const not_replayed = given.filter((rule) => typeof rule === "string")
    if (rules.length + not_replayed.length === 0) return null
    const zones = yield* books.zones(org_id)
    const providers = rules.some(({ waits }) => waits)
    const labels = providers || rules.some(({ rule }) => rule.startsWith("label_budgets."))
    const end = (yield* Clock.currentTimeMillis) + readSecondsMax * 1000
    const runs: Array<ReplayRun> = []
    const isShown = (run: ReplayRun) => capability === null || run.capability === capability
    const until = (oldest: Date | null) =>
      Effect.map(
        inSlices(replay(rules, runs, zones, isShown)),
        (counted): Replay => ({
          ...counted,
          runs: runs.filter(isShown).length,
          from: (oldest ?? from).toISOString(),
          not_replayed,
          cut: oldest !== null
        })
      )
    let before: string | null = null
    for (;;) {
      const page: Effect.Success<ReturnType<typeof reads.newestRuns>> = yield* reads.newestRuns({
        ...{ org_id, from, to, before, labels, providers, contacts, limit: pageRows }
      })
      const contacting = page.flatMap(({ run_id, contacts }) =>
        contacts === null ? [] : [{ org_id, run_id, contacts }]
      )
      const lists = yield* guards.optOuts(contacting)
      for (const { hold, charged, created_at, finished_at, contacts, ...run } of page)
        runs.push({
          ...run,
          hold: MicroUsd(hold),
          charged: MicroUsd(charged),
          labels: Option.getOrElse(labelsOf(run.metadata ?? "{}"), () => ({})),
          providers: run.providers ?? [],
          opted_out: contacts !== null && refusalOf(lists, { org_id, contacts }) !== null,
          created: created_at.getTime(),
          finished: finished_at.getTime()
        })
      const last = page.at(-1)
      if (last === undefined || page.length < pageRows) return yield* until(null)
      if (runs.length >= runsMax || (yield* Clock.currentTimeMillis) > end) return yield* until(last.created_at)
      before = last.run_id
    }
  })
})
