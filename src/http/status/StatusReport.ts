/** What the status page says: the service's parts, each provider, and a verdict over all of them. Pure; names no organization. */
import type { HealthStatus } from "../../schema/runs/Health.ts"

export type Verdict = "ok" | "degraded" | "outage"

export interface Part {
  readonly part: "api" | "storage" | "queue"
  readonly status: "ok" | "outage" | "unknown"
}

export interface ProviderStatus {
  readonly provider: string
  readonly title: string
  readonly status: HealthStatus
}

export interface StatusReport {
  readonly status: Verdict
  readonly checked_at: string
  readonly service: ReadonlyArray<Part>
  readonly providers: ReadonlyArray<ProviderStatus>
}

const failing: ReadonlyArray<HealthStatus> = ["outage", "degraded"]

/** What is wrong in words is for the operator (`/readyz`), so the page has a word for each part only. */
const partsOf = ({ database, lanes }: { readonly database: string; readonly lanes: string }): ReadonlyArray<Part> => [
  { part: "api", status: "ok" },
  { part: "storage", status: database === "ok" ? "ok" : "outage" },
  { part: "queue", status: lanes === "ok" || lanes === "unknown" ? lanes : "outage" }
]

/** Failing providers come first. A provider that fails degrades the service, because runs go to the others meanwhile. */
export const reportOf = (
  checks: { readonly database: string; readonly lanes: string },
  providers: ReadonlyArray<ProviderStatus>,
  checkedAt: Date
): StatusReport => {
  const service = partsOf(checks)
  const rank = ({ status }: ProviderStatus) => (failing.includes(status) ? failing.indexOf(status) : failing.length)
  const isDown = service.some(({ status }) => status === "outage")
  const isDegraded = providers.some(({ status }) => failing.includes(status))
  return {
    status: isDown ? "outage" : isDegraded ? "degraded" : "ok",
    checked_at: checkedAt.toISOString(),
    service,
    providers: providers.toSorted((a, b) => rank(a) - rank(b) || (a.provider < b.provider ? -1 : 1))
  }
}
