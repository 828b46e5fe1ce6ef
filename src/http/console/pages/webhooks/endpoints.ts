/** Webhook endpoints, their deliveries, and the kinds of events in words. */
import { useQuery } from "@tanstack/react-query"
import type { AnswerOf, BrowserClient } from "../../../client/Browser.ts"
import { api } from "../../data/api.ts"

export type Endpoint = AnswerOf<"webhooks", "get">
export type Delivery = AnswerOf<"webhooks", "deliveries">["items"][number]

/** From the contract, so a kind that is missing below is an error of types. */
type EventKind = Parameters<BrowserClient["webhooks"]["create"]>[0]["payload"]["events"][number]

const words: Readonly<Record<EventKind, string>> = {
  "run.finished": "a run has ended",
  "run.created": "a run was admitted or refused",
  "run.started": "the first provider of a run is called",
  "run.attempt": "an attempt of a run ended",
  "wallet.changed": "the balance changed",
  "wallet.low": "the balance fell below the amount that you set",
  "budget.reached": "50, 80 or 100 percent of the daily limit or of a key's budget is spent",
  "topup.failed": "a payment or an automatic top-up failed"
}

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

export const useEndpoints = () => useQuery({ queryKey: ["webhooks"], queryFn: () => api.webhooks.list({}) })
export const useEndpoint = (endpoint_id: string) =>
  useQuery({
    queryKey: ["webhooks", "one", endpoint_id],
    queryFn: () => api.webhooks.get({ params: { endpoint_id } })
  })
