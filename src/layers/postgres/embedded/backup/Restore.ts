/**
 * Puts a backup in the place of the embedded database.
 *
 * The files are unpacked beside the database and renamed into its place when they are complete. The database that was there stays beside it.
 * No process of the service may use the data directory meanwhile: its lock is taken.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { mkdir, open, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { createGunzip } from "node:zlib"
import { identity, Schema, Stream } from "effect"
import { Tar } from "effect/encoding"
import * as files from "../EmbeddedPostgresFiles.ts"
import { clusterName, endName, Manifest, manifestName } from "./Backup.ts"

type Manifest = typeof Manifest.Type

export interface Replaced {
  /** What the backup says about itself. */
  readonly manifest: Manifest
  /** Where the database is that was there before. Null: there was none. */
  readonly aside: string | null
  /** Puts that database back. */
  readonly undo: () => Promise<void>
}

/** A server that recovers needs a while to stop. */
const stopMillisMax = 30_000
const pollMillis = 20

const unzipped = (path: string) => {
  const source = fs.createReadStream(path)
  const gunzip = createGunzip()
  // A pipe does not pass errors on.
  source.once("error", (error) => gunzip.destroy(error))
  return source.pipe(gunzip)
}

/** Part by part: with all parts at once, `writeFile` of Bun 1.4.5 appends bytes of the first part to some files whose first part is small. */
export const writeNew = async (path: string, parts: AsyncIterable<Uint8Array>): Promise<void> => {
  const file = await open(path, "wx", 0o600)
  try {
    for await (const part of parts) await file.writeFile(part)
  } finally {
    await file.close()
  }
}

const inWords = (error: unknown): unknown =>
  Tar.isTarError(error)
    ? new Error(`the backup file is ${error.kind === "Truncated" ? "not complete" : "damaged"}`)
    : error

/** Nothing of an archive may land outside the folder that it is unpacked into. */
const safeName = (path: string): string => {
  const name = path.replace(/\/$/, "")
  if (name === "" || name.startsWith("/") || name.split("/").includes(".."))
    throw new Error(`the backup has a path that is not allowed: ${name}`)
  return name
}

/** The entries of an archive in order. The content of an entry has to be read to its end before the next entry is asked for. */
const entriesOf = (archive: AsyncIterable<Uint8Array>) =>
  Stream.toAsyncIterable(
    Stream.fromAsyncIterable(archive, identity).pipe(
      Stream.pipeThroughChannel(Tar.decode<unknown>()),
      Stream.mapError(inWords)
    )
  )

/** Unpacks into `folder`, which is new. Fails if the file is no complete backup. */
const unpack = async (path: string, folder: string): Promise<Manifest> => {
  let manifest: Manifest | undefined
  let last = ""
  for await (const { header, body } of entriesOf(unzipped(path))) {
    const name = safeName(header.path)
    const content = Stream.toAsyncIterable(Stream.mapError(body, inWords))
    last = name
    if (manifest === undefined) {
      if (name !== manifestName) throw new Error("it is no backup that rungate admin backup made")
      manifest = Schema.decodeUnknownSync(Manifest)(Buffer.concat(await Array.fromAsync(content)).toString())
    } else if (header.type === "Directory") {
      await mkdir(join(folder, name), { recursive: true, mode: 0o700 })
    } else if (header.type === "File") await writeNew(join(folder, name), content)
    else throw new Error(`the backup has an entry that is not allowed: ${name}`)
  }
  if (manifest === undefined || last !== endName) throw new Error("the backup file is not complete")
  return manifest
}

/** A killed service leaves its server running. The lock is ours, so nobody uses it. */
const stopServer = async (cluster: string) => {
  const pid = files.readPostmaster(cluster)?.pid
  if (pid === undefined || files.clusterOf(pid) !== cluster) return
  process.kill(pid, "SIGINT")
  for (const end = performance.now() + stopMillisMax; files.clusterOf(pid) === cluster; await Bun.sleep(pollMillis)) {
    if (performance.now() > end) throw new Error(`the database server ${pid} does not stop`)
  }
}

const swap = async (place: files.Place, unpacked: string, manifest: Manifest): Promise<Replaced> => {
  const { cluster } = place
  const before = files.readState(place)
  const time = new Date().toISOString().replaceAll(":", "-")
  const aside = fs.existsSync(cluster) ? `${cluster}.before-restore-${time}` : null
  if (aside !== null) await rename(cluster, aside)
  await rename(unpacked, cluster)
  files.writeState(place, { port: before?.port ?? 0, password: manifest.password })
  return {
    manifest,
    aside,
    undo: async () => {
      await rm(cluster, { recursive: true, force: true })
      if (aside !== null) await rename(aside, cluster)
      if (before !== undefined) files.writeState(place, before)
    }
  }
}

/** Fails, and changes nothing, if the file is no complete backup or a process uses the data directory. */
export const replaceByBackup = async (place: files.Place, path: string): Promise<Replaced> => {
  const lock = files.takeLock(place.lock)
  if (lock === undefined)
    throw new Error("a Rungate process uses this data directory. Stop the service, then try again")
  const folder = join(dirname(place.cluster), `restore-${process.pid}`)
  try {
    await mkdir(folder, { mode: 0o700 })
    const manifest = await unpack(path, folder)
    if (place.account !== undefined)
      spawnSync("chown", ["-R", `${place.account.uid}:${place.account.gid}`, join(folder, clusterName)])
    await stopServer(place.cluster)
    return await swap(place, join(folder, clusterName), manifest)
  } finally {
    await rm(folder, { recursive: true, force: true })
    lock.close()
  }
}
