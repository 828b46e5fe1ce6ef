/**
 * The fields of a run that clients need to continue. Other fields of a newer service are ignored. A separate module, because loading the
 * whole contract takes longer.
 */
import { Option, Schema } from "effect"
import { RunStatus } from "../../../schema/runs/Run.ts"

const KnownRun = Schema.fromJsonString(
  Schema.Struct({
    run_id: Schema.String,
    status: RunStatus,
    approval: Schema.optionalKey(Schema.Struct({ tell: Schema.String })),
    hints: Schema.optionalKey(Schema.Array(Schema.String)),
    error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
  })
)
export type KnownRun = typeof KnownRun.Type

const decode = Schema.decodeUnknownOption(KnownRun)
/** Reads the run in a response. Null if the response is not a run. */
export const runIn = (text: string): KnownRun | null => Option.getOrNull(decode(text))
