/** A Redis with one replica and three Sentinels, all on this machine and behind one password. A killed master is replaced within seconds. */
import { freePort } from "./ports.ts"
import { until } from "./processes.ts"
import { type RedisProcess, startRedisProcess } from "./redis-process.ts"

/** After this silence the Sentinels call a master dead. */
const downAfterMillis = 2_000
const name = "rungate-queues"
const password = "secret-of-redis"

export interface Sentinels {
  /** As `REDIS_URL` names them. */
  readonly url: string
  /** The address of one Sentinel, as of a single server. */
  readonly address: string
  readonly name: string
  /** Which server the Sentinels call the master. */
  readonly master: () => Promise<RedisProcess>
  /** Waits until all Sentinels call another one the master, and that one is. */
  readonly replaced: (former: RedisProcess) => Promise<RedisProcess>
  readonly stop: () => Promise<void>
}

export const startSentinels = async (): Promise<Sentinels> => {
  const lines = ['save ""', "appendonly no", `masterauth ${password}`]
  const start = async (more: ReadonlyArray<string>) =>
    startRedisProcess({ port: await freePort(), password, lines: [...lines, ...more] })
  const first = await start([])
  const second = await start([`replicaof 127.0.0.1 ${first.port}`])
  const servers = [first, second]
  const watch = [
    `sentinel monitor ${name} 127.0.0.1 ${first.port} 2`,
    `sentinel auth-pass ${name} ${password}`,
    `sentinel down-after-milliseconds ${name} ${downAfterMillis}`,
    `sentinel failover-timeout ${name} 10000`
  ]
  const sentinels = await Promise.all(
    [1, 2, 3].map(async () =>
      startRedisProcess({ port: await freePort(), password, lines: watch, flags: ["--sentinel"] })
    )
  )
  const asMaster = async ({ client }: RedisProcess) => {
    const address = await client.call("SENTINEL", "get-master-addr-by-name", name)
    return Number(String(address).split(",")[1])
  }
  const ofPort = (port: number | undefined) => servers.find((server) => server.port === port)
  await until("Sentinels that know each other and the replica", 30_000, async () => {
    const states = await Promise.all(sentinels.map(({ client }) => client.info("sentinel")))
    return states.every((state) => /status=ok,[^\n]*slaves=1,sentinels=3/.test(state))
  })
  await until("a replica that follows", 30_000, async () =>
    (await second.client.info("replication")).includes("master_link_status:up")
  )
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`)
  return {
    url: `redis+sentinel://:${password}@${hosts.join(",")}/${name}`,
    address: `redis://:${password}@${hosts[0]}`,
    name,
    master: () =>
      until("a master", 20_000, async () => {
        const ports = await Promise.all(sentinels.map(asMaster))
        return new Set(ports).size === 1 ? ofPort(ports[0]) : undefined
      }),
    replaced: (former) =>
      until("another master", 30_000, async () => {
        const ports = await Promise.all(sentinels.map(asMaster))
        const master = new Set(ports).size === 1 ? ofPort(ports[0]) : undefined
        if (master === undefined || master === former) return undefined
        return (await master.client.info("replication")).includes("role:master") && master
      }),
    stop: async () => {
      for (const { kill } of [...sentinels, ...servers]) await kill()
    }
  }
}
