/** Event streams: a handler finds where the stream continues, and the feed delivers from there. */
import { Effect, Redacted } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { EventFeed, shownTo, type StreamRequest } from "../../actors/events/EventFeed.ts"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { digest } from "../../layers/accounts/Secrets.ts"
import { positionOf } from "../../layers/events/EventId.ts"
import { EventLog, keepDays, type LoggedEvent } from "../../layers/events/EventLog.ts"
import { RunStore } from "../../layers/runs/RunStore.ts"
import { problem, refused, unknownRun } from "../../schema/Errors.ts"
import { type EventKind, eventKinds, isEventKind } from "../../schema/events/Event.ts"
import { shownName } from "../../schema/json/StorableText.ts"
import { didYouMean } from "../../schema/suggestion.ts"
import { makeSeesRun } from "../access/SeenRuns.ts"
import { group } from "./group.ts"
import { CurrentCaller } from "../api/shapes/Common.ts"
import { tokenOf } from "../middleware/Bearer.ts"
import { finite, following, tooManyStreams } from "./EventStream.ts"
import { isFinalRow } from "../../schema/nouns/Run.ts"

const header = "headers.last-event-id"

const badId = refused(
  header,
  "is not the id of an event of this organization. Send the id of the last event that you received, or leave the header out."
)
const tooOld = problem(
  "gone",
  `Events after this Last-Event-ID were deleted: they are kept for ${keepDays} days. Connect without the header, and read what you missed with GET /v1/runs and GET /v1/wallet/transactions.`,
  [{ path: header, message: "is older than the event log" }]
)
/** The most events that a run has: created, started, finished and its attempts. */
const runEventsMax = 1_000

const kindsOf = (types: string | undefined) =>
  Effect.gen(function* () {
    if (types === undefined) return null
    const kinds = new Set<EventKind>()
    for (const name of types.split(",")) {
      if (!isEventKind(name)) {
        const shown = shownName(name)
        return yield* refused("query.types", `has the unknown type \`${shown}\`.${didYouMean(name, eventKinds)}`)
      }
      kinds.add(name)
    }
    return kinds
  })

const streamHeaders = {
  // Proxies must neither keep the stream nor wait for its end.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no"
}
const contentType = "text/event-stream"
const emptyBody = () => new ReadableStream<Uint8Array>({ start: (controller) => controller.close() })

export const EventsHandlers = group(
  "events",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* EventLog
    const feed = yield* EventFeed
    const runs = yield* RunStore
    const accounts = yield* Accounts
    const seesRun = yield* makeSeesRun

    /** The caller's credential, for the checks while the stream is open. */
    const credentialOf = (request: HttpServerRequest.HttpServerRequest, keys: StreamRequest["keys"]) => {
      const secret = tokenOf(request.headers)
      const token = Redacted.value(secret)
      return {
        credential: `${Buffer.from(digest(token)).toString("base64")} ${keys === null ? "" : "own"}`,
        // A key that reads less since ends its streams too, and its client connects again.
        isValid: Effect.map(
          accounts.principal(secret),
          (principal) =>
            principal._tag === "Some" && (keys !== null || (principal.value.access?.reads ?? null) === null)
        )
      }
    }

    const opened = (
      request: HttpServerRequest.HttpServerRequest,
      stream: Omit<StreamRequest, "credential" | "isValid">
    ) =>
      Effect.suspend(() => {
        // Nobody reads the body of a response to HEAD, so nothing would end it.
        if (request.method === "HEAD")
          return Effect.succeed(HttpServerResponse.raw(emptyBody(), { contentType, headers: streamHeaders }))
        if (!feed.reserve(stream.org_id)) return tooManyStreams(feed)
        const body = following(feed, { ...stream, ...credentialOf(request, stream.keys) })
        return Effect.succeed(HttpServerResponse.raw(body, { contentType, headers: streamHeaders }))
      })
    const ended = (
      events: ReadonlyArray<LoggedEvent>,
      kinds: ReadonlySet<EventKind> | null,
      reads: StreamRequest["keys"]
    ) =>
      HttpServerResponse.text(
        finite(events.filter(({ kind }) => kinds === null || kinds.has(kind)).map(shownTo(reads))),
        {
          contentType,
          headers: streamHeaders
        }
      )
    const nothingLeft = HttpServerResponse.empty({ status: 204 })

    return handlers.handleAll({
      organization: Effect.fnUntraced(function* ({ headers, query, request }) {
        const { org_id, access } = yield* CurrentCaller
        const kinds = yield* kindsOf(query.types)
        const last = headers["last-event-id"]
        const since = last === undefined || last === "" ? null : positionOf(org_id, last)
        if (since === null && last !== undefined && last !== "") return yield* badId
        yield* feed.listen(org_id)
        const { position, dropped } = yield* log.after({ org_id, after: 0n, run_id: null, kinds: null, limit: 0 })
        if (since !== null && (since < dropped || since > position)) return yield* Effect.fail(tooOld)
        const keys = access?.reads ?? null
        return yield* opened(request, { org_id, run_id: null, keys, kinds, after: since ?? position })
      }),

      run: Effect.fnUntraced(function* ({ params, headers, query, request }) {
        const { org_id, access } = yield* CurrentCaller
        const reads = access?.reads ?? null
        const { run_id } = params
        const kinds = yield* kindsOf(query.types)
        const row = (yield* seesRun(run_id)) ? yield* runs.find(org_id, run_id) : null
        if (row === null) return yield* Effect.fail(unknownRun(run_id))
        yield* feed.listen(org_id)
        // It may have ended before its organization's log began. Then no event of it will come.
        const run = isFinalRow(row) ? row : ((yield* runs.find(org_id, run_id)) ?? row)
        const last = headers["last-event-id"] === "" ? undefined : headers["last-event-id"]
        const reading = yield* log.after({ org_id, after: 0n, run_id, kinds: null, limit: runEventsMax })
        const isLogged = run.finished_at === null || (reading.began_at !== null && run.finished_at >= reading.began_at)
        const isOver = reading.events.some(({ kind }) => kind === "run.finished")
        if (!isLogged && isFinalRow(run) && !isOver) {
          // Its approval is logged although nobody listened. It came after the run's creation.
          const approval = reading.events.filter(({ kind }) => kind.startsWith("run.appro"))
          const events = (yield* log.unlogged(org_id, run_id)).toSpliced(1, 0, ...approval)
          const at = last === undefined ? -1 : events.findIndex(({ id }) => id === last)
          if (last !== undefined && at < 0) return yield* badId
          return at === events.length - 1 ? nothingLeft : ended(events.slice(at + 1), kinds, reads)
        }
        const since = last === undefined ? null : positionOf(org_id, last)
        if (since === null && last !== undefined) return yield* badId
        if (since !== null && (since < reading.dropped || since > reading.position)) return yield* Effect.fail(tooOld)
        const after = since ?? 0n
        const rest = reading.events.filter(({ position }) => position > after)
        if (isOver) return rest.length === 0 ? nothingLeft : ended(rest, kinds, reads)
        return yield* opened(request, { org_id, run_id, keys: reads, kinds, after })
      })
    })
  })
)
