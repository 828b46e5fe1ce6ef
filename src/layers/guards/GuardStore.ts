/**
 * What the guards know, for quotes, and the deletion of what they no longer need.
 *
 * Runs are decided in the wallet's turn, which reads and writes these rows itself; see RepeatTurn.ts.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { callerOf, repeatSeconds, type Try } from "../../schema/guards/RepeatGuard.ts"
import { rowsOf } from "../postgres/Rows.ts"

const tryRows = rowsOf({ run_id: Schema.String, at: Schema.BigInt })

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
    /** Deletes tries that count no longer. */
    readonly forget: Effect.Effect<void>
  }
>()("rungate/layers/guards/GuardStore") {
  static readonly layer = Layer.effect(
    GuardStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return GuardStore.of({
        tries: ({ org_id, key_id, input_hash }) =>
          Effect.orDie(
            tryRows(sql`
            SELECT run_id, (extract(epoch FROM tried_at) * 1000000)::bigint AS at FROM repeat_tries
            WHERE org_id = ${org_id} AND caller = ${callerOf(key_id)} AND input_hash = ${input_hash}
              AND tried_at > now() - make_interval(secs => ${repeatSeconds})`)
          ),
        forget: Effect.asVoid(
          Effect.orDie(sql`DELETE FROM repeat_tries WHERE tried_at < now() - make_interval(secs => ${keptSeconds})`)
        )
      })
    })
  )
}
