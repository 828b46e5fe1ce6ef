/** `rungate run` and `call` in scripts and pipes: exact answers, exact requests, and one sentence with the right code when they can't. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Tenant, withApp } from "../../../kit/app.ts"
import { type Home, newHome, type Said } from "../../../http/cli/shell.ts"

let org: Tenant
let home: Home
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("25.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
})
afterAll(async () => {
  home.remove()
})

/** A service that only writes down what it is sent. */
const recorder = (answer: (path: string) => Response = () => Response.json({ items: [], next_cursor: null })) => {
  const seen: Array<{ path: string; body: string; headers: Headers; kept: number }> = []
  const server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const path = new URL(request.url).pathname
      const kept = existsSync(home.runsFolder) ? readdirSync(home.runsFolder).length : 0
      seen.push({ path, body: await request.text(), headers: request.headers, kept })
      return answer(path)
    }
  })
  return { url: server.url.href.replace(/\/$/, ""), seen, stop: () => server.stop(true) }
}

const sentences = (text: string) => text.trim().split("\n")

describe("what leaves", () => {
  const succeeded = { run_id: "run_1", status: "succeeded" }

  test("is what the user wrote, digit by digit, under flags that are fields", async () => {
    const fake = recorder(() => Response.json(succeeded))
    const line = `rungate run email.find -i '{"id": 12345678901234567890, "n": 1.0}' --provider hunter --strategy cheapest --max-cost 0.05 --no-fallback --include-raw --metadata campaign=spring --metadata note=a=b --wait 0`
    const { code } = await home.shell(line, { RUNGATE_URL: fake.url })
    await home.shell(
      `rungate call acme '/people/{id}' --method GET --path '{"id": 10000000000000000001}' --query '{"q":"x"}' -i '{}'`,
      { RUNGATE_URL: fake.url }
    )
    await fake.stop()
    expect(code).toBe(0)
    const [run, call] = fake.seen
    expect(run?.body).toContain('"input":{"id": 12345678901234567890, "n": 1.0}')
    expect(JSON.parse(run?.body ?? "")).toMatchObject({
      capability: "email.find",
      routing: { provider: "hunter", strategy: "cheapest", max_cost: "0.05", allow_fallback: false },
      response: { include_raw: true },
      metadata: { campaign: "spring", note: "a=b" },
      wait_seconds: 0
    })
    expect(call?.body).toContain('"path":{"id": 10000000000000000001}')
    expect(JSON.parse(call?.body ?? "")).toMatchObject({ provider: "acme", method: "GET", query: { q: "x" } })
  })

  test("has a key of its own, which is on the disk before, and gone after", async () => {
    const fake = recorder(() => Response.json(succeeded))
    const line = `rungate run email.find -i '{}'`
    await home.shell(line, { RUNGATE_URL: fake.url })
    await home.shell(line, { RUNGATE_URL: fake.url })
    await fake.stop()
    const keys = fake.seen.map(({ headers }) => headers.get("idempotency-key"))
    expect(new Set(keys).size).toBe(2)
    expect(fake.seen.map(({ kept }) => kept)).toEqual([1, 1])
    expect(readdirSync(home.runsFolder)).toEqual([])
  })

  test("does not leave when it can't be written down", async () => {
    const fake = recorder()
    const said = await home.shell(`rungate run email.find -i '{}'`, {
      RUNGATE_URL: fake.url,
      XDG_STATE_HOME: "/proc/nowhere"
    })
    await fake.stop()
    expect([said.code, fake.seen]).toEqual([1, []])
    expect(said.err).toContain("Nothing was sent")
    expect(sentences(said.err)).toHaveLength(1)
  })

  test("goes nowhere else: a redirect is not followed", async () => {
    const thief = recorder()
    const fake = recorder(() => new Response(null, { status: 307, headers: { location: `${thief.url}/v1/runs` } }))
    const said = await home.shell("rungate runs list", { RUNGATE_URL: fake.url })
    await Promise.all([fake.stop(), thief.stop()])
    expect([said.code, thief.seen]).toEqual([1, []])
    expect(said.err).toContain("redirect")
  })
})

const exact = (said: Said, text: string) => expect(said.out).toBe(`${text}\n`)

describe("what is printed", () => {
  test("is the API's body, byte for byte", async () => {
    const ran = await home.shell(`rungate run email.verify -i '{"email":"exact@example.com"}'`)
    expect([ran.code, ran.err]).toEqual([0, ""])
    const { text } = await org.get(`/v1/runs/${ran.body.run_id}`)
    exact(ran, text)
    exact(await home.shell(`rungate runs get ${ran.body.run_id}`), text)
    exact(await home.shell(`rungate runs wait ${ran.body.run_id} --json`), text)
    exact(await home.shell("rungate runs list --limit 2"), (await org.list("?limit=2")).text)
    const lines = await home.shell("rungate runs ls --limit 2 --jsonl")
    const items = lines.out.trim().split("\n")
    expect(items.map((line) => JSON.parse(line))).toEqual((await org.list("?limit=2")).body.items)
  })

  test("is an error's body too, with a sentence beside it", async () => {
    const said = await home.shell("rungate inspect nothing.here")
    expect(said.body.error.code).toBe("capability_not_found")
    expect(said.err).toContain("rungate discover")
  })

  test("may stop early: a reader that goes away is no error", async () => {
    const line = `bash -c 'rungate discover email --limit 50 --jsonl | head -1; echo "code \${PIPESTATUS[0]}"'`
    const { out, err } = await home.shell(line)
    expect(out.trim().split("\n").at(-1)).toBe("code 0")
    expect(err).toBe("")
  })
})

describe("input", () => {
  const mail = (name: string) => JSON.stringify({ email: `${name}@example.com` })
  test("comes from a file or from stdin", async () => {
    writeFileSync(join(home.folder, "input.json"), mail("file"))
    const ways: ReadonlyArray<readonly [string, string | undefined, string]> = [
      ["-f input.json", undefined, "file"],
      ["-i -", mail("a"), "a"],
      ["-f -", mail("b"), "b"],
      ["-", `\ufeff${mail("c")}\n`, "c"]
    ]
    for (const [flags, stdin, name] of ways) {
      const ran = await home.shell(`rungate run email.verify ${flags}`, {}, stdin)
      expect([ran.code, ran.body?.result?.email]).toEqual([0, `${name}@example.com`])
    }
  })

  test.each([
    ["rungate run email.verify", "-i '{"],
    ["rungate run email.verify -i ''", "empty"],
    ["rungate run email.verify -i '{,}'", "not JSON"],
    ["rungate run email.verify -i '{}' -f x", "once"],
    ["rungate run email.verify -f nowhere.json", "nowhere.json"],
    ["rungate run email.verify '{}'", "-i"],
    ["rungate run email.verify -i '{}' --wait -1", "--wait"],
    ["rungate run email.verify -i '{}' --max-cost 1e3", "--max-cost"],
    ["rungate run email.verify -i '{}' --max-cots 1", "--max-cots"],
    ["rungate call acme /search -i '{}' --path '{'", "--path"],
    ["rungate nonsense", "nonsense"]
  ])("%s: exit code 5 and what is wrong", async (line, words) => {
    const before = (await org.wallet()).balance
    const said = await home.shell(line)
    expect([said.code, said.out]).toEqual([5, ""])
    expect(said.err).toContain(words)
    expect(sentences(said.err).length).toBeLessThanOrEqual(2)
    expect((await org.wallet()).balance).toBe(before)
  })
})

describe("what stands in the way", () => {
  test("a wrong key, none, and no service: said without the key", async () => {
    const line = `rungate run email.verify -i '{"email":"a@example.com"}'`
    const wrong = await home.shell(line, { RUNGATE_API_KEY: "rg_test_wrong" })
    expect([wrong.code, wrong.err]).toEqual([4, expect.stringContaining("RUNGATE_API_KEY")])
    expect(wrong.err + wrong.out).not.toContain("rg_test_wrong")
    const none = await home.shell(line, { RUNGATE_API_KEY: "" })
    expect([none.code, none.err]).toEqual([4, expect.stringContaining("rungate login")])
    const nobody = await home.shell(line, { RUNGATE_URL: "http://127.0.0.1:1" })
    expect([nobody.code, nobody.err]).toEqual([1, expect.stringContaining("RUNGATE_URL")])
    const nonsense = await home.shell(line, { RUNGATE_URL: "localhost:8787" })
    expect([nonsense.code, nonsense.err]).toEqual([5, expect.stringContaining("RUNGATE_URL")])
    for (const said of [wrong, none, nobody, nonsense]) expect(sentences(said.err)).toHaveLength(1)
    expect(readdirSync(home.runsFolder)).toEqual([])
  })

  test("somebody else's server", async () => {
    const other = recorder(() => new Response("<h1>404</h1>", { status: 404 }))
    const said = await home.shell("rungate runs list", { RUNGATE_URL: other.url })
    await other.stop()
    expect([said.code, said.err]).toEqual([1, expect.stringContaining("RUNGATE_URL")])
  })

  test("a cap that nobody keeps, an empty wallet", async () => {
    const capped = await home.shell(`rungate run email.verify -i '{"email":"a@example.com"}' --max-cost 0.0001`)
    expect([capped.code, capped.err]).toEqual([
      6,
      expect.stringMatching(/--max-cost: hunter costs up to .*--max-cost: \w+ costs/s)
    ])
    const [usual, odd] = await Promise.all([
      home.shell(`rungate run email.verify -i '{"email":"a@example.com"}' --dry-run`, { RUNGATE_MAX_COST: "0.004" }),
      home.shell(`rungate run email.verify -i '{"email":"a@example.com"}'`, { RUNGATE_MAX_COST: "lots" })
    ])
    expect(usual.body.request.routing.max_cost).toBe("0.004")
    expect([odd.code, odd.out, odd.err]).toEqual([5, "", expect.stringContaining("max-cost")])
    const poor = await app.tenant()
    const unpaid = await home.shell(`rungate run email.verify -i '{"email":"a@example.com"}'`, {
      RUNGATE_API_KEY: poor.key
    })
    expect([unpaid.code, unpaid.err]).toEqual([6, expect.stringContaining("rungate wallet topup")])
  })

  test("runs that are not there, or can't be cancelled", async () => {
    for (const id of ["", ".", ".."])
      expect((await home.shell(`rungate runs get '${id}'`)).err).toContain(`There is no run "(${id})"`)
    const missing = await home.shell("rungate runs get run_nothing")
    expect([missing.code, missing.err]).toEqual([250, expect.stringContaining("run_nothing")])
    const { body } = await home.shell(`rungate run email.verify -i '{"email":"done@example.com"}'`)
    const late = await home.shell(`rungate runs cancel ${body.run_id}`)
    expect([late.code, late.err]).toEqual([5, expect.stringContaining("succeeded")])
  })
})

test("a service that is busy is asked again when it says so", async () => {
  let busy = 1
  const refused = () => Response.json({ error: { code: "rate_limited", message: "slower" } }, { status: 429 })
  const fake = recorder(() => {
    if (busy-- <= 0) return Response.json({ run_id: "run_1", status: "succeeded" })
    const response = refused()
    response.headers.set("retry-after", "1")
    return response
  })
  const said = await home.shell(`rungate run email.find -i '{}'`, { RUNGATE_URL: fake.url })
  await fake.stop()
  expect([said.code, fake.seen.length]).toEqual([0, 2])
  expect(new Set(fake.seen.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1)
  const strict = recorder(refused)
  const limited = await home.shell("rungate runs list", { RUNGATE_URL: strict.url })
  await strict.stop()
  expect([limited.code, strict.seen.length]).toEqual([1, 1])
})

test("a long wait is asked for in stretches, until the run ends", async () => {
  const waits: Array<number> = []
  const fake = Bun.serve({
    port: 0,
    fetch: (request) => {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname !== "/v1/run") waits.push(Number(searchParams.get("wait")))
      const status = waits.length < 3 ? "running" : "succeeded"
      return Response.json({ run_id: "run_1", status }, { status: pathname === "/v1/run" ? 202 : 200 })
    }
  })
  const said = await home.shell(`rungate run email.find -i '{}' --wait 300`, { RUNGATE_URL: fake.url.href })
  await fake.stop(true)
  expect([said.code, said.body.status]).toEqual([0, "succeeded"])
  expect(waits).toEqual([25, 25, 25])
})

test("--dry-run inspects and quotes, and runs nothing", async () => {
  const before = await org.list()
  const said = await home.shell(
    `rungate run email.find -i '{"full_name":"A B","company_domain":"example.com"}' --dry-run`
  )
  expect(said.code).toBe(0)
  expect(said.body.request).toMatchObject({ capability: "email.find" })
  expect((await org.list()).body.items.length).toBe(before.body.items.length)
  const { body } = await home.shell(`rungate run email.find -i '{"full_name":"A B","company_domain":"example.com"}'`)
  expect(body.billing.quoted).toBe(said.body.quote.hold)
})

test("a run that waits for an approval is not waited for, and its sentence says what to tell whom", async () => {
  const asOwner = async (method: string, path: string, body?: unknown) =>
    (await app.call(await org.session(), method, path, { body })).body
  const { id } = await asOwner("POST", "/v1/approval-rules", { name: "checks", capabilities: ["email.verify"] })
  const line = `rungate run email.verify -i '{"email":"approve@example.com"}' --max-cost 0.05 --wait 3600`
  const { code, err, body } = await home.shell(line)
  const { tell } = body.approval
  const wait = `rungate runs wait ${body.run_id}`
  expect([code, sentences(err)]).toEqual([8, [`rungate: ${tell} Wait for it with: ${wait}`]])
  expect((await home.shell(`${wait} --wait 0`)).err).toContain(tell)
  expect((await home.shell(line)).err).toContain(`Joining the run`)
  await asOwner("POST", `/v1/runs/${body.run_id}/approve`, {})
  expect([(await home.shell(wait)).code, (await asOwner("DELETE", `/v1/approval-rules/${id}`)).deleted]).toEqual([
    0,
    true
  ])
})

test("help exit-codes names every code once", async () => {
  const { out, code } = await home.shell("rungate help exit-codes")
  const codes = [...out.matchAll(/^ *(\d+) {2}/gm)].map(([, one]) => Number(one))
  expect([code, codes]).toEqual([0, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 250]])
})

describe("what an organization has bought or written already", () => {
  test("is taken with --reuse, and never bought with --reuse-only", async () => {
    const line = `rungate run email.verify -i '{"email":"reused@example.com"}' --max-cost 0.05`
    expect((await home.shell(`${line} --reuse-only`)).body.error.code).toBe("no_match")
    const first = await home.shell(`${line} --reuse 30d`)
    const second = await home.shell(`${line} --reuse 12h`)
    expect([first.code, second.code, second.body.reused_from]).toEqual([0, 0, first.body.run_id])
    expect(second.body.billing.charged).toBe("0.00")
    const wrong = await home.shell(`${line} --reuse 30`)
    expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining("--reuse must be a duration such as 30d")])
  })

  test("is not written to again with --unless-contacted", async () => {
    const input = { from: "hello@example.com", to: "once@example.com", subject: "Hello", text: "Hello" }
    const line = `rungate run email.send -i '${JSON.stringify(input)}' --max-cost 0.05 --unless-contacted 30d`
    expect((await home.shell(line)).code).toBe(0)
    const second = await home.shell(`${line} --again`)
    expect([second.code, second.body.error.code]).toEqual([6, "contact_guard"])
    expect((await home.shell(line.replace("rungate run", "rungate quote"))).body.error.code).toBe("contact_guard")
  })
})
