/** Receipts and ledger heads: a handler reads them for the caller's organization. They are signed, and sent as they were signed. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Receipts } from "../../actors/receipts/Receipts.ts"
import { HeadStore } from "../../layers/receipts/HeadStore.ts"
import { ReceiptStore } from "../../layers/receipts/ReceiptStore.ts"
import { notACursor, problem, refusedWith, unknownRun } from "../../schema/Errors.ts"
import { isDay } from "../../schema/money/SpendDay.ts"
import { makeSeesRun } from "../access/SeenRuns.ts"
import { group } from "./group.ts"
import { receiptMediaType } from "../api/Receipts.ts"
import { CurrentCaller, listLimitDefault } from "../api/shapes/Common.ts"
import { cut } from "./ListPage.ts"

const open = (run_id: string, status: string) =>
  problem(
    "run_not_finished",
    `This run is ${status}. Its receipt exists as soon as the run has ended: wait for it with GET /v1/runs/${run_id}?wait=60, then ask again.`
  )

export const ReceiptsHandlers = group(
  "receipts",
  Effect.fnUntraced(function* (handlers) {
    const receipts = yield* Receipts
    const store = yield* ReceiptStore
    const kept = yield* HeadStore
    const seesRun = yield* makeSeesRun

    return handlers.handleAll({
      heads: Effect.fnUntraced(function* ({ query: { cursor = null, limit = listLimitDefault } }) {
        const { org_id } = yield* CurrentCaller
        if (cursor !== null && !isDay(cursor)) return yield* notACursor
        const rows = yield* kept.list(org_id, cursor, limit + 1)
        const page = cut(rows, limit, ({ day }) => day)
        return { items: page.rows.map((row) => ({ ...row, seq: Number(row.seq) })), next_cursor: page.next }
      }),

      chain: Effect.fnUntraced(function* ({ query: { cursor = "0", limit = listLimitDefault } }) {
        const { org_id } = yield* CurrentCaller
        if (!/^(0|[1-9]\d{0,17})$/.test(cursor)) return yield* notACursor
        const rows = yield* store.chain(org_id, BigInt(cursor), limit + 1)
        const page = cut(rows, limit, ({ seq }) => String(seq))
        return { items: page.rows, next_cursor: page.next }
      }),

      get: Effect.fnUntraced(function* ({ params: { run_id } }) {
        const { org_id } = yield* CurrentCaller
        if (!(yield* seesRun(run_id))) return yield* Effect.fail(unknownRun(run_id))
        const jws = yield* receipts.receipt(org_id, run_id).pipe(
          Effect.catchTags({
            RunOpen: ({ status }) => Effect.fail(open(run_id, status)),
            SigningUnavailable: ({ message }) => refusedWith("service_unavailable", message)
          })
        )
        if (jws === null) return yield* Effect.fail(unknownRun(run_id))
        return HttpServerResponse.text(jws, { contentType: receiptMediaType })
      })
    })
  })
)
