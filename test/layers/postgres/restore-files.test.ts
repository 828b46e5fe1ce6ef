/** A restored file has the bytes of the backup, however they were cut into parts on the way, and what is no whole backup changes nothing. */
import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { Effect, Schema, Stream } from "effect"
import { Tar } from "effect/encoding"
import { endName, Manifest, manifestName } from "../../../src/layers/postgres/embedded/backup/Backup.ts"
import { replaceByBackup, writeNew } from "../../../src/layers/postgres/embedded/backup/Restore.ts"

test("a file is written as its parts say, with small and large ones first", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rungate-parts-"))
  const wrong: Array<string> = []
  try {
    for (let first = 1; first <= 8_192; first += 64)
      for (const second of [1, 1_024, 5_000, 16_384]) {
        const parts = [Buffer.alloc(first, "a"), Buffer.alloc(second, "b")]
        const path = join(folder, `${first}-${second}`)
        const given = async function* () {
          yield* parts
        }
        await writeNew(path, given())
        if (!readFileSync(path).equals(Buffer.concat(parts))) wrong.push(`${first} and ${second} bytes`)
        rmSync(path)
      }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  expect(wrong).toEqual([])
})

const manifest = Tar.file(
  manifestName,
  Schema.encodeSync(Manifest)({
    format: "rungate-backup-1",
    made_at: "2026-11-26T00:00:00.000Z",
    postgres: "18",
    rungate: "0.1.0",
    password: "secret"
  })
)
const archiveOf = async (...entries: ReadonlyArray<Tar.Entry>) => {
  const bytes = Stream.fromIterable(entries).pipe(Stream.pipeThroughChannel(Tar.encode()))
  return Buffer.concat(await Effect.runPromise(Stream.runCollect(bytes)))
}
const flipped = (bytes: Buffer, at: number) => Buffer.from(bytes.with(at, bytes[at] === 0x30 ? 0x31 : 0x30))

test.each([
  ["a path outside", async () => archiveOf(manifest, Tar.file("../escaped", "x")), "not allowed: ../escaped"],
  ["an absolute path", async () => archiveOf(manifest, Tar.file("/tmp/escaped", "x")), "not allowed: /tmp/escaped"],
  ["a link", async () => archiveOf(manifest, Tar.symlink("postgres/link", "/etc")), "not allowed: postgres/link"],
  ["no end", async () => archiveOf(manifest, Tar.directory("postgres")), "not complete"],
  [
    "a file that is cut off",
    async () => (await archiveOf(manifest, Tar.file(endName, "x".repeat(2_000)))).subarray(0, 2_600),
    "not complete"
  ],
  [
    "a header that was changed",
    async () => flipped(await archiveOf(manifest, Tar.file("postgres/a", "x")), 1_024),
    "damaged"
  ],
  ["no manifest", async () => archiveOf(Tar.file(endName, "x")), "no backup that rungate admin backup made"]
])("a backup with %s is refused and changes nothing", async (_, archive, message) => {
  const folder = mkdtempSync(join(tmpdir(), "rungate-restore-"))
  const at = (name: string) => join(folder, "data", name)
  mkdirSync(join(folder, "data"))
  try {
    writeFileSync(at("backup"), gzipSync(await archive()))
    const place = {
      native: "",
      cluster: at("cluster"),
      state: at("state"),
      lock: at("lock"),
      log: at("log"),
      account: undefined
    }
    expect(await replaceByBackup(place, at("backup")).catch(String)).toContain(message)
    expect(readdirSync(folder)).toEqual(["data"])
    expect(readdirSync(join(folder, "data")).filter((name) => name !== "lock")).toEqual(["backup"])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
