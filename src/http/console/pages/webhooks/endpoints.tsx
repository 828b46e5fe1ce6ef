/** Webhook endpoints as the pages read them: kinds of events in words, whether an endpoint gets them, and why not. */
import { wordsOfEvents } from "../../../client/operations.ts" with { type: "macro" }
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { Badge, Time } from "../../parts/Values.tsx"

export const EndpointState = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  if (endpoint.status === "paused") return <Badge tone="grey">paused</Badge>
  if (endpoint.failing_since !== null) return <Badge tone="red">failing</Badge>
  return <Badge tone="green">active</Badge>
}

const reasons = {
  by_you: "Somebody paused it.",
  gone: "It answered 410 Gone, so the service paused it.",
  failing: "It accepted nothing for two days and a delivery was given up, so the service paused it."
} as const

/** What is wrong with an endpoint, and what happens to events meanwhile. Nothing for one that works. */
export const Trouble = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const { status, paused_because, failing_since } = endpoint
  if (status === "paused")
    return (
      <p className="rounded border border-amber bg-amber-soft p-3 text-amber">
        {paused_because === null ? "" : reasons[paused_because]} Events wait. They are sent in order when the endpoint
        is active again.
      </p>
    )
  if (failing_since === null) return null
  return (
    <p className="rounded border border-red bg-red-soft p-3 text-red">
      The endpoint has accepted nothing since the failure <Time at={failing_since} />. Each webhook is retried for three
      days.
    </p>
  )
}
export type Endpoint = AnswerOf<"webhooks", "get">
export type Delivery = AnswerOf<"webhooks", "deliveries">["items"][number]

const words = wordsOfEvents()
export const fieldWords = {
  url: {
    label: "Address",
    type: "url" as const,
    placeholder: "https://example.com/webhooks",
    hint: "An https address that can be reached from the internet."
  },
  events: { options: Object.entries(words).map(([kind, sentence]) => [kind, `${kind}: ${sentence}`] as const) }
}

export const useEndpoints = () => useRead(["webhooks"], () => api.webhooks.list({}))
export const useEndpoint = (endpoint_id: string) =>
  useRead(["webhooks", "one", endpoint_id], () => api.webhooks.get({ params: { endpoint_id } }))
