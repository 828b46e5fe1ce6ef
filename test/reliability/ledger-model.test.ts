/** The wallet against an independent model of it: first the pure decision, then the same through real turns on Postgres. */
import { afterAll, describe, expect, test } from "bun:test"
import { Context, Effect } from "effect"
import fc from "fast-check"
import { CommandClient } from "../../src/actors/mailbox/CommandClient.ts"
import { encodeCredit, encodeSettle } from "../../src/actors/mailbox/Commands.ts"
import { WalletLimits } from "../../src/layers/ledger/WalletLimits.ts"
import { MicroUsd, usd } from "../../src/schema/money/Money.ts"
import type { RunStatus } from "../../src/schema/runs/Run.ts"
import {
  changedLimits,
  type Command,
  decide,
  type Entry,
  type WalletRun,
  type Verdict,
  type Wallet
} from "../../src/schema/wallet/Wallet.ts"
import { figures, startApp, until } from "../kit/app.ts"

type Op =
  | { readonly kind: "credit"; readonly type: "bonus" | "refund"; readonly amount: bigint }
  | { readonly kind: "reserve"; readonly hold: bigint; readonly queued: boolean }
  | {
      readonly kind: "settle"
      readonly pick: number
      readonly status: RunStatus
      readonly charge: bigint
      readonly token: boolean
    }
  | { readonly kind: "cancel" | "claim" | "again"; readonly pick: number }
  | { readonly kind: "guard"; readonly per_run: bigint | null | undefined; readonly daily: bigint | null | undefined }
  | { readonly kind: "midnight" }

/** Written from the specification, in the plainest way there is; it shares no code with what it checks. */
class Model {
  balance = 0n
  per_run: bigint | null = null
  daily: bigint | null = null
  readonly holds = new Map<string, bigint>()
  readonly spent = new Map<string, bigint>()
  reserved() {
    return [...this.holds.values()].reduce((sum, one) => sum + one, 0n)
  }
  /** What a reservation of `hold` must answer. */
  admit(run_id: string, hold: bigint, day: string): string {
    if (hold > 0n) {
      if (this.per_run !== null && hold > this.per_run) return "cost_limit_exceeded"
      if (this.daily !== null && (this.spent.get(day) ?? 0n) + this.reserved() + hold > this.daily)
        return "budget_exceeded"
      if (hold > this.balance - this.reserved()) return "insufficient_balance"
    }
    this.holds.set(run_id, hold)
    return "Admitted"
  }
  resolve(run_id: string, asked: bigint, day: string): bigint {
    const hold = this.holds.get(run_id) ?? 0n
    const charge = asked > hold ? hold : asked
    this.holds.delete(run_id)
    this.balance -= charge
    this.spent.set(day, (this.spent.get(day) ?? 0n) + charge)
    return charge
  }
}

const delivered = (status: RunStatus) => status === "succeeded" || status === "no_match"
const amounts = fc.bigInt({ min: 1n, max: 2_000_000n })
const limits = fc.option(fc.bigInt({ min: 0n, max: 5_000_000n }), { nil: null })
const picks = fc.nat({ max: 30 })
const ops: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("credit" as const),
      type: fc.constantFrom("bonus", "refund"),
      amount: fc.bigInt({ min: 1n, max: 12_000_000n })
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("reserve" as const),
      hold: fc.oneof({ weight: 9, arbitrary: amounts }, { weight: 1, arbitrary: fc.constant(0n) }),
      queued: fc.boolean()
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("settle" as const),
      pick: picks,
      status: fc.constantFrom<RunStatus>("succeeded", "succeeded", "no_match", "failed", "timed_out"),
      charge: fc.bigInt({ min: 0n, max: 4_000_000n }),
      token: fc.boolean()
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom("cancel" as const, "claim" as const, "again" as const), pick: picks })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("guard" as const),
      per_run: fc.option(limits, { nil: undefined }),
      daily: fc.option(limits, { nil: undefined })
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("midnight" as const) }) }
)

interface Counts {
  ops: number
  rejected: number
}

/** Runs a sequence against `decide`; E1-E5 and E7 are checked after every command, E11 by the model's own verdicts. */
const play = (sequence: ReadonlyArray<Op>, counts: Counts) => {
  const model = new Model()
  const runs = new Map<string, WalletRun>()
  const ledger: Array<Entry> = []
  let day = "2026-11-21"
  let wallet: Wallet = {
    ...{ org_id: "org", balance: MicroUsd(0n), reserved: MicroUsd(0n), allowances_held: MicroUsd(0n), entry_seq: 0n },
    ...{ per_run_limit: null, daily_limit: null, spent_day: "1970-01-01", spent: MicroUsd(0n) }
  }
  const chosen = (pick: number) => [...runs.values()][pick % Math.max(1, runs.size)] ?? null

  const apply = (run: WalletRun | null, command: Command): Verdict => {
    const before = structuredClone(wallet)
    const decision = decide(wallet, run, command, day)
    const { verdict } = decision
    if (verdict._tag === "Refused" || verdict._tag === "Stale") {
      counts.rejected += 1
      expect(decision.wallet).toEqual(before)
      expect(decision.entries).toEqual([])
    }
    expect(wallet).toEqual(before)
    wallet = decision.wallet
    ledger.push(...decision.entries)
    return verdict
  }
  /** Everything recomputed from the entries alone. Plain comparisons: this runs tens of thousands of times. */
  const check = () => {
    const same = (what: string, found: unknown, wanted: unknown) => {
      if (found !== wanted) throw new Error(`${what}: ${String(found)}, not ${String(wanted)}`)
    }
    let balance = 0n
    let reserved = 0n
    const perRun = new Map<string, Record<string, bigint>>()
    for (const [index, entry] of ledger.entries()) {
      if (entry.type === "reserve" || entry.type === "release") reserved -= entry.amount
      else balance += entry.amount
      if (entry.type === "settle") reserved += entry.amount
      same("E7 number", entry.seq, BigInt(index + 1))
      same("E7 balance_after", entry.balance_after, balance)
      same("reserved_after", entry.reserved_after, reserved)
      same("E3 solvent", balance - reserved >= 0n, true)
      if (entry.run_id === null) continue
      const mine = perRun.get(entry.run_id) ?? {}
      same(`E4 one ${entry.type}`, mine[entry.type], undefined)
      perRun.set(entry.run_id, { ...mine, [entry.type]: entry.amount })
    }
    same("E1", wallet.balance, balance)
    same("E2", wallet.reserved, reserved)
    same("E7 count", wallet.entry_seq, BigInt(ledger.length))
    same("the model's balance", balance, model.balance)
    same("the model's holds", reserved, model.reserved())
    for (const run of runs.values()) {
      const { reserve = 0n, settle = 0n, release = 0n } = perRun.get(run.run_id) ?? {}
      if (!model.holds.has(run.run_id)) same("E4 resolved in full", -reserve, release - settle)
      if (!delivered(run.status)) same("E5 nothing delivered, nothing charged", settle, 0n)
      same("E5 charge within the hold", -settle <= run.hold, true)
    }
  }

  for (const op of sequence) {
    counts.ops += 1
    switch (op.kind) {
      case "midnight":
        day = day === "2026-11-21" ? "2026-11-22" : "2026-11-23"
        break
      case "credit":
        expect(
          apply(null, {
            _tag: "Credit",
            type: op.type,
            amount: MicroUsd(op.amount),
            reference: `ref_${counts.ops}`,
            note: ""
          })._tag
        ).toBe("Credited")
        model.balance += op.amount
        break
      case "guard": {
        const per_run =
          op.per_run === undefined ? {} : { per_run_limit: op.per_run === null ? null : MicroUsd(op.per_run) }
        const daily = op.daily === undefined ? {} : { daily_limit: op.daily === null ? null : MicroUsd(op.daily) }
        const limits = changedLimits(wallet, { ...per_run, ...daily }, day, 0n)
        if (typeof limits === "string") expect.unreachable(limits)
        else wallet = { ...wallet, ...limits }
        if (op.per_run !== undefined) model.per_run = op.per_run
        if (op.daily !== undefined) model.daily = op.daily
        break
      }
      case "reserve": {
        const run: WalletRun = {
          run_id: `run_${runs.size}`,
          status: "created",
          hold: MicroUsd(op.hold),
          lease_token: null
        }
        const verdict = apply(run, { _tag: "Reserve" })
        const expected = model.admit(run.run_id, op.hold, day)
        expect<string>(verdict._tag === "Refused" ? verdict.code : verdict._tag).toBe(expected)
        const token = op.queued ? null : `token_${run.run_id}`
        const status = expected !== "Admitted" ? "failed" : op.queued ? "queued" : "running"
        runs.set(run.run_id, { ...run, status, lease_token: expected === "Admitted" ? token : null })
        break
      }
      case "again": {
        const run = chosen(op.pick)
        if (run !== null) expect(apply(run, { _tag: "Reserve" })._tag).toBe("Stale")
        break
      }
      case "claim": {
        const run = chosen(op.pick)
        if (run?.status === "queued")
          runs.set(run.run_id, { ...run, status: "running", lease_token: `token_${run.run_id}` })
        break
      }
      case "cancel": {
        const run = chosen(op.pick)
        const verdict = apply(run, { _tag: "Cancel" })
        expect(verdict._tag).toBe(run?.status === "queued" ? "Cancelled" : "Stale")
        if (run === null || verdict._tag !== "Cancelled") break
        model.resolve(run.run_id, 0n, day)
        runs.set(run.run_id, { ...run, status: "cancelled", lease_token: null })
        break
      }
      case "settle": {
        const run = chosen(op.pick)
        const lease_token = op.token ? `token_${run?.run_id}` : "another worker's"
        const verdict = apply(run, { _tag: "Settle", lease_token, status: op.status, charge: MicroUsd(op.charge) })
        if (run === null || run.status !== "running" || !op.token) {
          expect(verdict._tag).toBe("Stale")
          break
        }
        const charge = model.resolve(run.run_id, delivered(op.status) ? op.charge : 0n, day)
        expect(verdict).toEqual({ _tag: "Settled", charge: MicroUsd(charge) })
        runs.set(run.run_id, { ...run, status: op.status, lease_token: null })
        break
      }
    }
    check()
  }
}

describe("T01 ledger.model.commands", () => {
  test("pure: 2,000 sequences of up to 60 commands, E1-E7 after every one", () => {
    const counts: Counts = { ops: 0, rejected: 0 }
    const seed = Number(process.env["SEED"] ?? 20_261_121)
    const sequences = 2_000
    fc.assert(
      fc.property(fc.array(ops, { maxLength: 60, size: "max" }), (sequence) => play(sequence, counts)),
      { numRuns: sequences, seed }
    )
    figures("T01 ledger.model.commands", { seed, sequences, commands: counts.ops })
    figures("T02 ledger.rejection.atomic", { seed, rejected_checked: counts.rejected })
    expect(counts.rejected).toBeGreaterThan(1_000)
  })

  test("on Postgres, through real turns: every verdict, wallet row and rejection as the model says", async () => {
    // Twenty runs execute (they sleep, and the test settles them), the others wait in the queue and can be cancelled.
    const app = await startApp({ settings: { RUNGATE_CONCURRENCY: "20", RUNGATE_DRAIN_SECONDS: "0" } })
    try {
      const asking = Context.get(app.context, CommandClient)
      const limits = Context.get(app.context, WalletLimits)
      const seed = Number(process.env["SEED"] ?? 20_261_121)
      const sequences = fc.sample(fc.array(ops, { minLength: 110, maxLength: 110, size: "max" }), { numRuns: 3, seed })
      let rejected = 0
      let applied = 0
      const violations: Array<string> = []
      const drive = async (sequence: ReadonlyArray<Op>) => {
        const org = await app.tenant()
        const model = new Model()
        const ids: Array<string> = []
        // The day on which the test began; at midnight itself the guard's sums may differ from the model's.
        const day = "today"
        const snapshot = async () =>
          JSON.stringify([
            await app.sql(
              "SELECT balance, reserved, entry_seq, per_run_limit, daily_limit, spent_day, spent FROM wallets WHERE org_id = $1",
              [org.org_id]
            ),
            await app.sql("SELECT count(*), coalesce(sum(seq), 0)::text AS s FROM ledger WHERE org_id = $1", [
              org.org_id
            ])
          ])
        const ask = (
          tag: "Settle" | "Cancel" | "Credit",
          run_id: string | null,
          payload: string,
          command_id?: string
        ) =>
          Effect.runPromise(
            asking.ask({
              org_id: org.org_id,
              run_id,
              tag,
              payload,
              ...(command_id === undefined ? {} : { command_id })
            })
          )
        const lease = async (run_id: string) =>
          (await app.sql("SELECT state, lease_token FROM open_runs WHERE run_id = $1", [run_id]))[0]
        const expectVerdict = (op: Op, found: string, wanted: string) => {
          if (found !== wanted)
            violations.push(
              `${JSON.stringify(op, (_key, value) => (typeof value === "bigint" ? String(value) : value))}: ${found}, not ${wanted}`
            )
        }
        for (const op of sequence) {
          applied += 1
          const before = await snapshot()
          let refused = false
          const run_id = "pick" in op ? ids[op.pick % Math.max(1, ids.length)] : undefined
          if (op.kind === "credit") {
            const reference = `cs_${crypto.randomUUID()}`
            const payload = encodeCredit({ type: op.type, amount: MicroUsd(op.amount), reference, note: "model" })
            // The same credit twice is one credit: an answer that got lost is asked for again.
            const [one, other] = await Promise.all([
              ask("Credit", null, payload, reference),
              ask("Credit", null, payload, reference)
            ])
            expectVerdict(op, one.verdict, "Credited")
            if (one.transaction_id !== other.transaction_id) violations.push("one reference was credited twice")
            model.balance += op.amount
          } else if (op.kind === "guard") {
            const per_run =
              op.per_run === undefined ? {} : { per_run_limit: op.per_run === null ? null : MicroUsd(op.per_run) }
            const daily = op.daily === undefined ? {} : { daily_limit: op.daily === null ? null : MicroUsd(op.daily) }
            expect(await Effect.runPromise(limits.change(org.org_id, { ...per_run, ...daily }))).toBe("Changed")
            if (op.per_run !== undefined) model.per_run = op.per_run
            if (op.daily !== undefined) model.daily = op.daily
          } else if (op.kind === "reserve") {
            const limit = Number(op.hold % 6n) + 1
            const hold = BigInt(limit) * 336_000n
            const { body } = await org.run({
              capability: "people.search",
              input: { titles: ["x"], keywords: "sandbox:slow_120", limit },
              routing: { provider: "peopledatalabs" },
              async: true
            })
            const run = await until(
              "the reservation is decided",
              async () => (await org.get(`/v1/runs/${body.run_id}`)).body,
              (found) => found.status !== "created"
            )
            const wanted = model.admit(body.run_id, hold, day)
            expectVerdict(op, run.error?.code ?? "Admitted", wanted)
            refused = wanted !== "Admitted"
            ids.push(body.run_id)
          } else if (op.kind === "cancel" && run_id !== undefined) {
            const state = (await lease(run_id))?.["state"]
            const reply = await ask("Cancel", run_id, "{}")
            const wanted = state === "queued" ? "Cancelled" : "Stale"
            expectVerdict(op, reply.verdict, wanted)
            refused = wanted === "Stale"
            if (!refused) model.resolve(run_id, 0n, day)
          } else if (op.kind === "settle" && run_id !== undefined) {
            const open = await lease(run_id)
            const token = op.token && open?.["lease_token"] ? String(open["lease_token"]) : "another worker's"
            const report = {
              ...{
                lease_token: token,
                status: op.status,
                charge: MicroUsd(op.charge),
                billed: true,
                provider: "peopledatalabs"
              },
              ...{ attempts: [], hints: [], error: null }
            }
            const reply = await ask("Settle", run_id, encodeSettle(report))
            const wanted = open?.["state"] === "running" && op.token ? "Settled" : "Stale"
            expectVerdict(op, reply.verdict, wanted)
            refused = wanted === "Stale"
            if (!refused) model.resolve(run_id, delivered(op.status) ? op.charge : 0n, day)
          }
          const after = await snapshot()
          if (refused) {
            rejected += 1
            if (after !== before) violations.push(`a rejected ${op.kind} changed the books: ${before} to ${after}`)
          }
          const [row] = await app.sql(
            "SELECT balance::text AS balance, reserved::text AS reserved FROM wallets WHERE org_id = $1",
            [org.org_id]
          )
          if (row?.["balance"] !== String(model.balance) || row["reserved"] !== String(model.reserved())) {
            violations.push(
              `after ${op.kind}: wallet ${row?.["balance"]}/${row?.["reserved"]}, model ${model.balance}/${model.reserved()}`
            )
            return
          }
        }
        expect((await org.wallet()).balance).toBe(usd(model.balance))
      }
      await Promise.all(sequences.map(drive))
      expect(violations.slice(0, 5)).toEqual([])
      await app.books()
      figures("T01 ledger.model.commands (Postgres)", {
        seed,
        wallets: 3,
        commands: applied,
        rejected_checked: rejected,
        violations: violations.length
      })
    } finally {
      await app.stop()
    }
  })
})

describe("T15 daily_guard.boundary", () => {
  const wallet: Wallet = {
    ...{
      org_id: "org",
      balance: MicroUsd(1_000n),
      reserved: MicroUsd(0n),
      allowances_held: MicroUsd(0n),
      entry_seq: 1n
    },
    ...{ per_run_limit: null, daily_limit: MicroUsd(100n), spent_day: "1970-01-01", spent: MicroUsd(0n) }
  }
  const run = (run_id: string, hold: bigint, status: RunStatus = "created"): WalletRun => ({
    run_id,
    status,
    hold: MicroUsd(hold),
    lease_token: status === "running" ? "t" : null
  })
  const settle = (charge: bigint): Command => ({
    _tag: "Settle",
    lease_token: "t",
    status: "succeeded",
    charge: MicroUsd(charge)
  })
  const reserve: Command = { _tag: "Reserve" }
  let cases = 0
  const code = (verdict: Verdict) => {
    cases += 1
    return verdict._tag === "Refused" ? verdict.code : verdict._tag
  }
  afterAll(() => figures("T15 daily_guard.boundary", { cases }))
  const [today, tomorrow] = ["2026-11-21", "2026-11-22"]

  test("a hold up to the limit is admitted, one microdollar more is blocked", () => {
    expect(code(decide(wallet, run("a", 100n), reserve, today).verdict)).toBe("Admitted")
    expect(code(decide(wallet, run("a", 101n), reserve, today).verdict)).toBe("budget_exceeded")
  })

  test("what was spent yesterday is forgotten at midnight, UTC", () => {
    const opened = decide(wallet, run("a", 100n), reserve, today).wallet
    const spent = decide(opened, run("a", 100n, "running"), settle(100n), today).wallet
    expect(code(decide(spent, run("b", 1n), reserve, today).verdict)).toBe("budget_exceeded")
    expect(code(decide(spent, run("b", 100n), reserve, tomorrow).verdict)).toBe("Admitted")
    expect(code(decide(spent, run("b", 101n), reserve, tomorrow).verdict)).toBe("budget_exceeded")
  })

  test("a hold opened before midnight counts against the day after, and is charged to the day it settles on", () => {
    const opened = decide(wallet, run("a", 60n), reserve, today).wallet
    expect(code(decide(opened, run("b", 41n), reserve, tomorrow).verdict)).toBe("budget_exceeded")
    expect(code(decide(opened, run("b", 40n), reserve, tomorrow).verdict)).toBe("Admitted")
    const settled = decide(opened, run("a", 60n, "running"), settle(50n), tomorrow).wallet
    expect([settled.spent_day, settled.spent]).toEqual([tomorrow, MicroUsd(50n)])
    expect(code(decide(settled, run("b", 51n), reserve, tomorrow).verdict)).toBe("budget_exceeded")
    expect(code(decide(settled, run("b", 50n), reserve, tomorrow).verdict)).toBe("Admitted")
  })

  test("a release gives the budget back, and a free run needs none", () => {
    const opened = decide(wallet, run("a", 100n), reserve, today).wallet
    expect(code(decide(opened, run("free", 0n), reserve, today).verdict)).toBe("Admitted")
    const freed = decide(opened, run("a", 100n, "queued"), { _tag: "Cancel" }, today).wallet
    expect(code(decide(freed, run("b", 100n), reserve, today).verdict)).toBe("Admitted")
  })
})
