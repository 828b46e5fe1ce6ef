/**
 * Checks the books on a schedule, and suspends a wallet whose books do not add up: it takes no new runs.
 *
 * One process checks at a time. Each check reads one snapshot, in which every turn is either whole or absent. A wallet is suspended only
 * if a second snapshot, of the wallet alone, shows violations too. The statement that suspends it changes the wallet's version, so a turn
 * that has read the wallet before is rolled back and reads the mark. Nothing that a caller does can violate an equation.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Actor } from "../../schema/accounts/Actor.ts"
import { AuditLog } from "../auditlog/AuditLog.ts"
import { done, oneNumber, rowsOf, storedAs, textValues, texts } from "../postgres/Rows.ts"
import { Audit, type AuditReport } from "./Audit.ts"
import { type Violation, violations } from "./equations.ts"
import { snapshot } from "./snapshot.ts"

/** Equations over the ledger of one wallet. Others concern counts, shares or commands that wait for a person: they are only reported. */
const suspending = new Set(["E1", "E2", "E3", "E4", "E5", "E6", "E7", "E9", "E17"])

const isSuspending = ({ equation }: Violation) => suspending.has(equation.split(" ")[0] ?? "")

/** Violations that a suspension records. Damaged books can have many. */
const recordedMax = 20

const dueRows = rowsOf({ due: Schema.Boolean })
const suspensionRows = storedAs({ org_id: Schema.String, organization: Schema.String, suspended_at: Schema.Date })

/** Suspended wallets that are listed. More than one is rare. */
const listedMax = 50

export interface SuspendedWallet {
  readonly org_id: string
  readonly violations: ReadonlyArray<Violation>
}

export interface BooksCheck {
  readonly report: AuditReport
  /** Wallets that this check has suspended. */
  readonly suspended: ReadonlyArray<SuspendedWallet>
}

/** `Violated`: the wallet stays suspended. */
export type Resumption =
  | { readonly _tag: "Resumed" }
  | { readonly _tag: "NotSuspended" }
  | { readonly _tag: "Violated"; readonly violations: ReadonlyArray<Violation> }

export class BooksWatch extends Context.Service<
  BooksWatch,
  {
    /** Takes the next check, if it is due. The one after it is due `seconds` later. */
    readonly claim: (seconds: number) => Effect.Effect<boolean>
    /** The next check is due in `seconds` at the earliest. */
    readonly postpone: (seconds: number) => Effect.Effect<void>
    /** Audits all wallets, records the result, and suspends the wallets that break an equation. */
    readonly check: Effect.Effect<BooksCheck>
    /** The number of wallets that are suspended. */
    readonly suspended: Effect.Effect<number>
    /** The wallets that are suspended, the longest first, 50 at most. */
    readonly suspensions: Effect.Effect<
      ReadonlyArray<{ readonly org_id: string; readonly organization: string; readonly suspended_at: Date }>
    >
    /** Checks a suspended wallet, and lets it take runs again if its books add up. */
    readonly resume: (org_id: string, actor: Actor) => Effect.Effect<Resumption>
  }
>()("rungate/layers/audit/BooksWatch") {
  static readonly layer = Layer.effect(
    BooksWatch,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const log = yield* AuditLog

      /** The organizations whose entries, runs or payments violations name. */
      const orgsOf = Effect.fnUntraced(function* (reported: ReadonlyArray<Violation>) {
        const named = (prefix: string) =>
          reported.flatMap(({ subject }) => (subject.startsWith(prefix) ? [subject.split(" ")[0] ?? ""] : []))
        const [runs, payments] = [named("run_"), named("pay_")]
        return yield* textValues(sql`
          SELECT org_id FROM wallets WHERE org_id = ANY(${texts(named("org_"))}) UNION
          SELECT org_id FROM runs WHERE run_id = ANY(${texts(runs)}) UNION
          SELECT org_id FROM ledger WHERE run_id = ANY(${texts(runs)}) UNION
          SELECT org_id FROM payments WHERE payment_id = ANY(${texts(payments)})`)
      })

      const violationsOf = (org_id: string) =>
        Effect.map(snapshot(sql, violations(sql, org_id)), (reported) => reported.filter(isSuspending))

      const suspend = Effect.fnUntraced(function* (org_id: string) {
        const suspending = yield* violationsOf(org_id)
        if (suspending.length === 0) return []
        const recorded = suspending.slice(0, recordedMax).map(({ equation, subject }) => `${equation}: ${subject}`)
        const rows = yield* textValues(sql`
          WITH marked AS (
            UPDATE wallets SET suspended = true, version = version + 1 WHERE org_id = ${org_id} AND NOT suspended RETURNING org_id)
          INSERT INTO wallet_suspensions (org_id, violations) SELECT org_id, ${texts(recorded)}::text[] FROM marked
          ON CONFLICT (org_id) DO UPDATE SET violations = excluded.violations, suspended_at = now(), resumed_at = NULL
          RETURNING org_id`)
        return rows.length === 0 ? [] : [{ org_id, violations: suspending }]
      })

      return BooksWatch.of({
        claim: (seconds) =>
          dueRows(sql`
            UPDATE books_schedule SET next_at = now() + make_interval(secs => ${seconds}) WHERE next_at <= now() RETURNING true AS due`).pipe(
            Effect.map((rows) => rows.length > 0),
            Effect.orDie
          ),
        postpone: (seconds) =>
          done(sql`UPDATE books_schedule SET next_at = greatest(next_at, now() + make_interval(secs => ${seconds}))`),
        check: Effect.orDie(
          Effect.gen(function* () {
            const report = yield* audit.run
            yield* audit.record(report)
            const suspects = report.violations.filter(isSuspending)
            const orgs = suspects.length === 0 ? [] : yield* orgsOf(suspects)
            const suspended = yield* Effect.forEach(orgs, suspend)
            return { report, suspended: suspended.flat() }
          })
        ),
        suspended: Effect.orDie(oneNumber(sql`SELECT count(*)::int FROM wallet_suspensions WHERE resumed_at IS NULL`)),
        suspensions: suspensionRows.all(sql`
            SELECT s.org_id, o.name AS organization, s.suspended_at FROM wallet_suspensions s JOIN orgs o USING (org_id)
            WHERE s.resumed_at IS NULL ORDER BY s.suspended_at, s.org_id LIMIT ${listedMax}`),
        resume: Effect.fnUntraced(function* (org_id, actor) {
          const marked = yield* textValues(sql`SELECT org_id FROM wallets WHERE org_id = ${org_id} AND suspended`)
          if (marked.length === 0) return { _tag: "NotSuspended" } as const
          const suspending = yield* violationsOf(org_id)
          if (suspending.length > 0) return { _tag: "Violated", violations: suspending } as const
          yield* log.by(actor)(sql`
            WITH freed AS (
              UPDATE wallets SET suspended = false, version = version + 1 WHERE org_id = ${org_id} AND suspended RETURNING org_id)
            UPDATE wallet_suspensions s SET resumed_at = now() FROM freed WHERE s.org_id = freed.org_id`)
          return { _tag: "Resumed" } as const
        }, Effect.orDie)
      })
    })
  )
}
