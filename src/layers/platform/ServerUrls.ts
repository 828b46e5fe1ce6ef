/** Reads the addresses of PostgreSQL and Redis from the environment. */
import { type SettingsReader, secret } from "./SettingsReader.ts"

const postgres = ["postgres", "postgresql"]

export const databaseUrlsOf = (read: SettingsReader) => {
  const url = read.url("DATABASE_URL", postgres)
  const direct = read.url("DATABASE_DIRECT_URL", postgres)
  if (direct !== null && read.text("DATABASE_URL") === undefined) {
    read.problems.push(
      "DATABASE_DIRECT_URL is set, but DATABASE_URL is missing: set DATABASE_URL to the address of the connection pooler, or unset DATABASE_DIRECT_URL"
    )
  }
  return {
    databaseUrl: secret(url),
    databaseDirectUrl: secret(direct),
    migrationDatabaseUrl: secret(read.url("RUNGATE_MIGRATION_DATABASE_URL", postgres))
  }
}

interface Node {
  readonly host: string
  readonly port: number
}

/** A Redis Cluster: some of its nodes, from which the client learns the others. */
export interface RedisCluster {
  readonly nodes: ReadonlyArray<Node>
  readonly username: string | null
  readonly password: string | null
  readonly tls: boolean
}

const portDefault = 6379
const clusterUrl = /^(rediss?)\+cluster:\/\/(?:(?:([^:@/]*):)?([^@/]*)@)?([^/@?#]+)\/?$/

const nodeOf = (text: string): ReadonlyArray<Node> => {
  const [, six, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text.trim()) ?? []
  const host = six ?? plain
  return host === undefined ? [] : [{ host, port: port === undefined ? portDefault : Number(port) }]
}

const decoded = (text: string | undefined): string | null => {
  if (text === undefined || text === "") return null
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** `redis+cluster://user:password@host:port,host:port`, with `rediss` for TLS. Null if the text is no such address. */
export const redisClusterOf = (text: string): RedisCluster | null => {
  const [, scheme, username, password, hosts] = clusterUrl.exec(text) ?? []
  if (hosts === undefined) return null
  const names = hosts.split(",")
  const nodes = names.flatMap(nodeOf)
  if (nodes.length !== names.length) return null
  return { nodes, username: decoded(username), password: decoded(password), tls: scheme === "rediss" }
}

export const redisUrlOf = (read: SettingsReader) => {
  const text = read.text("REDIS_URL")
  if (text === undefined || !(/^rediss?\+cluster:/.test(text) || /^rediss?:\/\/[^/]*,/.test(text)))
    return secret(read.url("REDIS_URL", ["redis", "rediss"]))
  if (redisClusterOf(text) !== null) return secret(text)
  read.problems.push(
    "REDIS_URL of a Redis Cluster must be redis+cluster://host:port,host:port (rediss+cluster:// for TLS), with user:password@ before the first host and without a database number"
  )
  return null
}
