/** Opt-outs during a turn: no run is admitted whose recipient is on a list, and the refused ones keep the entry as evidence. */
import { type OptedOut, type OptOutEffects, refusalOf } from "../../layers/guards/OptOutTurn.ts"
import type { TurnRun, TurnView } from "../../layers/ledger/Turn.ts"
import type { OptOutRefusal } from "../../schema/guards/OptOut.ts"
import { plannedContacts } from "../../schema/guards/ContactGuard.ts"

export const turnOptOuts = ({ opt_outs }: Pick<TurnView, "opt_outs">) => {
  const refused: Array<OptedOut> = []
  let admits = false
  return {
    refusal: (run: TurnRun): OptOutRefusal | null => {
      const contacts = opt_outs.matches.size === 0 ? undefined : plannedContacts(run)
      return contacts === undefined ? null : refusalOf(opt_outs, { org_id: run.org_id, contacts })
    },
    admitted: (run: TurnRun) => {
      admits ||= plannedContacts(run) !== undefined
    },
    refused: ({ org_id, run_id, guarded }: TurnRun, error_code: string | null) => {
      if (error_code === "opt_out" && guarded?.code === "opt_out")
        refused.push({ org_id, run_id, match: guarded.match })
    },
    effects: (): OptOutEffects => ({ refused, admits })
  }
}
