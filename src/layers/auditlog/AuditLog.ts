/**
 * Says on whose behalf a transaction changes something, and reads the log of such changes.
 *
 * `by` sets the actor for one transaction. Triggers of the changed tables write the log in that transaction (migration 0039), so no change
 * is without its entry, and no entry without its change.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Who changes something, and from which client address. */
export interface Actor {
  /** `link`: whoever has the link of an e-mail to the user that is changed. */
  readonly kind: "person" | "key" | "operator" | "link"
  /** The id of the user or key. Null for an operator and a link. */
  readonly id: string | null
  /** The operator's name at the operating system, if it is known. */
  readonly name: string | null
  /** Null for an operator. */
  readonly address: string | null
}

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Runs changes in one transaction on behalf of `actor`. Nothing slow may happen in it. */
    readonly by: (actor: Actor) => <A, E, R>(change: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("rungate/layers/members/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const by =
        (actor: Actor) =>
        <A, E, R>(change: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
          sql
            .withTransaction(
              Effect.andThen(
                sql`SELECT set_config('rungate.actor', ${JSON.stringify(actor)}, true)`,
                Effect.mapError(change, (failure) => ({ _tag: "Refused" as const, failure }))
              )
            )
            .pipe(Effect.catch((error) => (error._tag === "Refused" ? Effect.fail(error.failure) : Effect.die(error))))

      return AuditLog.of({ by })
    })
  )
}
