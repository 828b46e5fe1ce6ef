/**
 * Delivers new events to the streams of this process: one reading of an organization's log serves all its streams.
 *
 * Each stream has a position in the log. It is live once it has all events that the feed has, and a stream that falls behind reads the
 * log itself until it is live again. So a lost signal, a slow reader or a full buffer delays events and never loses or repeats one.
 */
import { Context, Effect, Layer, Schedule } from "effect"
import { logFailure } from "../../layers/postgres/Batch.ts"
import { EventLog, type LoggedEvent, type Reading } from "../../layers/events/EventLog.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { Signals } from "../../layers/queues/Signals.ts"
import { ownEventText } from "../../schema/accounts/OwnMessages.ts"
import type { EventKind } from "../../schema/events/Event.ts"
import { changedSignal, listenSignal } from "./EventSignals.ts"

/** Events of one reading. */
const pageMax = 200
/** Seconds between two looks for missed signals. */
const pollSeconds = 2
/** Proxies and clients close connections that are silent for a minute or less. */
export const HeartbeatSeconds = Context.Reference("rungate/actors/events/HeartbeatSeconds", { defaultValue: () => 15 })
/** Seconds between two checks of the streams' credentials. A test makes them frequent. */
export const CheckSeconds = Context.Reference("rungate/actors/events/CheckSeconds", { defaultValue: () => 5 })
const renewEvery = "1 hour"

export interface StreamRequest {
  readonly org_id: string
  /** Only events of this run; the stream ends after its last event. */
  readonly run_id: string | null
  /** Only events of runs that these API keys started. Null: all. */
  readonly keys: ReadonlyArray<string> | null
  readonly kinds: ReadonlySet<EventKind> | null
  /** The stream continues after this position. */
  readonly after: bigint
  /** Names the credential. Streams with the same one are checked together. */
  readonly credential: string
  /** Whether the credential is still valid. */
  readonly isValid: Effect.Effect<boolean>
}

/** The event as a credential sees it. */
export const shownTo =
  (keys: StreamRequest["keys"]) =>
  (event: LoggedEvent): LoggedEvent =>
    keys === null || event.kind !== "run.finished" ? event : { ...event, text: ownEventText(event.text) }

/** The connection of a stream. */
export interface Connection {
  /** Sends an event. False: the buffer is full now, so the stream sends no more until `resume`. */
  readonly send: (event: LoggedEvent) => boolean
  readonly beat: () => void
  readonly end: () => void
}

export interface EventStream {
  /** The buffer has room again. */
  readonly resume: () => void
  readonly close: () => void
}

interface Open extends StreamRequest {
  readonly connection: Connection
  position: bigint
  state: "reading" | "live" | "full"
}

interface Feed {
  /** All events up to here were offered to the live streams. */
  position: bigint
  readonly streams: Set<Open>
  /** Streams that are about to open count too. */
  opening: number
  /** Counts signals, so that a stream notices one that came while it was reading. */
  signals: number
  reading: boolean
}

export class EventFeed extends Context.Service<
  EventFeed,
  {
    /** Takes one of the organization's streams; false when it has too many. Give it back with `release`. */
    readonly reserve: (org_id: string) => boolean
    readonly release: (org_id: string) => void
    /** Makes sure that the organization has a log. Call it before the first reading. */
    readonly listen: (org_id: string) => Effect.Effect<void>
    /** Says that a threshold or a limit of the organization changed, so that its alerts are decided at once. */
    readonly changed: (org_id: string) => Effect.Effect<void>
    readonly open: (request: StreamRequest, connection: Connection) => EventStream
    readonly streams: () => number
    readonly perOrganization: number
    /** Ends all streams. For a process that is stopping: clients continue at another one. */
    readonly close: Effect.Effect<void>
  }
>()("rungate/actors/events/EventFeed") {
  static readonly layer = Layer.effect(
    EventFeed,
    Effect.gen(function* () {
      const log = yield* EventLog
      const signals = yield* Signals
      const checkSeconds = yield* CheckSeconds
      const heartbeatSeconds = yield* HeartbeatSeconds
      const { orgStreams } = yield* Settings
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const feeds = new Map<string, Feed>()
      let closed = false

      const feedOf = (org_id: string): Feed => {
        const feed = feeds.get(org_id)
        if (feed !== undefined) return feed
        const newFeed: Feed = { position: 0n, streams: new Set(), opening: 0, signals: 0, reading: false }
        feeds.set(org_id, newFeed)
        return newFeed
      }
      const drop = (org_id: string) => {
        const feed = feeds.get(org_id)
        if (feed !== undefined && feed.streams.size + feed.opening === 0) feeds.delete(org_id)
      }
      const end = (stream: Open) => {
        if (feeds.get(stream.org_id)?.streams.delete(stream) !== true) return
        drop(stream.org_id)
        stream.connection.end()
      }

      /** Whether the stream's credential may see the event. Null if it was read without the key of its run. */
      const shows = ({ keys }: Open, { key_id, run_id, kind }: LoggedEvent): boolean | null => {
        if (keys === null) return true
        if (run_id === null || !kind.startsWith("run.")) return false
        return key_id === undefined ? null : key_id !== null && keys.includes(key_id)
      }

      /** Sends the events that the stream has not had. Stops when its buffer is full or its run has ended. */
      const deliver = (stream: Open, { events, position }: Pick<Reading, "events" | "position">) => {
        for (const event of events) {
          if (event.position <= stream.position) continue
          const shown = shows(stream, event)
          if (shown === null) {
            stream.state = "reading"
            fork(catchUp(stream))
            return
          }
          stream.position = event.position
          if (stream.run_id !== null && stream.run_id !== event.run_id) continue
          const room =
            shown && (stream.kinds === null || stream.kinds.has(event.kind))
              ? stream.connection.send(shownTo(stream.keys)(event))
              : true
          if (stream.run_id !== null && event.kind === "run.finished") return end(stream)
          if (!room) {
            stream.state = "full"
            return
          }
        }
        if (position > stream.position) stream.position = position
      }

      const isLive = (one: Open) => one.state === "live"

      /** Reads the log for a stream that is not live, until it is. */
      const catchUp = (stream: Open) =>
        Effect.gen(function* () {
          const { org_id, run_id } = stream
          const feed = feedOf(org_id)
          while (stream.state === "reading" && feed.streams.has(stream)) {
            const before = feed.signals
            const query = {
              ...{ org_id, run_id, withKeys: stream.keys !== null, limit: pageMax },
              kinds: stream.kinds === null ? null : [...stream.kinds]
            }
            // A run's end closes its stream, whether or not the stream shows it.
            const kinds = run_id === null ? query.kinds : null
            const reading = yield* log.after({ ...query, kinds, after: stream.position })
            // Its client has left, and nothing can be sent any more.
            if (!feed.streams.has(stream)) return
            deliver(stream, reading)
            if (stream.state !== "reading" || reading.events.length === pageMax || feed.signals !== before) continue
            // A reading for streams that have ended meanwhile may be under way: it continues after the position of the feed.
            if (!feed.reading && ![...feed.streams].some(isLive)) feed.position = stream.position
            if (stream.position >= feed.position) stream.state = "live"
          }
        }).pipe(
          Effect.catchCause((cause) =>
            Effect.andThen(
              logFailure("Reading events for a stream failed; the stream ends and its client resumes")(cause),
              Effect.sync(() => end(stream))
            )
          )
        )

      /** Reads the log once for all live streams of an organization. */
      const pump = (org_id: string, feed: Feed) =>
        Effect.gen(function* () {
          let seen = -1
          let full = false
          while (feed.streams.size > 0 && (seen !== feed.signals || full)) {
            seen = feed.signals
            const reading = yield* log.after({
              org_id,
              run_id: null,
              kinds: null,
              withKeys: [...feed.streams].some(({ keys }) => keys !== null),
              after: feed.position,
              limit: pageMax
            })
            full = reading.events.length === pageMax
            if (reading.position > feed.position) feed.position = reading.position
            for (const stream of [...feed.streams]) if (isLive(stream)) deliver(stream, reading)
          }
        }).pipe(
          Effect.catchCause(logFailure("Reading new events for streams failed; the next poll retries")),
          Effect.ensuring(
            Effect.sync(() => {
              feed.reading = false
            })
          )
        )
      const grown = (org_id: string) => {
        const feed = feeds.get(org_id)
        if (feed === undefined) return
        feed.signals += 1
        if (feed.reading || ![...feed.streams].some(isLive)) return
        feed.reading = true
        fork(pump(org_id, feed))
      }

      yield* Effect.acquireRelease(
        Effect.sync(() => signals.listen((ids) => ids.forEach(grown))),
        (stop) => Effect.sync(stop)
      )
      const repeated = (every: number, work: Effect.Effect<unknown>) =>
        work.pipe(
          Effect.catchCause(logFailure(`Updating event streams failed; retrying in ${every} s`)),
          Effect.repeat(Schedule.spaced(`${every} seconds`)),
          Effect.forkScoped
        )
      const poll = Effect.gen(function* () {
        for (const [org_id, head] of yield* log.heads([...feeds.keys()])) {
          if (head > (feeds.get(org_id)?.position ?? head)) grown(org_id)
        }
      })
      const everyStream = () => [...feeds.values()].flatMap(({ streams }) => [...streams])
      const check = Effect.suspend(() =>
        Effect.forEach(
          Map.groupBy(everyStream(), ({ credential }) => credential).values(),
          (streams) =>
            Effect.gen(function* () {
              const [first] = streams
              if (first === undefined || (yield* first.isValid)) return
              for (const stream of streams) end(stream)
            }),
          { concurrency: 4, discard: true }
        )
      )
      yield* repeated(pollSeconds, poll)
      yield* repeated(checkSeconds, check)
      yield* repeated(
        heartbeatSeconds,
        Effect.sync(() => {
          for (const { connection, state } of everyStream()) if (state !== "full") connection.beat()
        })
      )
      yield* Effect.suspend(() => Effect.forEach([...feeds.keys()], log.listen, { discard: true })).pipe(
        Effect.catchCause(logFailure("Renewing event logs failed; the next renewal retries")),
        Effect.repeat(Schedule.spaced(renewEvery)),
        Effect.forkScoped
      )

      return EventFeed.of({
        perOrganization: orgStreams,
        reserve: (org_id) => {
          const feed = feedOf(org_id)
          if (closed || feed.streams.size + feed.opening >= orgStreams) {
            drop(org_id)
            return false
          }
          feed.opening += 1
          return true
        },
        release: (org_id) => {
          feedOf(org_id).opening -= 1
          drop(org_id)
        },
        listen: (org_id) => Effect.andThen(log.listen(org_id), signals.publish([listenSignal(org_id)])),
        changed: (org_id) => signals.publish([changedSignal(org_id)]),
        open: (request, connection) => {
          const stream: Open = { ...request, connection, position: request.after, state: "reading" }
          feedOf(request.org_id).streams.add(stream)
          fork(catchUp(stream))
          return {
            resume: () => {
              if (stream.state !== "full") return
              stream.state = "reading"
              fork(catchUp(stream))
            },
            close: () => {
              feedOf(request.org_id).streams.delete(stream)
              drop(request.org_id)
            }
          }
        },
        streams: () => everyStream().length,
        close: Effect.sync(() => {
          closed = true
          for (const stream of everyStream()) end(stream)
        })
      })
    })
  )
}
