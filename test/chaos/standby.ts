/** A PostgreSQL with a streaming standby, made by pg_basebackup, and an address that can be moved from one to the other. */
import { freePort } from "./ports.ts"
import { until } from "./processes.ts"
import { proxyTo } from "./proxy.ts"
import { hasSystemPostgres, sqlAt, systemPostgres } from "./system-postgres.ts"

export const hasStandby = hasSystemPostgres

export interface Pair {
  /** The address that moves: of the primary until `moveAddress`. */
  readonly url: string
  readonly primaryUrl: string
  readonly standbyUrl: string
  /** Commits wait for the standby from now on. */
  readonly synchronous: () => Promise<void>
  /** The standby gets nothing more, and neither server is told. */
  readonly cutReplication: () => void
  /** `kill -9` of all processes of the primary. */
  readonly killPrimary: () => Promise<void>
  readonly moveAddress: () => void
  readonly promote: () => Promise<void>
  readonly stop: () => Promise<void>
}

export const startPair = async (given: Readonly<Record<string, string>> = { fsync: "off" }): Promise<Pair> => {
  const { folder, urlOf, finish, initdb, start, end } = systemPostgres(given)
  const [primaryPort, standbyPort] = [await freePort(), await freePort()]
  const [primaryData, standbyData] = [folder("primary"), folder("standby")]
  await initdb(primaryData)
  const primary = await start(primaryData, primaryPort)
  await sqlAt(urlOf(primaryPort), "CREATE DATABASE rungate")
  const replication = await proxyTo(urlOf(primaryPort), 5432)
  const from = new URL(replication.url)
  // The proxy understands no negotiation of encryption.
  from.search = "?sslmode=disable&gssencmode=disable&application_name=standby"
  await finish("pg_basebackup", ["-D", standbyData, "-R", "-X", "stream", "--no-sync", "-c", "fast", "-d", from.href])
  const standby = await start(standbyData, standbyPort)
  const streaming = (state: string) =>
    until(`a standby that is ${state}`, 20_000, async () => {
      const rows = await sqlAt(
        urlOf(primaryPort),
        "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'"
      )
      return rows.some(({ sync_state }) => sync_state === state)
    })
  await streaming("async")
  const address = await proxyTo(urlOf(primaryPort, "rungate"), 5432)

  return {
    url: address.url,
    primaryUrl: urlOf(primaryPort, "rungate"),
    standbyUrl: urlOf(standbyPort, "rungate"),
    synchronous: async () => {
      await sqlAt(urlOf(primaryPort), "ALTER SYSTEM SET synchronous_standby_names = '*'")
      await sqlAt(urlOf(primaryPort), "SELECT pg_reload_conf()")
      await streaming("sync")
    },
    cutReplication: () => replication.silence("both"),
    killPrimary: async () => {
      await end(primary, "SIGKILL")
      await replication.stop()
    },
    moveAddress: () => address.redirect(urlOf(standbyPort, "rungate")),
    promote: async () => {
      await sqlAt(urlOf(standbyPort), "SELECT pg_promote()")
    },
    stop: async () => {
      await address.stop()
      await replication.stop().catch(() => {})
      await end(primary, "SIGKILL")
      await end(standby, "SIGQUIT")
    }
  }
}
