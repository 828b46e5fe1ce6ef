/** Webhook endpoints, their deliveries, and the kinds of events in words. */
import { type AnswerOf, api, useRead } from "../../data/api.ts"
import { wordsOfEvents } from "../../../client/operations.ts" with { type: "macro" }

export type Endpoint = AnswerOf<"webhooks", "get">
export type Delivery = AnswerOf<"webhooks", "deliveries">["items"][number]

const words = wordsOfEvents()

/** The words of a form's fields. */
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
