/** What rules would have done with past runs: pure, so that each case is cheap. */
import { describe, expect, test } from "bun:test"
import { replayLines } from "../../src/http/client/ConfigurationText.ts"
import { atOnce } from "../../src/layers/platform/inSlices.ts"
import { replay, type ReplayRule, type ReplayRun } from "../../src/schema/simulation/Replay.ts"
import { dollars } from "../../src/schema/money/Money.ts"

const run = (minute: number, more: Partial<ReplayRun> = {}): ReplayRun => ({
  ...{ key_id: "key_a", capability: "email.send", provider: "resend", providers: ["resend"], opted_out: false },
  ...{ hold: dollars("1.00"), charged: dollars("1.00"), labels: {}, metadata: null },
  ...{ created: minute * 60_000, finished: minute * 60_000 + 1_000 },
  ...more
})
const of = (rule: string, isOf: (run: ReplayRun) => boolean, more: Partial<ReplayRule> = {}): ReplayRule => ({
  ...{ rule, counterOf: (one) => (isOf(one) ? "" : null), limit: null },
  ...more
})
const optOuts = of("opt_outs", ({ opted_out }) => opted_out)
const yes = of("approval_rules.Mail", ({ capability }) => capability === "email.send", { waits: true })
const total = of("label_budgets.a", () => true, { limit: { amount: dollars("2.00"), period: "total" } })
const replayed = (
  rules: ReadonlyArray<ReplayRule>,
  runs: ReadonlyArray<ReplayRun>,
  shown?: (run: ReplayRun) => boolean
) => atOnce(replay(rules, runs, [], shown))

describe("a replay", () => {
  const runs = [run(1), run(2, { opted_out: true }), run(3, { capability: "email.find" }), run(4)]

  test("counts what waits apart from what is blocked, and a blocked run does not wait", () => {
    expect(replayed([optOuts, yes], runs)).toEqual({
      ...{ blocked_runs: 1, waiting_runs: 2 },
      rules: [
        { rule: "opt_outs", blocked_runs: 1, waiting_runs: 0 },
        { rule: "approval_rules.Mail", blocked_runs: 0, waiting_runs: 2 }
      ]
    })
  })

  test("lets a run that waits count in budgets, and one that is blocked leave room", () => {
    // The first and the third take the budget, because the second was blocked, so the fourth is over.
    expect(replayed([optOuts, yes, total], runs)).toMatchObject({
      ...{ blocked_runs: 2, waiting_runs: 1 },
      rules: [{ blocked_runs: 1 }, { waiting_runs: 1 }, { rule: "label_budgets.a", blocked_runs: 1 }]
    })
  })

  test("of one capability shows its runs only, and budgets count all", () => {
    const shown = ({ capability }: ReplayRun) => capability === "email.find"
    const over = [...runs, run(5, { capability: "email.find" })]
    expect(replayed([optOuts, yes, total], over, shown)).toEqual({
      ...{ blocked_runs: 1, waiting_runs: 0 },
      rules: [
        { rule: "opt_outs", blocked_runs: 0, waiting_runs: 0 },
        { rule: "approval_rules.Mail", blocked_runs: 0, waiting_runs: 0 },
        { rule: "label_budgets.a", blocked_runs: 1, waiting_runs: 0 }
      ]
    })
  })

  test("is told in the same words everywhere", () => {
    const about = { from: "2026-11-01T00:00:00.000Z", not_replayed: ["keys.a.allow.providers"], cut: true }
    const counted = { ...replayed([optOuts, yes], runs), ...about, runs: runs.length }
    expect(replayLines(counted)).toEqual([
      "Of 4 runs since 2026-11-01, this would have blocked 1 and made 2 wait for a yes. Older runs are too many to replay.",
      ...["1 by opt_outs", "2 made to wait by approval_rules.Mail"],
      "Past runs don't tell what keys.a.allow.providers would have done."
    ])
  })
})
