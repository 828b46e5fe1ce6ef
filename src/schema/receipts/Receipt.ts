/**
 * A receipt: what the service decided about a run, what it did and what it charged, with the run's ledger entries and their hashes.
 *
 * It is signed, so its holder can prove it to others without the service. Amounts are decimal strings in USD.
 */
import { Schema } from "effect"
import { Accept } from "../catalog/Acceptance.ts"
import { approvalStates } from "../guards/Approval.ts"
import { OptOutMatch } from "../guards/OptOut.ts"
import { amountText, dayAs, provider } from "../nouns/Noun.ts"
import { ChainEntry } from "./ChainEntry.ts"

const text = Schema.String
const textOrNull = Schema.NullOr(Schema.String)

/** Present for a call through the organization's own account at the provider. */
const account = Schema.optionalKey(Schema.Literal("own"))

export const ReceiptOffer = Schema.Struct({
  provider,
  account,
  /** The most that the provider would charge for this input. Null if it was not stored. */
  price: Schema.NullOr(amountText),
  /** What was measured of the provider's calls when the route was chosen. Null if nothing was. */
  health: Schema.NullOr(
    Schema.Struct({
      success_rate: Schema.NullOr(Schema.Finite),
      latency_ms_p50: Schema.NullOr(Schema.Finite),
      sample_size: Schema.Finite
    })
  ),
  /** The run might call it. Chosen offers come first, in the order of the calls. */
  chosen: Schema.Boolean,
  excluded_because: textOrNull
})
export type ReceiptOffer = typeof ReceiptOffer.Type

export const ReceiptDecision = Schema.Struct({
  routing: Schema.Literals(["auto", "pinned", "no_fallback"]),
  strategy: textOrNull,
  max_cost: textOrNull,
  max_total: textOrNull,
  /** Which answers counted as a match. Absent: those that the capability calls one. */
  accept: Schema.optionalKey(Accept),
  attempts_max: Schema.Int,
  reason: text,
  /** The version of the catalog's entry. Null for a run of an older release. */
  catalog_version: textOrNull,
  offers: Schema.Array(ReceiptOffer)
})
export type ReceiptDecision = typeof ReceiptDecision.Type

export const ReceiptAttempt = Schema.Struct({
  provider: text,
  account,
  outcome: text,
  duration_ms: Schema.Finite
})

/** `digest` is of the run's id, hold, input and plan: what the yes was about. `via` is `link` if the member used the link of an e-mail. */
export const ReceiptApproval = Schema.Struct({
  rule: text,
  state: Schema.Literals(approvalStates),
  digest: text,
  requested_at: text,
  expires_at: text,
  decided_at: textOrNull,
  decided_by: textOrNull,
  via: textOrNull
}).annotate({ identifier: "ReceiptApproval" })

/** A budget that the run counted in. A label's has `label` and `value`; that of an API key or a batch has neither. */
export const ReceiptBudget = Schema.Struct({ budget_id: text, label: textOrNull, value: textOrNull }).annotate({
  identifier: "ReceiptBudget"
})
export type ReceiptBudget = typeof ReceiptBudget.Type

export const Receipt = Schema.Struct({
  /** The address of the service that signed. */
  iss: text,
  /** When it signed, in seconds since 1970. */
  iat: Schema.Int,
  org_id: text,
  run_id: text,
  request: Schema.Struct({
    request_id: text,
    key_id: textOrNull,
    kind: Schema.Literals(["capability", "endpoint"]),
    capability: textOrNull,
    endpoint: textOrNull,
    /** Digest of the request body. */
    fingerprint: text
  }),
  /** Null after the run was erased: the decision may quote the request. */
  decision: Schema.NullOr(ReceiptDecision),
  status: text,
  provider: textOrNull,
  error: textOrNull,
  currency: Schema.Literal("USD"),
  quote: text,
  hold: text,
  /** Null for a run that delivered nothing. */
  charge: textOrNull,
  attempts: Schema.Array(ReceiptAttempt),
  /** The run whose result this one took, at no cost. Absent for a run that bought its own. */
  reused_from: Schema.optionalKey(text),
  /** What members said about a run that a rule made wait. Absent for a run that needed no approval. */
  approval: Schema.optionalKey(ReceiptApproval),
  /** Absent for a run that no opt-out has refused. */
  opt_out: Schema.optionalKey(OptOutMatch),
  /** Limits and periods are not in it, because people change them. Absent for a run that counted in none. Labels are erased with the run. */
  budgets: Schema.optionalKey(Schema.Array(ReceiptBudget)),
  /** Oldest first. */
  ledger: Schema.Array(ChainEntry),
  created_at: text,
  finished_at: text,
  erased_at: textOrNull
})
export type Receipt = typeof Receipt.Type

/** A head of the ledger: from here back, the hash chain fixes every entry. */
export const headFields = {
  day: dayAs("the UTC day whose newest entry this is"),
  seq: Schema.Int.annotate({ description: "the number of that entry" }),
  hash: ChainEntry.fields.hash
}
/** As it is signed. */
export const LedgerHead = Schema.Struct({ iss: text, iat: Schema.Int, org_id: text, ...headFields })
export type LedgerHead = typeof LedgerHead.Type
