/** A call with an unknown outcome, in the operator console and with `rungate admin unknown --json`. */
import type { UnknownRow } from "../../../layers/runs/UnknownOutcomes.ts"
import { parsedOrText } from "../../../schema/json/Json.ts"

export const outcomeView = (row: UnknownRow) => ({
  run_id: row.run_id,
  org_id: row.org_id,
  provider: row.provider,
  capability: row.capability,
  endpoint: row.endpoint,
  why: row.why,
  provider_state: row.provider_state === null ? null : parsedOrText(row.provider_state),
  at: row.at.toISOString(),
  finding: row.finding,
  note: row.note,
  found_at: row.found_at?.toISOString() ?? null,
  next_look: row.next_look?.toISOString() ?? null
})
