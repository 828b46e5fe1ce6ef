/** What a turn may recall of its wallets, and for how long. */
import { describe, expect, test } from "bun:test"
import { type DirectCommand, turnRunOf } from "../../../src/layers/ledger/DirectCommands.ts"
import { walletMemory } from "../../../src/layers/ledger/WalletMemory.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import type { BudgetView, ReadBudget } from "../../../src/layers/ledger/BudgetTurn.ts"
import { newRun } from "../../kit/new-runs.ts"
import type { Wallet } from "../../../src/schema/wallet/Wallet.ts"

const wallet: Wallet = {
  org_id: "org_a",
  balance: dollars("5.00"),
  reserved: dollars("0"),
  allowances_held: dollars("0"),
  entry_seq: 3n,
  per_run_limit: null,
  daily_limit: null,
  spent_day: "2026-11-22",
  spent: dollars("0")
}
const written = { wallet, lane: 0, version: 7n, head: null, open_runs: 2n, free_used: 4n }
const run = (org_id: string, key: string | null = null): DirectCommand => ({
  _tag: "Reserve",
  run: {
    run_id: "run_x",
    org_id,
    key_id: "key_a",
    key_version: 3n,
    budget_id: null,
    input_hash: "hash",
    request_id: "req_x",
    idempotency_key: key,
    fingerprint: "",
    kind: "capability",
    capability: "email.find",
    endpoint: null,
    provider: "hunter",
    hold: 1n,
    quoted: 1n,
    input: "{}",
    plan: { providers: [], attempts_max: 1, routing: "auto", include_raw: false, side_effect: false, excluded: [] },
    routing_reason: "",
    metadata: null
  }
})
const noon = BigInt(Date.UTC(2026, 10, 22, 12)) * 1000n

describe("a lane's memory", () => {
  const begun = (now_micros = noon) => {
    let now = 100
    const memory = walletMemory(() => now, 10)
    memory.read(0, { day: "2026-11-22", now_micros })
    memory.wrote(0, [written], [])
    return { memory, pass: (millis: number) => (now += millis) }
  }

  test("gives a wallet as it was written, with the time that has passed since the reading", () => {
    const { memory, pass } = begun()
    pass(4)
    expect(memory.recall(0, [run("org_a"), run("org_a", "new")])).toMatchObject({
      ...{ now_micros: noon + 4_000n, wallets: new Map([["org_a", written]]), liveKeys: new Set(["key_a 3"]) },
      ...{ commands: [], heldKeys: new Set(), autos: new Map() }
    })
  })

  test("asks for the live keys of the runs that came with one, and of no settlement", () => {
    const { memory } = begun()
    const keyed = run("org_a")
    const without: DirectCommand = { _tag: "Reserve", run: newRun("org_a") }
    const settles: DirectCommand = {
      ...{ _tag: "Settle", run: { ...turnRunOf(keyed), status: "running" }, result: null },
      report: {
        ...{ lease_token: "lease", status: "failed", charge: dollars("0"), billed: false, provider: null },
        attempts: [],
        hints: [],
        error: null
      }
    }
    const asked = (...commands: ReadonlyArray<DirectCommand>) => memory.recall(0, commands)?.liveKeys
    expect(asked(without, settles)).toEqual(new Set())
    expect(asked(without, settles, keyed)).toEqual(new Set(["key_a 3"]))
  })

  test("ends some milliseconds after the lane was read, and with the day", () => {
    const { memory, pass } = begun()
    pass(10)
    expect(memory.recall(0, [run("org_a")])).not.toBeNull()
    pass(1)
    expect(memory.recall(0, [run("org_a")])).toBeNull()
    const late = begun(BigInt(Date.UTC(2026, 10, 23)) * 1000n - 2_000n)
    late.pass(1)
    expect(late.memory.recall(0, [run("org_a")])).not.toBeNull()
    late.pass(2)
    expect(late.memory.recall(0, [run("org_a")])).toBeNull()
    // What it had stored at no charge was another day's, so it is read anew.
    late.memory.read(0, { day: "2026-11-23", now_micros: BigInt(Date.UTC(2026, 10, 23)) * 1000n })
    expect(late.memory.recall(0, [run("org_a")])).toBeNull()
  })

  test("has nothing for other wallets, other lanes, no command, a dropped wallet and a forgotten lane", () => {
    const { memory } = begun()
    expect(memory.recall(0, [run("org_a"), run("org_b")])).toBeNull()
    expect(memory.recall(1, [run("org_a")])).toBeNull()
    expect(memory.recall(0, [])).toBeNull()
    memory.drop(0, ["org_a"])
    expect(memory.recall(0, [run("org_a")])).toBeNull()
    memory.wrote(0, [written], [])
    expect(memory.recall(0, [run("org_a")])).not.toBeNull()
    memory.forget(0)
    expect(memory.recall(0, [run("org_a")])).toBeNull()
  })

  test("sends a repeated Idempotency-Key to a turn that reads", () => {
    const { memory } = begun()
    memory.wrote(0, [written], [run("org_a", "one")])
    expect(memory.recall(0, [run("org_a", "one")])).toBeNull()
    expect(memory.recall(0, [run("org_a", "two")])).not.toBeNull()
  })
})

describe("the budgets of a lane", () => {
  const read = (budget_id: string, changed: Partial<ReadBudget> = {}): ReadBudget => ({
    budget: {
      ...{ budget_id, limit: dollars("1.00"), period: "day", reserved: dollars("0"), counted_on: "2026-11-22" },
      ...{ spent_day: dollars("0"), spent_week: dollars("0"), spent_month: dollars("0"), spent_total: dollars("0") }
    },
    ...{ version: 4n, parent_id: null, held_in: null, org_id: "org_a", key_id: "key_a", lastAlert: null },
    ...changed
  })
  const viewOf = (...budgets: ReadonlyArray<ReadBudget>): BudgetView =>
    new Map(budgets.map((one) => [one.budget.budget_id, one]))
  const after = (one: ReadBudget) => ({ ...one.budget, spent_day: dollars("0.25") })
  const lastAlert = { reached: 50, limit: dollars("1.00"), period: "day", starts_on: "2026-11-22" } as const
  const alert = { budget_id: "bud_a", org_id: "org_a", key_id: "key_a", lastAlert, events: [] }
  const begun = (...read: ReadonlyArray<ReadBudget>) => {
    const memory = walletMemory(() => 0, 10)
    memory.read(0, { day: "2026-11-22", now_micros: noon })
    memory.keepBudgets(0, viewOf(...read), { budgets: read.map(after), budget_alerts: [] })
    return memory
  }

  test("are as a turn has written them, in their next version", () => {
    const one = read("bud_a", { lastAlert })
    expect(begun(one).budgets(0, new Set(["bud_a"]))).toEqual(viewOf({ ...one, budget: after(one), version: 5n }))
  })

  test("remember what was told last, also if that was in an earlier turn", () => {
    const memory = begun(read("bud_a"), read("bud_b"))
    const second = viewOf(read("bud_a", { version: 5n }))
    memory.keepBudgets(0, second, { budgets: [after(read("bud_a"))], budget_alerts: [alert] })
    expect(memory.budgets(0, new Set(["bud_a"]))?.get("bud_a")).toMatchObject({ lastAlert, version: 6n })
    expect(memory.budgets(0, new Set(["bud_b"]))?.get("bud_b")).toMatchObject({ lastAlert: null, version: 5n })
  })

  test("come with their parents, and are read again if one of them is not remembered", () => {
    const parent = read("bud_key")
    const child = read("bud_batch", { parent_id: "bud_key" })
    const ids = new Set(["bud_batch"])
    expect([...(begun(parent, child).budgets(0, ids)?.keys() ?? [])].sort()).toEqual(["bud_batch", "bud_key"])
    expect(begun(child).budgets(0, ids)).toBeNull()
    expect(begun(parent).budgets(0, ids)).toBeNull()
    expect(begun(parent, child).budgets(1, ids)).toBeNull()
    expect(begun(parent).budgets(0, new Set(["bud_key", "bud_batch"]))).toBeNull()
  })

  test("that the turn has not read are not remembered, and none are after the lane was forgotten", () => {
    const memory = begun(read("bud_a"))
    memory.keepBudgets(0, viewOf(), { budgets: [after(read("bud_b"))], budget_alerts: [] })
    expect(memory.budgets(0, new Set(["bud_b"]))).toBeNull()
    memory.forget(0)
    expect(memory.budgets(0, new Set(["bud_a"]))).toBeNull()
    memory.keepBudgets(0, viewOf(read("bud_a")), { budgets: [after(read("bud_a"))], budget_alerts: [] })
    expect(memory.budgets(0, new Set(["bud_a"]))).toBeNull()
  })
})
