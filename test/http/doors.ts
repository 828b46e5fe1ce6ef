/** The doors of the service with nothing behind them: what each makes of the same request, and the field that it names when it refuses. */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import { Effect, Exit, Layer, Redacted } from "effect"
import { CliOutput, Command } from "effect/cli"
import { allowances } from "../../src/http/cli/account/allowances.ts"
import { autoTopup } from "../../src/http/cli/account/autoTopup.ts"
import { guard } from "../../src/http/cli/account/guard.ts"
import { keys } from "../../src/http/cli/account/keys.ts"
import { senders } from "../../src/http/cli/account/senders.ts"
import { webhooks } from "../../src/http/cli/webhooks/webhooks.ts"
import { quote } from "../../src/http/cli/runs/quote.ts"
import { call, run } from "../../src/http/cli/runs/run.ts"
import { api } from "../../src/http/cli/setup/api.ts"
import { type Ask, Client, type Method } from "../../src/http/cli/answers/Client.ts"
import { Credentials } from "../../src/http/cli/state/Credentials.ts"
import { type Entry, Journal, type Order } from "../../src/http/cli/state/Journal.ts"
import { Screen } from "../../src/http/cli/terminal/Screen.ts"
import { callerFor } from "../../src/http/handlers/McpCaller.ts"
import { statelessRunTool } from "../../src/http/mcp/statelessRun.ts"
import { toolsWith } from "../../src/http/mcp/toolHandlers.ts"
import * as Tools from "../../src/http/mcp/Tools.ts"

/** A request that left a door, or why it did not. */
export type Left =
  | { readonly _tag: "Sent"; readonly method: string; readonly path: string; readonly text: string }
  | { readonly _tag: "Refused"; readonly words: string }

const Platform = NodeChildProcessSpawner.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeStdio.layer, NodeTerminal.layer))
)

const entryOf = ({ title, body }: Order): Entry => ({
  ...{ version: 1, idempotency_key: "key_of_the_test", url: "http://127.0.0.1", by: "", title, command: "", body },
  ...{ sent_at: 0, run_id: null, process: { id: 1, began: "" } }
})

/** The run as an answer shows it, so that no command reads it again. */
const ended = { status: 200, text: JSON.stringify({ run_id: "run_1", status: "succeeded", done: true }) }

const rungate = Command.make("rungate").pipe(
  Command.withSubcommands([run, call, quote, api, keys, allowances, webhooks, guard, autoTopup, senders])
)

/** What a command sends for these words. Reads of the service that come before it are answered with `reads`. */
export const typed = async (
  words: ReadonlyArray<string>,
  reads: Readonly<Record<string, unknown>> = {}
): Promise<Left> => {
  const sent: Array<Left> = []
  const Fakes = Layer.mergeAll(
    Layer.mock(Client, {
      url: "http://127.0.0.1",
      send: (method: Method, path: string, ask: Ask = {}) => {
        const request = { method, path }
        if (method === "GET")
          return Effect.succeed({ status: 200, headers: {}, text: JSON.stringify(reads[path] ?? {}), request })
        sent.push({ _tag: "Sent", method, path, text: ask.text ?? JSON.stringify(ask.body) })
        return Effect.succeed({ ...ended, headers: {}, request })
      }
    }),
    Layer.mock(Credentials, {
      ...{ url: "http://127.0.0.1", profile: "default", key: null, source: null, missing: "" },
      session: Effect.succeed(Redacted.make("rg_sess_x"))
    }),
    Layer.mock(Journal, {
      open: (order) => Effect.succeed(entryOf(order)),
      left: () => Effect.succeed(null),
      close: () => Effect.void
    }),
    Layer.mock(Screen, {
      ...{ person: false, askable: false, animated: false, quiet: true, width: 80 },
      paint: (_, text) => text,
      closed: () => false,
      out: () => Effect.void,
      say: () => Effect.void,
      warn: () => Effect.void
    })
  )
  const running = Command.runWith(rungate, { version: "1" })(words).pipe(
    Effect.provide(Layer.merge(Fakes, Platform)),
    // No help is printed beside a refusal.
    Effect.provideService(CliOutput.Presenter, { present: () => Effect.void }),
    Effect.exit
  )
  // What a command needs beyond the fakes would show as a defect.
  const exit = await Effect.runPromise(running as Effect.Effect<Exit.Exit<void, unknown>>)
  const [first] = sent
  if (first !== undefined) return first
  return { _tag: "Refused", words: Exit.isFailure(exit) ? JSON.stringify(exit.cause) : "nothing was sent" }
}

/** What a tool sends for these arguments. */
export const called = async (name: string, given: unknown): Promise<Left> => {
  const sent: Array<Left> = []
  const here = callerFor(async (request) => {
    if (request.method === "GET") return Response.json({})
    const { pathname } = new URL(request.url)
    sent.push({ _tag: "Sent", method: request.method, path: pathname, text: await request.text() })
    return Response.json(JSON.parse(ended.text))
  }, "http://service.example")
  const tools = toolsWith(Tools.statelessRun.withHandler(statelessRunTool))
  const tool = tools.find((one) => one.name === name) ?? unreachable(name)
  const { text } = await Effect.runPromise(here(tool.call(given)))
  return sent[0] ?? { _tag: "Refused", words: text }
}
const unreachable = (name: string): never => {
  throw new Error(`no tool ${name}`)
}
