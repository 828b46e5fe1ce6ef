/**
 * The connection to Redis or to a Redis Cluster if `REDIS_URL` is set. It is checked at start, and shared by queues, signals and rate limits.
 *
 * Redis never has the only copy of any data. While it is down, commands fail fast and callers continue without it. A service that starts
 * while Redis is away waits for it; see RedisStart.ts.
 */
import { Cluster, type ClusterOptions, Redis as IORedis, type RedisOptions } from "ioredis"
import { Context, Effect, Layer, Redacted } from "effect"
import { type RedisCluster, redisClusterOf } from "../platform/settings/ServerUrls.ts"
import { Settings } from "../platform/Settings.ts"
import { type Client, opened, RedisUnavailable } from "./RedisStart.ts"

export interface RedisShape {
  readonly client: Client
  /** Opens another connection, for blocking reads and subscriptions. It reconnects forever. The caller closes it. */
  readonly dedicated: () => Client
  /** Sends one command. A cluster gets it at the node of its first key, and a script at all nodes that accept writes. */
  readonly send: (command: string, ...args: ReadonlyArray<string>) => Promise<unknown>
  /**
   * The prefix of keys that scripts use together. A cluster stores keys with the same `{…}` on the same node and refuses scripts over
   * several nodes. Without a cluster the prefix has no braces, because another prefix would lose the wake-ups that wait.
   */
  readonly together: (prefix: string) => string
}

const retryStrategy = (times: number) => Math.min(times * 100, 2_000)

const dedicatedOptions: RedisOptions = { maxRetriesPerRequest: null, enableOfflineQueue: true, retryStrategy }
const sharedOptions: RedisOptions = { maxRetriesPerRequest: 1, enableOfflineQueue: false, retryStrategy }

/** A node that was replaced is noticed by its refused commands, and after this time without any. */
const slotsRefreshMillis = 5_000

const clusterOptions = ({ username, password, tls }: RedisCluster, node: RedisOptions): ClusterOptions => ({
  enableOfflineQueue: node.enableOfflineQueue ?? false,
  clusterRetryStrategy: retryStrategy,
  slotsRefreshInterval: slotsRefreshMillis,
  redisOptions: {
    maxRetriesPerRequest: node.maxRetriesPerRequest ?? null,
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls ? { tls: {} } : {})
  },
  // A certificate names the host and not its address.
  ...(tls ? { dnsLookup: (host: string, use: (error: null, address: string) => void) => use(null, host) } : {})
})

/** A node of a cluster refuses most keys of a client that does not know about the others. */
const refuseCluster = (client: IORedis, place: string) =>
  Effect.tryPromise(() => client.info("cluster")).pipe(
    Effect.orElseSucceed(() => ""),
    Effect.flatMap((info) =>
      info.includes("cluster_enabled:1")
        ? Effect.fail(
            new RedisUnavailable({
              message: `Redis at ${place} is a node of a Redis Cluster. Set REDIS_URL=redis+cluster://${place} (docs/operate.md, Redis Cluster).`
            })
          )
        : Effect.void
    )
  )

const ofCluster = Effect.fnUntraced(function* (cluster: RedisCluster) {
  const place = cluster.nodes.map(({ host, port }) => `${host}:${port}`).join(",")
  const open = (options: RedisOptions) => new Cluster([...cluster.nodes], clusterOptions(cluster, options))
  const client = yield* opened(() => open(sharedOptions), place)
  return {
    client,
    dedicated: () => open(dedicatedOptions).on("error", () => {}),
    send: async (command: string, ...args: ReadonlyArray<string>) => {
      if (command !== "SCRIPT") return client.call(command, ...args)
      const [first] = await Promise.all(client.nodes("master").map((node) => node.call(command, ...args)))
      return first
    },
    together: (prefix: string) => `{${prefix}}`
  }
})

const ofServer = Effect.fnUntraced(function* (url: string) {
  const { hostname, port } = new URL(url)
  const place = `${hostname}:${port === "" ? "6379" : port}`
  const client = yield* opened(() => new IORedis(url, sharedOptions), place)
  yield* refuseCluster(client, place)
  return {
    client,
    dedicated: () => new IORedis(url, dedicatedOptions).on("error", () => {}),
    send: (command: string, ...args: ReadonlyArray<string>) => client.call(command, ...args),
    together: (prefix: string) => prefix
  }
})

/** Null without `REDIS_URL`. Queues and signals then use Postgres, and each process limits rates on its own. */
export class Redis extends Context.Service<Redis, RedisShape | null>()("rungate/layers/queues/Redis") {
  static readonly layer = Layer.effect(
    Redis,
    Effect.gen(function* () {
      const { redisUrl } = yield* Settings
      if (redisUrl === null) return null
      const url = Redacted.value(redisUrl)
      const cluster = redisClusterOf(url)
      return cluster === null ? yield* ofServer(url) : yield* ofCluster(cluster)
    })
  )
}
