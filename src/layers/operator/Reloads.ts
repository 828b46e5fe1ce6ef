/**
 * Asks every process of the service to read its settings again, and collects what each of them says.
 *
 * Requests and answers are signals, so they reach the processes of all roles on all machines. Each process reads its own variables and files.
 */
import { hostname } from "node:os"
import { Context, Effect, Option, Schema } from "effect"
import { Settings } from "../platform/Settings.ts"
import { Signals } from "../queues/Signals.ts"

const Answer = Schema.Struct({
  host: Schema.String,
  pid: Schema.Int,
  role: Schema.String,
  /** Names of settings that have a new value now. */
  changed: Schema.Array(Schema.String),
  /** Names of settings whose new value needs a restart. */
  restart: Schema.Array(Schema.String),
  /** Why the process kept its settings. Null if it took the new ones. */
  problem: Schema.NullOr(Schema.String)
})
export type Answer = typeof Answer.Type
const Message = Schema.fromJsonString(Answer)
const decode = Schema.decodeUnknownOption(Message)
const encode = Schema.encodeSync(Message)

const asks = "reload:"
const answers = "reloaded:"
/** Time for the answers. A process answers as soon as it has read its files, so this is mostly for the network. */
const answerMillis = 2_000
export const ReloadAnswerMillis = Context.Reference("rungate/layers/operator/ReloadAnswerMillis", {
  defaultValue: () => answerMillis
})
const askTimes = 8
/** A message has to fit into one NOTIFY of 8,000 bytes, in Base64. */
const problemCharsMax = 2_000
const namesMax = 40

/** `a, b and 3 more` */
const listed = (names: ReadonlyArray<string>) => names.join(", ")

/** Reads the settings again, and logs the names of what changed or why nothing did. */
const reloadNow = Effect.fnUntraced(function* (role: string) {
  const { reload } = yield* Settings
  const process_ = { host: hostname(), pid: process.pid, role }
  return yield* reload.pipe(
    Effect.tap(({ changed, restart }) =>
      Effect.gen(function* () {
        yield* Effect.logInfo(
          changed.length === 0 ? "settings: read again, nothing to take over" : `settings: took over ${listed(changed)}`
        )
        if (restart.length > 0)
          yield* Effect.logWarning(`settings: restart this process to apply a change of ${listed(restart)}`)
      })
    ),
    Effect.map(({ changed, restart }): Answer => ({ ...process_, changed, restart, problem: null })),
    Effect.catch(({ message }) =>
      Effect.as(Effect.logError(`settings: not taken over, the old ones stay. ${message}`), {
        ...process_,
        changed: [],
        restart: [],
        problem: message
      } satisfies Answer)
    )
  )
})

const packed = (answer: Answer) =>
  Buffer.from(
    encode({
      ...answer,
      changed: answer.changed.slice(0, namesMax),
      restart: answer.restart.slice(0, namesMax),
      problem: answer.problem?.slice(0, problemCharsMax) ?? null
    })
  ).toString("base64url")

/** Asks all processes. The answers that came in time. */
export const askReload = Effect.gen(function* () {
  const signals = yield* Signals
  const millis = yield* ReloadAnswerMillis
  const id = crypto.randomUUID()
  const received = new Map<string, Answer>()
  yield* Effect.acquireUseRelease(
    Effect.sync(() =>
      signals.listen((ids) => {
        for (const one of ids) {
          const [, from, text] = /^reloaded:([^:]+):(.+)$/.exec(one) ?? []
          if (from !== id || text === undefined) continue
          const answer = decode(Buffer.from(text, "base64url").toString())
          if (Option.isSome(answer)) received.set(`${answer.value.host} ${answer.value.pid}`, answer.value)
        }
      })
    ),
    // Repeated, because PostgreSQL may not deliver to a process that has just connected. A process reloads once for an id.
    () =>
      signals
        .publish([`${asks}${id}`])
        .pipe(Effect.andThen(Effect.sleep(`${millis / askTimes} millis`)), Effect.repeat({ times: askTimes - 1 })),
    (stop) => Effect.sync(stop)
  )
  return [...received.values()].sort((a, b) => a.host.localeCompare(b.host) || a.pid - b.pid)
})

/** Reloads the settings of this process when somebody asks, until the scope closes. Returns an effect that does it at once. */
export const answerReloads = Effect.fnUntraced(function* (role: string) {
  const signals = yield* Signals
  const context = yield* Effect.context<Settings>()
  const reload = Effect.provideContext(reloadNow(role), context)
  const run = Effect.runForkWith(context)
  let last = { id: "", text: "" }
  const answer = Effect.fnUntraced(function* (id: string) {
    if (last.id !== id) {
      last = { id, text: "" }
      const text = packed(yield* reload)
      if (last.id === id) last = { id, text }
    }
    if (last.text !== "") yield* signals.publish([`${answers}${id}:${last.text}`])
  })
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      signals.listen((ids) => {
        for (const id of ids) if (id.startsWith(asks)) run(answer(id.slice(asks.length)))
      })
    ),
    (stop) => Effect.sync(stop)
  )
  return { reload, run: () => run(reload) }
})
