/** Queues and lanes: what waits, for how long, and commands that failed too often. */
import { Schema, SchemaGetter } from "effect"
import { withColumns } from "../../Columns.ts"
import { component, count, countAs, org_id, organization, run_id, such, text, time } from "../Noun.ts"

const seconds = Schema.Number

export const Lane = Schema.Struct({
  lane: Schema.Number,
  commands: countAs("Commands that wait for a turn of the lane."),
  oldest_seconds: Schema.NullOr(seconds),
  dead_letters: count
}).pipe(
  withColumns({
    list: ["lane", "commands", "oldest_seconds", "dead_letters"],
    titles: { oldest_seconds: "Oldest", dead_letters: "Dead-lettered" },
    none: { oldest_seconds: "–" },
    kinds: { lane: "text" }
  })
)
export type Lane = typeof Lane.Type

/** Open runs in one state, with the age of the oldest. */
export const OpenRuns = Schema.Struct({ state: Schema.String, runs: count, oldest_seconds: seconds }).pipe(
  withColumns({ list: ["state", "runs", "oldest_seconds"], titles: { oldest_seconds: "Oldest" } })
)
export type OpenRuns = typeof OpenRuns.Type

export const OperatorQueues = component("OperatorQueues", {
  backend: Schema.Literals(["redis", "postgres"]),
  wake_ups: Schema.Number.annotate({ description: "Wake-ups that wait for a worker." }),
  lanes: Schema.Array(Lane),
  runs: Schema.Array(OpenRuns),
  dead_letters: count
})

/** Ids are numbers of the mailbox. */
const id = such("4711").pipe(
  Schema.decodeTo(Schema.BigInt, { decode: SchemaGetter.transform(BigInt), encode: SchemaGetter.transform(String) })
)

export const DeadLetter = component("DeadLetter", {
  id,
  lane: Schema.Number,
  org_id,
  organization,
  run_id: Schema.NullOr(run_id),
  command: such("Settle", "Reserve, Settle, Cancel, Credit, Pay or AutoTopup."),
  why: text("The error of its last attempt."),
  attempts: Schema.Number,
  created_at: time
})

export const RetriedCommand = Schema.Struct({ id: such("4711"), org_id, command: such("Settle"), lane: Schema.Number })
