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
import { Credentials } from "./http/cli/state/Credentials.ts"
import { exits } from "./http/cli/terminal/exits.ts"
import { globals } from "./http/cli/terminal/globals.ts"
import { helpAsked } from "./http/cli/setup/help.ts"
import { Journal } from "./http/cli/state/Journal.ts"
import { builtIns, presenterOf, Root } from "./http/cli/terminal/presenter.ts"
import { Screen } from "./http/cli/terminal/Screen.ts"
import { harmlessLines } from "./http/cli/terminal/text.ts"
import { spokenHttp } from "./http/cli/terminal/verbose.ts"
import { Client, CommandFailed } from "./http/cli/answers/Client.ts"
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

const serve = async () => {
  const { packaged } = await import("./http/operator/onDemand.ts")
  return Command.make(
    "serve",
    {
      role: Flag.Literals("role", ["all", "http", "worker"]).pipe(
        Flag.withDescription("what this process does; any number of processes of each role share one database"),
        Flag.withDefault("all")
      )
    },
    ({ role }) => packaged(() => import("./serve.ts"))((loaded) => atLogLevel(loaded.serve(role)))
  ).pipe(Command.withDescription("Run the service (or one role of it)"))
}

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

/** A client's command knows the service by its address, and none of its settings. */
const client = <const Name extends string, Input, ContextInput, E, R>(
  command: Command.Command<Name, Input, ContextInput, E, R>
) => Command.provide(command, CliLayer)

/** An operator's command works on the database that the settings name, also while no service runs. */
const operator = async <const Name extends string, Input, ContextInput, E, R>(
  command: Command.Command<Name, Input, ContextInput, E, R>
) => {
  const { OperatorLayer } = await import("./http/operator/OperatorLayer.ts")
  return Command.provide(command, OperatorLayer.pipe(Layer.provideMerge(Layer.merge(Settings.layer, Screen.layer))))
}

/** Loads the commands when they are asked for, by their names. All of them together would take half of the time of a command. */
const groups = {
  FIND: {
    discover: async () => client((await import("./http/cli/catalog/catalog.ts")).discover),
    inspect: async () => client((await import("./http/cli/catalog/catalog.ts")).inspect),
    history: async () => client((await import("./http/cli/history/history.ts")).history)
  },
  RUN: {
    quote: async () => client((await import("./http/cli/runs/quote.ts")).quote),
    run: async () => client((await import("./http/cli/runs/run.ts")).run),
    call: async () => client((await import("./http/cli/runs/run.ts")).call),
    runs: async () => client((await import("./http/cli/runs/runs.ts")).runs),
    batch: async () => client((await import("./http/cli/batches/batch.ts")).batch),
    receipt: async () => client((await import("./http/cli/receipts/receipt.ts")).receipt),
    logs: async () => client((await import("./http/cli/runs/logs.ts")).logs)
  },
  MONEY: {
    wallet: async () => client((await import("./http/cli/account/wallet.ts")).wallet),
    usage: async () => client((await import("./http/cli/runs/usage.ts")).usage),
    simulate: async () => client((await import("./http/cli/runs/simulate.ts")).simulate),
    topup: async () => client((await import("./http/cli/account/topup.ts")).topup),
    "spend-guard": async () => client((await import("./http/cli/account/guard.ts")).guard),
    referrals: async () => client((await import("./http/cli/account/referrals.ts")).referrals)
  },
  ACCOUNT: {
    login: async () => client((await import("./http/cli/account/login.ts")).login),
    logout: async () => client((await import("./http/cli/account/logout.ts")).logout),
    whoami: async () => client((await import("./http/cli/account/whoami.ts")).whoami),
    keys: async () => client((await import("./http/cli/account/keys.ts")).keys),
    allowances: async () => client((await import("./http/cli/account/allowances.ts")).allowances),
    approvals: async () => client((await import("./http/cli/account/approvals.ts")).approvals),
    "approval-rules": async () => client((await import("./http/cli/account/approvals.ts")).approvalRules),
    "label-budgets": async () => client((await import("./http/cli/account/labelBudgets.ts")).labelBudgets),
    "opt-outs": async () => client((await import("./http/cli/account/optOuts.ts")).optOuts),
    apply: async () => client((await import("./http/cli/account/configuration.ts")).apply),
    export: async () => client((await import("./http/cli/account/configuration.ts")).exportFile),
    senders: async () => client((await import("./http/cli/account/senders.ts")).senders),
    webhooks: async () => client((await import("./http/cli/webhooks/webhooks.ts")).webhooks),
    "provider-accounts": async () => client((await import("./http/cli/account/providerAccounts.ts")).providerAccounts),
    members: async () => client((await import("./http/cli/account/members.ts")).members),
    invite: async () => client((await import("./http/cli/account/invite.ts")).invite),
    "audit-log": async () => client((await import("./http/cli/account/auditLog.ts")).auditLog)
  },
  TOOLS: {
    doctor: async () => Command.provide((await import("./http/cli/setup/doctor.ts")).doctor(CliLayer), Screen.layer),
    api: async () => client((await import("./http/cli/setup/api.ts")).api),
    mcp: async () => Command.provideEffectDiscard(client((await import("./http/cli/mcp/mcp.ts")).mcp), stopsWell),
    dev: async () => client((await import("./http/cli/stripe/dev.ts")).dev),
    completions: async () =>
      Command.provide((await import("./http/cli/catalog/completions.ts")).completions, Screen.layer),
    complete: async () => client((await import("./http/cli/catalog/complete.ts")).complete),
    help: async () => Command.provide((await import("./http/cli/setup/help.ts")).help, Screen.layer)
  },
  // What operators use: they work on the database that the settings name.
  "THE SERVICE ITSELF": {
    serve: async () => Command.provideEffectDiscard(Command.provide(await serve(), Settings.layer), stopsWell),
    migrate: async () => Command.provide((await import("./http/upkeep/commands.ts")).migrate, Settings.layer),
    audit: async () => Command.provide((await import("./http/upkeep/commands.ts")).audit, Settings.layer),
    catalog: async () => operator((await import("./http/upkeep/commands.ts")).catalog),
    config: async () => (await import("./http/upkeep/commands.ts")).config,
    providers: async () => operator((await import("./http/upkeep/providers/commands.ts")).providers),
    admin: async () => operator((await import("./http/upkeep/commands.ts")).admin)
  }
}

type Groups = typeof groups
type Loader = { [Group in keyof Groups]: Groups[Group][keyof Groups[Group]] }[keyof Groups]
const loaders: Readonly<Record<string, Readonly<Record<string, Loader>>>> = groups

/** The first word that is no flag, nor the value of one that stands before all commands. */
const commandIn = ([word, ...rest]: ReadonlyArray<string>): string | null =>
  word === undefined
    ? null
    : word === "--profile" || word === "--log-level"
      ? commandIn(rest.slice(1))
      : word.startsWith("-")
        ? commandIn(rest)
        : word

/** They tell of all commands. */
const tellsOfAll = ["completions", "help"]

/** `rungate` with the command that is asked for. Where none is, or one that does not exist, it has all. */
const rungateFor = async (words: ReadonlyArray<string>) => {
  const name = commandIn(words)
  const isOne =
    name !== null && !tellsOfAll.includes(name) && Object.values(loaders).some((one) => Object.hasOwn(one, name))
  const loaded = Object.entries(loaders).map(async ([group, commands]) => {
    const some = Object.entries(commands).filter(([own]) => !isOne || own === name)
    return { group, commands: await Promise.all(some.map(([, load]) => load())) }
  })
  return Command.make("rungate").pipe(
    Command.withDescription("One API and one prepaid wallet for data and outreach providers"),
    Command.withSubcommands((await Promise.all(loaded)).filter(({ commands }) => commands.length > 0)),
    Command.withGlobalFlags(globals)
  )
}

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

const words = helpAsked(process.argv.slice(2))

Effect.promise(() => rungateFor(words)).pipe(
  Effect.flatMap((rungate) =>
    Command.runWith(rungate, { version: packageJson.version })(words).pipe(
      Effect.provideService(Root, rungate),
      Effect.provideServiceEffect(CliOutput.Presenter, presenterOf(rungate, packageJson.version))
    )
  ),
  // Nobody collects spans yet: making one for every statement and request would be work for nothing.
  Effect.withTracerEnabled(false),
  Effect.provide(FetchHttpClient.layer),
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
