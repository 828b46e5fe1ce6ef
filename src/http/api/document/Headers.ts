/** The response headers in the OpenAPI document. */

const text = (description: string) => ({ description, schema: { type: "string" } })
const seconds = (description: string) => ({
  description,
  schema: { type: "integer", minimum: 0, maximum: 2_147_483_647 }
})

export const componentHeaders = {
  RequestId: text("Id of this request, `req_…`. Quote it when you report a problem."),
  RetryAfter: seconds("Seconds to wait before the next request."),
  RateLimit: text(
    'The rest of the rate limit: `"default";r=99;t=1`. Absent if limits are off or the credential was refused.'
  ),
  RateLimitPolicy: text(
    'The rate limit: `"default";q=100;w=2`. Absent if limits are off or the credential was refused.'
  ),
  Authenticate: text("`Bearer`"),
  IdempotentReplay: text("`true` when this is the run of an earlier request with the same Idempotency-Key."),
  RunId: text("Id of the run that the body shows."),
  RunCharged: text("What the run cost in dollars, such as `0.012`. On runs that have ended."),
  WalletAvailable: text(
    "What the wallet could spend in dollars when the run ended, or when it was read. For callers that may read the wallet."
  ),
  PreferenceApplied: text("The part of the header Prefer that decided how long the request waited, such as `wait=10`."),
  Location: text("Path of the run."),
  ETag: text("Send it as If-None-Match to get 304 while nothing has changed.")
}

const named = (name: keyof typeof componentHeaders) => ({ $ref: `#/components/headers/${name}` })

/** Operations that return a run. */
const ofRuns = new Set(["runs.run", "runs.get", "runs.cancel"])
const ofLists = new Set(["discovery.capabilities", "discovery.providers", "discovery.provider", "discovery.endpoints"])
/** Statuses with which POST /v1/run may return a run. */
const shownRun = new Set([200, 202, 402, 404, 409, 429, 500, 502, 504])
const retried = new Set([202, 429, 503])

export const headersOf = (operation: string, status: number) => ({
  "x-request-id": named("RequestId"),
  RateLimit: named("RateLimit"),
  "RateLimit-Policy": named("RateLimitPolicy"),
  ...(status === 401 ? { "WWW-Authenticate": named("Authenticate") } : {}),
  ...(retried.has(status) || (operation === "runs.get" && status === 200)
    ? { "Retry-After": named("RetryAfter") }
    : {}),
  ...(ofRuns.has(operation) && (operation === "runs.run" ? shownRun.has(status) : status < 400)
    ? { "Run-Id": named("RunId"), "Run-Charged": named("RunCharged"), "Wallet-Available": named("WalletAvailable") }
    : {}),
  ...(operation === "runs.run" && shownRun.has(status) ? { "Idempotent-Replay": named("IdempotentReplay") } : {}),
  ...((operation === "runs.run" && shownRun.has(status)) || (operation === "runs.get" && status === 200)
    ? { "Preference-Applied": named("PreferenceApplied") }
    : {}),
  ...(operation === "runs.run" && status === 202 ? { Location: named("Location") } : {}),
  ...(status < 400 && ofLists.has(operation) ? { ETag: named("ETag") } : {})
})
