/** The request of a batch's row as it is stored until the row ends: a run's request after its form was checked. */
import { Schema } from "effect"
import { AcceptRequest } from "../catalog/Acceptance.ts"
import { ContactSeconds } from "../guards/ContactGuard.ts"
import { ReuseRequest } from "../guards/Reuse.ts"
import { Usd } from "../money/Money.ts"
import { Metadata } from "../runs/Metadata.ts"
import { strategies } from "../runs/Routing.ts"
import { optional } from "../optional.ts"

const metadata = Schema.NullOr(Metadata)
const limit = Schema.NullOr(Usd)
const reuse = optional(ReuseRequest)

export const RowRequest = Schema.Union([
  Schema.TaggedStruct("Capability", {
    capability: Schema.String,
    input: Schema.Json,
    routing: Schema.Struct({
      provider: Schema.String,
      strategy: Schema.Literals(strategies),
      max_cost: limit,
      max_total: limit,
      allow_fallback: Schema.Boolean
    }),
    include_raw: Schema.Boolean,
    reuse,
    accept: optional(AcceptRequest),
    unless_contacted_within_seconds: optional(ContactSeconds),
    metadata
  }),
  Schema.TaggedStruct("Endpoint", {
    provider: Schema.String,
    endpoint: Schema.String,
    method: Schema.NullOr(Schema.String),
    path: Schema.JsonObject,
    query: Schema.JsonObject,
    input: Schema.Json,
    max_cost: limit,
    max_total: limit,
    reuse,
    metadata
  })
])
export type RowRequest = typeof RowRequest.Type

const stored = Schema.fromJsonString(RowRequest)
export const encodeRowRequest = Schema.encodeSync(stored)
export const decodeRowRequest = Schema.decodeUnknownSync(stored)
