/** What the data line of an event of a stream holds. A webhook's body has the same form. */
import { Schema } from "effect"
import { EventKind } from "../events/Event.ts"
import { component, timeText, withExample } from "./Noun.ts"

export const Event = component("Event", {
  type: EventKind,
  timestamp: timeText,
  data: Schema.JsonObject.annotate({ description: "depends on the type; docs/api.md lists its fields" })
}).pipe(withExample({ type: "run.finished", timestamp: "2026-11-22T09:30:00.000Z", data: { status: "succeeded" } }))
export type Event = typeof Event.Type
