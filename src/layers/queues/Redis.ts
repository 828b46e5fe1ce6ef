/**
 * The connection to Redis, to a Redis Cluster or to what Redis Sentinel calls the master, if `REDIS_URL` is set. It is checked at start, and shared by queues, signals and rate limits.
 *
 * Redis never has the only copy of any data. While it is down, commands fail fast and callers continue without it. A service that starts
 * while Redis is away waits for it; see RedisStart.ts.
 */
import { Cluster, type ClusterOptions, Redis as IORedis, type RedisOptions } from "ioredis"
import { Context, Effect, Layer, Redacted } from "effect"
import { type RedisGroup, redisGroupOf } from "../platform/settings/ServerUrls.ts"
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

const credentialsOf = ({ username, password, tls }: RedisGroup): RedisOptions => ({
  ...(username === null ? {} : { username }),
  ...(password === null ? {} : { password }),
  ...(tls ? { tls: {} } : {})
})

const clusterOptions = (cluster: RedisGroup, node: RedisOptions): ClusterOptions => ({
  enableOfflineQueue: node.enableOfflineQueue ?? false,
  clusterRetryStrategy: retryStrategy,
  slotsRefreshInterval: slotsRefreshMillis,
  redisOptions: { maxRetriesPerRequest: node.maxRetriesPerRequest ?? null, ...credentialsOf(cluster) },
  // A certificate names the host and not its address.
  ...(cluster.tls ? { dnsLookup: (host: string, use: (error: null, address: string) => void) => use(null, host) } : {})
})

/** After this time the next Sentinel is asked. */
const sentinelMillis = 2_000

/**
 * Asked again whenever a connection ends, so that the next one leads to the new master. Without `failoverDetector`: with it, some
 * subscriptions did not come back within a minute after a master was killed.
 */
const sentinelOptions = (group: RedisGroup, name: string): RedisOptions => ({
  sentinels: [...group.nodes],
  name,
  sentinelRetryStrategy: retryStrategy,
  // One that accepts connections and does not answer is otherwise waited for without end.
  sentinelCommandTimeout: sentinelMillis,
  ...credentialsOf(group),
  ...(group.password === null ? {} : { sentinelPassword: group.password }),
  ...(group.tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {})
})

/** These refuse most commands of a client that takes them for a single server. */
const otherForms: Readonly<Record<string, (place: string) => string>> = {
  cluster: (place) =>
    `a node of a Redis Cluster. Set REDIS_URL=redis+cluster://${place} (docs/operate.md, Redis Cluster)`,
  sentinel: (place) =>
    `a Redis Sentinel. Set REDIS_URL=redis+sentinel://${place}/<name> (docs/operate.md, Redis Sentinel)`
}

const refuseOthers = (client: IORedis, place: string) =>
  Effect.tryPromise(() => client.info("server")).pipe(
    Effect.orElseSucceed(() => ""),
    Effect.flatMap((info) => {
      const isOther = otherForms[/redis_mode:(\w+)/.exec(info)?.[1] ?? ""]
      return isOther === undefined
        ? Effect.void
        : Effect.fail(new RedisUnavailable({ message: `Redis at ${place} is ${isOther(place)}.` }))
    })
  )

const placeOf = ({ nodes, watched }: RedisGroup) =>
  `${nodes.map(({ host, port }) => `${host}:${port}`).join(",")}${watched === null ? "" : `/${watched}`}`

const ofCluster = Effect.fnUntraced(function* (cluster: RedisGroup) {
  const open = (options: RedisOptions) => new Cluster([...cluster.nodes], clusterOptions(cluster, options))
  const client = yield* opened(() => open(sharedOptions), placeOf(cluster))
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

const ofServer = Effect.fnUntraced(function* (open: (options: RedisOptions) => IORedis, place: string) {
  const client = yield* opened(() => open(sharedOptions), place)
  yield* refuseOthers(client, place)
  return {
    client,
    dedicated: () => open(dedicatedOptions).on("error", () => {}),
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
      const group = redisGroupOf(url)
      if (group === null) {
        const { hostname, port } = new URL(url)
        return yield* ofServer((options) => new IORedis(url, options), `${hostname}:${port === "" ? "6379" : port}`)
      }
      const { watched } = group
      if (watched === null) return yield* ofCluster(group)
      return yield* ofServer(
        (options) => new IORedis({ ...sentinelOptions(group, watched), ...options }),
        placeOf(group)
      )
    })
  )
}
