/** The contract of event streams: server-sent events of an organization and of a run. */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { readsOwn } from "./shapes/Common.ts"
import { Wire } from "../../schema/Errors.ts"
import { Event } from "../../schema/nouns/Event.ts"

const stream = HttpApiSchema.StreamSse({ data: Event })
const headers = { "last-event-id": Schema.optionalKey(Schema.String) }
const query = { types: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(500))) }

const resuming =
  "Every event has an `id`. After a lost connection send the last one as `Last-Event-ID`: the stream continues after it, at any process of the service, without loss or repetition. Events are kept for 30 days; an older id is answered with `gone`."

export class EventsApi extends HttpApiGroup.make("events").add(
  readsOwn(
    "Follow the organization's events",
    `A stream of server-sent events, from now on. ${resuming}`,
    "logs tail"
  ).get("organization", "/events", {
    headers,
    query,
    success: stream,
    error: [Wire.gone]
  }),
  readsOwn(
    "Follow the events of a run",
    `A stream of server-sent events from the run's beginning until its end. ${resuming} If the client has all events of the run, the response is 204.`
  ).get("run", "/runs/:run_id/events", {
    headers,
    query,
    success: [stream, HttpApiSchema.Empty(204)],
    error: [Wire.gone]
  })
) {}
