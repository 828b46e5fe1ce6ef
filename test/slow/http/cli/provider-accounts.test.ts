/** `rungate provider-accounts` as a person uses it, and the commands of docs/own-accounts.md in their order. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { type App, startApp } from "../../../kit/app.ts"
import { blocksOf, pageText } from "../../../http/cli/pages.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

const password = "correct horse battery"
const key = "canary-own-hunter-4711"

let app: App
let home: Home
beforeAll(async () => {
  app = await startApp({
    settings: { RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 3).toString("base64"), RUNGATE_OWN_ACCOUNT_FEE: "0.002" }
  })
  home = newHome({ RUNGATE_URL: app.url })
  const signUp = "rungate login --sign-up --email owner@example.com --organization Acme --password-stdin"
  expect((await home.shell(signUp, {}, `${password}\n`)).code).toBe(0)
  expect((await home.shell("rungate wallet topup 10.00")).code).toBe(0)
})
afterAll(async () => {
  home.remove()
  await app.stop()
})

test("the key comes from stdin or a file, is shown by its last four characters, and is in no output", async () => {
  const set = await home.shell("rungate provider-accounts set hunter --fallback --json", {}, `${key}\n`)
  expect(set).toMatchObject({ code: 0, body: { provider: "hunter", last_four: "4711", fallback: true, fee: "0.002" } })
  const listed = await home.shell("rungate provider-accounts list")
  expect(listed.body.items).toMatchObject([{ provider: "hunter", last_four: "4711" }])
  await Bun.write(`${home.folder}/key.txt`, "login:canary-pass-0815\n")
  const file = await home.shell("rungate provider-accounts set dataforseo --key-file key.txt")
  expect(file).toMatchObject({ code: 0, body: { last_four: "0815" } })
  const wrong = await home.shell("rungate provider-accounts set dataforseo", {}, `${key}\n`)
  expect([wrong.code === 0, wrong.err]).toEqual([false, expect.stringContaining("login:password")])
  const removed = await home.shell("rungate provider-accounts remove dataforseo --yes")
  expect([removed.code, removed.body]).toEqual([0, { provider: "dataforseo", deleted: true }])
  const unsure = await home.shell("rungate provider-accounts remove hunter")
  expect(unsure.code).not.toBe(0)
  for (const { out, err } of [set, listed, file, wrong, removed, unsure]) expect(`${out}${err}`).not.toContain("canary")
})

test("the sandbox rehearses a refused key", async () => {
  await home.shell("rungate provider-accounts set hunter --fallback", {}, "sandbox:refused\n")
  const run = await home.shell(
    `rungate run email.verify -i '{"email": "ada@example.com"}' --provider hunter --max-cost 0.10 --json`
  )
  expect([run.body?.error ?? null, run.err]).toEqual([null, expect.any(String)])
  expect(run.body.attempts).toMatchObject([
    { provider: "hunter", account: "own", outcome: "provider_account" },
    { provider: "hunter", outcome: "succeeded" }
  ])
})

test("the commands of docs/own-accounts.md do what the page says", async () => {
  const [block] = blocksOf(pageText("docs/own-accounts.md"))
  const { code, out, err } = await home.shell(`set -e\n${block?.commands ?? "false"}`, { HUNTER_KEY: key })
  expect([code, code === 0 ? "" : err]).toEqual([0, ""])
  expect(out).toContain('"account":"own"')
  expect(out).toContain('"charged":"0.002"')
  expect(out).toContain('"deleted":true')
  expect(`${out}${err}`).not.toContain(key)
})
