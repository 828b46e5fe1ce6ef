/**
 * The mailbox seen from those who write to it: durable commands, in group commits, and the replies of those that are waited for.
 *
 * What is stored here is applied once by the wallet's next turn, whatever happens to the process that stored it.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { jsons, texts } from "../postgres/Columns.ts"
import { batch } from "../postgres/Batch.ts"

export interface NewMail {
  /** Set when the sender waits for the reply; for credits, the reference that makes them unique. */
  readonly command_id: string | null
  readonly org_id: string
  readonly run_id: string | null
  readonly tag: "Settle" | "Cancel" | "Credit" | "SetGuard" | "Pay" | "AutoTopup"
  /** JSON text. */
  readonly payload: string
  /** JSON text that becomes the run's result; it does not travel through a turn. */
  readonly result: string | null
}

export interface Backlog {
  readonly lane: number
  readonly age_seconds: number
}

const mailMax = 200

export class MailStore extends Context.Service<
  MailStore,
  {
    /** Answers the lane that has mail now. */
    readonly post: (mail: NewMail) => Effect.Effect<number>
    readonly reply: (command_id: string) => Effect.Effect<unknown>
    /** Lanes with mail older than a second, and how old. */
    readonly backlog: Effect.Effect<ReadonlyArray<Backlog>>
    readonly parked: Effect.Effect<number>
    /** Forgets replies that nobody can be waiting for any more, and workers long dead. */
    readonly forget: Effect.Effect<void>
  }
>()("rungate/layers/ledger/MailStore") {
  static readonly layer = Layer.effect(
    MailStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const post = yield* batch({
        name: "post",
        max: mailMax,
        parallel: 1,
        flush: Effect.fnUntraced(function* (mail: ReadonlyArray<NewMail>) {
          const rows = yield* sql<{ org_id: string; lane: number }>`
            WITH asked AS (
              SELECT * FROM unnest(${texts(mail.map((m) => m.command_id))}, ${texts(mail.map((m) => m.org_id))},
                ${texts(mail.map((m) => m.run_id))}, ${texts(mail.map((m) => m.tag))}, ${jsons(mail.map((m) => m.payload))},
                ${texts(mail.map((m) => m.result))}) AS t(command_id, org_id, run_id, tag, payload, result)
            ), sent AS (
              INSERT INTO mailbox (lane, command_id, org_id, run_id, tag, payload, result)
              SELECT w.lane, a.command_id, a.org_id, a.run_id, a.tag, a.payload::json, a.result::json
              FROM asked a JOIN wallets w USING (org_id)
            )
            SELECT DISTINCT a.org_id, w.lane FROM asked a JOIN wallets w USING (org_id)`
          const lanes = new Map(rows.map((row) => [row.org_id, row.lane]))
          return mail.map((one) => lanes.get(one.org_id) ?? 0)
        })
      })

      const reply = Effect.fnUntraced(function* (command_id: string) {
        const [row] = yield* sql<{ reply: unknown }>`SELECT reply FROM replies WHERE command_id = ${command_id}`
        return row?.reply ?? null
      })

      const backlog = sql<Backlog>`
        SELECT lane, extract(epoch FROM now() - min(created_at))::float8 AS age_seconds FROM mailbox
        WHERE parked IS NULL GROUP BY lane HAVING min(created_at) < now() - interval '1 second'`

      const parked = sql<{ parked: bigint }>`SELECT count(*) AS parked FROM mailbox WHERE parked IS NOT NULL`

      const forget = Effect.gen(function* () {
        yield* sql`DELETE FROM replies WHERE created_at < now() - interval '1 hour'`
        yield* sql`
          DELETE FROM workers w WHERE expires_at < now() - interval '1 hour'
            AND NOT EXISTS (SELECT FROM open_runs o WHERE o.worker_id = w.worker_id)`
      })

      return MailStore.of({
        post: (mail) => Effect.orDie(post(mail)),
        reply: (command_id) => Effect.orDie(reply(command_id)),
        backlog: Effect.orDie(backlog),
        parked: parked.pipe(
          Effect.map((rows) => Number(rows[0]?.parked ?? 0n)),
          Effect.orDie
        ),
        forget: Effect.orDie(forget)
      })
    })
  )
}
