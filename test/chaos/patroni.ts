/**
 * Three PostgreSQL servers under Patroni, with etcd and HAProxy, all on this machine and with the files of deploy/patroni.
 *
 * Each server has doors of its own (proxy.ts): one to its PostgreSQL, one to its Patroni, and one from it to each etcd server. So its
 * network can be cut without a right of root: bytes stop in all of them, and neither side is told. HAProxy and the other servers know the
 * doors only.
 */
import type { ChildProcess } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as files from "../../src/layers/postgres/embedded/EmbeddedPostgresFiles.ts"
import { deployed, pathOf } from "./deployed.ts"
import { startEtcd, type Etcd } from "./etcd.ts"
import { freePort } from "./ports.ts"
import { until } from "./processes.ts"
import { type Proxy, proxyTo } from "./proxy.ts"
import { hasSystemPostgres, sqlAt, type SystemPostgres, systemPostgres } from "./system-postgres.ts"

const programs = { patroni: "/usr/bin/patroni", etcd: "/usr/bin/etcd", haproxy: "/usr/sbin/haproxy" }
const missing = Object.entries(programs).flatMap(([name, path]) => (existsSync(path) ? [] : [name]))
export const hasPatroni = hasSystemPostgres && missing.length === 0
if (missing.length > 0) console.log(`${missing.join(", ")} not installed: the tests of Patroni are skipped`)

const names = ["a", "b", "c"] as const

interface PatroniServer {
  readonly start: () => void
  /** `kill -9` of Patroni and PostgreSQL, as if the machine lost power. */
  readonly kill: () => Promise<void>
  /** Nothing arrives at it or leaves it, until `heal`. */
  readonly cut: () => void
  readonly heal: () => void
  /** Whether its Patroni says that it is the primary. */
  readonly isPrimary: () => Promise<boolean>
  /** What its Patroni knows of all. */
  readonly members: () => Promise<ReadonlyArray<Member>>
  /** `patronictl switchover`. Answers whether it is the primary no more. */
  readonly switchover: (candidate: string) => Promise<boolean>
}

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly timeline?: number
}

export interface PatroniCluster {
  readonly etcd: Etcd
  /** The address that leads to the primary. */
  readonly urlOf: (database: string) => string
  /** Waits for a primary, other than `former`, and answers which it is. */
  readonly primary: (former?: PatroniServer) => Promise<PatroniServer>
  /** Makes the synchronous standby the primary. Answers which was it before. */
  readonly switchover: () => Promise<PatroniServer>
  /** Waits until one server leads, two follow, one of them synchronously, and the address leads to the first. */
  readonly whole: () => Promise<void>
  readonly stop: () => Promise<void>
}

const hostPort = (url: string) => new URL(url).host
const portOf = (url: string) => new URL(url).port

const startServer = async (name: string, system: SystemPostgres, etcd: Etcd) => {
  const { bin, end, finish, folder, serve, urlOf } = system
  const [postgres, rest] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const [home, data] = [folder(`home-${name}`), folder(name)]
  const doors = {
    postgres: await proxyTo(`http://${postgres}`, 5432),
    rest: await proxyTo(`http://${rest}`, 8008),
    etcd: await Promise.all(etcd.urls.map((url) => proxyTo(url, 2379)))
  }
  const all: ReadonlyArray<Proxy> = [doors.postgres, doors.rest, ...doors.etcd]
  const { username, password } = new URL(urlOf(0))
  const env = {
    ...deployed("patroni.env", {
      PATRONI_NAME: name,
      PATRONI_ETCD3_HOSTS: doors.etcd.map(({ url }) => hostPort(url)).join(","),
      PATRONI_POSTGRESQL_LISTEN: postgres,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: hostPort(doors.postgres.url),
      PATRONI_RESTAPI_LISTEN: rest,
      PATRONI_RESTAPI_CONNECT_ADDRESS: hostPort(doors.rest.url),
      PATRONI_POSTGRESQL_DATA_DIR: data,
      PATRONI_POSTGRESQL_BIN_DIR: bin,
      PATRONI_POSTGRESQL_PGPASS: join(home, "pgpass"),
      PATRONI_SUPERUSER_USERNAME: username,
      PATRONI_SUPERUSER_PASSWORD: password,
      PATRONI_REPLICATION_PASSWORD: password,
      PATRONI_RESTAPI_PASSWORD: password
    }),
    // Otherwise etcd tells it the addresses behind the doors.
    PATRONI_ETCD3_USE_PROXIES: "true",
    HOME: home
  }
  const ask = (path: string) =>
    fetch(`http://${rest}${path}`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined)
  let patroni: ChildProcess | undefined
  const server: PatroniServer = {
    start: () => {
      patroni = serve(programs.patroni, [pathOf("patroni.yml")], env)
    },
    kill: async () => {
      if (patroni !== undefined) await end(patroni, "SIGKILL")
      const pid = files.readPostmaster(data)?.pid
      try {
        if (pid !== undefined) process.kill(pid, "SIGKILL")
      } catch {
        // It had ended.
      }
    },
    cut: () => {
      for (const door of all) door.silence("both")
    },
    heal: () => {
      for (const door of all) door.heal()
    },
    isPrimary: async () => (await ask("/primary"))?.status === 200,
    members: async () => {
      const answer = await ask("/cluster")
      return answer?.ok === true ? (await answer.json()).members : []
    },
    switchover: async (candidate) => {
      const command = ["-c", pathOf("patroni.yml"), "switchover", "--candidate", candidate, "--force"]
      await finish("/usr/bin/patronictl", command, env)
      return !(await server.isPrimary())
    }
  }
  const stop = async () => {
    await server.kill()
    for (const door of all) await door.stop()
  }
  return { name, server, doors, stop }
}

export const startPatroni = async (): Promise<PatroniCluster> => {
  const system = systemPostgres({})
  const { end, serve, said, urlOf } = system
  const etcd = await startEtcd(system)
  const started = await Promise.all(names.map((name) => startServer(name, system, etcd)))
  const servers = started.map(({ server }) => server)
  const listen = `127.0.0.1:${await freePort()}`
  const addresses = started.flatMap(({ name, doors }) => [
    [`${name.toUpperCase()}_POSTGRES`, hostPort(doors.postgres.url)],
    [`${name.toUpperCase()}_REST_PORT`, portOf(doors.rest.url)]
  ])
  const haproxy = serve(
    programs.haproxy,
    ["-db", "-f", pathOf("haproxy.cfg")],
    deployed("haproxy.env", { PRIMARY_LISTEN: listen, ...Object.fromEntries(addresses) })
  )
  const addressOf = (database: string) => urlOf(Number(listen.split(":")[1]), database)
  const explained = <A>(what: Promise<A>) =>
    what.catch((error) => {
      throw new Error(`${error}\n${said()}`)
    })
  const cluster: PatroniCluster = {
    etcd,
    urlOf: addressOf,
    primary: (former) =>
      explained(
        until("a primary", 60_000, async () => {
          for (const server of servers) if (server !== former && (await server.isPrimary())) return server
          return undefined
        })
      ),
    switchover: () =>
      explained(
        until("a switchover", 60_000, async () => {
          const primary = await cluster.primary()
          const standby = (await primary.members()).find(({ role }) => role === "sync_standby")
          return standby !== undefined && (await primary.switchover(standby.name)) && primary
        })
      ),
    whole: async () => {
      await explained(
        until("one primary and two standbys", 90_000, async () => {
          const members = await (await cluster.primary()).members()
          const roles = members.map(({ role }) => role).toSorted()
          const timelines = new Set(members.map(({ timeline }) => timeline))
          return (
            roles.join() === "leader,replica,sync_standby" &&
            members.every(({ state }) => state === "running" || state === "streaming") &&
            timelines.size === 1
          )
        })
      )
      await explained(
        until("an address that leads to the primary", 30_000, async () => {
          const [row] = await sqlAt(addressOf("postgres"), "SELECT pg_is_in_recovery() AS standby").catch(() => [])
          return row?.["standby"] === false
        })
      )
    },
    stop: async () => {
      await end(haproxy, "SIGKILL")
      for (const { stop } of started) await stop()
      await etcd.stop()
    }
  }
  // The first one makes the cluster, so that the others need not race for it.
  servers[0]?.start()
  await cluster.primary()
  for (const server of servers.slice(1)) server.start()
  await cluster.whole()
  return cluster
}
