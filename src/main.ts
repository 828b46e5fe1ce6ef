/**
 * The `rungate` command: the commands of clients and of operators, including `rungate serve`.
 *
 * Every failure prints one sentence on stderr and sets an exit code (http/cli/terminal/exits.ts).
 */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import { Cause, Effect, Exit, Layer, Logger, Option, References } from "effect"
import { CliConfig, CliError, CliOutput, Command, Flag, GlobalFlag } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { allowances } from "./http/cli/account/allowances.ts"
import { api } from "./http/cli/setup/api.ts"
import { complete } from "./http/cli/catalog/complete.ts"
import { completions, Root } from "./http/cli/catalog/completions.ts"
import { Credentials } from "./http/cli/state/Credentials.ts"
import { dev } from "./http/cli/stripe/dev.ts"
import { discover, inspect } from "./http/cli/catalog/catalog.ts"
import { doctor } from "./http/cli/setup/doctor.ts"
import { exits } from "./http/cli/terminal/exits.ts"
import { guard } from "./http/cli/account/guard.ts"
import { globals } from "./http/cli/terminal/globals.ts"
import { help, helpAsked } from "./http/cli/setup/help.ts"
import { history } from "./http/cli/history/history.ts"
import { Journal } from "./http/cli/state/Journal.ts"
import { keys } from "./http/cli/account/keys.ts"
import { login } from "./http/cli/account/login.ts"
import { logs } from "./http/cli/runs/logs.ts"
import { logout } from "./http/cli/account/logout.ts"
import { mcp } from "./http/cli/mcp/mcp.ts"
import { builtIns, presenterOf } from "./http/cli/terminal/presenter.ts"
import { quote } from "./http/cli/runs/quote.ts"
import { receipt } from "./http/cli/receipts/receipt.ts"
import { referrals } from "./http/cli/account/referrals.ts"
import { call, run } from "./http/cli/runs/run.ts"
import { runs } from "./http/cli/runs/runs.ts"
import { Screen } from "./http/cli/terminal/Screen.ts"
import { harmlessLines } from "./http/cli/terminal/text.ts"
import { topup } from "./http/cli/account/topup.ts"
import { senders } from "./http/cli/account/senders.ts"
import { providerAccounts } from "./http/cli/account/providerAccounts.ts"
import { webhooks } from "./http/cli/webhooks/webhooks.ts"
import { auditLog } from "./http/cli/account/auditLog.ts"
import { invite } from "./http/cli/account/invite.ts"
import { members } from "./http/cli/account/members.ts"
import { simulate } from "./http/cli/runs/simulate.ts"
import { spokenHttp } from "./http/cli/terminal/verbose.ts"
import { batch } from "./http/cli/batches/batch.ts"
import { usage } from "./http/cli/runs/usage.ts"
import { wallet } from "./http/cli/account/wallet.ts"
import { whoami } from "./http/cli/account/whoami.ts"
import { Client, CommandFailed } from "./http/cli/answers/Client.ts"
import { admin, audit, catalog, config, migrate, packaged } from "./http/upkeep/commands.ts"
import { providers } from "./http/upkeep/providers/commands.ts"
import { handleHangUp } from "./layers/platform/settings/hangUp.ts"
import { Settings } from "./layers/platform/Settings.ts"
import packageJson from "../package.json" with { type: "json" }

const severities = { debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const
/** --log-level wins over RUNGATE_LOG_LEVEL. */
const atLogLevel = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { logLevel } = yield* Settings
    return yield* Option.isSome(yield* GlobalFlag.LogLevel)
      ? work
      : Effect.provideService(work, References.MinimumLogLevel, severities[logLevel])
  })

const serve = Command.make(
  "serve",
  {
    role: Flag.Literals("role", ["all", "http", "worker"]).pipe(
      Flag.withDescription("what this process does; any number of processes of each role share one database"),
      Flag.withDefault("all")
    )
  },
  ({ role }) =>
    Effect.flatMap(
      packaged(() => import("./serve.ts")),
      (loaded) => atLogLevel(loaded.serve(role))
    )
).pipe(Command.withDescription("Run the service (or one role of it)"))

/** What a client's command may ask for: the service by its address, and the user's own files and terminal. */
const CliLayer = Layer.mergeAll(Layer.provide(Client.layer, spokenHttp), Journal.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Credentials.layer, Screen.layer))
)

/** The exit code of a command that a signal ends. */
const stopped = { exit_code: Number(exits.interrupted) }
/** A server that is told to stop has done its work. */
const stopsWell = Effect.sync(() => {
  stopped.exit_code = exits.ok
})

/** What clients use knows the service by its address, and none of its settings. */
const finding = [
  Command.provide(discover, CliLayer),
  Command.provide(inspect, CliLayer),
  Command.provide(history, CliLayer)
] as const
const running = [
  Command.provide(quote, CliLayer),
  Command.provide(run, CliLayer),
  Command.provide(call, CliLayer),
  Command.provide(runs, CliLayer),
  Command.provide(batch, CliLayer),
  Command.provide(receipt, CliLayer),
  Command.provide(logs, CliLayer)
] as const
const money = [
  Command.provide(wallet, CliLayer),
  Command.provide(usage, CliLayer),
  Command.provide(simulate, CliLayer),
  Command.provide(topup, CliLayer),
  Command.provide(guard, CliLayer),
  Command.provide(referrals, CliLayer)
] as const
const account = [
  Command.provide(login, CliLayer),
  Command.provide(logout, CliLayer),
  Command.provide(whoami, CliLayer),
  Command.provide(keys, CliLayer),
  Command.provide(allowances, CliLayer),
  Command.provide(senders, CliLayer),
  Command.provide(webhooks, CliLayer),
  Command.provide(providerAccounts, CliLayer),
  Command.provide(members, CliLayer),
  Command.provide(invite, CliLayer),
  Command.provide(auditLog, CliLayer)
] as const
const tools = [
  Command.provide(doctor(CliLayer), Screen.layer),
  Command.provide(api, CliLayer),
  Command.provideEffectDiscard(Command.provide(mcp, CliLayer), stopsWell),
  Command.provide(dev, CliLayer),
  Command.provide(completions, Screen.layer),
  Command.provide(complete, CliLayer),
  Command.provide(help, Screen.layer)
] as const

/** What operators use: they work on the database that the settings name. */
const operator = [
  Command.provideEffectDiscard(Command.provide(serve, Settings.layer), stopsWell),
  Command.provide(migrate, Settings.layer),
  Command.provide(audit, Settings.layer),
  Command.provide(catalog, Settings.layer),
  config,
  Command.provide(providers, Layer.merge(Settings.layer, Screen.layer)),
  Command.provide(admin, Layer.merge(Settings.layer, Screen.layer))
] as const

const rungate = Command.make("rungate").pipe(
  Command.withDescription("One API and one prepaid wallet for data and outreach providers"),
  Command.withSubcommands([
    { group: "FIND", commands: finding },
    { group: "RUN", commands: running },
    { group: "MONEY", commands: money },
    { group: "ACCOUNT", commands: account },
    { group: "TOOLS", commands: tools },
    { group: "THE SERVICE ITSELF", commands: operator }
  ]),
  Command.withGlobalFlags(globals)
)

const Platform = NodeChildProcessSpawner.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeStdio.layer, NodeTerminal.layer))
)

/** The first failure with a message of its own says what to do; anything else is a bug and is shown whole. */
const explain = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  const hasMessage =
    typeof error === "object" &&
    error !== null &&
    "_tag" in error &&
    "message" in error &&
    typeof error.message === "string"
  return hasMessage && error._tag !== "SqlError" ? `rungate: ${error.message}` : Cause.pretty(cause)
}

/** A command that only groups others was asked for nothing: its help is the answer. */
const isHelp = (error: CliError.CliError) => error._tag === "ShowHelp" && error.errors.length === 0

handleHangUp()

Command.runWith(rungate, { version: packageJson.version })(helpAsked(process.argv.slice(2))).pipe(
  Effect.provideService(Root, rungate),
  // Nobody collects spans yet: making one for every statement and request would be work for nothing.
  Effect.withTracerEnabled(false),
  Effect.provide(FetchHttpClient.layer),
  Effect.provideServiceEffect(CliOutput.Presenter, presenterOf(rungate, packageJson.version)),
  Effect.provide(CliConfig.layer({ builtIns })),
  Effect.provide(Platform),
  Effect.provide(Logger.layer([Logger.consolePretty({ colors: "auto" })])),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) => {
      if (Exit.isSuccess(exit)) return onExit(exits.ok)
      if (Cause.hasInterruptsOnly(exit.cause)) return onExit(stopped.exit_code)
      const error = Cause.squash(exit.cause)
      // It was said by the presenter.
      if (CliError.isCliError(error)) return onExit(isHelp(error) ? exits.ok : exits.usage)
      const said = error instanceof CommandFailed && error.message === ""
      if (!said) process.stderr.write(`${harmlessLines(explain(exit.cause))}\n`)
      onExit(error instanceof CommandFailed ? error.exit_code : 1)
    }
  })
)
