/** A run as other tools read it or run it again, to paste. */
import { commandsOf } from "../../running/commands.ts"
import { isRunBody } from "../../running/request.ts"
import type { Details } from "./useDetails.ts"

type Copied = readonly [word: string, text: string]

const readingOf = (run_id: string, address: string): ReadonlyArray<Copied> => [
  ["Read it with curl", `curl -s ${address}/v1/runs/${run_id} -H "Authorization: Bearer $RUNGATE_API_KEY"`],
  ["Read it with the command", `rungate runs get ${run_id}`],
  ["Address of this page", `${address}/runs/${run_id}`]
]

/** An erased run can only be read. */
export const commandsFor = (run_id: string, details: Details | undefined, address: string): ReadonlyArray<Copied> => {
  const request = details?.request
  const reading = readingOf(run_id, address)
  if (details === undefined || !isRunBody(request)) return reading
  const cap = details.billing.held ?? details.billing.quoted
  return [...commandsOf(request, { address, cap }), ...reading]
}
