/**
 * Runs whose end this user has not seen: what is sent, and its Idempotency-Key, are on the disk before they leave.
 *
 * So a run that was sent is found again after a crash, a lost connection or Ctrl-C, and joined instead of paid twice. A file holds
 * the input, which may name people: it is private, and gone when the run is final.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import { Credentials } from "./Credentials.ts"
import { fail } from "../terminal/exits.ts"
import * as PrivateFile from "./PrivateFile.ts"

export const Entry = Schema.Struct({
  version: Schema.Literal(1),
  idempotency_key: Schema.String,
  url: Schema.String,
  /** Which key sent it, as a digest. */
  by: Schema.String,
  /** What is run, for people. */
  title: Schema.String,
  /** What the user asked for, as a digest: the same command again means this run. */
  command: Schema.String,
  /** The body of POST /v1/run, without how long to wait. */
  body: Schema.String,
  /** Milliseconds since 1970. */
  sent_at: Schema.Number,
  /** Null until the service has answered. */
  run_id: Schema.NullOr(Schema.String),
  /** The user was given the run's id and means to come back: the same command again is another run. */
  handed_over: Schema.Boolean,
  /** The process that waits for it, and when that began: numbers of processes are used again. */
  process: Schema.Struct({ id: Schema.Int, began: Schema.String })
})
export type Entry = typeof Entry.Type

const EntryText = Schema.fromJsonString(Entry)
const decode = Schema.decodeUnknownOption(EntryText)
const encode = Schema.encodeSync(EntryText)

/** How long the same command means the same run. Later it is resumed by name only: what was found has aged. */
export const joinMinutes = 15
const ending = ".json"

const digestOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 24)

/** Clock ticks at which a process began, where the system tells; "" where it does not. */
const beganOf = (id: number): string => {
  const path = `/proc/${id}/stat`
  if (!existsSync(path)) return ""
  try {
    // The name before it may hold spaces and brackets; the field is the 20th after it.
    return readFileSync(path, "utf8").split(") ").at(-1)?.split(" ")[19] ?? ""
  } catch {
    return ""
  }
}

const isAlive = ({ id, began }: Entry["process"]): boolean => {
  try {
    process.kill(id, 0)
  } catch {
    return false
  }
  return began === beganOf(id)
}

export interface Order {
  readonly title: string
  /** What the user typed, as a body. */
  readonly asked: string
  /** What is sent: the same, perhaps under the cap that the user has said yes to. */
  readonly body: string
  /** One is made when left out. It becomes the name of a file. */
  readonly idempotency_key?: string | undefined
}

export class Journal extends Context.Service<
  Journal,
  {
    /** Writes down a run that is about to be sent. */
    readonly open: (order: Order) => Effect.Effect<Entry, CommandFailed>
    /** The run that this same command has started and no other living process waits for; null when there is none. */
    readonly left: (asked: string) => Effect.Effect<Entry | null, CommandFailed>
    /** Takes over a run that some earlier process has left. */
    readonly adopt: (entry: Entry) => Effect.Effect<Entry, CommandFailed>
    readonly named: (entry: Entry, run_id: string) => Effect.Effect<Entry, CommandFailed>
    readonly handOver: (entry: Entry) => Effect.Effect<Entry, CommandFailed>
    /** The run that was sent under this key and that nobody has seen end; null when there is none. */
    readonly find: (idempotency_key: string) => Effect.Effect<Entry | null, CommandFailed>
    /** This process goes on and waits no longer: the same command again means this run, as if the process were gone. */
    readonly letGo: (idempotency_key: string) => Effect.Effect<void>
    readonly close: (entry: Entry) => Effect.Effect<void>
    /** Forgets a run that turned out to be final. */
    readonly closeRun: (run_id: string) => Effect.Effect<void>
    /** Those of this service and key that no living process waits for, oldest first. */
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
      const own = { id: process.pid, began: beganOf(process.pid) }

      const save = Effect.fnUntraced(function* (entry: Entry) {
        const path = yield* pathOf(entry)
        yield* PrivateFile.write(path, `${encode(entry)}\n`)
        return entry
      })
      const unkept = (error: CommandFailed) =>
        fail(
          "failed",
          `${error.message} Nothing was sent: a run is written down first, so that it is never paid twice. Set XDG_STATE_HOME to a folder that can be written.`
        )
      const close = (entry: Entry) =>
        pathOf(entry).pipe(
          Effect.flatMap(PrivateFile.remove),
          Effect.catch(() => Effect.void)
        )

      const all = Effect.gen(function* () {
        const path = yield* folder
        const names = yield* PrivateFile.list(path, ending)
        // A file that can't be read, or that another version wrote, is no reason to run nothing.
        const texts = yield* Effect.forEach(names, (name) => Effect.option(PrivateFile.read(join(path, name))))
        return texts
          .flatMap((text) => Option.toArray(Option.flatMap(text, (found) => decode(found ?? ""))))
          .filter((entry) => entry.url === url && entry.by === by)
          .sort((a, b) => a.sent_at - b.sent_at)
      })

      const find = (idempotency_key: string) =>
        Effect.map(all, (entries) => entries.find((entry) => entry.idempotency_key === idempotency_key) ?? null)

      return Journal.of({
        open: Effect.fnUntraced(function* ({ title, asked, body, idempotency_key = `cli_${crypto.randomUUID()}` }) {
          const sent_at = yield* Clock.currentTimeMillis
          const entry: Entry = {
            version: 1,
            idempotency_key,
            url,
            by,
            title,
            command: digestOf(asked),
            body,
            sent_at,
            run_id: null,
            handed_over: false,
            process: own
          }
          return yield* save(entry).pipe(Effect.mapError(unkept))
        }),
        left: Effect.fnUntraced(function* (asked) {
          const command = digestOf(asked)
          const since = (yield* Clock.currentTimeMillis) - joinMinutes * 60_000
          const found = (yield* all).filter(
            (entry) =>
              entry.command === command &&
              entry.sent_at >= since &&
              !entry.handed_over &&
              // One of our own was asked for by an earlier call, which may have been taken back a moment ago.
              (entry.process.id === process.pid || !isAlive(entry.process))
          )
          return found.at(-1) ?? null
        }),
        adopt: (entry) => save({ ...entry, process: own }),
        named: (entry, run_id) => save({ ...entry, run_id }),
        handOver: (entry) => save({ ...entry, handed_over: true }),
        find,
        letGo: (idempotency_key) =>
          find(idempotency_key).pipe(
            // A process of this number that began at no time is nobody.
            Effect.flatMap((entry) =>
              entry === null ? Effect.void : save({ ...entry, process: { ...own, began: "let go" } })
            ),
            // Then it is resumed when the process is gone.
            Effect.catch(() => Effect.void),
            Effect.asVoid
          ),
        close,
        closeRun: (run_id) =>
          all.pipe(
            Effect.flatMap((entries) =>
              Effect.forEach(
                entries.filter((entry) => entry.run_id === run_id),
                close,
                { discard: true }
              )
            ),
            // It was only tidying up.
            Effect.catch(() => Effect.void)
          ),
        open_runs: Effect.map(all, (entries) => entries.filter((entry) => !isAlive(entry.process)))
      })
    })
  )
}
