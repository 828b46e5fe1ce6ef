/** Reads the addresses of other servers from the environment: PostgreSQL, Redis, mail and name servers. */
import { isIP } from "node:net"
import { Redacted } from "effect"
import { type SettingsReader, secret } from "./SettingsReader.ts"

const postgres = ["postgres", "postgresql"]

/** libpq reads several hosts, and the service's driver does not. */
const severalHosts = /^postgres(?:ql)?:\/\/(?:[^/@]*@)?[^/@?]*,[^/@?]*(?:[/?]|$)/

const primaryHost = "an address that leads to the current primary (docs/operate.md, A standby that takes over)"
const readHost = "a streaming standby (docs/scaling.md)"

const postgresUrlOf = (
  read: SettingsReader,
  name: string,
  description: string,
  usual: string = "unset",
  host: string = primaryHost
) => {
  if (!severalHosts.test(read.textOf(name) ?? ""))
    return read.url(name, postgres, description, { default: usual, secret: true })
  read.problems.push(`${name} must name one host: ${host}`)
  return null
}

/** A name that needs no quotes, so that it can be typed in SQL. Names that begin with pg_ are the server's own. */
const schemaName = /^(?!pg_)[a-z_][a-z0-9_]{0,39}$/

const databaseSchemaOf = (read: SettingsReader) => {
  const name = "RUNGATE_DATABASE_SCHEMA"
  const schema = read.text(
    name,
    null,
    "the [schema](#several-installations-in-one-database) of all tables; made at the first start",
    { default: "the role's, usually public" }
  )
  if (schema === null || schemaName.test(schema)) return schema
  read.problems.push(
    `${name} must have 1 to 40 small letters, digits or underscores, and begin with no digit and not with pg_`
  )
  return null
}

export const databaseUrlsOf = (read: SettingsReader) => {
  const url = postgresUrlOf(read, "DATABASE_URL", "PostgreSQL", "unset: embedded")
  const pooler = "the server's own address if `DATABASE_URL` is a [connection pooler](#a-connection-pooler)"
  const direct = postgresUrlOf(read, "DATABASE_DIRECT_URL", pooler)
  const standby = "a streaming standby that answers lists and history while it is up to date"
  const owner = "the schema owner's URL, for `rungate migrate`; see [database roles](database-roles.md)"
  if (direct !== null && read.textOf("DATABASE_URL") === undefined) {
    read.problems.push(
      "DATABASE_DIRECT_URL is set, but DATABASE_URL is missing: set DATABASE_URL to the address of the connection pooler, or unset DATABASE_DIRECT_URL"
    )
  }
  return {
    databaseSchema: databaseSchemaOf(read),
    databaseUrl: secret(url),
    databaseDirectUrl: secret(direct),
    databaseReadUrl: secret(postgresUrlOf(read, "DATABASE_READ_URL", standby, "unset", readHost)),
    migrationDatabaseUrl: secret(read.url("RUNGATE_MIGRATION_DATABASE_URL", postgres, owner, { secret: true }))
  }
}

interface Node {
  readonly host: string
  readonly port: number
}

/** A Redis Cluster, or the Sentinels of a Redis: some of the nodes, from which the client learns the others. */
export interface RedisGroup {
  readonly nodes: ReadonlyArray<Node>
  /** The name that the Sentinels have for their Redis. Null: a Redis Cluster. */
  readonly watched: string | null
  readonly username: string | null
  readonly password: string | null
  readonly tls: boolean
}

const portDefault = 6379
const sentinelPortDefault = 26_379
const groupUrl = /^(rediss?)\+(?:cluster|(sentinel)):\/\/(?:(?:([^:@/]*):)?([^@/]*)@)?([^/@?#]+)(?:\/([\w.-]+)?)?$/

const nodeOf = (text: string, usual: number): ReadonlyArray<Node> => {
  const [, six, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text.trim()) ?? []
  const host = six ?? plain
  return host === undefined ? [] : [{ host, port: port === undefined ? usual : Number(port) }]
}

/** Undefined if it is not percent-encoded as an address must be. */
const decoded = (text: string | undefined): string | null | undefined => {
  if (text === undefined || text === "") return null
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The address of such a group, with `user:password@` before the hosts and `rediss` for TLS. Null if the text is none. */
export const redisGroupOf = (text: string): RedisGroup | null => {
  const [, scheme, sentinel, name, secretText, hosts, watched] = groupUrl.exec(text) ?? []
  if (hosts === undefined || (sentinel === undefined) !== (watched === undefined)) return null
  const names = hosts.split(",")
  const nodes = names.flatMap((text) => nodeOf(text, sentinel === undefined ? portDefault : sentinelPortDefault))
  const username = decoded(name)
  const password = decoded(secretText)
  if (nodes.length !== names.length || username === undefined || password === undefined) return null
  return { nodes, watched: watched ?? null, username, password, tls: scheme === "rediss" }
}

/** Several nodes in the address of a single server. A password may have commas too. */
const severalServers = /^rediss?:\/\/(?:[^/@]*@)?[^/@?]*,[^/@?]*(?:[/?]|$)/

export const redisUrlOf = (read: SettingsReader) => {
  const text = read.textOf("REDIS_URL")
  const words = "Redis: `redis://host:port`, a [Redis Cluster](#redis-cluster), or its [Sentinels](#redis-sentinel)"
  if (text === undefined || !(/^rediss?\+(?:cluster|sentinel):/.test(text) || severalServers.test(text)))
    return secret(read.url("REDIS_URL", ["redis", "rediss"], words, { secret: true }))
  if (redisGroupOf(text) !== null) return secret(text)
  read.problems.push(
    "REDIS_URL of several servers must be redis+cluster://host:port,host:port for a Redis Cluster, or redis+sentinel://host:port,host:port/name for Redis Sentinel (rediss+ for TLS), with user:password@ before the first host and without a database number"
  )
  return null
}

/** The SMTP server that sends e-mails. Its URL may contain a password. */
export interface MailServer {
  readonly url: Redacted.Redacted
  /** The From header. */
  readonly from: string
}

const mailbox = /^(?:[^<>\p{Cc}]{1,100}<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u

export const mailOf = (read: SettingsReader, publicUrl: string | null): MailServer | null => {
  const url = read.url(
    "RUNGATE_SMTP_URL",
    ["smtp", "smtps"],
    "mail server; unset: no mail is sent; a sandbox prints it to the log",
    { secret: true, reloads: true }
  )
  const host = publicUrl === null ? "localhost" : new URL(publicUrl).hostname
  const from = read.text("RUNGATE_MAIL_FROM", `Rungate <no-reply@${host}>`, "sender of mails", {
    default: "`no-reply@` the public host",
    reloads: true
  })
  if (!mailbox.test(from)) {
    read.problems.push(
      "RUNGATE_MAIL_FROM must be an e-mail address, or a name and an address: Rungate <no-reply@example.com>"
    )
  }
  return url === null ? null : { url: Redacted.make(url), from }
}

/** `1.2.3.4`, `1.2.3.4:53`, `::1` or `[::1]:53`. */
const isServer = (text: string): boolean => {
  const host = /^\[(.+)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+)(?::\d{1,5})?$/.exec(text)?.[1] ?? text
  return isIP(host) !== 0
}

export const dnsServersOf = (read: SettingsReader): ReadonlyArray<string> => {
  const servers = read.list("RUNGATE_DNS_SERVERS", "name servers for proofs of sending domains", {
    default: "the system's"
  })
  if (servers.every(isServer)) return servers
  read.problems.push("RUNGATE_DNS_SERVERS must be IP addresses, each with or without a port, separated by commas")
  return []
}
