/**
 * A database of the operator's own is set back to a moment, as docs/operate.md says: a base backup under load, archived WAL, kill -9 of
 * everything, and a restore. What clients were told before the moment is there, what came after it is not, and the books hold.
 */
import { afterEach, expect, test } from "bun:test"
import { join } from "node:path"
import { freePort } from "./ports.ts"
import { load, retryAll } from "./load.ts"
import { type Service, until } from "./processes.ts"
import { proxyTo } from "./proxy.ts"
import { hasSystemPostgres, sqlAt, systemPostgres } from "./system-postgres.ts"
import { backends, leaseSeconds, report, World } from "./world.ts"

const cleanups: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** Runs of some clients until `count` more are answered. */
const runsOn = async (world: World, service: Service, count: number) => {
  let over = false
  const clients = load(world, [service], 4, () => over)
  await until(`${count} runs`, 30_000, () => clients.millis.length >= count)
  over = true
  await clients.finished
  return clients.runs
}

test.if(hasSystemPostgres)(
  "a restore to a moment keeps what was told before it, and its books hold",
  async () => {
    const { folder, urlOf, finish, initdb, start, end } = systemPostgres({ fsync: "off" })
    const [data, archive, backup, restored] = [folder("data"), folder("archive"), folder("backup"), folder("restored")]
    const [port, restoredPort] = [await freePort(), await freePort()]
    await initdb(data)
    const settings = `archive_mode = on\narchive_command = 'cp %p ${archive}/%f'\n`
    await finish("/bin/sh", ["-c", `printf "%s" "$1" >> "$2"/postgresql.conf`, "sh", settings, data])
    const server = await start(data, port)
    cleanups.push(() => end(server, "SIGQUIT"))
    await sqlAt(urlOf(port), "CREATE DATABASE rungate")
    const address = await proxyTo(urlOf(port, "rungate"), 5432)
    cleanups.push(address.stop)
    const world = await World.open({ backend: backends.at(-1) ?? "postgres", databaseUrl: address.url })
    cleanups.push(() => world.close())
    const service = await world.start("all")
    await world.openAccounts()

    const early = runsOn(world, service, 40)
    await finish("pg_basebackup", ["-D", backup, "-Ft", "-z", "-X", "fetch", "-c", "fast", "-d", urlOf(port)])
    await early
    await world.settled(leaseSeconds + 30)
    const before = new Set(world.acknowledged.values())
    const [moment] = await sqlAt(urlOf(port), "SELECT clock_timestamp()::text AS at")
    const late = await runsOn(world, service, 20)
    const after = [...world.acknowledged.values()].filter((run_id) => !before.has(run_id))
    const [segment] = await sqlAt(urlOf(port), "SELECT pg_walfile_name(pg_switch_wal()) AS name")
    await until("an archived WAL", 20_000, async () => {
      const [row] = await sqlAt(urlOf(port), "SELECT last_archived_wal AS name FROM pg_stat_archiver")
      return String(row?.["name"]) >= String(segment?.["name"])
    })
    await service.kill()
    await end(server, "SIGKILL")

    const recovery = `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_time = '${moment?.["at"]}'\n`
    await finish("/bin/tar", ["-xzf", join(backup, "base.tar.gz"), "-C", restored])
    await finish("/bin/sh", ["-c", `printf "%s" "$1" >> "$2"/postgresql.conf`, "sh", recovery, restored])
    await finish("/bin/sh", ["-c", `touch "$1"/recovery.signal`, "sh", restored])
    const again = await start(restored, restoredPort)
    cleanups.push(() => end(again, "SIGQUIT"))
    const at = urlOf(restoredPort, "rungate")
    await until("a server that waits at the moment", 20_000, async () => {
      const [row] = await sqlAt(at, "SELECT pg_get_wal_replay_pause_state() AS state")
      return row?.["state"] === "paused"
    })
    await sqlAt(at, "SELECT pg_wal_replay_resume()")
    await until("a server that accepts writes", 20_000, async () => {
      const [row] = await sqlAt(at, "SELECT pg_is_in_recovery() AS reading")
      return row?.["reading"] === false
    })
    await sqlAt(at, "UPDATE installation SET id = gen_random_uuid()")
    address.redirect(at)

    expect(await world.audit()).toEqual([])
    const kept = new Set((await world.runs()).map(({ run_id }) => run_id))
    expect([...before].filter((run_id) => !kept.has(run_id))).toEqual([])
    expect(after.length).toBeGreaterThan(0)
    expect(after.filter((run_id) => kept.has(run_id))).toEqual([])

    // Clients who repeat what is lost get new runs, and the others what they were told.
    for (const [key, run_id] of world.acknowledged) if (!kept.has(run_id)) world.acknowledged.delete(key)
    const next = await world.start("all")
    await retryAll(world, next, late)
    await world.settled(leaseSeconds + 30)
    expect(await world.audit()).toEqual([])
    report({ test: "point in time", backend: world.backend, kept: before.size, lost: after.length })
  },
  180_000
)
