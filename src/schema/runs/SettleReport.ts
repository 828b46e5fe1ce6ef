/** What a worker reports when it has executed a run: the run's end and what its provider calls cost. */
import { Schema } from "effect"
import { Doubt } from "../catalog/Doubt.ts"
import { Usd } from "../money/Money.ts"
import { Attempt, RunError, RunStatus } from "./Run.ts"

export const SettleReport = Schema.Struct({
  lease_token: Schema.String,
  status: RunStatus,
  charge: Usd,
  /** Cost of all provider calls, also when none delivered. Absent in commands stored by older versions. */
  provider_cost: Schema.optionalKey(Schema.NullOr(Usd)),
  /** Cost that each provider reported. Absent when none reported one. */
  costs: Schema.optionalKey(
    Schema.Array(Schema.Struct({ provider: Schema.String, cost: Usd, delivering: Schema.Boolean }))
  ),
  /** Why the outcome of the last attempt is unknown, and the state of the job that it started. Absent when the outcome is known. */
  unknown: Schema.optionalKey(
    Schema.Struct({
      why: Doubt,
      provider_state: Schema.Json,
      /** The call carried the run id, so the provider can be asked about it. Absent in reports of older workers. */
      look: Schema.optionalKey(Schema.Boolean)
    })
  ),
  /** Whether the capability bills this no-match. */
  billed: Schema.Boolean,
  provider: Schema.NullOr(Schema.String),
  attempts: Schema.Array(Attempt),
  /** A sandbox run whose input names a scenario. Its attempts say nothing about a provider, so health does not count them. */
  rehearsed: Schema.optionalKey(Schema.Literal(true)),
  /** Bytes of the result of a run that is charged nothing, or whose result others may take. Absent for other runs. */
  stored_bytes: Schema.optionalKey(Schema.Int),
  hints: Schema.Array(Schema.String),
  error: Schema.NullOr(RunError)
})
export type SettleReport = typeof SettleReport.Type
