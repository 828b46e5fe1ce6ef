/** The contract of quotes: what a run would cost, and whether it would be admitted. */
import { HttpApiGroup } from "effect/http-api"
import { operation } from "./shapes/Common.ts"
import { Wire } from "../../schema/Errors.ts"
import { Quote } from "../../schema/nouns/Quote.ts"
import { RunRequest } from "./Runs.ts"

export class QuotesApi extends HttpApiGroup.make("quotes").add(
  operation(
    { role: "viewer", keys: "runs", verified: true, own: true, command: "quote" },
    "Quote a run",
    "Takes the body of POST /v1/run, and returns what that run would hold, what it may charge, which providers it would call, whether it would be blocked or wait for an approval, and what is left of its budgets. Free: makes no run and holds nothing. A request that a run refuses is refused with the same error."
  ).post("quote", "/quote", {
    payload: RunRequest,
    success: Quote,
    error: [Wire.capability_not_found, Wire.endpoint_not_found, Wire.provider_not_available]
  })
) {}
