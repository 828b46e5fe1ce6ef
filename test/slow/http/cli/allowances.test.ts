/** `rungate allowances` as a person and a program use it, and the commands of docs/allowances.md in their order. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { type App, startApp } from "../../../kit/app.ts"
import { blocksOf, pageText } from "../../../http/cli/pages.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

const password = "correct horse battery"
const verify = `rungate run email.verify -i '{"email": "ada@example.com"}' --max-cost 0.01 --json`

let app: App
/** Signed in as a person. */
let home: Home
beforeAll(async () => {
  app = await startApp()
  home = newHome({ RUNGATE_URL: app.url })
  const signUp = "rungate login --sign-up --email owner@example.com --organization Acme --password-stdin"
  expect((await home.shell(signUp, {}, `${password}\n`)).code).toBe(0)
  expect((await home.shell("rungate wallet topup 10.00")).code).toBe(0)
})
afterAll(async () => {
  home.remove()
  await app.stop()
})

const available = async () => (await home.shell("rungate wallet")).body.available
const as = (key: string) => ({ RUNGATE_API_KEY: key.trim() })
const create = (flags: string) => `rungate allowances create agent ${flags}`

test("a person gives one, an agent spends it, and revoking returns the rest", async () => {
  const none = home.terminal("rungate allowances list", {}, 160)
  await none.ended
  expect(none.seen()).toContain("rungate allowances create researcher --amount 2.00 --expires 2h")
  const made = await home.shell(create("--amount 0.50 --expires 2h --allow-capability email.verify"))
  expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^rg_test_\w+\n$/)])
  expect(made.err).toContain("$0.50 is held for it until")
  expect(made.err).not.toContain(made.out.trim())
  expect(await available()).toBe("9.50")
  const ran = await home.shell(verify, as(made.out))
  expect([ran.code, ran.body?.billing.charged]).toEqual([0, "0.003"])
  const find = `rungate quote email.find -i '{"full_name": "Ada Lovelace", "company_domain": "example.com"}'`
  expect((await home.shell(find, as(made.out))).code).toBe(4)

  const [item] = (await home.shell("rungate allowances list")).body.items
  const id = String(item.id)
  expect(item).toMatchObject({ status: "active", amount: "0.50", spent: "0.003", available: "0.497", parent_id: null })
  expect((await home.shell(`rungate allowances show ${id}`)).body).toEqual(item)
  const table = home.terminal("rungate allowances list", { NO_COLOR: "1" }, 200)
  expect(await table.ended).toBe(0)
  expect(table.seen()).toMatch(/ID +NAME +STATE +AMOUNT +SPENT +HELD +LEFT +EXPIRES +MAY RUN/)
  expect(table.seen()).toMatch(/agent +active +\$0\.50 +\$0\.003 +\$0\.497 +\$0\.497 /)
  const narrow = home.terminal("rungate allowances list", { NO_COLOR: "1" }, 80)
  await narrow.ended
  for (const row of narrow.seen().replaceAll("\r", "").split("\n"))
    expect([row, Bun.stringWidth(row) <= 80]).toEqual([row, true])
  const details = home.terminal(`rungate allowances show ${id}`, { NO_COLOR: "1" })
  await details.ended
  expect(details.seen()).toMatch(/left +\$0\.497[^]*given by +a person/)

  const unsure = await home.shell(`rungate allowances revoke ${id}`)
  expect([unsure.code, unsure.err]).toEqual([5, expect.stringContaining("--yes")])
  const asked = home.terminal(`rungate allowances revoke ${id}`)
  await asked.shows("what is unused returns")
  asked.type("y\r")
  expect(await asked.ended).toBe(0)
  expect(asked.seen()).toContain("It spent $0.003 of $0.50. The rest is available again.")
  expect(await available()).toBe("9.997")
  expect((await home.shell(verify, as(made.out))).code).toBe(4)
})

test("a key that may give allowances needs no session, and never gives more than it has", async () => {
  const parent = await home.shell("rungate keys create orchestrator --budget 1/day --allow-mint")
  const child = await home.shell(create("--amount 0.40 --expires 1h --allow-mint"), as(parent.out))
  expect([child.code, child.err]).toEqual([0, expect.stringContaining("Created key_")])
  const grandchild = await home.shell(create("--amount 0.10 --expires 30m --json"), as(child.out))
  const innermost = String(grandchild.body.id)
  expect([innermost, grandchild.body.api_key]).toEqual([expect.stringMatching(/^key_/), expect.any(String)])
  const shown = await home.shell(`rungate allowances show ${innermost}`)
  expect(shown.body).toMatchObject({ depth: 2, amount: "0.10", status: "active" })

  const tooMuch = await home.shell(create("--amount 0.61 --expires 1h"), as(parent.out))
  expect([tooMuch.code, tooMuch.err]).toEqual([6, expect.stringContaining("the budget of this API key, $1.00")])
  const tooLate = await home.shell(create("--amount 0.01 --expires 2h"), as(child.out))
  expect([tooLate.code, tooLate.err]).toEqual([5, expect.stringContaining("expires_at")])
  const plain = await home.shell("rungate keys create plain")
  const refused = await home.shell(create("--amount 0.01 --expires 1h"), as(plain.out))
  expect([refused.code, refused.err]).toEqual([4, expect.stringContaining("rungate login")])
  const poor = await home.shell(create("--amount 1000 --expires 1h"))
  expect([poor.code, poor.err]).toEqual([6, expect.stringContaining("`rungate wallet topup 25.00`")])
  const wrong = await home.shell(create("--amount 0.01 --expires tomorrow"))
  expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining("expires_at")])
  const unknown = await home.shell("rungate allowances show key_nobody")
  expect([unknown.code, unknown.err]).toEqual([250, expect.stringContaining("`rungate allowances list`")])

  const [{ id }] = (await home.shell("rungate allowances list", as(parent.out))).body.items.slice(1)
  const changed = await home.shell(`rungate keys update ${id} --name other`)
  expect([changed.code, changed.err]).toEqual([5, expect.stringContaining("`rungate allowances create ")])
  // Its giver revokes it, and the one beneath ends too.
  const revoked = await home.shell(`rungate allowances revoke ${id} --yes`, as(parent.out))
  expect(revoked.body).toMatchObject({ id, status: "ended", held: "0.00" })
  expect((await home.shell(`rungate allowances show ${innermost}`)).body.status).toBe("ended")
})

test("the commands of docs/allowances.md do what the page says", async () => {
  const before = await available()
  const [block] = blocksOf(pageText("docs/allowances.md"))
  const { code, out, err } = await home.shell(`set -e\n${block?.commands ?? "false"}`)
  expect([code, code === 0 ? "" : err]).toEqual([0, ""])
  expect(out).toContain('"charged":"0.003"')
  expect(out).toContain('"spent":"0.003"')
  expect(out).toContain('"status":"ended"')
  expect(`${out}${err}`).not.toMatch(/rg_test_\w{20}/)
  expect(Number(await available())).toBeCloseTo(Number(before) - 0.003, 6)
  await app.books()
})
