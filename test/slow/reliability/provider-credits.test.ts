/**
 * The credits of the operator's accounts at providers: calls never spend more than is left, in however many processes; an empty account's
 * offers are left out before a customer sees a refusal; readings and calls that overlap count nothing twice and lose nothing.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Clock, Context, Effect, Layer } from "effect"
import { Audit } from "../../../src/layers/audit/Audit.ts"
import { CreditsStore } from "../../../src/layers/executor/CreditsStore.ts"
import { ProviderCredits } from "../../../src/layers/executor/ProviderCredits.ts"
import type { Settings } from "../../../src/layers/platform/Settings.ts"
import { runMain } from "../../chaos/processes.ts"
import { compiledCommand } from "../../kit/compiled-command.ts"
import { type App, startApp, type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { providers } from "../../../src/layers/providers/index.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { answer } from "../../layers/providers/stage.ts"
import { hasten, type Line, standIn } from "../../layers/providers/standin.ts"

const there = standIn()
const settings = {
  ...there.settings,
  RUNGATE_CREDITS_MINUTES: "10",
  RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
  RUNGATE_PROVIDER_LEADMAGIC_CREDIT_USD: "0.01"
}
const unhasten = hasten()
let org: Tenant
const app = withApp({ settings })
afterAll(async () => {
  await there.stop()
  unhasten()
})

// A reading at the start must not take an answer that a test scripts for a run.
beforeAll(async () => {
  const open = "SELECT 1 FROM provider_credits WHERE read_error IS NULL"
  const readable = providers.filter(({ credits }) => credits !== undefined).length
  await until(
    "readings",
    () => there.heard().length,
    (count) => count >= readable,
    20
  )
  await until(
    "their ends",
    () => app.sql(open),
    (rows) => rows.length === 0,
    20
  )
})

const service = <A>(
  of: Effect.Effect<A, never, CreditsStore | ProviderCredits | Settings>,
  on: App = app
): Promise<A> => Effect.runPromise(Effect.provideContext(of, on.context as never))
const store = (use: (store: CreditsStore["Service"]) => Effect.Effect<unknown>) =>
  service(Effect.flatMap(CreditsStore, use))
/** Requests that are no readings. */
const calls = () => there.heard("leadmagic").filter(({ path }) => path !== "/credits")
const refresh = (on: App = app) =>
  service(
    Effect.flatMap(ProviderCredits, (credits) => credits.refresh),
    on
  )

/** An account at LeadMagic with so many credits, of which a verification costs a quarter. */
const account = async (credits: number, source: "read" | "set" = "set", on: App = app) => {
  await on.sql("DELETE FROM provider_credit_holds")
  await on.sql("DELETE FROM provider_credits")
  await on.sql(
    "INSERT INTO provider_credits (provider, balance, source, read_at, next_read_at) VALUES ('leadmagic', $1, $2, now(), now() + interval '1 hour')",
    [credits * 1_000_000, source]
  )
  await refresh(on)
}
const left = async () => {
  const [row] = await app.sql("SELECT balance, reserved, read_error FROM provider_credits WHERE provider = 'leadmagic'")
  return { balance: Number(row?.["balance"]) / 1e6, reserved: Number(row?.["reserved"]) / 1e6 }
}
beforeEach(async () => {
  there.forget()
  org = await app.tenant("5.00")
  await account(1_000_000)
})
afterEach(async () => {
  const holds =
    "SELECT c.reserved, coalesce(sum(h.amount), 0) AS holds FROM provider_credits c LEFT JOIN provider_credit_holds h USING (provider) GROUP BY provider"
  for (const { reserved, holds: held } of await app.sql(holds)) expect(reserved).toEqual(held)
  await app.books()
})

const valid: Line = answer(200, { email_status: "valid", credits_consumed: 0.25 })
const verified: Line = answer(200, { result: "ok", email: "jane.doe@example.com" })
const pinned = (tenant = org) => tenant.run({ ...verify(), routing: { provider: "leadmagic" } })
const cheapest = (tenant = org) => tenant.run({ ...verify(), routing: { strategy: "cheapest" } })
const outcomes = (body: { attempts: ReadonlyArray<{ provider: string; outcome: string }> }) =>
  body.attempts.map(({ provider, outcome }) => `${provider} ${outcome}`)

/** Answers that wait until `open`. */
const gate = (line: Line) => {
  const opened = Promise.withResolvers<void>()
  const arrived: Array<() => void> = []
  const held: Line = async (request) => {
    arrived.shift()?.()
    await opened.promise
    return typeof line === "function" ? line(request) : line
  }
  const arrival = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    arrived.push(resolve)
    return promise
  }
  return { line: held, arrival, open: opened.resolve }
}

describe("an account that is nearly empty", () => {
  test("ten runs at once make as many calls as the credits pay for, and the others are charged nothing", async () => {
    await account(0.75)
    there.play("leadmagic", ...Array.from({ length: 10 }, () => valid))
    const ended = await Promise.all(Array.from({ length: 10 }, () => pinned()))
    const succeeded = ended.filter(({ body }) => body.status === "succeeded")
    expect([succeeded.length, calls().length]).toEqual([3, 3])
    const others = ended.filter(({ body }) => body.status !== "succeeded").map(({ body }) => body.error)
    expect(others.map(({ code }) => code)).toEqual(others.map(() => "provider_not_available"))
    expect(JSON.stringify(others)).not.toMatch(/credit/i)
    expect(await left()).toEqual({ balance: 0, reserved: 0 })
    expect((await org.wallet()).reserved).toBe("0.00")
  })

  test("two processes together make no call too many", async () => {
    await account(1)
    const other = await startApp({ beside: app, settings })
    try {
      await refresh(other)
      there.play("leadmagic", ...Array.from({ length: 16 }, () => valid))
      const ended = await Promise.all(Array.from({ length: 16 }, (_, n) => pinned(n % 2 === 0 ? org : org.over(other))))
      expect(ended.filter(({ body }) => body.status === "succeeded")).toHaveLength(4)
      expect(calls()).toHaveLength(4)
      expect(await left()).toEqual({ balance: 0, reserved: 0 })
    } finally {
      await other.stop()
    }
  })

  test("a run that was planned while another one took the last credits goes on to the next provider", async () => {
    await account(0.25)
    const first = gate(valid)
    const arrived = first.arrival()
    there.play("leadmagic", first.line)
    const taking = pinned()
    await arrived
    there.play("millionverifier", verified)
    const { body } = await cheapest()
    expect(outcomes(body)).toEqual(["leadmagic provider_unavailable", "millionverifier succeeded"])
    first.open()
    expect((await taking).body.status).toBe("succeeded")
  })

  test("a call that failed gives its credits back", async () => {
    await account(0.25)
    there.play("leadmagic", answer(500, "oops"), valid)
    expect((await pinned()).body.status).toBe("failed")
    expect(await left()).toEqual({ balance: 0.25, reserved: 0 })
    expect((await pinned()).body.status).toBe("succeeded")
  })
})

describe("an empty account", () => {
  test("is left out of runs, quotes and inspect, and says nothing of credits to customers", async () => {
    await account(0)
    there.play("millionverifier", verified)
    const { body } = await cheapest()
    expect(outcomes(body)).toEqual(["millionverifier succeeded"])
    const refused = await pinned()
    expect([refused.status, refused.body.error.code]).toEqual([409, "provider_not_available"])
    const inspected = await org.post("/v1/inspect", { capability: "email.verify" })
    const offer = inspected.body.offers.find((one: { provider: string }) => one.provider === "leadmagic")
    const quoted = await org.post("/v1/quote", { ...verify(), routing: { provider: "leadmagic" } })
    for (const { text } of [refused, inspected, quoted])
      expect(text).not.toMatch(/out of credits|insufficient|balance/i)
    expect(offer.provider).toBe("leadmagic")
    expect(quoted.status).toBe(409)
    expect(calls()).toEqual([])
  })

  test("a refusal of one customer's call keeps the provider from the next customer's", async () => {
    await app.sql("DELETE FROM provider_credits")
    await refresh()
    there.play("leadmagic", answer(402, { message: "Not enough credits." }), valid)
    there.play("millionverifier", verified, verified)
    expect(outcomes((await cheapest()).body)).toEqual(["leadmagic provider_account", "millionverifier succeeded"])
    const another = await app.tenant("5.00")
    expect(outcomes((await cheapest(another)).body)).toEqual(["millionverifier succeeded"])
    expect(calls()).toHaveLength(1)
    expect(app.logs.some((line) => line.includes("leadmagic: the service's account has no credits left"))).toBe(true)
  })

  test("a refusal of a raw call or of a customer's own account keeps nobody else from the provider", async () => {
    await app.sql("DELETE FROM provider_credits")
    await refresh()
    const refusal = answer(402, { message: "Not enough credits." })
    there.play("leadmagic", refusal, refusal, valid)
    const input = { email: "jane.doe@example.com" }
    const raw = await org.run({ provider: "leadmagic", endpoint: "/v1/people/email-validation", input })
    expect(outcomes(raw.body)).toEqual(["leadmagic provider_account"])
    const owner = await app.tenant("5.00")
    const body = { api_key: "their-own-key-4711" }
    await app.call(await owner.session(), "PUT", "/v1/provider-accounts/leadmagic", { body })
    expect((await pinned(owner)).body.attempts).toMatchObject([{ outcome: "provider_account", account: "own" }])
    expect((await pinned(await app.tenant("5.00"))).body.status).toBe("succeeded")
    expect(calls()).toHaveLength(3)
  })
})

describe("readings", () => {
  const read = async (credits: number) => {
    there.play("leadmagic", answer(200, { credits }))
    await app.sql("UPDATE provider_credits SET next_read_at = now(), read_at = now() - interval '1 hour'")
    await until(
      "a reading",
      () => app.sql("SELECT 1 FROM provider_credits WHERE read_at > now() - interval '30 minutes'"),
      (rows) => rows.length === 1,
      20
    )
    await refresh()
  }

  test("replace the balance, and clear the mark of an empty account", async () => {
    await account(0, "read")
    await app.sql("UPDATE provider_credits SET empty_until = now() + interval '15 minutes'")
    await refresh()
    expect((await pinned()).status).toBe(409)
    await read(10)
    expect(await left()).toEqual({ balance: 10, reserved: 0 })
    there.play("leadmagic", valid)
    expect((await pinned()).body.status).toBe("succeeded")
  })

  test("an account that gets low is logged once, and read again sooner", async () => {
    await account(10, "read")
    await app.sql("UPDATE provider_credits SET low_below = 5000000")
    const warnings = () => app.logs.filter((line) => line.includes("leadmagic: the service's account is low"))
    const before = warnings().length
    await read(4)
    await read(3)
    expect(warnings()).toHaveLength(before + 1)
    const soon = "SELECT next_read_at < now() + interval '2 minutes' AS soon FROM provider_credits"
    expect(await app.sql(soon)).toEqual([{ soon: true }])
  })

  test("replace a balance that was set by hand, once the provider can be read", async () => {
    await account(5, "set")
    await app.sql("UPDATE provider_credits SET unit = 'USD', burn_per_day = 7, burn_balance = 5000000, burn_at = now()")
    await read(40)
    const rows = await app.sql("SELECT balance, unit, source, burn_per_day FROM provider_credits")
    expect(rows).toEqual([{ balance: "40000000", unit: "credit", source: "read", burn_per_day: "0" }])
  })

  test("a failed reading changes no balance, and says why", async () => {
    await account(10, "read")
    there.play("leadmagic", answer(500, "oops"))
    await app.sql("UPDATE provider_credits SET next_read_at = now()")
    const rows = await until(
      "the error",
      () => app.sql("SELECT balance, read_error FROM provider_credits"),
      ([row]) => row?.["read_error"] !== null,
      20
    )
    expect(rows).toEqual([{ balance: "10000000", read_error: "HTTP 500" }])
  })

  test("that are six hours old keep no offer out, and nothing is reserved against them", async () => {
    await account(0, "read")
    expect((await pinned()).status).toBe(409)
    await app.sql("UPDATE provider_credits SET read_at = now() - interval '7 hours'")
    await refresh()
    there.play("leadmagic", valid)
    expect((await pinned()).body.status).toBe("succeeded")
    expect(await app.sql("SELECT hold_id FROM provider_credit_holds")).toEqual([])
  })

  test("are as old as the database says: a machine whose clock is wrong by a day makes no call too many", async () => {
    await account(0, "read")
    const dayMillis = 86_400_000
    const ahead = Effect.map(
      Clock.clockWith(Effect.succeed),
      (clock): Clock.Clock =>
        Object.assign(Object.create(clock), {
          currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + dayMillis,
          currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + dayMillis)
        })
    )
    const isOut = await service(
      Effect.gen(function* () {
        const credits = yield* ProviderCredits
        yield* credits.refresh
        return credits.isOut("leadmagic", null, yield* Clock.currentTimeMillis)
      }).pipe(Effect.provideServiceEffect(Clock.Clock, ahead))
    )
    await refresh()
    expect(isOut).toBe(true)
  })

  test("that the service no longer makes keep no offer out", async () => {
    // In a database of its own: a process beside this one that does make readings could take the run.
    const other = await startApp({ settings: { ...settings, RUNGATE_CREDITS_MINUTES: "0" } })
    try {
      await account(0, "read", other)
      there.play("leadmagic", valid)
      expect((await pinned(await other.tenant("5.00"))).body.status).toBe("succeeded")
      expect(await other.sql("SELECT hold_id FROM provider_credit_holds")).toEqual([])
      await other.books()
    } finally {
      await other.stop()
    }
  })

  test("a call that ends while the balance is read stays reserved until the next reading", async () => {
    await account(10, "read")
    const call = gate(valid)
    const arrived = call.arrival()
    there.play("leadmagic", call.line)
    const running = pinned()
    await arrived
    expect(await left()).toEqual({ balance: 10, reserved: 0.25 })
    // The reading starts before the call ends, and its answer may or may not contain the call.
    await read(10)
    expect(await left()).toEqual({ balance: 10, reserved: 0.25 })
    call.open()
    expect((await running).body.status).toBe("succeeded")
    expect(await left()).toEqual({ balance: 10, reserved: 0.25 })
    await read(9.75)
    expect(await left()).toEqual({ balance: 9.75, reserved: 0 })
  })

  test("that began before another one and end after it change nothing", async () => {
    await account(10, "read")
    await service(
      Effect.gen(function* () {
        const store = yield* CreditsStore
        const [row] = yield* store.list
        if (row === undefined) throw new Error("there is no account")
        const began = Date.now()
        const reading = (after: number) => ({ ...row, seen_at: new Date(began + after) })
        const read = { unit: "credit", expires_at: null, renews: false } as const
        yield* store.store(reading(1_000), { ...read, balance: 2_000_000n }, 60)
        yield* store.store(reading(0), { ...read, balance: 10_000_000n }, 60)
      })
    )
    expect(await left()).toEqual({ balance: 2, reserved: 0 })
  })

  test("that come between a lost answer about a sum and its repetition count the sum once", async () => {
    await account(10, "read")
    const spend = () => store((credits) => credits.spend("leadmagic", "sum_lost", 1_000_000n))
    await spend()
    expect(await left()).toEqual({ balance: 10, reserved: 1 })
    await read(9)
    await spend()
    expect(await left()).toEqual({ balance: 9, reserved: 0 })
  })

  test("what was reserved for a run that is no longer open counts as spent", async () => {
    await account(10, "read")
    await service(
      Effect.gen(function* () {
        const store = yield* CreditsStore
        expect(yield* store.reserve("leadmagic", "run_gone#1", "run_gone", 250_000n)).toBe(true)
        expect(yield* store.reserve("leadmagic", "run_gone#1", "run_gone", 250_000n)).toBe(true)
        yield* store.endLost
        yield* store.endLost
      })
    )
    expect(await left()).toEqual({ balance: 10, reserved: 0.25 })
    await read(9.75)
    expect(await left()).toEqual({ balance: 9.75, reserved: 0 })
  })
})

describe("a balance that was set by hand", () => {
  test("counts a call once whose reservation is ended twice, and each sum", async () => {
    await account(10)
    await store((credits) =>
      Effect.all([
        credits.reserve("leadmagic", "run_twice#1", "run_twice", 250_000n),
        credits.spend("leadmagic", "run_twice#1", 250_000n),
        credits.spend("leadmagic", "run_twice#1", 250_000n),
        credits.spend("leadmagic", "sum_a", 1_000_000n),
        credits.spend("leadmagic", "sum_b", 1_000_000n)
      ])
    )
    expect(await left()).toEqual({ balance: 7.75, reserved: 0 })
  })

  test("contains what was spent before, but not the calls under way", async () => {
    await account(10, "read")
    const set = { unit: "credit", balance: 5_000_000n, expires_at: null } as const
    await store((credits) =>
      Effect.all([
        credits.reserve("leadmagic", "run_over#1", "run_over", 250_000n),
        credits.reserve("leadmagic", "run_open#1", "run_open", 250_000n),
        credits.spend("leadmagic", "run_over#1", 250_000n)
      ])
    )
    expect(await left()).toEqual({ balance: 10, reserved: 0.5 })
    await store((credits) => credits.set("leadmagic", set))
    expect(await left()).toEqual({ balance: 5, reserved: 0.25 })
  })
})

describe("rungate admin", () => {
  const admin = async (...args: ReadonlyArray<string>) => {
    const env = { DATABASE_URL: app.databaseUrl, RUNGATE_MODE: "production" }
    const { ended, output, errors } = runMain(["admin", ...args], env, [await compiledCommand()])
    return { code: (await ended).code, out: output(), err: errors() }
  }

  test("credits set, list and refresh", async () => {
    const set = await admin(
      "credits",
      "set",
      "lusha",
      "--balance",
      "5000",
      "--expires",
      "2100-01-31",
      "--low-below",
      "10"
    )
    expect([set.code, set.out]).toEqual([0, expect.stringMatching(/lusha +ok +5000.00 +credit/)])
    const listed = await admin("credits", "list")
    expect(listed.out).toMatch(/lusha .*2100-01-31/)
    expect(listed.out).toMatch(/leadmagic +ok +1000000.00 +credit/)
    expect((await admin("credits", "refresh", "hunter", "--json")).code).toBe(0)
    const wrong = await admin("credits", "set", "hunter", "--balance", "5")
    expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining("the service reads it at hunter")])
  })

  test("bills match", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "bill-")), "bill.csv")
    const match = (...more: ReadonlyArray<string>) =>
      admin("bills", "match", "-f", file, "--provider", "lusha", "--from", "2026-11-01", "--to", "2026-11-30", ...more)
    writeFileSync(file, 'Date,Credits\n2026-11-21T10:00:00Z,"1,250.5"\n')
    const { code, out } = await match("--amount-column", "credits")
    expect([code, out]).toEqual([0, expect.stringMatching(/2026-11-21 .*not recorded +1250.50 +0.00/)])
    expect((await match()).err).toContain('has no column "amount". Its columns are Date, Credits.')
    writeFileSync(file, "date,amount\n2026-11-21,free\n")
    expect((await match()).err).toContain('has "free" for an amount, in row 1')
  })

  test("a day that the calendar does not have is refused, not read as another one", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "bill-")), "bill.csv")
    writeFileSync(file, "date,amount\n2026-03-03,1\n")
    const bill = ["bills", "match", "-f", file, "--provider", "lusha"]
    const matched = await admin(...bill, "--from", "2026-02-31", "--to", "2026-03-31")
    expect([matched.code, matched.err]).toEqual([5, expect.stringContaining("from must be a day")])
    const set = await admin("credits", "set", "lusha", "--balance", "5000", "--expires", "2100-02-31")
    expect([set.code, set.err]).toEqual([5, expect.stringContaining("expires_at")])
  })
})

test("E24: the audit names an account whose reservations are not those of its calls", async () => {
  const { run } = Context.get(app.context, Audit)
  const found = async () =>
    (await Effect.runPromise(run)).violations.filter(({ equation }) => equation.startsWith("E24"))
  expect(await found()).toEqual([])
  await app.sql("UPDATE provider_credits SET reserved = 7")
  expect(await found()).toMatchObject([{ subject: "leadmagic", detail: "reserved 7, calls 0" }])
  await app.sql("UPDATE provider_credits SET reserved = 0")
})

test.each([
  ["set", { balance: 999_999.5, reserved: 0 }],
  ["read", { balance: 1_000_000, reserved: 0.5 }]
] as const)("a sum whose answer is lost counts once in a balance that was %s", async (source, counted) => {
  await account(1_000_000, source)
  let sent = 0
  const losing = (store: CreditsStore["Service"]) => {
    const answer = Effect.suspend(() => (sent++ % 2 === 0 ? Effect.die("the answer is lost") : Effect.void))
    return { ...store, spend: (...sum: Parameters<typeof store.spend>) => Effect.andThen(store.spend(...sum), answer) }
  }
  const spending = Effect.gen(function* () {
    const credits = yield* ProviderCredits
    for (const run of ["run_a", "run_b"]) {
      const end = yield* credits.reserve("leadmagic", run, `${run}#1`, dollars("0.0025"))
      yield* end?.(dollars("0.0025")) ?? Effect.die("no reservation")
      yield* Effect.exit(credits.refresh)
      expect((yield* Effect.exit(credits.refresh))._tag).toBe("Success")
    }
  })
  await service(
    spending.pipe(
      Effect.provide(Layer.fresh(ProviderCredits.layer)),
      Effect.provideServiceEffect(CreditsStore, Effect.map(CreditsStore, losing))
    )
  )
  expect([sent, await left()]).toEqual([4, counted])
})

test("an account with much left makes no statement for a call, and its use is stored in sums", async () => {
  await account(1_000_000)
  there.play("leadmagic", valid, valid)
  await pinned()
  await pinned()
  expect(await left()).toEqual({ balance: 1_000_000, reserved: 0 })
  await refresh()
  expect(await left()).toEqual({ balance: 999_999.5, reserved: 0 })
  await refresh()
  expect(await left()).toEqual({ balance: 999_999.5, reserved: 0 })
})
