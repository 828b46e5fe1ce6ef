/** Accounts whose client id and secret are exchanged for a token: how often, where the token goes, and that nothing shows it. */
import { afterEach, describe, expect, test } from "bun:test"
import { type Executor, providerOf, startExecutor } from "../../reliability/executor.ts"

const credentials = "cl1ent-of-it:s3cret/of-it"
const path = "/oauth/token"
const one = providerOf("acme", { auth: { kind: "client_credentials", path }, timeoutMillis: 30_000 })

type Answer = (request: Request, count: number) => Response | Promise<Response>

/** A provider with a token endpoint. It issues `token-1-of-acme`, then `token-2-of-acme`, … */
const listen = () => {
  const exchanges: Array<{ readonly body: string; readonly authorization: string | null }> = []
  const calls: Array<string | null> = []
  const issue: Answer = (_, count) =>
    Response.json({ access_token: `token-${count}-of-acme`, token_type: "Bearer", expires_in: 3600 })
  const good: Answer = () => Response.json({ ok: true })
  let [token, call] = [issue, good]
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const authorization = request.headers.get("authorization")
      if (new URL(request.url).pathname === path) {
        exchanges.push({ body: await request.text(), authorization })
        return token(request, exchanges.length)
      }
      calls.push(authorization)
      return call(request, calls.length)
    }
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    exchanges,
    calls,
    play: (next: { readonly token?: Answer; readonly call?: Answer }) => {
      token = next.token ?? issue
      call = next.call ?? good
    },
    stop: () => server.stop(true)
  }
}

const started: Array<() => Promise<void>> = []
const start = async (settings: Readonly<Record<string, string>> = {}) => {
  const [acme, chosen] = [listen(), listen()]
  // An organization's own account has the same credentials, and an address that the organization chose.
  const executor: Executor = await startExecutor({ acme: acme.url }, credentials, settings, chosen.url)
  started.push(async () => {
    await executor.stop()
    await Promise.all([acme.stop(), chosen.stop()])
  })
  return { acme, chosen, executor }
}
afterEach(() => Promise.all(started.splice(0).map((stop) => stop())))

describe("an account with a client id and a secret", () => {
  test("is exchanged once for a token, also by calls at the same time", async () => {
    const { acme, executor } = await start()
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => executor.call(one)))
    expect(answers.map(({ answer }) => answer._tag)).toEqual(Array(5).fill("Match"))
    expect((await executor.callRaw(one)).answer).toMatchObject({ _tag: "Delivered" })
    const form = "grant_type=client_credentials&client_id=cl1ent-of-it&client_secret=s3cret%2Fof-it"
    expect(acme.exchanges).toEqual([{ body: form, authorization: null }])
    expect(acme.calls).toEqual(Array(6).fill("Bearer token-1-of-acme"))
  })

  test("gets a new token when the provider refuses the one it has, and the call is sent again", async () => {
    const { acme, executor } = await start()
    await executor.call(one)
    acme.play({
      call: (request) =>
        request.headers.get("authorization") === "Bearer token-1-of-acme"
          ? new Response("{}", { status: 401 })
          : Response.json({ ok: true })
    })
    expect((await executor.call(one)).answer._tag).toBe("Match")
    expect(acme.calls.slice(1)).toEqual(["Bearer token-1-of-acme", "Bearer token-2-of-acme"])
    expect((await executor.call(one)).answer._tag).toBe("Match")
    expect(acme.exchanges.length).toBe(2)
  })

  test("is refused after a second 401", async () => {
    const { acme, executor } = await start()
    acme.play({ call: () => new Response("{}", { status: 401 }) })
    const { answer, doubt } = await executor.call(one)
    expect([answer, doubt]).toMatchObject([{ _tag: "Failure", reason: "provider_account" }, undefined])
    expect([acme.exchanges.length, acme.calls.length]).toEqual([2, 2])
  })

  test("asks for a token again when the one before has expired", async () => {
    const { acme, executor } = await start()
    acme.play({ token: (_, count) => Response.json({ access_token: `token-${count}-of-acme`, expires_in: 0 }) })
    await executor.call(one)
    await executor.call(one)
    expect(acme.calls).toEqual(["Bearer token-1-of-acme", "Bearer token-2-of-acme"])
  })

  const refusals = [
    ["wrong credentials", () => Response.json({ error: "invalid_client" }, { status: 401 }), "provider_account"],
    ["a wrong request", () => Response.json({ error: "invalid_client" }, { status: 400 }), "provider_account"],
    ["too many requests", () => new Response("{}", { status: 429 }), "provider_rate_limited"],
    ["an error of the provider", () => new Response("{}", { status: 503 }), "provider_error"],
    ["a redirect", () => new Response(null, { status: 302, headers: { location: "/good" } }), "provider_error"],
    ["no token", () => Response.json({ token_type: "Bearer" }), "invalid_response"],
    ["a token of two lines", () => Response.json({ access_token: "a\nX-Evil: 1" }), "invalid_response"],
    ["no JSON", () => new Response("hello"), "invalid_response"]
  ] as const
  for (const [name, token, reason] of refusals) {
    test(`is not used after ${name}, and the next call asks again`, async () => {
      const { acme, executor } = await start()
      acme.play({ token })
      const { answer, doubt } = await executor.call(one)
      expect([answer, doubt]).toMatchObject([{ _tag: "Failure", reason }, undefined])
      expect(acme.calls).toEqual([])
      acme.play({})
      expect((await executor.callRaw(one)).answer._tag).toBe("Delivered")
    })
  }

  test("appears in no answer, error or log, and neither does its token", async () => {
    const { acme, executor } = await start()
    const told = "cl1ent-of-it s3cret/of-it cl1ent-of-it:s3cret/of-it token-1-of-acme token-2-of-acme s3cret%2Fof-it"
    acme.play({ call: () => Response.json({ ok: true, email: told }) })
    const first = await executor.call(one)
    acme.play({ call: () => Response.json({ message: told }, { status: 500 }) })
    const second = await executor.call(one)
    acme.play({
      call: () => new Response("{}", { status: 401 }),
      token: () => Response.json({ error: told.replace(/token-\d-of-acme/g, "") }, { status: 400 })
    })
    const third = await executor.call(one)
    const all = JSON.stringify([first, second, third, executor.logs])
    expect(all.match(/cl1ent|s3cret|token-1/g)).toBeNull()
    expect(all).toContain("<redacted>")
  })

  test("of an organization sends nothing to a private address that the organization chose", async () => {
    const { chosen, executor } = await start()
    const { answer } = await executor.callRaw(one, {}, {}, "org_1", true)
    expect(answer).toMatchObject({ _tag: "Failure" })
    expect([chosen.exchanges, chosen.calls]).toEqual([[], []])
  })

  test("gets a token of its own at each address, which goes to no other", async () => {
    const { acme, chosen, executor } = await start({ RUNGATE_OWN_ACCOUNT_ALLOW_PRIVATE: "1" })
    chosen.play({ token: () => Response.json({ access_token: "token-of-the-chosen", expires_in: 3600 }) })
    await executor.callRaw(one)
    await executor.callRaw(one, {}, {}, "org_1", true)
    await executor.callRaw(one)
    expect([acme.exchanges.length, chosen.exchanges.length]).toEqual([1, 1])
    expect(acme.calls).toEqual(Array(2).fill("Bearer token-1-of-acme"))
    expect(chosen.calls).toEqual(["Bearer token-of-the-chosen"])
  })
})
