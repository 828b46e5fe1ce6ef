/**
 * Says on whose behalf a transaction changes something, and reads the log of such changes.
 *
 * `by` sets the actor for one transaction. Triggers of the changed tables write the log in that transaction (schema/audit_log.sql), so no change
 * is without its entry, and no entry without its change.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Actor } from "../../schema/accounts/Actor.ts"
import { usd } from "../../schema/money/Money.ts"
import { actorKinds, type OperatorAuditEntry } from "../../schema/nouns/AuditEntry.ts"
import { rowsOf } from "../postgres/Rows.ts"

const EntryRow = Schema.Struct({
  entry_id: Schema.String,
  org_id: Schema.NullOr(Schema.String),
  actor: Schema.Literals(actorKinds),
  actor_id: Schema.NullOr(Schema.String),
  /** A person's e-mail address, a key's name, or the operator's name at the operating system. */
  actor_name: Schema.NullOr(Schema.String),
  address: Schema.NullOr(Schema.String),
  action: Schema.String,
  object: Schema.String,
  before: Schema.NullOr(Schema.JsonObject),
  after: Schema.NullOr(Schema.JsonObject),
  created_at: Schema.Date
})
type EntryRow = typeof EntryRow.Type
const entryRows = rowsOf(EntryRow.fields)

/** Budgets are logged as their rows, which count in microdollars. All other amounts in the log are dollars. */
const microsOfBudgets: ReadonlyArray<string> = ["amount", "held"]
const inDollars = (fields: EntryRow["before"]): EntryRow["before"] =>
  fields &&
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      microsOfBudgets.includes(name) && typeof value === "number" ? usd(BigInt(value)) : value
    ])
  )
const readable = (row: EntryRow): OperatorAuditEntry => ({
  ...row,
  id: row.entry_id,
  actor: { kind: row.actor, id: row.actor_id, name: row.actor_name },
  ...(/^(key|label)_budget\./.test(row.action) && { before: inDollars(row.before), after: inDollars(row.after) })
})

export interface Filter {
  /** A kind of actor, an id, or a person's e-mail address. */
  readonly actor: string | null
  /** An action such as `key.revoked`, or its first part. */
  readonly action: string | null
  readonly from: Date | null
  /** Exclusive. */
  readonly to: Date | null
}

export const everything: Filter = { actor: null, action: null, from: null, to: null }

/** A failure of the change, and not of its transaction. */
class Refused<E> {
  readonly failure: E
  constructor(failure: E) {
    this.failure = failure
  }
}

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Runs changes in one transaction on behalf of `actor`. Nothing slow may happen in it. */
    readonly by: (actor: Actor) => <A, E, R>(change: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Newest first. `org_id` null: of all organizations and of the service itself, for operators. */
    readonly list: (
      org_id: string | null,
      filter: Filter,
      before: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<OperatorAuditEntry>>
    /** Deletes client addresses that are older than 180 days. */
    readonly forgetAddresses: Effect.Effect<void>
  }
>()("rungate/layers/auditlog/AuditLog") {
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
                Effect.mapError(change, (failure) => new Refused(failure))
              )
            )
            .pipe(
              Effect.catch((error) => (error instanceof Refused ? Effect.fail(error.failure) : Effect.die(error))),
              // The connection is lost, so the rollback failed too. PostgreSQL has done it.
              Effect.catchDefect((defect) =>
                defect instanceof Refused ? Effect.fail(defect.failure) : Effect.die(defect)
              )
            )

      const list = (org_id: string | null, { actor, action, from, to }: Filter, before: string | null, limit: number) =>
        entryRows(sql`
        SELECT a.entry_id, a.org_id, a.actor, a.actor_id, coalesce(u.email, k.name, a.actor_name) AS actor_name, a.address, a.action, a.object,
               a.before, a.after, a.created_at
        FROM audit_log a
        LEFT JOIN users u ON a.actor = 'person' AND u.user_id = a.actor_id
        LEFT JOIN api_keys k ON a.actor = 'key' AND k.key_id = a.actor_id
        WHERE (${org_id}::text IS NULL OR a.org_id = ${org_id}) AND (${before}::text IS NULL OR a.entry_id < ${before})
          AND (${actor}::text IS NULL OR a.actor = ${actor} OR a.actor_id = ${actor} OR lower(u.email) = lower(${actor}))
          AND (${action}::text IS NULL OR a.action = ${action} OR starts_with(a.action, ${action} || '.'))
          AND (${from}::timestamptz IS NULL OR a.created_at >= ${from}) AND (${to}::timestamptz IS NULL OR a.created_at < ${to})
        ORDER BY a.entry_id DESC LIMIT ${limit}`)

      return AuditLog.of({
        by,
        list: (org_id, filter, before, limit) =>
          list(org_id, filter, before, limit).pipe(
            Effect.map((rows) => rows.map(readable)),
            Effect.orDie
          ),
        forgetAddresses: Effect.asVoid(Effect.orDie(sql`SELECT audit_log_forget_addresses()`))
      })
    })
  )
}
