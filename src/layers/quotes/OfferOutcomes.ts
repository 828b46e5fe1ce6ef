/**
 * Counts how calls of each offer ended, by kind of input, so that quotes can expect success and cost.
 *
 * A worker adds to counts in memory, and writes them every few seconds in one statement. So an ordinary run pays no statement for them. A
 * worker that is killed loses the counts of its last seconds, which a statistic can do without.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Schema } from "effect"
import { anyKind } from "../../schema/runs/InputKind.ts"
import type { OutcomeCounts } from "../../schema/runs/Quote.ts"
import { underway } from "../platform/Underway.ts"
import { logFailure } from "../postgres/Batch.ts"
import { bigints, rowsOf, tableOf, texts } from "../postgres/Rows.ts"

/** One call of an offer. `quoted` and `charged` are zero for a call that charged nothing. */
export interface OfferCall {
  /** As in `attempt_windows`: see schema/runs/Health.ts. */
  readonly subject: string
  readonly outcome: "succeeded" | "inconclusive" | "no_match" | "failed"
  readonly quoted: bigint
  readonly charged: bigint
}

export interface RunCalls {
  readonly kind: string
  /** A rehearsal in the sandbox counts for its own kind only. */
  readonly rehearsed: boolean
  readonly calls: ReadonlyArray<OfferCall>
}

/** The counts of one offer: of this kind of input, and of all inputs. */
export interface OfferCounts {
  readonly kind: OutcomeCounts | null
  readonly all: OutcomeCounts | null
}

/** Milliseconds between two writes. Tests shorten them. */
export const OutcomesEveryMillis = Context.Reference("rungate/layers/quotes/OutcomesEveryMillis", {
  defaultValue: () => 2_000
})
/** Counts that wait for a write. More are kept for all inputs of the offer only. */
const waitingMax = 5_000
/** Kinds of one offer. Inputs of further kinds are counted with all inputs only. */
const kindsMax = 64
/** As long as health remembers. */
const days = 30

const none: OutcomeCounts = { succeeded: 0n, inconclusive: 0n, no_match: 0n, failed: 0n, quoted: 0n, charged: 0n }

const plusCall = (counts: OutcomeCounts, { outcome, quoted, charged }: OfferCall): OutcomeCounts => ({
  ...counts,
  [outcome]: counts[outcome] + 1n,
  quoted: counts.quoted + quoted,
  charged: counts.charged + charged
})

const countFields = {
  succeeded: Schema.BigInt,
  inconclusive: Schema.BigInt,
  no_match: Schema.BigInt,
  failed: Schema.BigInt,
  quoted: Schema.BigInt,
  charged: Schema.BigInt
}
const countedRows = rowsOf({ subject: Schema.String, input_kind: Schema.String, ...countFields })

interface Counted {
  readonly subject: string
  readonly input_kind: string
  counts: OutcomeCounts
}

export class OfferOutcomes extends Context.Service<
  OfferOutcomes,
  {
    /** Counts the calls of a run that ends. */
    readonly observe: (run: RunCalls) => void
    /** The counts of these offers over the last 30 days. */
    readonly measured: (
      subjects: ReadonlyArray<string>,
      kind: string
    ) => Effect.Effect<ReadonlyMap<string, OfferCounts>>
    /** Writes what was counted. */
    readonly flush: Effect.Effect<void>
  }
>()("rungate/layers/quotes/OfferOutcomes") {
  static readonly layer = Layer.effect(
    OfferOutcomes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      let waiting = new Map<string, Counted>()

      const add = (subject: string, input_kind: string, call: OfferCall) => {
        const key = `${subject}\n${input_kind}`
        const before = waiting.get(key)
        if (before !== undefined) before.counts = plusCall(before.counts, call)
        else if (waiting.size < waitingMax || input_kind === anyKind)
          waiting.set(key, { subject, input_kind, counts: plusCall(none, call) })
      }

      const write = (counted: ReadonlyArray<Counted>) => {
        const rows = counted.map(({ counts, ...row }) => ({ ...row, ...counts }))
        return sql`
          INSERT INTO offer_outcomes AS o (subject, input_kind, day, succeeded, inconclusive, no_match, failed, quoted, charged)
          SELECT n.subject, n.input_kind, (now() AT TIME ZONE 'UTC')::date, n.succeeded, n.inconclusive, n.no_match, n.failed, n.quoted, n.charged
          FROM ${tableOf("n", rows, { subject: texts, input_kind: texts, succeeded: bigints, inconclusive: bigints, no_match: bigints, failed: bigints, quoted: bigints, charged: bigints })}
          WHERE n.input_kind = ${anyKind}
             OR EXISTS (SELECT FROM offer_outcomes k WHERE k.subject = n.subject AND k.input_kind = n.input_kind)
             OR (SELECT count(DISTINCT k.input_kind) FROM offer_outcomes k WHERE k.subject = n.subject) < ${kindsMax}::int
          -- The same order in every process, so that two of them never wait for each other.
          ORDER BY 1, 2
          ON CONFLICT (subject, input_kind, day) DO UPDATE SET
            succeeded = o.succeeded + excluded.succeeded, inconclusive = o.inconclusive + excluded.inconclusive,
            no_match = o.no_match + excluded.no_match, failed = o.failed + excluded.failed,
            quoted = o.quoted + excluded.quoted, charged = o.charged + excluded.charged`
      }

      let forgotten = ""
      const flush = Effect.gen(function* () {
        if (waiting.size === 0) return
        const rows = [...waiting.values()]
        waiting = new Map()
        yield* write(rows)
        const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
        if (forgotten === today) return
        yield* sql`DELETE FROM offer_outcomes WHERE day <= (now() AT TIME ZONE 'UTC')::date - ${days}::int`
        forgotten = today
      })
      const flushOrWarn = Effect.catchCause(flush, logFailure("Writing outcomes failed; quotes leave these calls out"))

      const measured = Effect.fnUntraced(function* (subjects: ReadonlyArray<string>, kind: string) {
        const rows = yield* countedRows(sql`
          SELECT subject, input_kind, sum(succeeded)::bigint AS succeeded, sum(inconclusive)::bigint AS inconclusive, sum(no_match)::bigint AS no_match,
                 sum(failed)::bigint AS failed, sum(quoted)::bigint AS quoted, sum(charged)::bigint AS charged
          FROM offer_outcomes
          WHERE subject = ANY(${texts(subjects)}) AND input_kind = ANY(${texts([kind, anyKind])})
            AND day > (now() AT TIME ZONE 'UTC')::date - ${days}::int
          GROUP BY 1, 2`)
        const of = (subject: string, input_kind: string) =>
          rows.find((row) => row.subject === subject && row.input_kind === input_kind) ?? null
        return new Map(subjects.map((one) => [one, { kind: of(one, kind), all: of(one, anyKind) }]))
      }, Effect.orDie)

      yield* Effect.addFinalizer(() => underway("writing the outcomes of the last calls")(flushOrWarn))
      const every = yield* OutcomesEveryMillis
      yield* flushOrWarn.pipe(Effect.schedule(Schedule.spaced(`${every} millis`)), Effect.forkScoped)

      return OfferOutcomes.of({
        observe: ({ kind, rehearsed, calls }) => {
          for (const call of calls) {
            if (!rehearsed) add(call.subject, anyKind, call)
            if (kind !== anyKind) add(call.subject, kind, call)
          }
        },
        measured,
        flush: Effect.orDie(flush)
      })
    })
  )
}
