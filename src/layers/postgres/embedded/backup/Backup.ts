/**
 * Copies the embedded database into one compressed file while it runs.
 *
 * The copy is PostgreSQL's own kind of base backup: files that change meanwhile, and the write-ahead log that makes them consistent. It has
 * the state of the moment at which it ends. The package has no pg_basebackup, so this module does what that program does.
 */
import * as fs from "node:fs"
import { type FileHandle, open, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import { identity, Schema, Stream } from "effect"
import { Tar } from "effect/encoding"
import { Client } from "pg"
import { packageFolder } from "../../../platform/packageFolder.ts"
import type { Place } from "../EmbeddedPostgresFiles.ts"

/** First in the file: what it is. The password is that of the database's role, which the copied files know. */
export const Manifest = Schema.fromJsonString(
  Schema.Struct({
    format: Schema.Literal("rungate-backup-1"),
    made_at: Schema.String,
    postgres: Schema.String,
    rungate: Schema.String,
    password: Schema.NonEmptyString
  })
)
export const manifestName = "rungate-backup.json"
/** Last in the file, so that a part of a file is not taken for a backup. */
export const endName = "rungate-complete"
export const clusterName = "postgres"

/** Folders whose files belong to the running server. Each is needed and has to be empty. */
const emptied = new Set([
  "pg_dynshmem",
  "pg_notify",
  "pg_replslot",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
  "pg_wal"
])
const left = /^(postmaster\.(pid|opts)|pg_internal\.init.*|pgsql_tmp.*|backup_label.*|tablespace_map.*)$/
const control = "global/pg_control"
const chunkBytes = 1 << 20
/** Favours speed: the database waits for nobody, but its log grows as long as a backup lasts. */
const gzipLevel = 1

const isGone = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT"

const small = (name: string, content: string | Uint8Array) => Tar.file(name, content, { mode: 0o600 })
const folderEntry = (name: string) => Tar.directory(name, { mode: 0o700 })

/** A table that is dropped meanwhile takes its file along. The write-ahead log knows. */
const opened = (path: string) =>
  open(path).catch((error: unknown) => {
    if (isGone(error)) return undefined
    throw error
  })

/** PostgreSQL's files change during a backup. The copy has the size that a file had at first: the rest is cut off or filled with zeros. */
async function* contentOf(source: FileHandle, size: number) {
  try {
    for (let at = 0; at < size; ) {
      const wanted = Math.min(chunkBytes, size - at)
      const chunk = new Uint8Array(wanted)
      const { bytesRead } = await source.read(chunk, 0, wanted, at)
      yield bytesRead === 0 ? chunk : chunk.subarray(0, bytesRead)
      at += bytesRead === 0 ? wanted : bytesRead
    }
  } finally {
    await source.close()
  }
}

async function* file(path: string, name: string) {
  const source = await opened(path)
  if (source === undefined) return
  const { size } = await source.stat()
  yield Tar.fileStream(name, size, Stream.fromAsyncIterable(contentOf(source, size), identity), { mode: 0o600 })
}

async function* folder(cluster: string, below: string): AsyncGenerator<Tar.Entry<unknown>> {
  const entries = await readdir(join(cluster, below), { withFileTypes: true }).catch((error: unknown) => {
    if (isGone(error)) return []
    throw error
  })
  for (const entry of entries) {
    const inside = below === "" ? entry.name : `${below}/${entry.name}`
    if (left.test(entry.name) || inside === control) continue
    const name = `${clusterName}/${inside}`
    if (entry.isDirectory()) {
      yield folderEntry(name)
      if (!emptied.has(inside)) yield* folder(cluster, inside)
    } else if (entry.isFile()) yield* file(join(cluster, inside), name)
  }
}

/** The server replaces it as a whole, so two equal readings are one state. */
const controlFile = async (cluster: string) => {
  for (;;) {
    const first = await readFile(join(cluster, control))
    if (first.equals(await readFile(join(cluster, control)))) return first
  }
}

const textOf = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>, column: string) =>
  String(rows[0]?.[column] ?? "")

/** Segments from the first that the copy needs to the last, and the histories of timelines. */
async function* writeAheadLog(cluster: string, first: string, last: string) {
  const names = (await readdir(join(cluster, "pg_wal"))).filter(
    (name) => name.endsWith(".history") || (/^[0-9A-F]{24}$/.test(name) && name >= first && name <= last)
  )
  if (!names.includes(first) || !names.includes(last))
    throw new Error("the write-ahead log of the backup is incomplete; try again")
  for (const name of names.sort()) yield* file(join(cluster, "pg_wal", name), `${clusterName}/pg_wal/${name}`)
}

const Package = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))
const ownVersion = async () =>
  Schema.decodeUnknownSync(Package)(await readFile(join(packageFolder, "package.json"), "utf8")).version

async function* archive(client: Client, { cluster }: Place, password: string): AsyncGenerator<Tar.Entry<unknown>> {
  const version = await client.query("SHOW server_version")
  const manifest = Schema.encodeSync(Manifest)({
    format: "rungate-backup-1",
    made_at: new Date().toISOString(),
    postgres: textOf(version.rows, "server_version"),
    rungate: await ownVersion(),
    password
  })
  yield small(manifestName, manifest)
  // Keeps the log from being recycled as long as this connection lives.
  await client.query("SELECT pg_create_physical_replication_slot($1, true, true)", [`rungate_backup_${process.pid}`])
  await client.query("SELECT pg_backup_start('rungate', fast => true)")
  yield folderEntry(clusterName)
  yield* folder(cluster, "")
  yield small(`${clusterName}/${control}`, await controlFile(cluster))
  const stopped = await client.query(
    "SELECT labelfile, pg_walfile_name(lsn) AS last FROM pg_backup_stop(wait_for_archive => false)"
  )
  const label = textOf(stopped.rows, "labelfile")
  yield small(`${clusterName}/backup_label`, label)
  const first = /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)/m.exec(label)?.[1] ?? ""
  yield* writeAheadLog(cluster, first, textOf(stopped.rows, "last"))
  yield small(endName, "complete\n")
}

const sync = async (path: string) => {
  const written = await open(path, "r+")
  await written.sync().finally(() => written.close())
}

/** Writes the backup to a new file that only this user may read. Returns its size in bytes. */
export const writeBackup = async (url: string, place: Place, path: string, password: string): Promise<number> => {
  const draft = `${path}.part`
  const client = new Client({ connectionString: url })
  client.on("error", () => {})
  await client.connect()
  try {
    await rm(draft, { force: true })
    const entries = Stream.fromAsyncIterable(archive(client, place, password), identity)
    const bytes = Stream.pipeThroughChannel(entries, Tar.encode<unknown, unknown, Tar.Entry<unknown>>())
    await pipeline(
      Readable.from(Stream.toAsyncIterable(bytes), { objectMode: false }),
      createGzip({ level: gzipLevel }),
      fs.createWriteStream(draft, { flags: "wx", mode: 0o600 })
    )
    await sync(draft)
    await rename(draft, path)
    return (await stat(path)).size
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  } finally {
    await client.end()
  }
}
