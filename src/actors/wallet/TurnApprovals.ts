/** Approvals during a turn: which new runs wait for one, and which decision counts. Each command sees what the commands before it left. */
import {
  type ApprovalEffects,
  type DecidedApproval,
  decodeRuling,
  rulingKey,
  type WaitingRun
} from "../../layers/guards/ApprovalTurn.ts"
import type { TurnCommand, TurnRun, TurnView } from "../../layers/ledger/Turn.ts"
import { type ApprovalRule, refused, rule, type Ruled, ruleOf } from "../../schema/guards/Approval.ts"

export const turnApprovals = (view: Pick<TurnView, "approvals" | "wallets" | "now_micros">) => {
  const waiting = new Map<string, WaitingRun>()
  const decided = new Map<string, DecidedApproval>()

  return {
    /** The rule for which a new run waits from now on. Null if it needs no approval. */
    opened: (run: TurnRun): ApprovalRule | null => {
      const { run_id, org_id, hold } = run
      const rule = ruleOf(view.wallets.get(org_id)?.wallet.approval_rules, run)
      if (rule !== null) waiting.set(run_id, { run_id, org_id, hold, started_by: run.plan().by ?? null, rule })
      return rule
    },
    /** What the command comes to, or why it does not count. A run that does not wait any more was decided. */
    decide: ({ payload }: TurnCommand, run: TurnRun): Ruled => {
      const ruling = decodeRuling(payload)
      const approval = view.approvals.get(rulingKey(run.run_id, ruling.by))
      if (approval === undefined || run.status !== "queued" || run.waits !== true) return refused("decided")
      const ruled = rule(approval, ruling, view.now_micros)
      if (ruled._tag === "Refused") return ruled
      const { state, rule_name } = ruled
      const { by, via } = state === "expired" ? { by: null, via: null } : ruling
      const { run_id, org_id } = run
      decided.set(run_id, { run_id, org_id, rule_name, state, by, via, starts: state === "approved" })
      return ruled
    },
    /** A run that ends takes its approval with it. */
    ended: ({ run_id, org_id, waits }: TurnRun) => {
      const before = decided.get(run_id)
      if (before !== undefined) decided.set(run_id, { ...before, starts: false })
      else if (waits === true && !waiting.delete(run_id))
        decided.set(run_id, { run_id, org_id, rule_name: "", state: "cancelled", by: null, via: null, starts: false })
    },
    effects: (): ApprovalEffects => ({ waiting: [...waiting.values()], decided: [...decided.values()] })
  }
}
