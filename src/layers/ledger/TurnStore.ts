/**
 * Runs one turn of a lane: reads the oldest commands with the rows they concern, decides, and writes everything in one statement.
 *
 * That statement is the fence. It deletes the commands it applies, and it requires every wallet to have the version that was read.
 * Of two concurrent turns on one lane the second waits for the first one's row locks, finds a newer version, and is rolled back.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { crashPoint } from "../platform/CrashPoint.ts"
import { bigints, byteas, texts } from "../postgres/Columns.ts"
import {
  type BudgetAlertWrite,
  type BudgetView,
  budgetsAreCurrent,
  noBudgets,
  readBudgets,
  writeBudgets
} from "./BudgetTurn.ts"
import { allowanceBudgets } from "../../schema/wallet/AllowanceCommand.ts"
import { type FreeEffects, freeFits, noFree, readFree, writeFree } from "../guards/FreeTurn.ts"
import { freeLimitOf } from "../../schema/wallet/FreeStorage.ts"
import { link, type Unlinked } from "./LedgerChain.ts"
import { isEmpty, noPayments, type PaymentEffects, readPayments, writePayments } from "./PaymentTurn.ts"
import { Settings } from "../platform/Settings.ts"
import { sqlStateOf } from "../postgres/SqlState.ts"
import { type Taken, take, type TurnView, viewOf } from "./TurnView.ts"
import { type DirectCommand, keysAreLive, sortDirect, stillTrue, writeArrived } from "./DirectCommands.ts"
import type { NewRun } from "../runs/RunStore.ts"
import {
  allOf,
  deleteMail,
  unbookedRuns,
  writeAttempts,
  writeClosed,
  writeEnded,
  writeEntries,
  writeOpened,
  writeReplies,
  writeUnbooked
} from "./TurnRows.ts"
import { emptyRow, isTimely, RecallMillis, TurnMinutes, walletMemory } from "./WalletMemory.ts"
import { hasRecords, type TurnRecords, writeRecords } from "./TurnRecords.ts"
import { isRecord } from "../../schema/json/Json.ts"
import type { RunStatus } from "../../schema/runs/Run.ts"
import type { BudgetControl, Wallet } from "../../schema/wallet/Wallet.ts"
import type { KeyBudget } from "../../schema/wallet/KeyBudget.ts"
import {
  contactingRuns,
  type ContactEffects,
  type ContactView,
  nobodyContacted,
  readContacts,
  writeContacts
} from "../guards/ContactTurn.ts"
import {
  claimsAreMine,
  endingBuyers,
  type ReuseEffects,
  type ReuseEnd,
  readReuse,
  reuseAsks,
  writeReuse
} from "../guards/ReuseTurn.ts"
import { askingRuns, type RepeatEffects, triesAreSeen, writeRepeats } from "../guards/RepeatTurn.ts"

export type { Mail, TurnRun, TurnView } from "./TurnView.ts"

/** A run that the turn ended, with what its row becomes. `capability` is null for a raw run. */
export interface EndedRun {
  readonly org_id: string
  readonly run_id: string
  readonly capability: string | null
  /** The lease under which the run ended; null when it never started. */
  readonly lease_token: string | null
  readonly status: RunStatus
  readonly charged: bigint | null
  /** What its providers charged us, in microdollars; null when unknown or when none was called. */
  readonly provider_cost: bigint | null
  readonly provider: string | null
  readonly attempts: string | null
  readonly hints: string | null
  readonly error_code: string | null
  readonly error_message: string | null
  /** The control that blocked the run, where `error_code` does not say it. */
  readonly control: BudgetControl | null
  /** Id of the command whose `result` becomes the run's. The result is copied inside the database. */
  readonly result_of: bigint | null
  /** JSON text of the result when a direct command ended the run. */
  readonly result: string | null
  /** Bytes of the result, where somebody counts them. */
  readonly stored_bytes?: number
  /** Set for a run that ended without a purchase, with another run's result. */
  readonly reuse?: ReuseEnd
}

/** A run whose hold the turn reserved. It is `queued`, or already leased to this process and `running`. */
export interface AdmittedRun {
  readonly run_id: string
  readonly org_id: string
  readonly hold: bigint
  /** What it may store at no charge. Null if its result has a price. */
  readonly free_bytes: bigint | null
  readonly state: "queued" | "running"
  /** The provider that the run calls first. */
  readonly provider: string
  readonly side_effect: boolean
  readonly worker_id: string | null
  readonly lease_token: string | null
  readonly attempts: string
}

export interface TurnEffects {
  readonly wallets: ReadonlyArray<Wallet>
  readonly entries: ReadonlyArray<Unlinked>
  readonly ended: ReadonlyArray<EndedRun>
  readonly opened: ReadonlyArray<AdmittedRun>
  /** Runs whose hold and lease end, with the lease that was read. A run that has another lease by then is not closed. */
  readonly closed: ReadonlyArray<{
    readonly org_id: string
    readonly run_id: string
    readonly lease_token: string | null
  }>
  readonly replies: ReadonlyArray<{ readonly command_id: string; readonly reply: string }>
  readonly attempts: ReadonlyArray<AttemptCount>
  readonly records: TurnRecords
  readonly payments: PaymentEffects
  /** Budgets of API keys that the turn changed. */
  readonly budgets: ReadonlyArray<KeyBudget>
  /** What these budgets crossed. */
  readonly budget_alerts: ReadonlyArray<BudgetAlertWrite>
  readonly repeats: RepeatEffects
  readonly contacts: ContactEffects
  readonly reuse: ReuseEffects
  readonly free: FreeEffects
}

/** What the commit of a turn adds to its answer. */
export interface TurnCommit {
  /** The turn's time, which its ledger entries and the runs that it admits or ends have. */
  readonly at: Date
  /** Direct commands that the turn did not take. */
  readonly rejected: ReadonlyArray<DirectCommand>
  /** Organizations whose wallets it wrote. */
  readonly orgs: ReadonlyArray<string>
}

/** Attempts of the ended runs, counted by provider health bucket; see schema/runs/Health.ts. */
export interface AttemptCount {
  readonly subject: string
  readonly ok: boolean
  readonly latency_bucket: number
  readonly count: number
}

/** Another turn changed these rows first, or this one took too long, so it was rolled back. The next turn reads them again. */
export class TurnConflict extends Schema.TaggedError<TurnConflict>()("TurnConflict", {
  /** Whether the turn has read these rows. If not, a turn that reads them may succeed at once. */
  read: Schema.Boolean
}) {}

/** The change of each organization's count of open runs. */
const openRunsChange = ({ opened, closed }: TurnEffects): ReadonlyMap<string, bigint> => {
  const change = new Map<string, bigint>()
  for (const { org_id } of opened) change.set(org_id, (change.get(org_id) ?? 0n) + 1n)
  for (const { org_id } of closed) change.set(org_id, (change.get(org_id) ?? 0n) - 1n)
  return change
}

/**
 * Organizations of which the turn ends a direct run as it arrives. The write proves the wallets that a turn remembered, and of the budgets only
 * those that it changes, and nothing of what is stored at no charge. So a turn must read before it refuses a run.
 */
const refusedOf = ({ ended }: TurnEffects, arrived: ReadonlyArray<NewRun>): ReadonlyArray<string> => {
  if (ended.length === 0) return []
  const arrivedIds = new Set(arrived.map((run) => run.run_id))
  return ended.flatMap((run) => (arrivedIds.has(run.run_id) && run.reuse === undefined ? [run.org_id] : []))
}

/** SQLSTATE that only `rungate_turn_conflict()` raises. */
const turnConflict = "RG001"

/** Class of the SQLSTATEs of violated constraints, such as a second run with an Idempotency-Key. */
const constraintClass = "23"

export class TurnStore extends Context.Service<
  TurnStore,
  {
    /**
     * Takes up to `max` commands of a lane, oldest first, then the direct commands, and writes the effects that `decide` returns.
     * Returns decide's answer with the direct commands that were rejected, or null when there is no command. Dies when the database
     * refuses the statement. A failed turn writes nothing. With `mayRecall` it may take the direct commands alone and use what the last
     * turns of this process knew, without reading.
     */
    readonly turn: <A extends object>(
      lane: number,
      max: number,
      direct: ReadonlyArray<DirectCommand>,
      mayRecall: boolean,
      decide: (view: TurnView) => { readonly effects: TurnEffects; readonly answer: A }
    ) => Effect.Effect<(A & TurnCommit) | null, TurnConflict>
  }
>()("rungate/layers/ledger/TurnStore") {
  static readonly layer = Layer.effect(
    TurnStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      /** Reads after the commands. If another turn changed these rows in between, the wallet's version changed too and this turn is rolled back. */
      const paymentsOf = Effect.fnUntraced(function* (mail: Taken["mail"]) {
        const payments = mail.filter((row) => row.tag === "Pay")
        if (payments.length === 0) return noPayments
        const named = (key: string) =>
          payments.flatMap(({ payload }) => {
            const value = isRecord(payload) ? payload[key] : undefined
            return typeof value === "string" ? [value] : []
          })
        const orgs = [...new Set(payments.map((row) => row.org_id))]
        const cards = payments.flatMap(({ payload }) => {
          const fact = isRecord(payload) ? payload["fact"] : undefined
          const card = isRecord(fact) ? fact["card"] : undefined
          return typeof card === "string" ? [card] : []
        })
        return yield* readPayments(sql, { orgs, payment_ids: named("payment_id"), event_ids: named("event_id"), cards })
      })

      /**
       * Writes the turn in one statement. Every wallet must still have the version that was read, every run that ends must be open
       * under the lease that was read, and every command must still exist. Otherwise `rungate_turn_conflict()` rolls it back.
       */
      const { autoTopupDailyMax, freeDailyMb, orgQueue, repeatGuard } = yield* Settings
      const freeLimit = freeLimitOf(freeDailyMb)
      const minutes = yield* TurnMinutes
      const apply = Effect.fnUntraced(function* (
        lane: number,
        { mail, versions, heads: before, runs, repeats, now_micros }: Taken,
        arrived: ReadonlyArray<NewRun>,
        { budgets, contacts }: { readonly budgets: BudgetView; readonly contacts: ContactView },
        effects: TurnEffects,
        wasRead: boolean
      ) {
        const { wallets, opened, closed, replies, attempts, records } = effects
        const stored = mail.flatMap(({ id }) => (id === null ? [] : [id]))
        const arrivedIds = new Set(arrived.map((run) => run.run_id))
        const isStored = (run: EndedRun) => !arrivedIds.has(run.run_id)
        const ended = arrived.length === 0 ? effects.ended : effects.ended.filter(isStored)
        const refused = new Map(effects.ended.flatMap((run) => (isStored(run) ? [] : [[run.run_id, run] as const])))
        const { entries, heads } = link(before, effects.entries, now_micros)
        const now = yield* Clock.currentTimeMillis
        const versionOf = (org_id: string) => {
          const version = versions.get(org_id)
          if (version === undefined) throw new Error(`The turn changes the wallet of ${org_id}, which it has not read.`)
          return version
        }
        const openRuns = openRunsChange(effects)
        const at = sql`'epoch'::timestamptz + ${now_micros}::bigint * interval '1 microsecond'`
        yield* sql`
          WITH paid AS (
            UPDATE wallets w SET version = w.version + 1, balance = n.balance, reserved = n.reserved, entry_seq = n.entry_seq, head = n.head,
                   per_run_limit = n.per_run_limit, daily_limit = n.daily_limit, spent_day = n.spent_day, spent = n.spent,
                   open_runs = greatest(0, w.open_runs + n.opened), allowances_held = n.allowances_held
            FROM unnest(${texts(wallets.map((w) => w.org_id))}, ${bigints(wallets.map((w) => versionOf(w.org_id)))},
                        ${bigints(wallets.map((w) => w.balance))}, ${bigints(wallets.map((w) => w.reserved))}, ${bigints(wallets.map((w) => w.entry_seq))}, ${byteas(wallets.map((w) => heads.get(w.org_id) ?? null))},
                        ${bigints(wallets.map((w) => w.per_run_limit))}, ${bigints(wallets.map((w) => w.daily_limit))}, ${texts(wallets.map((w) => w.spent_day))}::date[],
                        ${bigints(wallets.map((w) => w.spent))}, ${bigints(wallets.map((w) => openRuns.get(w.org_id) ?? 0n))}, ${bigints(wallets.map((w) => w.allowances_held))})
                 AS n(org_id, version, balance, reserved, entry_seq, head, per_run_limit, daily_limit, spent_day, spent, opened, allowances_held)
            WHERE w.org_id = n.org_id AND w.version = n.version
            RETURNING w.open_runs
          )${writeEntries(sql, entries, at)}${writeOpened(sql, opened, at)}${writeClosed(sql, closed)}${writeReplies(sql, replies)}${deleteMail(sql, lane, stored)}${writeEnded(sql, lane, ended, effects.ended, at)}${writeAttempts(sql, lane, attempts, now)}${writeUnbooked(sql, unbookedRuns(effects))}${hasRecords(records) ? writeRecords(sql, lane, records) : sql.literal("")}${isEmpty(effects.payments) ? sql.literal("") : writePayments(sql, effects.payments, autoTopupDailyMax)}${writeBudgets(sql, budgets, effects.budgets, effects.budget_alerts)}${writeRepeats(sql, effects.repeats)}${writeContacts(sql, effects.contacts)}${writeReuse(sql, lane, effects.reuse, ended)}${writeFree(sql, effects.free)}${arrived.length === 0 ? sql.literal("") : writeArrived(sql, arrived, refused, at)}
          SELECT CASE WHEN (SELECT count(*) FROM paid) = ${wallets.length}::int${allOf(sql, "gone", stored)}${allOf(sql, "finished", ended)}${allOf(sql, "closed", closed)}
                            ${arrived.length === 0 ? sql.literal("") : keysAreLive(sql, arrived)}${budgetsAreCurrent(sql, effects.budgets)}${triesAreSeen(sql, repeatGuard === 0 ? [] : askingRuns(mail, runs), repeats, now_micros)}${nobodyContacted(sql, effects.contacts, contacts, now_micros)}${claimsAreMine(sql, effects.reuse)}${freeFits(sql, effects.free, freeLimit)}${isTimely(sql, now_micros, wasRead, minutes)}${wasRead ? sql.literal("") : stillTrue(sql, arrived, orgQueue)}
                      THEN 1 ELSE rungate_turn_conflict() END AS whole`
        return wallets.map((wallet) => ({
          wallet,
          version: versionOf(wallet.org_id) + 1n,
          head: heads.get(wallet.org_id) ?? null,
          open_runs: openRuns.get(wallet.org_id) ?? 0n
        }))
      })

      /** No statement if no run has a budget, or if this process remembers the budgets. Their versions prove the memory. */
      const budgetsOf = (lane: number, { runs, mail }: Taken, wasRead: boolean) => {
        const ids = new Set(mail.flatMap(allowanceBudgets))
        for (const { budget_id } of runs.values()) if (budget_id !== null) ids.add(budget_id)
        if (ids.size === 0) return Effect.succeed(noBudgets)
        const recalled = wasRead ? null : memory.budgets(lane, ids)
        return recalled === null ? readBudgets(sql, [...ids]) : Effect.succeed(recalled)
      }

      const clock = yield* Clock.Clock
      const memory = walletMemory(() => Number(clock.monotonicTimeNanosUnsafe()) / 1e6, yield* RecallMillis)

      const turn = Effect.fnUntraced(function* <A extends object>(
        lane: number,
        max: number,
        direct: ReadonlyArray<DirectCommand>,
        mayRecall: boolean,
        decide: (view: TurnView) => { readonly effects: TurnEffects; readonly answer: A }
      ) {
        const recalled = mayRecall ? memory.recall(lane, direct) : null
        const wasRead = recalled === null
        let refuses = false
        const carriedOut = Effect.gen(function* () {
          const rows = recalled ?? (yield* take(sql, lane, max, direct, repeatGuard))
          const [first] = rows
          if (first === undefined) return null
          if (wasRead) memory.read(lane, first)
          const { taken, rejected } = sortDirect(lane, direct, rows, orgQueue, freeLimit)
          const view = viewOf(rows, taken)
          const arrived = taken.flatMap((command) => (command._tag === "Reserve" ? [command.run] : []))
          const payments = yield* paymentsOf(view.mail)
          const budgets = yield* budgetsOf(lane, view, wasRead)
          const asking = askingRuns(view.mail, view.runs)
          const contacts = yield* readContacts(sql, contactingRuns(asking))
          const buyers = endingBuyers(view.mail, view.runs)
          const reuse = yield* readReuse(sql, reuseAsks(asking), buyers)
          const storing = [...asking, ...buyers.flatMap((run_id) => view.runs.get(run_id) ?? [])]
          const free = freeLimit === 0n ? noFree : yield* readFree(sql, storing)
          const { effects, answer } = decide({
            ...view,
            payments,
            budgets,
            contacts,
            reuse,
            free,
            free_limit: freeLimit,
            auto_topup_daily_max: autoTopupDailyMax,
            repeat_guard: repeatGuard
          })
          const refused = wasRead ? [] : refusedOf(effects, arrived)
          if (refused.length > 0) {
            memory.drop(lane, refused)
            refuses = true
            return yield* new TurnConflict({ read: false })
          }
          yield* crashPoint("turn.before_commit")
          const written = yield* apply(lane, view, arrived, { budgets, contacts }, effects, wasRead)
          const before = new Map(rows.flatMap((row) => (row.open_runs === null ? [] : [[row.org_id, row] as const])))
          const after = written.map((one) => {
            const { org_id } = one.wallet
            const { open_runs, free_used } = before.get(org_id) ?? emptyRow
            const stored = effects.free.stored.get(org_id) ?? 0n
            return { ...one, open_runs: (open_runs ?? 0n) + one.open_runs, free_used: (free_used ?? 0n) + stored }
          })
          memory.wrote(lane, after, taken)
          memory.keepBudgets(lane, budgets, effects)
          memory.drop(lane, view.autos.keys())
          yield* crashPoint("turn.after_commit")
          const at = new Date(Number(view.now_micros / 1000n))
          return { ...answer, at, rejected, orgs: effects.wallets.map(({ org_id }) => org_id) }
        })
        return yield* carriedOut.pipe(
          Effect.onError(() => (refuses ? Effect.void : Effect.sync(() => memory.forget(lane)))),
          Effect.catchTag("SqlError", (error) => {
            const state = sqlStateOf(error)
            const conflicts = state === turnConflict || (!wasRead && state?.startsWith(constraintClass) === true)
            return conflicts ? Effect.fail(new TurnConflict({ read: wasRead })) : Effect.die(error)
          })
        )
      })

      return TurnStore.of({ turn })
    })
  )
}
