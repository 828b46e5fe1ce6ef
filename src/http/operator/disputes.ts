/**
 * Handlers of `rungate admin disputes`: list disputes of the outcome warranty, and decide those that no provider can confirm.
 *
 * An accepted dispute is refunded by the same rules as a confirmed bounce: once, at most the run's charge, within the operator's share. A
 * worker books it.
 */
import { Console, Effect, References } from "effect"
import { Lanes } from "../../actors/mailbox/Lanes.ts"
import { makeAcceptDispute } from "../../actors/warranty/acceptDispute.ts"
import { type DisputeRow, Disputes } from "../../layers/warranty/Disputes.ts"
import { looksLike } from "../../schema/Ids.ts"
import { disputeJson } from "../../schema/nouns/Dispute.ts"
import { OperatorLayer } from "./OperatorLayer.ts"
import { asOperator, bad, firstOf, orgOf, onDatabase, plain, print, table, unknown, when } from "./output.ts"

const noteLengthMax = 500
/** A table cell. `--json` shows the whole text. */
const cellLengthMax = 60

const cell = (text: string) => (text.length > cellLengthMax ? `${text.slice(0, cellLengthMax - 1)}…` : text)

export interface DisputesFlags {
  readonly org: string | null
  readonly all: boolean
  readonly limit: number
  readonly json: boolean
}

export const disputes = ({ org, all, limit, json }: DisputesFlags) =>
  Effect.gen(function* () {
    if (org !== null) yield* orgOf(org)
    const store = yield* Disputes
    const { rows, more } = yield* firstOf(limit, (most) => store.list({ org_id: org, all, after: null }, most))
    if (json) return yield* print({ items: rows.map((row) => ({ org_id: row.org_id, ...disputeJson(row) })), more })
    if (rows.length === 0) return yield* Console.log(all ? "There is no dispute." : "No dispute waits for a decision.")
    const cells = rows.map((row) => {
      const { refund } = disputeJson(row)
      const text = row.evidence ?? ""
      return [when(row.created_at), row.run_id, row.org_id, row.state, refund ?? "", cell(text), cell(row.note)]
    })
    const head = ["at", "run", "organization", "state", "refund", "evidence", "note"]
    yield* Console.log(table(head, cells).join("\n"))
    if (more) yield* Console.error(`More disputes exist. Raise --limit (now ${limit}).`)
    yield* Console.error('Decide one with: rungate admin disputes accept|refuse <run_id> --note "…"')
  }).pipe(onDatabase)

export interface DecisionFlags {
  readonly run_id: string
  readonly note: string
  readonly json: boolean
}

const noteOf = Effect.fnUntraced(function* (note: string) {
  const trimmed = note.trim()
  if (trimmed === "" || trimmed.length > noteLengthMax)
    return yield* bad(`--note must give the reason, in 1 to ${noteLengthMax} characters.`)
  return trimmed
})

const disputeOf = Effect.fnUntraced(function* (run_id: string) {
  const dispute = looksLike("run", run_id) ? yield* (yield* Disputes).find(run_id) : null
  if (dispute !== null) return dispute
  return yield* unknown(`There is no dispute of a run "${plain(run_id)}". List disputes with: rungate admin disputes`)
})

const tell = (row: DisputeRow, done: string, json: boolean) =>
  json
    ? print({ org_id: row.org_id, ...disputeJson(row) })
    : Console.log(`${done}: ${row.run_id} of ${row.org_id}, refund ${disputeJson(row).refund ?? "0.00"} USD`)

export const accept = ({ run_id, note, json }: DecisionFlags) =>
  Effect.gen(function* () {
    const reason = yield* noteOf(note)
    yield* disputeOf(run_id)
    const accept = yield* makeAcceptDispute
    const decided = yield* asOperator(accept(run_id, reason))
    if (decided._tag === "Off")
      return yield* bad("The outcome warranty is off. Set RUNGATE_WARRANTY_SHARE, or use: rungate admin refund")
    if (decided._tag === "Unknown") return yield* unknown(`The run "${run_id}" no longer exists.`)
    if (decided._tag === "NotCovered")
      return yield* bad(
        `The warranty does not cover ${run_id}: ${decided.why}. To refund it anyway: rungate admin refund`
      )
    if (decided._tag === "Limited")
      return yield* bad(
        "The refunds of 30 days would pass RUNGATE_WARRANTY_SHARE of these days' revenue. Nothing was changed. Raise it, or try again later."
      )
    if (decided._tag === "Refunded") yield* (yield* Lanes).wake(decided.lane)
    yield* tell(yield* disputeOf(run_id), decided._tag === "Already" ? "already refunded" : "refunded", json)
  }).pipe(Effect.provide(OperatorLayer), Effect.provideService(References.LogToStderr, true))

export const refuse = ({ run_id, note, json }: DecisionFlags) =>
  Effect.gen(function* () {
    const reason = yield* noteOf(note)
    yield* disputeOf(run_id)
    const done = yield* asOperator((yield* Disputes).refuse(run_id, reason))
    const row = yield* disputeOf(run_id)
    if (!done && row.state === "refunded") return yield* bad(`${run_id} was already refunded. Nothing was changed.`)
    yield* tell(row, done ? "refused" : "already refused", json)
  }).pipe(onDatabase)
