/** The wallet from the command line: balance, ledger, paying in and waiting for it, the books, referrals. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { moved, openDesk, type Desk } from "../../../layers/payments/cashdesk.ts"
import { type Tenant, until, withApp } from "../../../kit/app.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

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

test("the wallet and its ledger: exact JSON, a line each, all pages, a spreadsheet, a table", async () => {
  const topped = await home.shell("rungate wallet topup 10.00")
  expect([topped.code, topped.body.status, topped.err]).toEqual([
    0,
    "simulated",
    expect.stringContaining("no money moved")
  ])
  for (let count = 0; count < 3; count++) await org.credit("1.50")
  const wallet = await home.shell("rungate wallet")
  expect(wallet.out).toBe(`${(await org.get("/v1/wallet")).text}\n`)
  const page = await home.shell("rungate wallet transactions --limit 2")
  expect(page.out).toBe(`${(await org.get("/v1/wallet/transactions?limit=2")).text}\n`)
  const lines = await home.shell(`rungate wallet transactions --limit 2 --cursor ${page.body.next_cursor} --jsonl`)
  expect(
    lines.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
  ).toEqual((await org.ledger()).slice(2, 4))
  const all = await home.shell("rungate wallet transactions --all")
  expect(all.body).toEqual({ items: await org.ledger(), next_cursor: null })
  const csv = await home.shell("rungate wallet transactions --csv")
  const [heading, first] = csv.out.split("\n")
  expect(heading).toBe("id,type,amount,balance_after,reference,note,created_at")
  expect(first).toContain(",bonus,1.50,39.50,")
  const screen = home.terminal("rungate wallet transactions", {}, 70)
  expect(await screen.ended).toBe(0)
  expect(screen.seen()).toMatch(/bonus +\$1\.50 +\$39\.50 /)
  const both = await home.shell("rungate wallet transactions --csv --json")
  expect([both.code, both.out]).toEqual([5, ""])
})

test("bad amounts, and an automatic top-up that is set and switched off", async () => {
  const [small, odd, signedIn] = await Promise.all([
    home.shell("rungate wallet topup 1"),
    home.shell("rungate wallet topup lots"),
    org.session()
  ])
  expect([small.code, small.err]).toEqual([5, "rungate: amount must be at least 10.00\n"])
  expect([odd.code, odd.out, odd.err]).toEqual([5, "", expect.stringContaining("amount")])
  mkdirSync(join(home.folder, "config", "rungate"), { recursive: true, mode: 0o700 })
  const session = {
    url: app.url,
    session_token: signedIn,
    expires_at: "2099-01-01T00:00:00.000Z",
    email: "a@example.com"
  }
  writeFileSync(
    join(home.folder, "config", "rungate", "sessions.json"),
    JSON.stringify({ version: 1, profiles: { default: session } }),
    { mode: 0o600 }
  )
  const set = await home.shell("rungate wallet auto-topup set --threshold 5 --amount 25")
  expect([set.code, set.body.enabled]).toEqual([0, true])
  const off = await home.shell("rungate wallet auto-topup off")
  expect([off.code, off.body]).toEqual([0, { ...set.body, enabled: false }])
})

test("the audit says that the books add up, and fails when they do not", async () => {
  const well = await home.shell("rungate wallet audit")
  expect([well.code, well.body.adds_up]).toEqual([0, true])
  const wrong = Bun.serve({
    port: 0,
    fetch: () =>
      Response.json({ ...well.body, adds_up: false, violations: [{ equation: "E1", subject: "x", detail: "y" }] })
  })
  const screen = home.terminal("rungate wallet audit", { RUNGATE_URL: wrong.url.href })
  expect(await screen.ended).toBe(1)
  expect(Bun.stripANSI(screen.seen())).toMatch(/do NOT add up[^]*E1: x: y/)
  await wrong.stop(true)
})

test("the referral code is there to be copied whole", async () => {
  const screen = home.terminal("rungate referrals", {}, 40)
  expect(await screen.ended).toBe(0)
  const { body } = await home.shell("rungate referrals")
  expect(Bun.stripANSI(screen.seen())).toContain(body.link)
})

test("a checkout: the page to pay on, and --wait that ends when the payment is credited, not before", async () => {
  const desk: Desk = await openDesk()
  try {
    const buyer = await desk.apps[0].tenant()
    const mine = { RUNGATE_URL: desk.apps[0].url, RUNGATE_API_KEY: buyer.key }
    const piped = await home.shell("rungate wallet topup 25.00", mine)
    expect([piped.code, piped.body.status, piped.err]).toEqual([
      0,
      "checkout",
      expect.stringContaining("is credited when")
    ])
    let looks = 0
    const between = Bun.serve({
      port: 0,
      fetch: (request) => {
        const { pathname, search } = new URL(request.url)
        if (pathname.endsWith("/transactions")) looks++
        return fetch(new Request(`${desk.apps[0].url}${pathname}${search}`, request), { decompress: false })
      }
    })
    const screen = home.terminal("rungate wallet topup 30.00 --wait", { ...mine, RUNGATE_URL: between.url.href })
    await screen.shows("Waiting for the payment")
    // The first look is for what is there already; that a third follows shows that the second found nothing.
    await until(
      "a third look at the ledger",
      () => looks,
      (count) => count >= 3
    )
    expect(screen.seen()).not.toContain("Credited")
    expect(screen.seen()).toMatch(/https?:\/\/\S+/)
    expect(await moved(buyer)).toEqual([])
    const session = desk.stripe.lists.sessions().find((one) => one["amount_total"] === 3000)
    desk.stripe.pay(session?.id)
    await desk.tell(desk.stripe.events.at(-1) ?? {})
    expect(await screen.ended).toBe(0)
    expect(screen.seen()).toContain("Credited $30.00.")
    await between.stop(true)
    // A stand-in for the browser notes what it is asked to show.
    const shown = join(home.folder, "shown.txt")
    const browsers = join(home.folder, "browsers")
    mkdirSync(browsers)
    writeFileSync(join(browsers, "xdg-open"), `#!/bin/sh\necho "$1" >> ${shown}\n`, { mode: 0o755 })
    const PATH = `${browsers}:${home.environment["PATH"]}`
    const opened = home.terminal("rungate topup 45.00 --open", { ...mine, PATH })
    expect(await opened.ended).toBe(0)
    const address = /https?:\/\/\S+/.exec(Bun.stripANSI(opened.seen()))?.[0]
    const noted = await until(
      "a browser that was started",
      () => (existsSync(shown) ? readFileSync(shown, "utf8") : ""),
      (text) => text.endsWith("\n")
    )
    expect(noted).toBe(`${address}\n`)
    const [unseen, none] = await Promise.all([
      home.shell("rungate topup 46.00 --open", { ...mine, PATH }),
      // Nothing but rungate itself is on this PATH.
      home
        .terminal(`env PATH=${join(home.folder, "bin")} rungate topup 47.00 --open`, mine)
        .shows("Can't open a browser")
    ])
    expect([unseen.body.checkout_url, readFileSync(shown, "utf8")]).toEqual([expect.stringContaining("http"), noted])
    expect(none).toMatch(/https?:\/\/\S+/)
    const left = home.terminal("rungate wallet topup 40.00 --wait", mine)
    await left.shows("Waiting for the payment")
    left.type("\u0003")
    expect(await left.ended).toBe(2)
    expect(left.seen()).toContain("stays open")
  } finally {
    await desk.stop()
  }
})
