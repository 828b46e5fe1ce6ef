/** The contract of receipts and ledger heads: signed statements that a customer can keep and verify without the service. */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { listQuery, reads } from "./shapes/Common.ts"
import { Wire } from "../../schema/Errors.ts"
import { ChainEntry } from "../../schema/receipts/ChainEntry.ts"
import { headFields } from "../../schema/receipts/Receipt.ts"
import { component, pageOf } from "../../schema/nouns/Noun.ts"

export const receiptMediaType = "application/jose"

/** Shortened. */
const jws =
  "eyJhbGciOiJFZERTQSIsInR5cCI6InJ1bmdhdGUtcmVjZWlwdCtqd3MifQ.eyJpc3MiOiJodHRwczovL3J1bmdhdGUuZXhhbXBsZS5jb20ifQ.c2lnbmF0dXJl"

export const Head = component("LedgerHead", {
  ...headFields,
  head: Schema.String.annotate({ description: "a JWS in compact form over the same facts", examples: [jws] })
})

export const HeadPage = pageOf(Head)
export const ChainPage = pageOf(ChainEntry)

export class ReceiptsApi extends HttpApiGroup.make("receipts").add(
  reads(
    "Read a run's receipt",
    "A JWS (Ed25519, compact form) over the request's fingerprint, every considered offer with its price, health and the reason it was left out, quote, hold, charge, attempts, and the run's ledger entries with their hashes. The keys are at /.well-known/jwks.json. A run that has not ended has no receipt yet.",
    "receipt"
  ).get("get", "/runs/:run_id/receipt", {
    success: Schema.String.annotate({ description: "a JWS in compact form", examples: [jws] }).pipe(
      HttpApiSchema.asText({ contentType: receiptMediaType })
    ),
    error: [Wire.run_not_finished, Wire.service_unavailable]
  }),
  reads(
    "List signed ledger heads",
    "Newest first: of each day (UTC) with ledger entries, the number and the hash of its newest entry, signed as receipts are, some minutes after midnight. Keep them: while an entry of that number has that hash, no entry up to it was changed.",
    "wallet heads"
  ).get("heads", "/wallet/heads", {
    query: listQuery,
    success: HeadPage
  }),
  reads(
    "List ledger entries with their hashes",
    "Oldest first, with everything that an entry's hash covers, so that you can compute the hashes again. Numbers are missing where old months were dropped; previous of the next entry is then the hash of the last dropped one, or null."
  ).get("chain", "/wallet/chain", {
    query: listQuery,
    success: ChainPage
  })
) {}
