/** `budget.reached` of API keys over real HTTP: once per crossing, as an event and by e-mail, on two processes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, oneBackend, startApp, type Tenant, until, verify } from "../../../kit/app.ts"
import { smtpMailbox, type SmtpMailbox } from "../../../kit/mailbox.ts"

interface Told {
  readonly control: string
  readonly key_id?: string
  readonly manage: string
  readonly percent: number
  readonly limit: string
  readonly spent: string
  readonly resets_at: string | null
}

/** A run of `verify()` holds $0.0048 and costs $0.003. */
describe.each(oneBackend)("budgets of API keys, queues on %s", (backend) => {
  let apps: readonly [App, App]
  let mailbox: SmtpMailbox
  beforeAll(async () => {
    mailbox = await smtpMailbox()
    const settings = mailbox.settings
    const first = await startApp({ backend, settings })
    apps = [first, await startApp({ beside: first, settings })]
  })
  afterAll(async () => {
    await apps[0].books()
    await apps[1].stop()
    await apps[0].stop()
    await mailbox.stop()
  })

  const toldTo = async ({ org_id }: Tenant) =>
    (
      await apps[0].sql(
        "SELECT data FROM events WHERE org_id = $1 AND kind = 'budget.reached' AND data ->> 'control' = 'key_budget' ORDER BY position",
        [org_id]
      )
    ).map(({ data }) => data as Told)
  const percents = async (org: Tenant) => (await toldTo(org)).map(({ percent }) => percent)
  /** Waits until all that the turns handed over is in the log. */
  const settled = (org: Tenant) =>
    until(
      "an empty inbox",
      () => apps[0].sql("SELECT 1 FROM event_inbox WHERE org_id = $1", [org.org_id]),
      (rows) => rows.length === 0
    )

  const owner = async (balance: string) => {
    const org = await apps[0].tenant(balance)
    const session = await org.session()
    const [row] = await apps[0].sql("SELECT email FROM users WHERE org_id = $1", [org.org_id])
    const asPerson = (method: string, path: string, body?: unknown) => apps[0].call(session, method, path, { body })
    const keyOf = ({ id, api_key }: { readonly id: string; readonly api_key: string }) => ({
      id,
      run: (on: App = apps[0]) => on.call(api_key, "POST", "/v1/run", { body: verify() }),
      change: (budget: unknown) => asPerson("PATCH", `/v1/api-keys/${id}`, { budget }),
      rotate: async () => keyOf((await asPerson("POST", `/v1/api-keys/${id}/rotate`, { grace_seconds: 0 })).body)
    })
    const mint = async (limit: string, period: string) => {
      const { body } = await asPerson("POST", "/v1/api-keys", {
        ...{ name: "k", environment: "test" },
        budget: { limit, period }
      })
      return keyOf(body)
    }
    const subjects = () => mailbox.letters(apps[0], String(row?.["email"])).map(({ subject }) => subject)
    return { org, asPerson, mint, subjects }
  }

  test("50, 80 and 100 percent are told once, whichever process runs, and again after the limit was raised", async () => {
    const { org, mint, subjects } = await owner("5.00")
    const key = await mint("0.03", "day")
    // All at once: holds refuse some, though the budget is not used up.
    await Promise.all(Array.from({ length: 14 }, (_, index) => key.run(apps[index % 2 === 0 ? 0 : 1])))
    let refused = 0
    for (let run = 0; refused < 3; run++) {
      const { status } = await key.run(apps[run % 2 === 0 ? 0 : 1])
      if (status === 402) refused++
    }
    await until(
      "100 percent",
      () => percents(org),
      (all) => all.includes(100)
    )
    await settled(org)
    expect(await percents(org)).toEqual([50, 80, 100])
    const [half, , last] = await toldTo(org)
    expect(half).toEqual({
      control: "key_budget",
      key_id: key.id,
      manage: `/v1/api-keys/${key.id}`,
      percent: 50,
      limit: "0.03",
      // One turn may settle several runs.
      spent: expect.stringMatching(/^0\.0[12]\d+$/),
      resets_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/)
    })
    expect(last?.spent).toBe("0.027")
    await until("the e-mail", subjects, (all) => all.includes("100 % of the budget of an API key is used"))
    expect(subjects().filter((one) => one.startsWith("100 %"))).toHaveLength(1)

    await key.change({ limit: "0.06", period: "day" })
    await key.run()
    await until(
      "50 percent of the higher limit",
      () => percents(org),
      (all) => all.length === 4
    )
    expect((await toldTo(org)).at(-1)).toMatchObject({ percent: 50, limit: "0.06", spent: "0.03" })

    // A key and the one that replaces it share the budget, and the new one is named.
    const next = await key.rotate()
    for (let run = 0; run < 6; run++) await next.run(apps[run % 2 === 0 ? 0 : 1])
    await until(
      "80 percent of it",
      () => percents(org),
      (all) => all.length === 5
    )
    expect((await toldTo(org)).at(-1)).toMatchObject({ percent: 80, key_id: next.id, spent: "0.048" })
    await settled(org)
    expect(await percents(org)).toEqual([50, 80, 100, 50, 80])
  })

  test("a lowered limit is told at the next run, and another period counts for itself", async () => {
    const { org, mint } = await owner("1.00")
    const key = await mint("1.00", "total")
    for (let run = 0; run < 2; run++) await key.run()
    await key.change({ limit: "0.0108", period: "total" })
    await key.run()
    await until(
      "80 percent",
      () => percents(org),
      (all) => all.includes(80)
    )
    expect((await toldTo(org)).at(-1)).toMatchObject({ limit: "0.0108", spent: "0.009", resets_at: null })
    await key.change({ limit: "0.018", period: "month" })
    await key.run()
    await until(
      "50 percent of the month",
      () => percents(org),
      (all) => all.length === 3
    )
    expect(await percents(org)).toEqual([50, 80, 50])
  })

  test("a run that no unused budget would allow tells nothing", async () => {
    const { org, mint } = await owner("1.00")
    const key = await mint("0.004", "day")
    expect((await key.run()).body.error.code).toBe("budget_exceeded")
    const other = await mint("0.0048", "day")
    expect((await other.run()).status).toBe(200)
    await until(
      "the other key's",
      () => percents(org),
      (all) => all.length > 0
    )
    await settled(org)
    expect((await toldTo(org)).map(({ key_id }) => key_id)).toEqual([other.id])
  })

  test("a budget and the daily limit that are crossed by one run have an e-mail each", async () => {
    const { asPerson, mint, subjects } = await owner("1.00")
    await asPerson("POST", "/v1/spend-guard", { daily_limit: "0.006" })
    const key = await mint("0.006", "week")
    expect((await key.run()).status).toBe(200)
    await until("both e-mails", subjects, (all) => all.length === 2)
    expect(subjects().toSorted()).toEqual([
      "50 % of a spending limit is used",
      "50 % of the budget of an API key is used"
    ])
  })
})
