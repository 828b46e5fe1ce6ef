/** A run's request as the console sends it and shows it, the first one to paste, and the addresses of the forms that make one. */
import type { api } from "../data/api.ts"
import { exactDollars, microsOf } from "../data/money.ts"

export type RunBody = Parameters<typeof api.runs.run>[0]["payload"]

/** A body that the service made. It checks each body again, so a look at the form is enough. */
export const isRunBody = (value: unknown): value is RunBody =>
  typeof value === "object" && value !== null && "input" in value && ("capability" in value || "endpoint" in value)

/** The amount that somebody agreed to is binding: it becomes the cap, unless the body has a cap of its own. */
export const withCap = (body: RunBody, amount: string): RunBody => ({
  ...body,
  routing: { ...body.routing, max_cost: body.routing?.max_cost ?? amount }
})

const runId = /^run_[0-9a-z]{6,40}$/
export const isRunId = (text: string): boolean => runId.test(text)

/** What a run runs. */
export const nameOf = ({
  capability,
  provider,
  endpoint
}: Pick<RunBody, "capability" | "provider" | "endpoint">): string =>
  capability ?? `${provider ?? ""} ${endpoint ?? ""}`.trim()

/** The words of the button that runs it. */
export const runWord = (hold: string): string =>
  microsOf(hold) === 0n ? "Run, free of charge" : `Run for at most ${exactDollars(hold)}`
export const capabilityPage = (capability: string): string => `/catalog/${encodeURIComponent(capability)}`

/** An endpoint's path follows the provider as it is. The method is needed where a path has several. */
export const endpointPage = (provider: string, endpoint: string, method: string): string => {
  const path = encodeURI(endpoint.replace(/^\//, "")).replaceAll("?", "%3F").replaceAll("#", "%23")
  return `/catalog/${encodeURIComponent(provider)}/${path}?method=${method}`
}

/** The first request that somebody sends, to paste. */
export const runCommand = (address: string) => `curl -s ${address}/v1/run \\
  -H "Authorization: Bearer $RUNGATE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"capability": "email.find", "input": {
    "full_name": "Ada Lovelace", "company_domain": "example.com"}}'`
