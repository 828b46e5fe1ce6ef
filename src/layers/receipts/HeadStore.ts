/**
 * Makes and reads signed heads of the ledger: of each organization, the newest entry of each day (UTC) with entries.
 *
 * Any number of processes may make them. Postgres lets one batch at a time through, and a day's head is inserted once. `wallet_head_days` has the
 * newest day that is complete, so days during which no process ran are made up for.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { bigints, byteas, done, oneFlag, oneRowOf, rowsOf, storedAs, tableOf, texts } from "../postgres/Rows.ts"

const HeadRow = Schema.Struct({ day: Schema.String, seq: Schema.BigInt, hash: Schema.String, head: Schema.String })
export type HeadRow = typeof HeadRow.Type
const headRows = storedAs(HeadRow.fields)

const UnsignedRow = Schema.Struct({ org_id: Schema.String, seq: Schema.BigInt, hash: Schema.String })
export type UnsignedHead = typeof UnsignedRow.Type
const unsignedRows = rowsOf(UnsignedRow.fields)

const dayRow = oneRowOf({ day: Schema.NullOr(Schema.String) })

/** Organizations in one transaction: signing them takes some 20 ms. */
const batchMax = 200
/** Older days have no head of their own. The heads after them cover their entries. */
const daysMax = 31
/** An entry's time is when its turn began, so entries of the last second of a day are committed after its end. */
const commitsWithin = "10 minutes"

export type Batch =
  /** `last` is the last organization that was looked at. Null: there are no more. */
  | { readonly _tag: "Made"; readonly heads: number; readonly last: string | null }
  /** Another process makes heads. */
  | { readonly _tag: "Busy" }

export class HeadStore extends Context.Service<
  HeadStore,
  {
    /** The oldest day that has ended and is not complete. Null if there is none. */
    readonly due: Effect.Effect<string | null>
    /** The newest day that has all of its heads. Null before the first. */
    readonly completeDay: Effect.Effect<string | null>
    /** Makes the heads of a day for the next organizations after one. `sign` returns the JWS of each. */
    readonly make: <E>(
      day: string,
      after: string,
      sign: (heads: ReadonlyArray<UnsignedHead>) => Effect.Effect<ReadonlyArray<string>, E>
    ) => Effect.Effect<Batch, E>
    /** Says that a day has all of its heads. */
    readonly complete: (day: string) => Effect.Effect<void>
    /** Newest first; only days before `before`, when given. */
    readonly list: (org_id: string, before: string | null, limit: number) => Effect.Effect<ReadonlyArray<HeadRow>>
  }
>()("rungate/layers/receipts/HeadStore") {
  static readonly layer = Layer.effect(
    HeadStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      /** The newest entry of the day, if it is newer than the last signed one. Entries of dropped months are in their checkpoint. */
      const unsigned = (day: string, after: string) =>
        unsignedRows(sql`
          SELECT w.org_id, e.seq, encode(e.hash, 'hex') AS hash
          FROM wallets w
          CROSS JOIN LATERAL (SELECT coalesce(max(h.seq), 0) AS seq FROM wallet_heads h WHERE h.org_id = w.org_id) signed
          CROSS JOIN LATERAL (
            SELECT l.seq, l.hash FROM ledger l
            WHERE l.org_id = w.org_id AND l.seq > signed.seq AND l.created_at < (${day}::date + 1)::timestamp AT TIME ZONE 'UTC'
            ORDER BY l.seq DESC LIMIT 1) e
          WHERE w.org_id > ${after} AND w.entry_seq > signed.seq
          ORDER BY w.org_id LIMIT ${batchMax}`)

      const insert = (day: string, heads: ReadonlyArray<UnsignedHead>, signed: ReadonlyArray<string>) => sql`
        INSERT INTO wallet_heads (org_id, day, seq, hash, head)
        SELECT n.org_id, ${day}::date, n.seq, n.hash, n.head
        FROM ${tableOf("n", heads, { org_id: texts, seq: bigints }, { hash: byteas(heads.map((one) => Buffer.from(one.hash, "hex"))), head: texts(signed) })}
        ON CONFLICT (org_id, day) DO NOTHING`

      const make = Effect.fnUntraced(function* <E>(
        day: string,
        after: string,
        sign: (heads: ReadonlyArray<UnsignedHead>) => Effect.Effect<ReadonlyArray<string>, E>
      ) {
        const locked = yield* Effect.orDie(
          oneFlag(sql`SELECT pg_try_advisory_xact_lock(hashtext(current_schema()), hashtext('wallet heads')) AS locked`)
        )
        if (!locked) return { _tag: "Busy" } satisfies Batch
        const heads = yield* Effect.orDie(unsigned(day, after))
        if (heads.length > 0) yield* Effect.orDie(insert(day, heads, yield* sign(heads)))
        const last = heads.length < batchMax ? null : (heads.at(-1)?.org_id ?? null)
        return { _tag: "Made", heads: heads.length, last } satisfies Batch
      })

      return HeadStore.of({
        due: Effect.map(
          dayRow(sql`
            SELECT CASE WHEN next < today THEN next::text END AS day
            FROM (SELECT greatest(coalesce((SELECT day + 1 FROM wallet_head_days), today - 1), today - ${daysMax}::int) AS next, today
                  FROM (SELECT ((now() - ${commitsWithin}::interval) AT TIME ZONE 'UTC')::date AS today) t) d`),
          (row) => row.day
        ).pipe(Effect.orDie),
        completeDay: Effect.map(
          dayRow(sql`SELECT (SELECT day::text FROM wallet_head_days) AS day`),
          (row) => row.day
        ).pipe(Effect.orDie),
        make: (day, after, sign) =>
          Effect.catchTag(sql.withTransaction(make(day, after, sign)), "SqlError", (error) => Effect.die(error)),
        complete: (day) =>
          done(sql`
            INSERT INTO wallet_head_days AS d (day) VALUES (${day}::date)
            ON CONFLICT (one) DO UPDATE SET day = greatest(d.day, excluded.day)`),
        list: (org_id, before, limit) =>
          headRows.all(sql`
            SELECT day::text AS day, seq, encode(hash, 'hex') AS hash, head FROM wallet_heads
            WHERE org_id = ${org_id} AND (${before}::date IS NULL OR day < ${before}::date) ORDER BY wallet_heads.day DESC LIMIT ${limit}`)
      })
    })
  )
}
