/**
 * Makes signed receipts of runs that have ended, and the details of any run, from what the run and the ledger stored. Nothing is written.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { ReceiptStore, type ReceiptRow } from "../../layers/receipts/ReceiptStore.ts"
import { SigningKeys, type SigningUnavailable } from "../../layers/receipts/SigningKeys.ts"
import { logFailure } from "../../layers/postgres/Batch.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { WarrantyRefunds } from "../../layers/warranty/WarrantyRefunds.ts"
import { reasonOf } from "../../schema/guards/Reuse.ts"
import { usd } from "../../schema/money/Money.ts"
import type { ChainEntry } from "../../schema/receipts/ChainEntry.ts"
import { decisionOf } from "../../schema/receipts/Decision.ts"
import { receiptType } from "../../schema/receipts/PublicKeys.ts"
import { type Receipt, ReceiptApproval, ReceiptAttempt } from "../../schema/receipts/Receipt.ts"
import { requestText } from "../../schema/receipts/RequestOfRun.ts"
import { movedOf, type RunDetails } from "../../schema/receipts/RunDetails.ts"
import { Plan } from "../../schema/runs/Plan.ts"
import { isFinal, isRunStatus } from "../../schema/runs/Run.ts"

/** The run has not ended. */
export class RunOpen extends Schema.TaggedError<RunOpen>()("RunOpen", { status: Schema.String }) {}

const decodePlan = Schema.decodeUnknownSync(Schema.fromJsonString(Plan))
const decodeAttempts = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(ReceiptAttempt)))

const decodeApproval = Schema.decodeUnknownSync(Schema.fromJsonString(ReceiptApproval))
const approvalOf = ({ approval }: ReceiptRow) => (approval === null ? {} : { approval: decodeApproval(approval) })

/** A run that held nothing counted in no budget. */
const budgetsOf = ({ budgets }: ReceiptRow, ledger: ReadonlyArray<ChainEntry>) =>
  budgets.length === 0 || ledger.length === 0 ? {} : { budgets }

/** What the receipt says, without who signs it and when. */
export const receiptOf = (
  org_id: string,
  row: ReceiptRow,
  ledger: ReadonlyArray<ChainEntry>
): Omit<Receipt, "iss" | "iat"> => {
  const { run_id, request_id, key_id, kind, capability, endpoint, fingerprint, created_at, finished_at, erased_at } =
    row
  return {
    org_id,
    run_id,
    request: { request_id, key_id, kind, capability, endpoint, fingerprint },
    decision: erased_at === null ? decisionOf(decodePlan(row.plan), reasonOf(row)) : null,
    status: row.status,
    provider: row.provider,
    error: row.error_code,
    currency: "USD",
    quote: usd(row.quoted),
    hold: usd(row.hold),
    charge: row.charged === null ? null : usd(row.charged),
    attempts: decodeAttempts(row.attempts ?? "[]"),
    ...(row.reused_from === null ? {} : { reused_from: row.reused_from }),
    ...approvalOf(row),
    ...(row.opt_out === null ? {} : { opt_out: row.opt_out }),
    ...budgetsOf(row, ledger),
    ledger,
    created_at: created_at.toISOString(),
    finished_at: (finished_at ?? created_at).toISOString(),
    erased_at: erased_at?.toISOString() ?? null
  }
}

/** The request is JSON text, so that the input keeps every digit that the caller sent. */
export type Details = Omit<RunDetails, "request" | "status"> & {
  readonly status: string
  readonly request: string | null
}

/** `request` is null for an erased run. */
export const detailsOf = (
  row: ReceiptRow,
  ledger: ReadonlyArray<ChainEntry>,
  request: { readonly input: string; readonly metadata: string | null } | null
): Details => {
  const { run_id, key_id, status, hold, quoted, charged, created_at, finished_at, erased_at } = row
  const plan = erased_at === null && request !== null ? decodePlan(row.plan) : null
  const isEnded = isRunStatus(status) && isFinal(status)
  return {
    run_id,
    status,
    key_id,
    request: plan === null || request === null ? null : requestText({ ...row, ...request, plan }),
    decision: plan === null ? null : decisionOf(plan, reasonOf(row)),
    ...(row.opt_out === null ? {} : { opt_out: row.opt_out }),
    billing: {
      currency: "USD",
      quoted: usd(quoted),
      charged: charged === null ? null : usd(charged),
      ...movedOf({ hold, charged, isFinal: isEnded }, ledger)
    },
    ...approvalOf(row),
    ...budgetsOf(row, ledger),
    ledger,
    created_at: created_at.toISOString(),
    finished_at: finished_at?.toISOString() ?? null,
    erased_at: erased_at?.toISOString() ?? null
  }
}

export class Receipts extends Context.Service<
  Receipts,
  {
    /** The receipt as a compact JWS. Null for an unknown run and for a run of another organization. */
    readonly receipt: (org_id: string, run_id: string) => Effect.Effect<string | null, RunOpen | SigningUnavailable>
    /** Null for an unknown run and for a run of another organization. */
    readonly details: (org_id: string, run_id: string) => Effect.Effect<Details | null>
  }
>()("rungate/actors/receipts/Receipts") {
  static readonly layer = Layer.effect(
    Receipts,
    Effect.gen(function* () {
      const store = yield* ReceiptStore
      const keys = yield* SigningKeys
      const warranty = yield* WarrantyRefunds
      const iss = addressOf(yield* Settings)
      // The first start makes the first key, and every start says if the key can't be used.
      yield* keys.signer.pipe(
        Effect.catchCause(logFailure("The key of receipts can't be used; each request for a receipt tries it again")),
        Effect.forkScoped
      )

      const receipt = Effect.fnUntraced(function* (org_id: string, run_id: string) {
        const [row] = yield* store.runs(org_id, [run_id])
        if (row === undefined) return null
        if (!isRunStatus(row.status) || !isFinal(row.status)) return yield* new RunOpen({ status: row.status })
        const ledger = yield* store.entries(org_id, [run_id])
        const sign = yield* keys.signer
        const iat = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
        return yield* sign(receiptType, { iss, iat, ...receiptOf(org_id, row, ledger) })
      })

      const details = Effect.fnUntraced(function* (org_id: string, run_id: string) {
        const [row] = yield* store.runs(org_id, [run_id])
        if (row === undefined) return null
        const [ledger, request, refunded] = yield* Effect.all(
          [store.entries(org_id, [run_id]), store.request(org_id, run_id), warranty.find(org_id, run_id)],
          { concurrency: 3 }
        )
        // A receipt has the run's own entries only: what it says of a run that has ended does not change.
        const refunds = refunded === null ? [] : yield* store.refunds(org_id, [run_id])
        return detailsOf(row, [...ledger, ...refunds], request)
      })

      return Receipts.of({ receipt, details })
    })
  )
}
