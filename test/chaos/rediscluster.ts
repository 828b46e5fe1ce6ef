/** A Redis Cluster of three masters with a replica each, all on this machine. A killed master is replaced within about two seconds. */
import { freePort } from "./ports.ts"
import { until } from "./processes.ts"
import { type RedisProcess, startRedisProcess } from "./redis-process.ts"

const masters = 3
/** After this silence the other masters call a node dead. */
const nodeTimeoutMillis = 1_000

export interface RedisClusterServers {
  /** As `REDIS_URL` names it. */
  readonly url: string
  readonly nodes: ReadonlyArray<RedisProcess>
  /** The master that holds the slot of this key, as a living node sees it. */
  readonly masterOf: (key: string) => Promise<RedisProcess>
  /** Waits until all slots have a master again, and this key another one than `former`. */
  readonly replaced: (former: RedisProcess, key: string) => Promise<void>
  readonly stop: () => Promise<void>
}

/** A node's second port is 10,000 higher. */
const startNode = async () =>
  startRedisProcess({
    port: await freePort(10_000),
    lines: [
      'save ""',
      "appendonly no",
      "cluster-enabled yes",
      `cluster-node-timeout ${nodeTimeoutMillis}`,
      // A replica without data of its master may take over too: every job can be lost.
      "cluster-replica-validity-factor 0"
    ]
  })

export const startRedisCluster = async (): Promise<RedisClusterServers> => {
  const nodes = await Promise.all(Array.from({ length: masters * 2 }, startNode))
  const [first] = nodes
  if (first === undefined) throw new Error("no node")
  const share = Math.ceil(16_384 / masters)
  for (const [index, { client }] of nodes.slice(0, masters).entries())
    await client.call("CLUSTER", "ADDSLOTSRANGE", `${index * share}`, `${Math.min(16_383, (index + 1) * share - 1)}`)
  for (const [index, { client }] of nodes.entries()) await client.call("CLUSTER", "SET-CONFIG-EPOCH", `${index + 1}`)
  for (const { port } of nodes.slice(1)) await first.client.call("CLUSTER", "MEET", "127.0.0.1", `${port}`)
  const idOf = new Map<number, string>()
  for (const { client, port } of nodes) idOf.set(port, String(await client.call("CLUSTER", "MYID")))
  for (const [index, { client }] of nodes.slice(masters).entries()) {
    const master = idOf.get(nodes[index]?.port ?? 0) ?? ""
    await until("a node that knows its master", 10_000, () =>
      client.call("CLUSTER", "REPLICATE", master).then(
        () => true,
        () => false
      )
    )
  }
  const living = () => nodes.filter(({ alive }) => alive())
  const whole = () =>
    until("a whole cluster", 20_000, async () => {
      const states = await Promise.all(living().map(({ client }) => client.call("CLUSTER", "INFO")))
      return states.every((state) => String(state).includes("cluster_state:ok"))
    })
  const cluster: RedisClusterServers = {
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    nodes,
    masterOf: async (key) => {
      const [one] = living()
      if (one === undefined) throw new Error("every node is dead")
      const slot = Number(await one.client.call("CLUSTER", "KEYSLOT", key))
      const ranges = JSON.parse(JSON.stringify(await one.client.call("CLUSTER", "SLOTS")))
      const [, , [, port] = []] = ranges.find(([from, to]: [number, number]) => from <= slot && slot <= to) ?? []
      const master = nodes.find((node) => node.port === port)
      if (master === undefined) throw new Error(`no master has slot ${slot}`)
      return master
    },
    replaced: async (former, key) => {
      await until("another master", 20_000, async () => (await cluster.masterOf(key)).port !== former.port)
      await whole()
    },
    stop: async () => {
      for (const { kill } of nodes) await kill()
    }
  }
  await whole()
  await until("replicas that follow", 10_000, async () => {
    const infos = await Promise.all(nodes.slice(masters).map(({ client }) => client.info("replication")))
    return infos.every((info) => info.includes("master_link_status:up"))
  })
  return cluster
}
