/**
 * The `rungate` command: what clients use, and what operators use, `serve` above all.
 *
 * Anything that stops the start is one clear sentence and exit code 1.
 */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import { Cause, Effect, Exit, Layer, Logger } from "effect"
import { CliError, Command } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { call } from "./http/cli/call.ts"
import { discover } from "./http/cli/discover.ts"
import { inspect } from "./http/cli/inspect.ts"
import { run } from "./http/cli/run.ts"
import { Client, CommandFailed } from "./http/client/Client.ts"
import { admin, audit, catalog, serve } from "./Operator.ts"
import { Settings } from "./layers/Settings.ts"
import packageJson from "../package.json" with { type: "json" }

/** What clients use: they know the service by its address, and none of its settings. */
const client = [
  Command.provide(discover, Client.layer),
  Command.provide(inspect, Client.layer),
  Command.provide(run, Client.layer),
  Command.provide(call, Client.layer)
] as const
/** What operators use: they work on the database that the settings name. */
const operator = [
  Command.provide(serve, Settings.layer),
  Command.provide(audit, Settings.layer),
  Command.provide(catalog, Settings.layer),
  Command.provide(admin, Settings.layer)
] as const

const rungate = Command.make("rungate").pipe(
  Command.withDescription("A paid execution front door for data and outreach jobs"),
  Command.withSubcommands([...client, ...operator])
)

const Platform = NodeChildProcessSpawner.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeStdio.layer, NodeTerminal.layer))
)

/** Bad usage, as the exit codes of the commands say (see http/cli/output.ts). */
const usageExitCode = 5

/** The first failure with a message of its own says what to do; anything else is a bug and is shown whole. */
const explain = (cause: Cause.Cause<unknown>): string => {
  const found = Cause.squash(cause)
  const known =
    typeof found === "object" &&
    found !== null &&
    "_tag" in found &&
    "message" in found &&
    typeof found.message === "string"
  return known && found._tag !== "SqlError" ? `rungate: ${found.message}` : Cause.pretty(cause)
}

// A closed terminal stops the service as SIGTERM does, or its embedded database would be left running.
process.on("SIGHUP", () => process.kill(process.pid, "SIGTERM"))

rungate.pipe(
  Command.run({ version: packageJson.version }),
  // Nobody collects spans yet: making one for every statement and request would be work for nothing.
  Effect.withTracerEnabled(false),
  Effect.provide(FetchHttpClient.layer),
  Effect.provide(Platform),
  Effect.provide(Logger.layer([Logger.consolePretty({ colors: "auto" })])),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) => {
      if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
      const found = Cause.squash(exit.cause)
      // The help was printed, with what is wrong.
      if (CliError.isCliError(found)) return onExit(usageExitCode)
      process.stderr.write(`${explain(exit.cause)}\n`)
      onExit(found instanceof CommandFailed ? found.exit_code : 1)
    }
  })
)
