/**
 * `rungate mcp`: serves the tools to an agent host (Claude Desktop, Cursor, …) over stdin and stdout.
 *
 * The host starts this command. `--print-config` prints the entry for the host's settings.
 */
import { realpathSync } from "node:fs"
import { dirname, sep } from "node:path"
import { Config, Effect } from "effect"
import { Command } from "effect/cli"
import { Credentials, defaultProfile, savedKeys, savedSessions } from "../state/Credentials.ts"
import { bad } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { boolean, withExamples } from "../terminal/flags.ts"

/** Variables that locate the user's files. A host does not pass them on, so the entry contains them. */
const folders = ["XDG_CONFIG_HOME", "XDG_STATE_HOME"]

/** The compiled file (scripts/compile.ts) runs by itself; otherwise Bun runs the source with its current flags. */
const compiled = /[$~]bun/i.test(import.meta.dir)
const running = compiled
  ? { command: process.execPath, args: [] }
  : { command: process.execPath, args: [...process.execArgv, Bun.main] }

/** npx keeps each version in a folder of its own. */
const isPassing = (path: string) => path.includes(`${sep}_npx${sep}`)

/** `rungate` of the PATH if it starts this program, because an upgrade leaves it where it is; otherwise what runs now. */
const program = (): typeof running => {
  const command = Bun.which("rungate")
  if (command === null || isPassing(command)) return running
  const file = realpathSync(command)
  const isThis = compiled ? file === process.execPath : Bun.main.startsWith(dirname(dirname(file)) + sep)
  return isThis ? { command, args: [] } : running
}

/** Whether the profile has a key or session for this address. */
const isSaved = Effect.gen(function* () {
  const { url, profile } = yield* Credentials
  const saved = [yield* savedKeys.of(profile), yield* savedSessions.of(profile)]
  return saved.some((one) => one?.url === url)
})

/** The settings entry: absolute paths, because a host has no shell PATH, and no key. */
const hostConfig = Effect.fnUntraced(function* (saved: boolean) {
  const { url, profile } = yield* Credentials
  const variables = yield* Effect.forEach(folders, (name) =>
    Effect.map(Effect.orDie(Config.String(name).pipe(Config.withDefault(""))), (value) => [name, value] as const)
  )
  const { command, args } = program()
  // A profile contains its address.
  const env = Object.fromEntries(
    [["RUNGATE_URL", saved ? "" : url] as const, ...variables].filter(([, value]) => value !== "")
  )
  const named = profile === defaultProfile ? [] : ["--profile", profile]
  return { mcpServers: { rungate: { command, args: [...args, "mcp", ...named], env } } }
})

const printConfig = Effect.gen(function* () {
  const { profile, url } = yield* Credentials
  const screen = yield* Screen
  const saved = yield* isSaved
  const config = yield* hostConfig(saved)
  yield* screen.out(`${JSON.stringify(config, null, 2)}\n`)
  const { command, args } = config.mcpServers.rungate
  if ([command, ...args].some(isPassing))
    yield* screen.warn("npx may remove what this entry starts. Install rungate (docs/operate.md), then print it again.")
  yield* screen.say(
    saved
      ? `This entry contains no secret. It uses the credentials saved as profile "${profile}" for ${url}.`
      : `This entry contains no key, and no key is saved for ${url}. Save one with rungate login --with-token, or add RUNGATE_API_KEY to "env".`
  )
})

/** The entry for hosts that connect over HTTP. The key is a variable of the host's environment. */
const printHttp = Effect.gen(function* () {
  const { url } = yield* Credentials
  const screen = yield* Screen
  const headers = { Authorization: "Bearer ${RUNGATE_API_KEY}" }
  const config = { mcpServers: { rungate: { type: "http", url: `${url}/mcp`, headers } } }
  yield* screen.out(`${JSON.stringify(config, null, 2)}\n`)
  yield* screen.say(
    "This entry contains no secret: the host reads RUNGATE_API_KEY from its environment. Some hosts use another syntax, such as ${env:RUNGATE_API_KEY}."
  )
})

const usedByHosts =
  "Waiting for an agent host on stdin (Ctrl-D stops). Hosts start this command by themselves: rungate mcp --print-config prints the entry for their settings."

export const mcp = Command.make(
  "mcp",
  {
    print_config: boolean("print-config", "print the JSON entry for an agent host's settings and exit"),
    http: boolean("http", "with --print-config: an entry that connects to the service over HTTP")
  },
  Effect.fnUntraced(function* ({ print_config, http }) {
    const screen = yield* Screen
    if (http && !print_config) return yield* bad("--http needs --print-config.")
    if (http) return yield* printHttp
    if (print_config) return yield* printConfig
    if (screen.askable) yield* screen.say(usedByHosts)
    const { serveStdio } = yield* Effect.promise(() => import("./stdio.ts"))
    yield* serveStdio
  })
).pipe(
  Command.withDescription("Serve tools to an agent host over stdin and stdout (Model Context Protocol)"),
  withExamples({
    "rungate mcp --print-config": "The entry for a host's settings",
    "rungate mcp --print-config --http": "The entry for a connection over HTTP",
    "claude mcp add rungate -- rungate mcp": "Let the host write the entry"
  })
)
