/** Replays changed rules over the newest runs of an organization, as many as fit into the limits. */
import { Clock, Effect, Option, Schema } from "effect"
import { inSlices } from "../../layers/platform/inSlices.ts"
import type { Reads } from "../../layers/standby/Reads.ts"
import { replay, type Replayed, type ReplayRule, type ReplayRun } from "../../schema/configuration/Replay.ts"
import { MicroUsd } from "../../schema/money/Money.ts"
import type { Zones } from "../../schema/money/SpendDay.ts"

/** They take about a second. */
const runsMax = 50_000
const pageRows = 2_000
/** Older runs are left out after this time. */
const readSecondsMax = 5

export interface ReplayQuestion {
  readonly org_id: string
  readonly from: Date
  readonly rules: ReadonlyArray<ReplayRule>
  /** Whether a rule is about labels. */
  readonly labels: boolean
  readonly zones: Zones
}

export interface Replay extends Replayed {
  readonly runs: number
  /** The beginning, or the time of the oldest run if older ones were left out. */
  readonly from: Date
  readonly cut: boolean
}

const labelsOf = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

export const replayed = Effect.fnUntraced(function* (
  reads: Reads["Service"],
  { org_id, from, rules, labels, zones }: ReplayQuestion
) {
  const end = (yield* Clock.currentTimeMillis) + readSecondsMax * 1000
  const runs: Array<ReplayRun> = []
  const until = (oldest: Date | null) =>
    Effect.map(
      inSlices(replay(rules, runs, zones)),
      (counted): Replay => ({ ...counted, runs: runs.length, from: oldest ?? from, cut: oldest !== null })
    )
  let before: string | null = null
  for (;;) {
    const page: Effect.Success<ReturnType<typeof reads.newestRuns>> = yield* reads.newestRuns({
      ...{ org_id, from, before, labels, limit: pageRows }
    })
    for (const { hold, charged, metadata, created_at, finished_at, ...run } of page)
      runs.push({
        ...run,
        hold: MicroUsd(hold),
        charged: MicroUsd(charged),
        labels: Option.getOrElse(labelsOf(metadata ?? "{}"), () => ({})),
        created: created_at.getTime(),
        finished: finished_at.getTime()
      })
    const last = page.at(-1)
    if (last === undefined || page.length < pageRows) return yield* until(null)
    if (runs.length >= runsMax || (yield* Clock.currentTimeMillis) > end) return yield* until(last.created_at)
    before = last.run_id
  }
})
