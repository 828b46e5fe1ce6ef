/**
 * Everything that a service has stored, as text to search: every row of every table, BullMQ's schema included, and every key of Redis.
 * `recordRedis` also keeps every command that Redis is sent, because a finished job leaves no key behind.
 */
import { Redis } from "ioredis"
import type { App } from "./app.ts"

/** Where a piece of text was found: a table, a Redis key, a log line. */
export interface Stored {
  readonly place: string
  readonly text: string
}

export const dumpDatabase = async (app: App): Promise<ReadonlyArray<Stored>> => {
  const tables = await app.sql(
    `SELECT format('%I.%I', schemaname, tablename) AS place FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
       -- Partitions are read with their table.
       AND NOT (SELECT relispartition FROM pg_class WHERE oid = format('%I.%I', schemaname, tablename)::regclass)`
  )
  const stored: Array<Stored> = []
  for (const { place } of tables) {
    const rows = await app.sql(`SELECT row::text AS text FROM ${String(place)} AS row`)
    for (const { text } of rows) stored.push({ place: String(place), text: String(text) })
  }
  return stored
}

const valueOf = async (redis: Redis, key: string): Promise<unknown> => {
  const type = await redis.type(key)
  if (type === "string") return redis.get(key)
  if (type === "hash") return redis.hgetall(key)
  if (type === "list") return redis.lrange(key, 0, -1)
  if (type === "set") return redis.smembers(key)
  if (type === "zset") return redis.zrange(key, 0, -1, "WITHSCORES")
  if (type === "stream") return redis.xrange(key, "-", "+")
  // It has expired since the keys were listed.
  if (type === "none") return null
  throw new Error(`Redis key ${key} has the unknown type ${type}`)
}

export const dumpRedis = async (url: string): Promise<ReadonlyArray<Stored>> => {
  const redis = new Redis(url)
  try {
    const keys = await redis.keys("*")
    const read = async (key: string) => ({ place: key, text: `${key} ${JSON.stringify(await valueOf(redis, key))}` })
    return await Promise.all(keys.map(read))
  } finally {
    redis.disconnect()
  }
}

/** Every command that the Redis server executes from now on: keys, job payloads, published messages. */
export const recordRedis = async (url: string) => {
  const redis = new Redis(url)
  const commands: Array<Stored> = []
  const monitor = await redis.monitor()
  monitor.on("monitor", (_time: string, args: ReadonlyArray<string>) => {
    commands.push({ place: `command ${args[0]}`, text: args.join(" ") })
  })
  return {
    commands,
    stop: () => {
      monitor.disconnect()
      redis.disconnect()
    }
  }
}

/** The forms in which a text may be stored: as it is, encoded for a URL, and as hexadecimal or Base64 bytes. */
const formsOf = (text: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(text)
  // Base64 of a part depends on the bytes before it: the middle of each of the three alignments is the same everywhere.
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(shift === 0 ? 0 : 4, -4)
  )
  return [text, encodeURIComponent(text), bytes.toString("hex"), ...base64.filter((one) => one.length >= 12)]
}

/** The places whose text has one of the needles in any form, each once. A needle is named by its label, never repeated. */
export const hitsIn = (
  stored: ReadonlyArray<Stored>,
  needles: Readonly<Record<string, string>>
): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const [label, needle] of Object.entries(needles)) {
    const forms = formsOf(needle).map((one) => one.toLowerCase())
    for (const { place, text } of stored) {
      const lower = text.toLowerCase()
      if (forms.some((form) => lower.includes(form))) found.add(`${label} in ${place}`)
    }
  }
  return [...found].sort()
}
