/** The contract of queues and lanes: what waits, for how long, and commands that failed too often. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Wire } from "../../../schema/Errors.ts"
import { listQuery } from "../shapes/Common.ts"
import { forOperators, OperatorAuth } from "./OperatorAuth.ts"

const nullable = Schema.NullOr(Schema.String)

export const OperatorQueues = Schema.Struct({
  backend: Schema.Literals(["redis", "postgres"]),
  wake_ups: Schema.Number.annotate({ description: "Wake-ups that wait for a worker." }),
  lanes: Schema.Array(
    Schema.Struct({
      lane: Schema.Number,
      commands: Schema.Number.annotate({ description: "Commands that wait for a turn of the lane." }),
      oldest_seconds: Schema.NullOr(Schema.Number),
      dead_letters: Schema.Number
    })
  ),
  runs: Schema.Array(Schema.Struct({ state: Schema.String, runs: Schema.Number, oldest_seconds: Schema.Number })),
  dead_letters: Schema.Number
}).annotate({ identifier: "OperatorQueues" })

export const DeadLetter = Schema.Struct({
  id: Schema.String,
  lane: Schema.Number,
  org_id: Schema.String,
  organization: Schema.String,
  run_id: nullable,
  command: Schema.String.annotate({ description: "Reserve, Settle, Cancel, Credit, SetGuard, Pay or AutoTopup." }),
  why: Schema.String.annotate({ description: "The error of its last attempt." }),
  attempts: Schema.Number,
  created_at: Schema.String
}).annotate({ identifier: "DeadLetter" })

export class OperatorQueuesApi extends HttpApiGroup.make("operatorQueues")
  .add(
    HttpApiEndpoint.get("get", "/operator/queues", { success: OperatorQueues }).annotateMerge(
      forOperators(
        "Read queues and lanes",
        "The backlog of each lane with the age of its oldest command, and open runs by state."
      )
    ),
    HttpApiEndpoint.get("deadLetters", "/operator/dead-letters", {
      query: listQuery,
      success: Schema.Struct({ items: Schema.Array(DeadLetter), next_cursor: nullable }),
      error: [Wire.invalid_request]
    }).annotateMerge(
      forOperators(
        "List dead-lettered commands",
        "Newest first. Each failed alone too often, and no turn reads it until it is retried."
      )
    ),
    HttpApiEndpoint.post("retry", "/operator/dead-letters/:command_id/retry", {
      params: { command_id: Schema.String },
      success: Schema.Struct({ id: Schema.String, org_id: Schema.String, command: Schema.String, lane: Schema.Number }),
      error: [Wire.not_found]
    }).annotateMerge(
      forOperators(
        "Retry a dead-lettered command",
        "Its lane's next turn applies it after the commands that were applied meanwhile. It is dead-lettered again if it fails as often as before. A command of a run that has ended changes nothing."
      )
    )
  )
  .middleware(OperatorAuth) {}
