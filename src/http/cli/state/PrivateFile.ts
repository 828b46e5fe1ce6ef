/**
 * Files with secrets or user input: mode 0600 in a 0700 folder, written atomically (temporary file, fsync, rename).
 *
 * Reading refuses a file that other users can read, because its secrets may already be known. The user decides what to do.
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
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { Config, Effect } from "effect"
import { type CommandFailed, fail, bad, failedWith } from "../terminal/exits.ts"

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
    return yield* bad(`Neither ${variable} nor HOME is set. Set ${variable} to a folder for rungate's files.`)
  }).pipe(Effect.catchTag("ConfigError", () => bad(`${variable} can't be read.`)))

/** The folder for keys and sessions. */
export const configFolder: Effect.Effect<string, CommandFailed> = base("XDG_CONFIG_HOME", ".config")
/** The folder for the journal of unfinished runs. */
export const stateFolder: Effect.Effect<string, CommandFailed> = base("XDG_STATE_HOME", ".local", "state")
/** The folder for data that may be deleted at any time. */
export const cacheFolder: Effect.Effect<string, CommandFailed> = base("XDG_CACHE_HOME", ".cache")

/** Null when the file is private or missing; otherwise a message that says what to do. */
export const complaint = (path: string): string | null => {
  // In one call, because another command may remove the file meanwhile.
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return null
  if (!stats.isFile()) return `${path} is not a regular file. Remove it.`
  if (process.getuid !== undefined && stats.uid !== process.getuid())
    return `${path} belongs to another user. Remove it, or change its owner.`
  if ((stats.mode & othersMask) !== 0)
    return `Other users can read ${path}, so its keys may be known. Replace the keys, or run: chmod 600 ${path}`
  return null
}

/** Null when there is no such file. */
export const read = Effect.fnUntraced(function* (path: string) {
  const wrong = yield* Effect.sync(() => complaint(path))
  if (wrong !== null) return yield* fail("auth", wrong)
  return yield* Effect.try({
    try: () => (existsSync(path) ? readFileSync(path, "utf8") : null),
    catch: (cause) => failedWith(`Can't read ${path} (${reasonOf(cause)}).`)
  })
})

/** The code of a file system error. Never contains file contents. */
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
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}

export const write = (path: string, text: string): Effect.Effect<void, CommandFailed> =>
  Effect.try({
    try: () => replace(path, text),
    catch: (cause) => failedWith(`Can't write ${path} (${reasonOf(cause)}).`)
  })

export const remove = (path: string): Effect.Effect<void, CommandFailed> =>
  Effect.try({
    try: () => rmSync(path, { force: true }),
    catch: (cause) => failedWith(`Can't remove ${path} (${reasonOf(cause)}).`)
  })

/** File names in a folder with this ending; empty when the folder is missing. */
export const list = (folder: string, ending: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.sync(() =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.endsWith(ending))
          .sort()
      : []
  )
