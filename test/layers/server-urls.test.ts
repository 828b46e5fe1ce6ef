/** Addresses of servers in the environment: what is read, and what a wrong one is told. */
import { describe, expect, test } from "bun:test"
import { Effect, Exit, Redacted } from "effect"
import { redisGroupOf } from "../../src/layers/platform/settings/ServerUrls.ts"
import { settingsOf } from "../../src/layers/platform/Settings.ts"

const told = (environment: Readonly<Record<string, string>>) => {
  const exit = Effect.runSyncExit(Effect.flip(settingsOf(environment)))
  return Exit.isSuccess(exit) ? exit.value.message : "accepted"
}

describe("REDIS_URL", () => {
  test.each([
    [
      "redis+cluster://a:7000,b:7001",
      [
        ["a", 7000],
        ["b", 7001]
      ],
      null,
      null,
      false
    ],
    ["redis+cluster://a", [["a", 6379]], null, null, false],
    [
      "rediss+cluster://ada:p%40ss@a,[::1]:7000/",
      [
        ["a", 6379],
        ["::1", 7000]
      ],
      "ada",
      "p@ss",
      true
    ],
    ["redis+cluster://:pass@10.0.0.1:7000", [["10.0.0.1", 7000]], null, "pass", false],
    ["redis+cluster://pass@a:7000", [["a", 7000]], null, "pass", false]
  ] as const)("%s is a cluster", (url, nodes, username, password, tls) => {
    expect(redisGroupOf(url)).toEqual({
      nodes: nodes.map(([host, port]) => ({ host, port })),
      watched: null,
      username,
      password,
      tls
    })
    const { redisUrl } = Effect.runSync(settingsOf({ REDIS_URL: url }))
    expect(redisUrl === null ? null : Redacted.value(redisUrl)).toBe(url)
  })

  test("the addresses of Sentinels have the name of what they watch", () => {
    const url = "rediss+sentinel://ada:p%40ss@a,[::1]:7000/my.master-1"
    const nodes = [
      { host: "a", port: 26_379 },
      { host: "::1", port: 7000 }
    ]
    expect(redisGroupOf(url)).toEqual({ nodes, watched: "my.master-1", username: "ada", password: "p@ss", tls: true })
    expect(told({ REDIS_URL: url })).toBe("accepted")
  })

  test.each([
    "redis+sentinel://a:1",
    "redis+sentinel://a:1/",
    "redis+sentinel://a:1/mymaster/3",
    "redis+sentinel:///mymaster",
    "redis+cluster://",
    "redis+cluster://a:1/3",
    "redis+cluster://a:1,",
    "redis+cluster://a:x",
    "redis+cluster://u:%zz@a:1",
    "redis://a:1,b:2"
  ])("%s is refused with the forms that there are", (REDIS_URL) => {
    expect(told({ REDIS_URL })).toContain("must be redis+cluster://host:port,host:port")
  })

  test.each(["redis://127.0.0.1:6379", "rediss://u:a,b@c:6379/3"])("%s is a single server", (url) => {
    expect(redisGroupOf(url)).toBeNull()
    expect(told({ REDIS_URL: url })).toBe("accepted")
  })
})

describe("the addresses of PostgreSQL", () => {
  test("several hosts are refused", () => {
    expect(told({ DATABASE_URL: "postgres://u:p@a:1,b:2/rungate?target_session_attrs=read-write" })).toContain(
      "DATABASE_URL must name one host: an address that leads to the current primary"
    )
    expect(told({ DATABASE_READ_URL: "postgres://u:p@a:1,b:2/rungate" })).toContain(
      "DATABASE_READ_URL must name one host: a streaming standby"
    )
    expect(told({ DATABASE_URL: "postgres://u:p,q@a:1/rungate" })).toBe("accepted")
  })

  test("a direct address without a pooler is refused", () => {
    expect(told({ DATABASE_DIRECT_URL: "postgres://u:p@a/rungate" })).toContain(
      "DATABASE_DIRECT_URL is set, but DATABASE_URL is missing"
    )
  })
})
