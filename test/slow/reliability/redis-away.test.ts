/**
 * A service that starts while Redis is away waits for it: it is alive, not ready, says why, and continues by itself when Redis answers.
 * A wrong password is named each time. An operator's command does not wait.
 */
import { afterEach, describe, expect, test } from "bun:test"
import { createServer } from "node:net"
import { Redis } from "ioredis"
import { troubleOf } from "../../../src/layers/queues/RedisStart.ts"
import { type Run, runMain, until } from "../../chaos/processes.ts"
import { breakableRedis, type Server } from "../../chaos/servers.ts"
import { exhaustive } from "../../kit/input-samples.ts"
import { preparedDatabase } from "../../kit/postgres.ts"
import { startRedis } from "../../kit/redis.ts"

const millisMax = 50_000

const servers: Array<Server> = []
const runs: Array<Run> = []
afterEach(async () => {
  for (const { child, ended } of runs.splice(0)) {
    child.kill("SIGKILL")
    await ended
  }
  for (const server of servers.splice(0)) await server.end("SIGKILL")
})

const redisServer = async () => {
  const redis = await breakableRedis()
  if (redis === undefined) throw new Error("redis-server is not installed")
  servers.push(redis)
  return redis
}

const serve = async (role: string, redisUrl: string) => {
  const env = { PORT: "0", DATABASE_URL: await preparedDatabase(), REDIS_URL: redisUrl }
  const run = runMain(["serve", "--role", role], env)
  runs.push(run)
  const output = () => `${run.output()}${run.errors()}`
  const said = (pattern: RegExp) =>
    until(String(pattern), millisMax, () => {
      if (run.child.exitCode !== null) throw new Error(`it ended:\n${output()}`)
      return pattern.exec(output())?.[1]
    })
  return { ...run, said, text: output }
}

const waitingUrl = /(http:\/\/[^/]+)\/readyz answers 503/
const readyz = async (url: string) => {
  const answer = await fetch(`${url}/readyz`)
  return [answer.status, await answer.json()] as const
}

describe.if((await startRedis()) !== undefined)("a start while Redis is away", () => {
  test("it waits, says so, and is ready when Redis is there", async () => {
    const redis = await redisServer()
    await redis.end("SIGKILL")
    const service = await serve("all", redis.url.replace("://", "://:hidden@"))
    const url = await service.said(waitingUrl)
    expect(await readyz(url)).toEqual([
      503,
      { status: "not ready", checks: { redis: "unreachable; the service starts when it answers" } }
    ])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    const refused = await fetch(`${url}/v1/run`, { method: "POST", body: "{}" })
    const { error, request_id } = await refused.json()
    expect([refused.status, refused.headers.get("retry-after"), error.code]).toEqual([503, "1", "service_unavailable"])
    expect(request_id).toBe(refused.headers.get("x-request-id"))
    const lines = service.text().split("\n")
    const waits = lines.filter((line) => line.includes("Waiting for Redis at 127.0.0.1:"))
    expect(waits).toHaveLength(1)
    expect(waits[0]).toMatch(/ECONNREFUSED.+Check REDIS_URL and that the server runs/)
    expect(service.text()).not.toContain("hidden")

    await redis.start()
    const ready = await service.said(/listens on (http:\/\/\S+)/)
    await until("/readyz is green", millisMax, async () => (await readyz(ready))[0] === 200)
    expect(await readyz(ready)).toEqual([
      200,
      { status: "ok", checks: { database: "ok", lanes: "ok", queues: "redis" } }
    ])
  })

  test("SIGTERM ends a process that waits, with exit code 0", async () => {
    const redis = await redisServer()
    await redis.end("SIGKILL")
    const worker = await serve("worker", redis.url)
    await worker.said(/(Waiting for Redis)/)
    worker.child.kill("SIGTERM")
    expect(await worker.ended).toEqual({ code: 0, signal: null })
  })

  test("a proxy that accepts connections and closes them is waited for", async () => {
    const proxy = createServer((socket) => socket.on("error", () => {}).once("data", () => socket.resetAndDestroy()))
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
    const address = proxy.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const worker = await serve("worker", `redis://127.0.0.1:${port}`)
    await worker.said(/(Waiting for Redis .+Check REDIS_URL)/)
    worker.child.kill("SIGTERM")
    expect(await worker.ended).toEqual({ code: 0, signal: null })
    proxy.close()
  })

  test("a wrong password is named, and the reason is not the network", async () => {
    const redis = await redisServer()
    const client = new Redis(redis.url)
    await client.config("SET", "requirepass", "right")
    const service = await serve("http", redis.url.replace("://", "://:hidden@"))
    const url = await service.said(waitingUrl)
    expect((await readyz(url))[1]).toEqual({
      status: "not ready",
      checks: { redis: "refuses the user or password of REDIS_URL" }
    })
    await service.said(/refuses the service \((WRONGPASS).+Correct the user and password in REDIS_URL/)
    expect(service.text()).not.toContain("hidden")
    if (exhaustive) {
      // It is said at each attempt, and a password that becomes right ends the wait.
      await until("the second time", millisMax, () => service.text().split("WRONGPASS").length > 2)
      await client.config("SET", "requirepass", "hidden")
      await service.said(/(listens on http)/)
    }
    client.disconnect()
  })

  test("an operator's command does not wait", async () => {
    const redis = await redisServer()
    await redis.end("SIGKILL")
    const env = { DATABASE_URL: await preparedDatabase(), REDIS_URL: redis.url.replace("://", "://:hidden@") }
    const credit = ["admin", "credit", "org_x", "1.00", "--note", "n", "--reference", "r", "--yes"]
    const command = runMain(credit, env)
    runs.push(command)
    expect((await command.ended).code).toBe(1)
    expect(command.errors().trim()).toMatch(
      /^rungate: Can't reach Redis at 127\.0\.0\.1:\d+ \(.+\)\. Check REDIS_URL and that the server runs, or unset REDIS_URL to run the queues on Postgres\.$/
    )
    expect(command.errors()).not.toContain("hidden")
  })
})

const named = (name: string, message: string) => Object.assign(new Error(message), { name })

test.each([
  ["the connection is refused", named("Error", "connect ECONNREFUSED 127.0.0.1:6379"), "away"],
  // ioredis, when the connection was closed before its first command.
  ["it was closed at once", named("Error", "Stream isn't writeable and enableOfflineQueue options is false"), "away"],
  ["Redis reads its data", named("ReplyError", "LOADING Redis is loading the dataset in memory"), "away"],
  [
    "the password is wrong",
    named("ReplyError", "WRONGPASS invalid username-password pair or user is disabled."),
    "refused"
  ],
  ["a password is missing", named("Error", "Ready check failed: NOAUTH Authentication required."), "refused"],
  ["the database does not exist", named("ReplyError", "ERR DB index is out of range"), null],
  ["it is no Redis", named("ParserError", 'Protocol error, got "E" as reply type byte'), null]
])("waiting helps or not: %s", (_name, error, trouble) => {
  expect(troubleOf(error)).toBe(trouble as never)
})
