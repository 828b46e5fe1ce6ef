/**
 * Appends to the event logs what has happened since: new ledger entries, runs whose state changed, and events of the inbox.
 *
 * A step is one transaction that locks the organization's row in `event_heads`. So events are appended once and in order, whoever takes
 * the step and wherever a process is killed. It runs beside the turns and takes nothing from the path of a run.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { crashPoint } from "../platform/CrashPoint.ts"
import { bigints, ints, jsons, oneBigint, oneRowOf, rowsOf, textValues, texts } from "../postgres/Rows.ts"
import { dayAt, dayStart } from "../../schema/money/SpendDay.ts"
import { Zones } from "../../schema/money/TimeZone.ts"
import {
  type AlertState,
  type Alerted,
  budgetSteps,
  rearmed,
  watchBalance,
  watchBudget,
  watchEntry,
  watchRefusal
} from "../../schema/events/Alerts.ts"
import { EventKind, type NewEvent } from "../../schema/events/Event.ts"
import { inboxEvent, missingEvents } from "../../schema/events/RunEvents.ts"
import { walletChanged } from "../../schema/events/WalletEvents.ts"
import { entryTypes } from "../../schema/wallet/Wallet.ts"
import { AlertMailStore } from "./AlertMailStore.ts"
import { runStates } from "./RunStates.ts"

/** Ledger entries and inbox rows of one step, so that its transaction takes tens of milliseconds at most. */
const stepMax = 500
/** Organizations that one look for pending events returns. */
const dueMax = 500

const headRows = rowsOf({
  position: Schema.BigInt,
  ledger_seq: Schema.BigInt,
  listened: Schema.Boolean,
  low_balance: Schema.NullOr(Schema.BigInt),
  low: Schema.Boolean,
  spent_day: Schema.NullOr(Schema.String),
  spent: Schema.BigInt,
  reached: Schema.Literals([0, ...budgetSteps]),
  reached_of: Schema.NullOr(Schema.BigInt)
})
const walletRow = oneRowOf({
  balance: Schema.BigInt,
  reserved: Schema.BigInt,
  allowances_held: Schema.BigInt,
  entry_seq: Schema.BigInt,
  daily_limit: Schema.NullOr(Schema.BigInt),
  time_zones: Schema.NullOr(Zones),
  now: Schema.Date
})
const entryRows = rowsOf({
  seq: Schema.BigInt,
  txn_id: Schema.String,
  type: Schema.Literals(entryTypes),
  amount: Schema.BigInt,
  balance_after: Schema.BigInt,
  reserved_after: Schema.BigInt,
  run_id: Schema.NullOr(Schema.String),
  reference: Schema.String,
  created_at: Schema.Date
})
const inboxRows = rowsOf({
  id: Schema.BigInt,
  run_id: Schema.NullOr(Schema.String),
  kind: Schema.NullOr(EventKind),
  data: Schema.Unknown,
  created_at: Schema.Date
})
const stepRows = rowsOf({ run_id: Schema.String, step: Schema.Int })

/** Of the log `h` of the wallet `w`. */
const isPending = "(w.entry_seq > h.ledger_seq OR EXISTS (SELECT FROM event_inbox i WHERE i.org_id = h.org_id))"

export interface Step {
  /** Whether events were appended. */
  readonly appended: boolean
  /** Whether another step should follow at once. */
  readonly more: boolean
}

export class EventWriter extends Context.Service<
  EventWriter,
  {
    /** Appends what is pending, and what the state of these runs adds. Does nothing for an organization without a log. */
    readonly step: (org_id: string, run_ids: ReadonlyArray<string>) => Effect.Effect<Step>
    /** Organizations with pending ledger entries or inbox rows: among these, or among all. */
    readonly due: (org_ids: ReadonlyArray<string> | null) => Effect.Effect<ReadonlyArray<string>>
    /** Organizations whose log somebody listens to. */
    readonly listened: Effect.Effect<ReadonlyArray<string>>
  }
>()("rungate/layers/events/EventWriter") {
  /** Whether a log that somebody listens to has something pending, or others than `listened` have listeners. */
  static readonly due = (listened: number) =>
    `EXISTS (SELECT FROM event_heads h JOIN wallets w USING (org_id) WHERE listened_at IS NOT NULL AND ${isPending})
      OR (SELECT count(*) FROM event_heads WHERE listened_at IS NOT NULL) <> ${listened}`

  static readonly layer = Layer.effect(
    EventWriter,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const states = runStates(sql)
      const mails = yield* AlertMailStore

      /** The missing events of each run. */
      const eventsOfRuns = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
        if (run_ids.length === 0) return new Map<string, ReadonlyArray<NewEvent>>()
        const runs = yield* states(org_id, run_ids)
        const rows = yield* stepRows(sql`
          SELECT run_id, step::int AS step FROM events WHERE org_id = ${org_id} AND run_id = ANY(${texts(run_ids)})`)
        const logged = Map.groupBy(rows, ({ run_id }) => run_id)
        const now = new Date(yield* Clock.currentTimeMillis)
        return new Map(
          runs.map((run) => {
            const steps = new Set((logged.get(run.run_id) ?? []).map(({ step }) => step))
            return [run.run_id, missingEvents(run, steps, now)] as const
          })
        )
      })

      const append = (org_id: string, after: bigint, events: ReadonlyArray<NewEvent>) => sql`
        INSERT INTO events (org_id, position, kind, run_id, step, data, happened_at)
        SELECT ${org_id}, n.position, n.kind, n.run_id, n.step, n.data::json, n.happened_at::timestamptz
        FROM unnest(${bigints(events.map((_, index) => after + 1n + BigInt(index)))}, ${texts(events.map(({ kind }) => kind))},
                    ${texts(events.map(({ run_id }) => run_id))}, ${ints(events.map(({ step }) => step))},
                    ${jsons(events.map(({ data }) => JSON.stringify(data)))}, ${texts(events.map(({ happened_at }) => happened_at.toISOString()))})
             AS n(position, kind, run_id, step, data, happened_at)`

      /** The largest hold among the runs of the inbox that the daily limit refused; 0 without one. */
      const largestRefused = (
        org_id: string,
        inbox: ReadonlyArray<{ readonly run_id: string | null }>,
        since: Date
      ) => {
        const run_ids = inbox.flatMap(({ run_id }) => run_id ?? [])
        if (run_ids.length === 0) return Effect.succeed(0n)
        return oneBigint(sql`
          SELECT coalesce(max(hold), 0)::bigint AS hold FROM runs
          WHERE org_id = ${org_id} AND run_id = ANY(${texts(run_ids)}) AND error_code = 'budget_exceeded'
            AND coalesce(control, '') NOT IN ('key_budget', 'label_budget')
            AND finished_at >= ${since}`)
      }

      const stepOf = Effect.fnUntraced(function* (org_id: string, touched: ReadonlyArray<string>) {
        const [head] = yield* headRows(sql`
          SELECT position, ledger_seq, listened_at IS NOT NULL AS listened, low_balance, low, spent_day::text AS spent_day, spent, reached::int AS reached, reached_of
          FROM event_heads WHERE org_id = ${org_id} FOR UPDATE`)
        if (head === undefined) return { appended: false, more: false }
        const wallet = yield* walletRow(sql`
          SELECT balance, reserved, allowances_held, entry_seq, daily_limit, time_zones, now() AS now FROM wallets WHERE org_id = ${org_id}`)
        const inbox = yield* inboxRows(sql`
          DELETE FROM event_inbox WHERE id = ANY(ARRAY(SELECT id FROM event_inbox WHERE org_id = ${org_id} ORDER BY id LIMIT ${stepMax}))
          RETURNING id, run_id, kind, data, created_at`)
        const read = yield* entryRows(sql`
          SELECT seq, txn_id, type, amount, balance_after, reserved_after, run_id, reference, created_at FROM ledger
          WHERE org_id = ${org_id} AND seq > ${head.ledger_seq} ORDER BY seq LIMIT ${stepMax}`)
        // A charge and the release of the rest belong together, so a page does not end between them.
        const entries = read.length === stepMax && read.at(-1)?.type === "settle" ? read.slice(0, -1) : read
        const named = [...entries, ...inbox].flatMap(({ run_id }) => (run_id === null ? [] : [run_id]))
        const ofRuns = yield* eventsOfRuns(org_id, head.listened ? [...new Set([...named, ...touched])] : [])
        const events: Array<NewEvent> = []
        const zones = wallet.time_zones ?? []
        const rules = { low_balance: head.low_balance, daily_limit: wallet.daily_limit, zones }
        let alerts: AlertState = rearmed(head, rules)
        const watch = (alerted: Alerted) => {
          alerts = alerted.state
          events.push(...alerted.events)
        }
        const take = (run_id: string | null) => {
          if (run_id === null) return
          events.push(...(ofRuns.get(run_id) ?? []))
          ofRuns.delete(run_id)
        }
        for (const [index, entry] of entries.entries()) {
          take(entry.run_id)
          const changed = head.listened ? walletChanged(entry, entries[index + 1]) : null
          if (changed !== null) events.push(changed)
          watch(watchEntry(alerts, rules, entry))
        }
        const ledger_seq = entries.at(-1)?.seq ?? head.ledger_seq
        const since = new Date(dayStart(dayAt(wallet.now.getTime(), zones), zones))
        const hold = rules.daily_limit === null ? 0n : yield* largestRefused(org_id, inbox, since)
        const reserved = entries.at(-1)?.reserved_after ?? wallet.reserved
        // The daily limit does not count what allowances hold.
        const ofRunsHeld = reserved > wallet.allowances_held ? reserved - wallet.allowances_held : 0n
        if (hold > 0n) watch(watchRefusal(alerts, rules, { hold, reserved: ofRunsHeld, at: wallet.now }))
        // A new threshold or limit may be crossed already.
        if (ledger_seq === wallet.entry_seq) {
          watch(watchBalance(alerts, rules, { ...wallet, at: wallet.now }))
          watch(watchBudget(alerts, rules, 0n, wallet.now))
        }
        for (const { run_id, kind, data, created_at } of inbox.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
          take(run_id)
          if (kind !== null && typeof data === "object" && data !== null)
            events.push(inboxEvent(kind, data, created_at))
        }
        for (const run_id of touched) take(run_id)
        if (events.length > 0) yield* append(org_id, head.position, events)
        yield* mails.queue(org_id, events)
        yield* crashPoint("events.before_commit")
        const changed = Object.entries(alerts).some(([name, value]) => Reflect.get(head, name) !== value)
        if (events.length > 0 || changed || ledger_seq !== head.ledger_seq) {
          yield* sql`
            UPDATE event_heads SET position = ${head.position + BigInt(events.length)}, ledger_seq = ${ledger_seq}, low = ${alerts.low},
              spent_day = ${alerts.spent_day}::date, spent = ${alerts.spent}, reached = ${alerts.reached}::smallint,
              reached_of = ${alerts.reached_of}
            WHERE org_id = ${org_id}`
        }
        return { appended: events.length > 0, more: read.length === stepMax || inbox.length === stepMax }
      })

      const due = (org_ids: ReadonlyArray<string> | null) =>
        textValues(sql`
        SELECT h.org_id FROM event_heads h JOIN wallets w USING (org_id)
        WHERE ${org_ids === null ? sql`` : sql`h.org_id = ANY(${texts(org_ids)}) AND`} ${sql.literal(isPending)} LIMIT ${dueMax}`)
      const listened = textValues(sql`SELECT org_id FROM event_heads WHERE listened_at IS NOT NULL`)

      return EventWriter.of({
        step: (org_id, run_ids) =>
          Effect.orDie(
            Effect.tap(sql.withTransaction(stepOf(org_id, run_ids)), () => crashPoint("events.after_commit"))
          ),
        due: (org_ids) => Effect.orDie(due(org_ids)),
        listened: Effect.orDie(listened)
      })
    })
  )
}
