/** Three etcd servers on this machine, with the settings of deploy/patroni/etcd.env. Any of them can be killed and started again. */
import type { ChildProcess } from "node:child_process"
import { deployed } from "./deployed.ts"
import { freePort } from "./ports.ts"
import { until } from "./processes.ts"
import type { SystemPostgres } from "./system-postgres.ts"

const names = ["a", "b", "c"] as const

interface EtcdServer {
  readonly url: string
  readonly start: () => void
  readonly kill: () => Promise<void>
}

export interface Etcd {
  readonly urls: ReadonlyArray<string>
  /** Waits until one of them leads, and answers which. */
  readonly leader: () => Promise<EtcdServer>
  /** Waits until all three follow one leader. */
  readonly whole: () => Promise<void>
  readonly stop: () => Promise<void>
}

interface Status {
  readonly leader?: string
  readonly header: { readonly member_id: string }
}

const statusOf = async (url: string): Promise<Status | undefined> => {
  const request = { method: "POST", body: "{}", signal: AbortSignal.timeout(2_000) }
  const answer = await fetch(`${url}/v3/maintenance/status`, request).catch(() => undefined)
  return answer?.ok === true ? await answer.json() : undefined
}

/** Of these folders and this account. */
export const startEtcd = async ({ folder, serve, said, end }: SystemPostgres): Promise<Etcd> => {
  const members = await Promise.all(
    names.map(async (name) => {
      const url = `http://127.0.0.1:${await freePort()}`
      return { name, url, peer: `http://127.0.0.1:${await freePort()}`, data: folder(`etcd-${name}`) }
    })
  )
  const servers = members.map(({ name, url, peer, data }) => {
    let child: ChildProcess | undefined
    const env = deployed("etcd.env", {
      ETCD_NAME: name,
      ETCD_DATA_DIR: data,
      ETCD_LISTEN_CLIENT_URLS: url,
      ETCD_ADVERTISE_CLIENT_URLS: url,
      ETCD_LISTEN_PEER_URLS: peer,
      ETCD_INITIAL_ADVERTISE_PEER_URLS: peer,
      ETCD_INITIAL_CLUSTER: members.map((one) => `${one.name}=${one.peer}`).join(",")
    })
    return {
      url,
      start: () => {
        child = serve("/usr/bin/etcd", [], env)
      },
      kill: async () => {
        if (child !== undefined) await end(child, "SIGKILL")
      }
    }
  })
  for (const { start } of servers) start()
  const leaders = async () => {
    const states = await Promise.all(servers.map(({ url }) => statusOf(url)))
    return {
      states,
      leading: states.findIndex((state) => state !== undefined && state.leader === state.header.member_id)
    }
  }
  const etcd: Etcd = {
    urls: servers.map(({ url }) => url),
    leader: () => until("a leader of etcd", 30_000, async () => servers[(await leaders()).leading]),
    whole: async () => {
      await until("three etcd servers", 30_000, async () => {
        const { states, leading } = await leaders()
        return leading >= 0 && states.every((state) => state?.leader === states[leading]?.leader)
      }).catch((error) => {
        throw new Error(`${error}\n${said()}`)
      })
    },
    stop: async () => {
      for (const { kill } of servers) await kill()
    }
  }
  await etcd.whole()
  return etcd
}
