/**
 * Files that hold secrets or what a user asked for: 0600 in a 0700 folder, replaced as a whole, on the disk before it is used.
 *
 * A file that others may read is refused: whoever could read it has the secret already, so somebody has to decide.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync
} from "node:fs"
import { dirname, join } from "node:path"
import { Config, Effect } from "effect"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import { fail } from "../terminal/exits.ts"

const folderMode = 0o700
const fileMode = 0o600
/** Read or written by group or others. */
const othersMask = 0o077

const base = (variable: string, ...home: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const named = yield* Config.String(variable).pipe(Config.withDefault(""))
    const homeFolder = yield* Config.String("HOME").pipe(Config.withDefault(""))
    // The XDG specification: a relative path there is invalid and is ignored.
    if (named.startsWith("/")) return join(named, "rungate")
    if (homeFolder !== "") return join(homeFolder, ...home, "rungate")
    return yield* fail("usage", `Neither ${variable} nor HOME is set: set ${variable} to a folder for rungate's files.`)
  }).pipe(Effect.catchTag("ConfigError", () => fail("usage", `${variable} can't be read.`)))

/** Where keys and sessions are kept. */
export const configFolder: Effect.Effect<string, CommandFailed> = base("XDG_CONFIG_HOME", ".config")
/** Where runs are kept whose end was not seen yet. */
export const stateFolder: Effect.Effect<string, CommandFailed> = base("XDG_STATE_HOME", ".local", "state")
/** What may be thrown away at any time. */
export const cacheFolder: Effect.Effect<string, CommandFailed> = base("XDG_CACHE_HOME", ".cache")

/** Null when the file keeps the rules, or is not there; else the sentence that says what to do. */
export const complaint = (path: string): string | null => {
  if (!existsSync(path)) return null
  const found = lstatSync(path)
  if (!found.isFile()) return `${path} is not a plain file; remove it.`
  if (process.getuid !== undefined && found.uid !== process.getuid()) return `${path} belongs to somebody else.`
  if ((found.mode & othersMask) !== 0)
    return `${path} can be read by others, so its keys may be known: replace them, or if nobody else uses this machine run: chmod 600 ${path}`
  return null
}

/** Null when there is no such file. */
export const read = Effect.fnUntraced(function* (path: string) {
  const wrong = yield* Effect.sync(() => complaint(path))
  if (wrong !== null) return yield* fail("auth", wrong)
  return yield* Effect.try({
    try: () => (existsSync(path) ? readFileSync(path, "utf8") : null),
    catch: (cause) => fail("failed", `Can't read ${path} (${reasonOf(cause)}).`)
  })
})

/** Errors of the file system: their code, never what stands in the file. */
const reasonOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "unreadable"

const replace = (path: string, text: string) => {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: folderMode })
  if ((lstatSync(folder).mode & othersMask) !== 0) chmodSync(folder, folderMode)
  const draft = `${path}.${process.pid}.new`
  rmSync(draft, { force: true })
  const file = openSync(draft, "wx", fileMode)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}

export const write = (path: string, text: string): Effect.Effect<void, CommandFailed> =>
  Effect.try({
    try: () => replace(path, text),
    catch: (cause) => fail("failed", `Can't write ${path} (${reasonOf(cause)}).`)
  })

export const remove = (path: string): Effect.Effect<void> => Effect.sync(() => rmSync(path, { force: true }))

/** Names of the files in a folder that end so; none when there is no folder. */
export const list = (folder: string, ending: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.sync(() =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.endsWith(ending))
          .sort()
      : []
  )
