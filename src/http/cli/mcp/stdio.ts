/**
 * The stdio transport: one JSON-RPC message per line, and nothing else on stdout.
 *
 * An invalid line is answered with a protocol error, and later lines still work. At the end of stdin, pending answers get
 * one second, then the process ends.
 */
import { Deferred, Effect, Layer, Logger, Semaphore, Stdio, Stream } from "effect"
import { McpServer } from "effect/ai"
import { about } from "../../mcp/Protocols.ts"
import { registerResources, registerTools } from "../../mcp/Register.ts"
import { type Here, Service } from "../../mcp/Service.ts"
import { instructions } from "../../mcp/Tools.ts"
import * as Tools from "../../mcp/Tools.ts"
import { resources, toolsWith } from "../../mcp/toolHandlers.ts"
import { Screen } from "../terminal/Screen.ts"
import { runTool } from "./run.ts"
import { type CliLayer, serviceHere } from "./service.ts"

/** Concurrent runs. A call that waits here was not sent yet, so the host can still cancel it. */
const runsAtOnce = 16

const registrations = Layer.effectDiscard(
  Effect.gen(function* () {
    const surroundings = yield* Effect.context<CliLayer>()
    const service = yield* serviceHere
    const turns = yield* Semaphore.make(runsAtOnce)
    const oneByOne = yield* Semaphore.make(1)
    const here: Here = (effect) => Effect.provideService(effect, Service, service)
    const run = Tools.run.withHandler((given) =>
      Effect.provideContext(turns.withPermits(1)(runTool(given, oneByOne)), surroundings)
    )
    yield* registerTools(toolsWith(run), here)
    yield* registerResources(resources, here)
  })
)

/** The service takes inputs of 1 MiB; a message around one, with every letter escaped, is no longer than this. */
const lineCharsMax = 8 * 1024 * 1024
/** Time for pending answers after stdin ends. A run continues in the service. */
const graceSeconds = 1

type Line = { readonly text: string } | { readonly code: number; readonly message: string }

const tooLong: Line = { code: -32600, message: `A message must have at most ${lineCharsMax} characters.` }

/** A valid message, or the protocol error for the line. */
const lineOf = (text: string): Line => {
  try {
    const message: unknown = JSON.parse(text)
    if (typeof message !== "object" || message === null)
      return { code: -32600, message: "A message must be a JSON object." }
    const named = "id" in message && message.id !== null
    return named && typeof message.id !== "string" && typeof message.id !== "number"
      ? { code: -32600, message: "An id must be a string or a number." }
      : { text }
  } catch {
    return { code: -32700, message: "A message must be one line of JSON." }
  }
}

/** Splits chunks into lines. */
const lineCutter = () => {
  const decoder = new TextDecoder()
  let begun = ""
  let skipping = false
  return (part: Uint8Array): ReadonlyArray<Line> => {
    const lines: Array<Line> = []
    const pieces = decoder.decode(part, { stream: true }).split("\n")
    for (const [index, piece] of pieces.entries()) {
      if (!skipping) begun += piece
      if (begun.length > lineCharsMax) {
        lines.push(tooLong)
        skipping = true
        begun = ""
      }
      if (index === pieces.length - 1) break
      if (!skipping && begun.trim() !== "") lines.push(lineOf(begun))
      skipping = false
      begun = ""
    }
    return lines
  }
}

/** stdin that passes only valid messages to the server. `ended` completes at the end of stdin. */
const messagesOnly = Effect.fnUntraced(function* (ended: Deferred.Deferred<void>) {
  const stdio = yield* Stdio.Stdio
  const screen = yield* Screen
  const encoder = new TextEncoder()
  const cut = lineCutter()
  const stdin = stdio.stdin.pipe(
    Stream.map(cut),
    Stream.flattenIterable,
    Stream.mapEffect((line) => {
      if ("text" in line) return Effect.succeed([encoder.encode(`${line.text}\n`)])
      const { code, message } = line
      return Effect.as(screen.out(`${JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } })}\n`), [])
    }),
    Stream.flattenIterable,
    Stream.ensuring(Deferred.succeed(ended, undefined))
  )
  return Stdio.make({ ...stdio, stdin })
})

/** Serves until stdin ends or the process is stopped. */
export const serveStdio = Effect.gen(function* () {
  const ended = yield* Deferred.make<void>()
  const screen = yield* Screen
  const server = McpServer.layerStdio({
    ...about,
    instructions,
    registrations
  }).pipe(
    Layer.provide(Layer.effect(Stdio.Stdio, messagesOnly(ended))),
    // stderr is a log of the host, not a terminal.
    Layer.provide(Layer.succeed(Screen, Screen.of({ ...screen, person: false, askable: false, animated: false })))
  )
  yield* Effect.raceFirst(
    Layer.launch(server),
    Effect.andThen(Deferred.await(ended), Effect.sleep(`${graceSeconds} seconds`))
  ).pipe(Effect.provideService(Logger.LogToStderr, true))
})
