/**
 * The journal of unfinished runs. Request and Idempotency-Key are written to disk before the request is sent.
 *
 * After a crash, a lost connection or Ctrl-C, the next command joins the run instead of paying twice. A journal file contains
 * the input, so it is private, and it is deleted when the run is final, or when `--async` has printed its id.
 */
import { join } from "node:path"
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Credentials } from "./Credentials.ts"
import { type CommandFailed, failedWith } from "../terminal/exits.ts"
import * as PrivateFile from "./PrivateFile.ts"
import { isAlive, ownProcess, ProcessId } from "./ProcessId.ts"

export const Entry = Schema.Struct({
  version: Schema.Literal(1),
  idempotency_key: Schema.String,
  url: Schema.String,
  /** A digest of the API key that sent it. */
  by: Schema.String,
  /** The capability or endpoint, for display. */
  title: Schema.String,
  /** A digest of the user's request: the same command joins this run. */
  command: Schema.String,
  /** The body of POST /v1/run without wait_seconds. */
  body: Schema.String,
  /** Milliseconds since 1970. */
  sent_at: Schema.Number,
  /** Null until the service has answered. */
  run_id: Schema.NullOr(Schema.String),
  /** The process that waits for it, with its start time, because process ids are reused. */
  process: ProcessId
})
export type Entry = typeof Entry.Type

const EntryText = Schema.fromJsonString(Entry)
const decode = Schema.decodeUnknownOption(EntryText)
const encode = Schema.encodeSync(EntryText)

/** The file of charged commands. It holds digests only. */
const Paid = Schema.fromJsonString(Schema.Array(Schema.Struct({ command: Schema.String, at: Schema.Number })))
const decodePaid = Schema.decodeUnknownOption(Paid)
/** How long the same paid command counts as a possible mistake. */
const repeatSeconds = 60
/** Entries in the file of charged commands. */
const paidMost = 100

/** How long the same command joins the same run. An older run is only joined by `rungate runs resume`. */
export const joinMinutes = 15
const ending = ".json"

const digestOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 24)

export interface Order {
  readonly title: string
  /** The request as the user typed it. */
  readonly typed: string
  /** The request that is sent: the same, with the cap that the user confirmed. */
  readonly body: string
  /** Generated when omitted. It becomes a file name. */
  readonly idempotency_key?: string | undefined
}

export class Journal extends Context.Service<
  Journal,
  {
    /** Records a run before it is sent. */
    readonly open: (order: Order) => Effect.Effect<Entry, CommandFailed>
    /** The unfinished run that the same command started, unless a living process waits for it; else null. */
    readonly left: (typed: string) => Effect.Effect<Entry | null, CommandFailed>
    /** Makes this process the one that waits for the run. */
    readonly adopt: (entry: Entry) => Effect.Effect<Entry, CommandFailed>
    /** Records the run's id. On failure it is only shown: the run has started, and the entry leads to it all the same. */
    readonly named: (entry: Entry, run_id: string) => Effect.Effect<Entry>
    /** The unfinished run with this Idempotency-Key; else null. */
    readonly find: (idempotency_key: string) => Effect.Effect<Entry | null, CommandFailed>
    /** This process stops waiting, so the same command may join the run. */
    readonly letGo: (idempotency_key: string) => Effect.Effect<void>
    readonly close: (entry: Entry) => Effect.Effect<void>
    /** Remembers that this command was charged. Failures are ignored. */
    readonly paid: (typed: string) => Effect.Effect<void>
    /** When the same command was charged within the last minute, in milliseconds since 1970; else null. */
    readonly paidAt: (typed: string) => Effect.Effect<number | null>
    /** Deletes the entry of a final run. */
    readonly closeRun: (run_id: string) => Effect.Effect<void>
    /** Entries of this service and key that no living process waits for, oldest first. */
    readonly open_runs: Effect.Effect<ReadonlyArray<Entry>, CommandFailed>
  }
>()("rungate/http/cli/state/Journal") {
  static readonly layer = Layer.effect(
    Journal,
    Effect.gen(function* () {
      const { url, key } = yield* Credentials
      const by = digestOf(key === null ? "" : Redacted.value(key))
      const folder = Effect.map(PrivateFile.stateFolder, (state) => join(state, "runs"))
      const pathOf = (entry: Entry) => Effect.map(folder, (path) => join(path, `${entry.idempotency_key}${ending}`))
      const own = ownProcess()

      const save = Effect.fnUntraced(function* (entry: Entry) {
        const path = yield* pathOf(entry)
        yield* PrivateFile.write(path, `${encode(entry)}\n`)
        return entry
      })
      const unkept = (error: CommandFailed) =>
        failedWith(
          `${error.message} Nothing was sent, because a run must be recorded before it is sent. Set XDG_STATE_HOME to a writable folder.`
        )
      const close = (entry: Entry) => Effect.ignore(Effect.flatMap(pathOf(entry), PrivateFile.remove))

      const all = Effect.gen(function* () {
        const path = yield* folder
        const names = yield* PrivateFile.list(path, ending)
        // Skip files that can't be read or that another version wrote.
        const texts = yield* Effect.forEach(names, (name) => Effect.option(PrivateFile.read(join(path, name))))
        return texts
          .flatMap((text) => Option.toArray(Option.flatMap(text, (json) => decode(json ?? ""))))
          .filter((entry) => entry.url === url && entry.by === by)
          .sort((a, b) => a.sent_at - b.sent_at)
      })

      const find = (idempotency_key: string) =>
        Effect.map(all, (entries) => entries.find((entry) => entry.idempotency_key === idempotency_key) ?? null)

      const paidFile = Effect.map(PrivateFile.stateFolder, (state) => join(state, "paid.json"))
      /** Charged commands of the last minute, by the digest of address, key and command. */
      const paidRuns = Effect.gen(function* () {
        const since = (yield* Clock.currentTimeMillis) - repeatSeconds * 1000
        const text = yield* PrivateFile.read(yield* paidFile)
        const paid = Option.getOrElse(decodePaid(text ?? ""), () => [])
        return paid.filter(({ at }) => at >= since)
      }).pipe(Effect.orElseSucceed(() => []))
      const nameOf = (typed: string) => digestOf(`${url} ${by} ${typed}`)

      return Journal.of({
        paid: (typed) =>
          Effect.gen(function* () {
            const [command, at] = [nameOf(typed), yield* Clock.currentTimeMillis]
            const others = (yield* paidRuns).filter((one) => one.command !== command).slice(-paidMost)
            yield* PrivateFile.write(yield* paidFile, `${JSON.stringify([...others, { command, at }])}\n`)
          }).pipe(Effect.ignore),
        paidAt: (typed) =>
          Effect.map(paidRuns, (all) => all.find(({ command }) => command === nameOf(typed))?.at ?? null),
        open: Effect.fnUntraced(function* ({ title, typed, body, idempotency_key = `cli_${crypto.randomUUID()}` }) {
          const sent_at = yield* Clock.currentTimeMillis
          const entry: Entry = {
            version: 1,
            idempotency_key,
            url,
            by,
            title,
            command: digestOf(typed),
            body,
            sent_at,
            run_id: null,
            process: own
          }
          return yield* save(entry).pipe(Effect.mapError(unkept))
        }),
        left: Effect.fnUntraced(function* (typed) {
          const command = digestOf(typed)
          const since = (yield* Clock.currentTimeMillis) - joinMinutes * 60_000
          const entries = (yield* all).filter(
            (entry) =>
              entry.command === command &&
              entry.sent_at >= since &&
              // This process may have an earlier call whose caller cancelled a moment ago.
              (entry.process.id === process.pid || !isAlive(entry.process))
          )
          return entries.at(-1) ?? null
        }),
        adopt: (entry) => save({ ...entry, process: own }),
        named: (entry, run_id) => Effect.orElseSucceed(save({ ...entry, run_id }), () => entry),
        find,
        letGo: (idempotency_key) =>
          find(idempotency_key).pipe(
            // No process has this start time, so the entry counts as abandoned.
            Effect.flatMap((entry) =>
              entry === null ? Effect.void : save({ ...entry, process: { ...own, began: "let go" } })
            ),
            // On failure the run can be resumed after this process ends.
            Effect.ignore
          ),
        close,
        closeRun: (run_id) =>
          all.pipe(
            Effect.map((entries) => entries.filter((entry) => entry.run_id === run_id)),
            Effect.flatMap(Effect.forEach(close)),
            // Clean-up only, so failures are ignored.
            Effect.ignore
          ),
        open_runs: Effect.map(all, (entries) => entries.filter((entry) => !isAlive(entry.process)))
      })
    })
  )
}
