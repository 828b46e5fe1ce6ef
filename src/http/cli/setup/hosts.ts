/**
 * The doctor check for agent hosts: finds hosts on this machine whose settings start `rungate mcp`.
 *
 * It never writes, and it reads only the entries for Rungate, because other entries may contain secrets.
 */
import { existsSync, readFileSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { basename, join } from "node:path"
import { Config, Effect, Option, Schema } from "effect"
import { check } from "./checks.ts"

/** Larger files are skipped. A host's settings may contain its conversations. */
const bytesMost = 20_000_000

const Server = Schema.Struct({
  command: Schema.optionalKey(Schema.String),
  args: Schema.optionalKey(Schema.Array(Schema.String))
})
const unknown: typeof Server.Type = {}
const Servers = Schema.Record(Schema.String, Schema.Unknown)
/** VS Code calls the member `servers`. */
const Settings = Schema.fromJsonString(
  Schema.Struct({ mcpServers: Schema.optionalKey(Servers), servers: Schema.optionalKey(Servers) })
)

/** Settings files of known hosts. Project settings are in the working directory. */
const places = Effect.gen(function* () {
  const home = homedir()
  const folder = (name: string, otherwise: string) =>
    Effect.orDie(Config.String(name).pipe(Config.withDefault(otherwise)))
  const own = [
    yield* folder("XDG_CONFIG_HOME", join(home, ".config")),
    join(home, "Library", "Application Support"),
    yield* folder("APPDATA", join(home, "AppData", "Roaming"))
  ]
  const all: ReadonlyArray<readonly [string, string]> = [
    ...own.map((folder) => ["Claude Desktop", join(folder, "Claude", "claude_desktop_config.json")] as const),
    ["Claude Code", join(home, ".claude.json")],
    ["Claude Code", ".mcp.json"],
    ["Cursor", join(home, ".cursor", "mcp.json")],
    ["Cursor", join(".cursor", "mcp.json")],
    ["VS Code", join(".vscode", "mcp.json")]
  ]
  return all
})

/** The programs that a host starts for Rungate; null when its settings can't be read. */
const programsIn = (path: string): ReadonlyArray<string> | null => {
  try {
    if (statSync(path).size > bytesMost) return null
    const settings = Schema.decodeUnknownOption(Settings)(readFileSync(path, "utf8"))
    if (Option.isNone(settings)) return null
    const servers = Object.entries({ ...settings.value.mcpServers, ...settings.value.servers })
    return servers.flatMap(([name, server]) => {
      const { command, args = [] } = Option.getOrElse(Schema.decodeUnknownOption(Server)(server), () => unknown)
      if (command === undefined || !args.includes("mcp")) return []
      const named = name === "rungate" || [command, ...args].some((word) => /^rungate\b/.test(basename(word)))
      return named ? [command] : []
    })
  } catch {
    return null
  }
}

const advice = "run rungate mcp --print-config and paste the output into its settings"

export const hosts = Effect.gen(function* () {
  const settingsFiles = (yield* places).flatMap(([name, path]) =>
    existsSync(path) ? [{ name, path, programs: programsIn(path) }] : []
  )
  // VS Code allows comments in its settings, so a parse failure is not an error there.
  const broken = settingsFiles.find(({ name, programs }) => programs === null && name !== "VS Code")
  if (broken !== undefined)
    return check(
      "agents",
      "warn",
      `Can't read the settings of ${broken.name} (${broken.path}). Check that the file is valid JSON.`
    )
  const ours = settingsFiles.filter(({ programs }) => programs !== null && programs.length > 0)
  const lost = ours.find(({ programs }) => programs?.some((one) => /[\\/]/.test(one) && !existsSync(one)))
  if (lost !== undefined)
    return check(
      "agents",
      "warn",
      `${lost.name} starts a rungate that no longer exists (${lost.path}). To fix it, ${advice}.`
    )
  const names = [...new Set(ours.map(({ name }) => name))]
  return check(
    "agents",
    "pass",
    names.length > 0 ? `${names.join(" and ")} can use rungate` : `No agent host uses rungate. To add one, ${advice}.`
  )
})
