/**
 * What the operator's accounts at providers have left, as the database has it: readings, values set by hand, and reservations of calls.
 *
 * The database decides about reservations (schema/operator.sql), so calls of all processes together never reserve more than is left.
 */
import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { burnAfter, emptyMinutes } from "../../schema/catalog/Credits.ts"
import { ProviderCredits } from "../../schema/nouns/operator/Credits.ts"
import { done, hasRows, storedAs, texts } from "../postgres/Rows.ts"

const CreditsRow = Schema.Struct({
  ...Struct.omit(ProviderCredits.fields, ["state", "available", "days_left", "runs_out_at"]),
  burn_balance: Schema.NullOr(Schema.BigInt),
  burn_at: Schema.NullOr(Schema.Date),
  empty_until: Schema.NullOr(Schema.Date),
  /** When the row was read, by the database's clock. */
  seen_at: Schema.Date
})
export type CreditsRow = typeof CreditsRow.Type
type Read = Pick<CreditsRow, "unit" | "expires_at"> & { readonly balance: bigint }
const rows = storedAs(CreditsRow.fields)

/** Long enough for a provider that answers slowly. */
const readingMinutes = 2
const errorCharsMax = 300
const lostMax = 100

export class CreditsStore extends Context.Service<
  CreditsStore,
  {
    readonly list: Effect.Effect<ReadonlyArray<CreditsRow>>
    /** Adds accounts that can be read. */
    readonly add: (providers: ReadonlyArray<string>) => Effect.Effect<void>
    /** Makes the next readings due now: of one account, or of all. */
    readonly refresh: (provider: string | null) => Effect.Effect<void>
    /** Takes the reading of one account, if one is due. No other process reads it for two minutes. */
    readonly claim: Effect.Effect<CreditsRow | null>
    /** Stores a reading, unless a later one is stored: what was spent between them is in that one only. The next one is due in `minutes`. */
    readonly store: (claim: CreditsRow, read: Read & Pick<CreditsRow, "renews">, minutes: number) => Effect.Effect<void>
    /** Counts the use per day of a balance that was set by hand. */
    readonly count: (claim: CreditsRow, minutes: number) => Effect.Effect<void>
    readonly failed: (provider: string, why: string, minutes: number) => Effect.Effect<void>
    /** Sets the balance, unless `credits` is null, and `low_below` if it is given. */
    readonly set: (provider: string, credits: Read | null, low_below?: bigint | null) => Effect.Effect<CreditsRow>
    /** False if less is left. True again for the same `hold_id`. */
    readonly reserve: (provider: string, hold_id: string, run_id: string, amount: bigint) => Effect.Effect<boolean>
    /** Ends a reservation, if there is one, and counts what was spent. */
    readonly spend: (provider: string, hold_id: string, amount: bigint) => Effect.Effect<void>
    /** The provider refused a call because the account is empty. */
    readonly markEmpty: (provider: string) => Effect.Effect<void>
    /** Ends reservations of runs that are no longer open: their worker died. They count as spent. */
    readonly endLost: Effect.Effect<void>
  }
>()("rungate/layers/executor/CreditsStore") {
  /** Whether a reading is due. */
  static readonly due = () => "EXISTS (SELECT FROM provider_credits WHERE next_read_at <= now())"

  static readonly layer = Layer.effect(
    CreditsStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql`provider, unit, balance, source, read_at, reserved, burn_per_day, burn_balance, burn_at, low_below, expires_at, renews, empty_until, read_error, now() AS seen_at`
      const inMinutes = (minutes: number) => sql`now() + make_interval(secs => ${minutes * 60}::float8)`
      const nextReading = (minutes: number) => sql`next_read_at = ${inMinutes(minutes)}`

      const burnOf = ({ burn_per_day, burn_balance, burn_at, seen_at }: CreditsRow, balance: bigint) =>
        burn_balance === null || burn_at === null
          ? burn_per_day
          : burnAfter(burn_per_day, burn_balance, balance, seen_at.getTime() - burn_at.getTime())

      return CreditsStore.of({
        list: rows.all(sql`SELECT ${columns} FROM provider_credits ORDER BY provider`),
        add: (providers) =>
          done(
            sql`INSERT INTO provider_credits (provider) SELECT unnest(${texts(providers)}::text[]) ON CONFLICT DO NOTHING`
          ),
        refresh: (provider) =>
          done(
            // In the order of `endLost`, so that they never wait for each other.
            sql`
              UPDATE provider_credits SET next_read_at = now() WHERE provider IN
                (SELECT provider FROM provider_credits WHERE ${provider}::text IS NULL OR provider = ${provider} ORDER BY provider FOR UPDATE)`
          ),
        claim: rows.first(sql`
          UPDATE provider_credits SET ${nextReading(readingMinutes)}
          WHERE provider = (SELECT provider FROM provider_credits WHERE next_read_at <= now() ORDER BY next_read_at LIMIT 1 FOR UPDATE SKIP LOCKED)
          RETURNING ${columns}`),
        store: Effect.fnUntraced(
          function* (claim, { unit, balance, expires_at, renews }, minutes) {
            const { provider, seen_at } = claim
            // One transaction: nobody sees the new balance without what was spent since.
            yield* sql`SELECT drop_spent_credits(${provider}, ${seen_at})`
            yield* sql`
              UPDATE provider_credits SET unit = ${unit}, balance = ${balance}, source = 'read', read_at = ${seen_at}, read_error = NULL,
                burn_per_day = ${claim.unit === unit ? burnOf(claim, balance) : 0n}, burn_balance = ${balance}, burn_at = ${seen_at},
                expires_at = ${expires_at}, renews = ${renews},
                empty_until = CASE WHEN ${balance > 0n} THEN NULL ELSE empty_until END, ${nextReading(minutes)}
              WHERE provider = ${provider} AND (read_at IS NULL OR read_at <= ${seen_at})`
          },
          sql.withTransaction,
          Effect.orDie
        ),
        count: (claim, minutes) =>
          done(sql`
            UPDATE provider_credits SET burn_per_day = ${burnOf(claim, claim.balance ?? 0n)}, burn_balance = ${claim.balance},
              burn_at = ${claim.seen_at}, ${nextReading(minutes)}
            WHERE provider = ${claim.provider} AND source = 'set'`),
        failed: (provider, why, minutes) =>
          done(sql`
            UPDATE provider_credits SET read_error = ${why.slice(0, errorCharsMax)}, ${nextReading(minutes)}
            WHERE provider = ${provider}`),
        set: Effect.fnUntraced(
          function* (provider, credits, low_below) {
            if (credits !== null) {
              const { unit, balance, expires_at } = credits
              yield* sql`
                INSERT INTO provider_credits AS c (provider, unit, balance, source, read_at, burn_balance, burn_at, expires_at)
                VALUES (${provider}, ${unit}, ${balance}, 'set', now(), ${balance}, now(), ${expires_at})
                ON CONFLICT (provider) DO UPDATE SET unit = excluded.unit, balance = excluded.balance, source = 'set', read_at = now(),
                  burn_per_day = CASE WHEN c.unit = excluded.unit THEN c.burn_per_day ELSE 0 END, burn_balance = excluded.balance,
                  burn_at = now(), expires_at = excluded.expires_at, renews = false, empty_until = NULL, read_error = NULL`
              // The balance contains it.
              yield* sql`SELECT drop_spent_credits(${provider}, clock_timestamp())`
            }
            if (low_below !== undefined)
              yield* sql`
                INSERT INTO provider_credits (provider, low_below) VALUES (${provider}, ${low_below})
                ON CONFLICT (provider) DO UPDATE SET low_below = excluded.low_below`
            return yield* rows.one(sql`SELECT ${columns} FROM provider_credits WHERE provider = ${provider}`)
          },
          sql.withTransaction,
          Effect.orDie
        ),
        reserve: (provider, hold_id, run_id, amount) =>
          hasRows(sql`SELECT 1 AS done WHERE reserve_credits(${provider}, ${hold_id}, ${run_id}, ${amount})`),
        spend: (provider, hold_id, amount) => done(sql`SELECT spend_credits(${provider}, ${hold_id}, ${amount})`),
        markEmpty: (provider) =>
          done(sql`
            INSERT INTO provider_credits (provider, empty_until) VALUES (${provider}, ${inMinutes(emptyMinutes)})
            ON CONFLICT (provider) DO UPDATE SET empty_until = excluded.empty_until,
              next_read_at = least(provider_credits.next_read_at, now() + interval '1 minute')`),
        endLost: done(sql`
          SELECT spend_credits(h.provider, h.hold_id, h.amount)
          FROM (SELECT h.provider, h.hold_id, h.amount FROM provider_credit_holds h LEFT JOIN open_runs o USING (run_id)
                WHERE h.ended_at IS NULL AND h.run_id IS NOT NULL AND o.run_id IS NULL ORDER BY h.provider LIMIT ${lostMax}) h`)
      })
    })
  )
}
