/**
 * What the guards know, for quotes, and the deletion of what they no longer need.
 *
 * Runs are decided in the wallet's turn, which reads and writes these rows itself; see RepeatTurn.ts.
 */
import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { callerOf, repeatSeconds, type Try } from "../../schema/guards/RepeatGuard.ts"
import { type ContactRefusal, contactSecondsMax } from "../../schema/guards/ContactGuard.ts"
import { reuseSecondsMax } from "../../schema/guards/Reuse.ts"
import { tyingCapabilities } from "../../schema/guards/PersonTies.ts"
import { done, hasRows, oneRowOf, rowsOf, storedAs, texts } from "../postgres/Rows.ts"
import { dayOf, zonesOf } from "../postgres/SpendDay.ts"
import { runsInPages } from "../runs/runsWithin.ts"
import { askAgain, readAsks, type ReuseAsk } from "./ReuseTurn.ts"
import { contactedMeanwhile, type Contacting, type ContactView, readContacts } from "./ContactTurn.ts"
import { type OptOutView, readOptOuts } from "./OptOutTurn.ts"

const dayRows = storedAs({ days: Schema.NullOr(Schema.Int) })
const savedRows = storedAs({ day: Schema.String, runs: Schema.BigInt, saved: Schema.BigInt })
/** Payloads that are read for one run. */
const rawResultsMax = 5
const RawResult = Schema.Struct({
  run_id: Schema.String,
  input_hash: Schema.String,
  charged: Schema.BigInt,
  /** JSON text. */
  result: Schema.String
})
export type RawResult = typeof RawResult.Type
const rawRows = rowsOf(RawResult.fields)
const ContactRule = Schema.Struct({
  /** `contact_guard_days`. Null: no guard for the organization as a whole. */
  days: Schema.NullOr(Schema.Int),
  /** The time from which on runs claim whom they contact. */
  claimed_since: Schema.Date
})
const contactRuleRow = oneRowOf(ContactRule.fields)
/** A run that ties identities of a person. JSON texts. */
const PersonRun = Schema.Struct({
  run_id: Schema.String,
  capability: Schema.String,
  input: Schema.String,
  result: Schema.String
})
const personRows = rowsOf(PersonRun.fields)
/** Of them in memory at once. */
const personRunsAtOnce = 400
const tryRows = storedAs({ run_id: Schema.String, at: Schema.BigInt })

/** Older tries count no longer. Twice as old, no turn that is under way can count them either. */
const keptSeconds = 2 * repeatSeconds

export class GuardStore extends Context.Service<
  GuardStore,
  {
    /** The tries of an input by a caller. */
    readonly tries: (run: {
      readonly org_id: string
      readonly key_id: string | null
      readonly input_hash: string
    }) => Effect.Effect<ReadonlyArray<Try>>
    /** `contact_guard_days`. Null: no guard for the organization as a whole. */
    readonly contactDays: (org_id: string) => Effect.Effect<number | null>
    readonly setContactDays: (org_id: string, days: number | null) => Effect.Effect<void>
    /** The setting of the run's organization, and the latest contacts of the run's recipients. */
    readonly contacts: (run: Contacting) => Effect.Effect<ContactView>
    /** Why an approved run may not contact its recipients any more. Null if it may, or has not waited. */
    readonly contactedMeanwhile: (run: Contacting) => Effect.Effect<ContactRefusal | null>
    /** The opt-out lists' entries that cover recipients of the runs. */
    readonly optOuts: (runs: ReadonlyArray<Contacting>) => Effect.Effect<OptOutView>
    /** Whether a list that is about the organization has entries. */
    readonly hasOptOuts: (org_id: string) => Effect.Effect<boolean>
    /** The run whose result this one would take or wait for. Null if it would buy. */
    readonly reusable: (ask: ReuseAsk) => Effect.Effect<string | null>
    /** Runs that took a result, and what they did not pay, for each day with such a run. Dates; `to` is the day after the last. */
    readonly saved: (
      org_id: string,
      from: string,
      to: string
    ) => Effect.Effect<ReadonlyArray<{ readonly day: string; readonly runs: bigint; readonly saved: bigint }>>
    /** The newest results of raw runs with these inputs, one in memory at a time. */
    readonly rawResults: (org_id: string, seconds: number, hashes: ReadonlyArray<string>) => Stream.Stream<RawResult>
    /** What decides whether a run of the organization is guarded, and from when on claims say whom it contacted. */
    readonly contactRule: (org_id: string) => Effect.Effect<typeof ContactRule.Type>
    /** Those of the runs that tie identities of a person. Few are in memory at once: results of searches for people are large. */
    readonly personRuns: (org_id: string, run_ids: ReadonlyArray<string>) => Stream.Stream<typeof PersonRun.Type>
    /** Deletes tries, contacts and lists of results that count no longer, and lets runs ask again that wait for nothing. */
    readonly forget: Effect.Effect<void>
  }
>()("rungate/layers/guards/GuardStore") {
  static readonly layer = Layer.effect(
    GuardStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      return GuardStore.of({
        tries: ({ org_id, key_id, input_hash }) =>
          tryRows.all(sql`
            SELECT run_id, (extract(epoch FROM tried_at) * 1000000)::bigint AS at FROM repeat_tries
            WHERE org_id = ${org_id} AND caller = ${callerOf(key_id)} AND input_hash = ${input_hash}
              AND tried_at > now() - make_interval(secs => ${repeatSeconds})`),
        contactDays: (org_id) =>
          Effect.map(
            dayRows.all(sql`SELECT days::int AS days FROM contact_guards WHERE org_id = ${org_id}`),
            ([row]) => row?.days ?? null
          ),
        setContactDays: (org_id, days) =>
          done(sql`
            INSERT INTO contact_guards AS g (org_id, days) VALUES (${org_id}, ${days}::int)
            ON CONFLICT (org_id) DO UPDATE SET days = excluded.days WHERE g.days IS DISTINCT FROM excluded.days`),
        reusable: (ask) => Effect.orDie(Effect.map(readAsks(sql, [ask]), ([row]) => row?.source ?? row?.buyer ?? null)),
        saved: (org_id, from, to) =>
          savedRows.all(sql`
            SELECT day::text AS day, count(*) AS runs, sum(saved)::bigint AS saved FROM (
              SELECT saved, ${sql.literal(dayOf("created_at", zonesOf("s.org_id")))} AS day FROM reuse_savings s
              -- No day of a zone is further from that of UTC.
              WHERE org_id = ${org_id} AND created_at >= (${from}::date - 3)::timestamp AT TIME ZONE 'UTC'
                AND created_at < (${to}::date + 3)::timestamp AT TIME ZONE 'UTC') d
            WHERE day >= ${from}::date AND day < ${to}::date GROUP BY 1`),
        rawResults: (org_id, seconds, hashes) =>
          Stream.orDie(
            Stream.paginate(0, (skipped: number) =>
              Effect.map(
                rawRows(sql`
                  SELECT r.run_id, r.input_hash, coalesce(r.charged, 0) AS charged, r.result::text AS result
                  FROM reusable_results x JOIN runs r ON r.org_id = x.org_id AND r.run_id = x.run_id
                  WHERE x.org_id = ${org_id} AND x.input_hash = ANY(${texts(hashes)}) AND r.kind = 'endpoint' AND r.result IS NOT NULL
                    AND r.erased_at IS NULL AND r.finished_at > now() - make_interval(secs => ${seconds})
                  ORDER BY r.finished_at DESC LIMIT 1 OFFSET ${skipped}`),
                (rows) => {
                  const more = rows.length > 0 && skipped + 1 < rawResultsMax
                  return [rows, more ? Option.some(skipped + 1) : Option.none()] as const
                }
              )
            )
          ),
        contactRule: (org_id) =>
          Effect.orDie(
            contactRuleRow(sql`
              SELECT g.days::int AS days, coalesce(o.created_at, s.created_at) AS claimed_since
              FROM contact_secret s LEFT JOIN contact_guards g ON g.org_id = ${org_id} LEFT JOIN contact_secrets o ON o.org_id = ${org_id}`)
          ),
        personRuns: (org_id, run_ids) =>
          Stream.orDie(
            runsInPages(sql, { org_id, run_ids, most: personRunsAtOnce }, (page) =>
              personRows(sql`
                SELECT run_id, capability, input::text AS input, result::text AS result FROM runs
                WHERE org_id = ${org_id} AND run_id = ANY(${texts(page)}) AND capability = ANY(${texts(tyingCapabilities)})
                  AND status = 'succeeded' AND result IS NOT NULL AND erased_at IS NULL`)
            )
          ),
        contacts: (run) => Effect.orDie(readContacts(sql, [run])),
        contactedMeanwhile: (run) => Effect.orDie(contactedMeanwhile(sql, run)),
        optOuts: (runs) => Effect.orDie(readOptOuts(sql, runs)),
        hasOptOuts: (org_id) => hasRows(sql`SELECT FROM opt_outs WHERE org_id = ${org_id} OR org_id IS NULL LIMIT 1`),
        forget: Effect.orDie(
          Effect.gen(function* () {
            yield* askAgain(sql)
            yield* sql`DELETE FROM repeat_tries WHERE tried_at < now() - make_interval(secs => ${keptSeconds})`
            yield* sql`DELETE FROM contact_claims WHERE contacted_at < now() - make_interval(secs => ${contactSecondsMax})`
            yield* sql`DELETE FROM reusable_results WHERE finished_at < now() - make_interval(secs => ${reuseSecondsMax})`
          })
        )
      })
    })
  )
}
