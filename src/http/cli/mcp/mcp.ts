/**
 * `rungate mcp`: the service as tools for an agent host (Claude Desktop, Cursor, …), over stdin and stdout.
 *
 * The host starts it and talks to it; a person wants `--print-config`, which is what to paste into the host's settings.
 */
import { Config, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { Credentials, defaultProfile, savedKeys, savedSessions } from "../state/Credentials.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"

/** Where the user's own files are: a host that is no shell does not know. */
const folders = ["XDG_CONFIG_HOME", "XDG_STATE_HOME"]

/** The compiled file (scripts/compile.ts) is a program of its own; else Bun runs our source, with the flags it has now. */
const compiled = /[$~]bun/i.test(import.meta.dir)
const program = () => ({
  command: process.execPath,
  args: compiled ? [] : [...process.execArgv, Bun.main]
})

/** Whether a program that is given this profile finds what is saved for this address. */
const isSaved = Effect.gen(function* () {
  const { url, profile } = yield* Credentials
  const saved = [yield* savedKeys, yield* savedSessions].map((profiles) =>
    Object.hasOwn(profiles, profile) ? profiles[profile]?.url : undefined
  )
  return saved.some((one) => one?.replace(/\/+$/, "") === url)
})

/** What a host starts: by absolute paths, because it has no shell's PATH; and without the key. */
const hostConfig = Effect.fnUntraced(function* (saved: boolean) {
  const { url, profile } = yield* Credentials
  const found = yield* Effect.forEach(folders, (name) =>
    Effect.map(Effect.orDie(Config.String(name).pipe(Config.withDefault(""))), (value) => [name, value] as const)
  )
  const { command, args } = program()
  // The profile says for which address it is.
  const env = Object.fromEntries(
    [["RUNGATE_URL", saved ? "" : url] as const, ...found].filter(([, value]) => value !== "")
  )
  const named = profile === defaultProfile ? [] : ["--profile", profile]
  return { mcpServers: { rungate: { command, args: [...args, "mcp", ...named], env } } }
})

const printConfig = Effect.gen(function* () {
  const { profile, url } = yield* Credentials
  const screen = yield* Screen
  const saved = yield* isSaved
  yield* screen.out(`${JSON.stringify(yield* hostConfig(saved), null, 2)}\n`)
  yield* screen.say(
    saved
      ? `It uses what is saved as profile "${profile}" for ${url}; there is no secret in it.`
      : `There is no saved key for ${url}, and none is printed: save one with rungate login --with-token, or add RUNGATE_API_KEY to "env".`
  )
})

/** For hosts that ask the service itself: a variable stands for the key, as hosts read it from their own environment. */
const printHttp = Effect.gen(function* () {
  const { url } = yield* Credentials
  const screen = yield* Screen
  const headers = { Authorization: "Bearer ${RUNGATE_API_KEY}" }
  const config = { mcpServers: { rungate: { type: "http", url: `${url}/mcp`, headers } } }
  yield* screen.out(`${JSON.stringify(config, null, 2)}\n`)
  yield* screen.say(
    "There is no secret in it: the host reads RUNGATE_API_KEY from its environment. Some write that in another way, such as ${env:RUNGATE_API_KEY}."
  )
})

const usedByHosts =
  "This waits for an agent host to talk to it (Ctrl-D ends it). rungate mcp --print-config prints what to paste into a host's settings."

/** `version` is what the host is told. */
export const mcp = (version: string) =>
  Command.make(
    "mcp",
    {
      print_config: Flag.Boolean("print-config").pipe(
        Flag.withDescription("print the JSON for an agent host's settings, and serve nothing"),
        Flag.withDefault(false)
      ),
      http: Flag.Boolean("http").pipe(
        Flag.withDescription("with --print-config: for a host that asks the service itself, and starts nothing"),
        Flag.withDefault(false)
      )
    },
    Effect.fnUntraced(function* ({ print_config, http }) {
      const screen = yield* Screen
      if (http && !print_config) return yield* fail("usage", "--http goes with --print-config.")
      if (http) return yield* printHttp
      if (print_config) return yield* printConfig
      if (screen.askable) yield* screen.say(usedByHosts)
      const { serveStdio } = yield* Effect.promise(() => import("./stdio.ts"))
      yield* serveStdio(version)
    })
  ).pipe(
    Command.withDescription("Serve the tools of an agent host (Model Context Protocol) over stdin and stdout"),
    Command.withExamples([
      { command: "rungate mcp --print-config", description: "What to paste into a host's settings" },
      {
        command: "rungate mcp --print-config --http",
        description: "The same, for a host that asks the service itself"
      },
      { command: "claude mcp add rungate -- rungate mcp", description: "Or let the host do it" }
    ])
  )
