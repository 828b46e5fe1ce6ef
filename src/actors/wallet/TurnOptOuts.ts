/** Opt-outs during a turn: no run is admitted whose recipient is on a list, and the refused ones keep the entry as evidence. */
import { optOutKey, type OptedOut, type OptOutEffects } from "../../layers/guards/OptOutTurn.ts"
import type { TurnRun, TurnView } from "../../layers/ledger/Turn.ts"
import { optOutRefusal, type OptOutRefusal } from "../../schema/guards/OptOut.ts"
import { plannedContacts } from "../../schema/guards/ContactGuard.ts"

export const turnOptOuts = ({ opt_outs: { matches } }: Pick<TurnView, "opt_outs">) => {
  const refused: Array<OptedOut> = []
  let admits = false
  return {
    refusal: (run: TurnRun): OptOutRefusal | null => {
      const contacts = matches.size === 0 ? undefined : plannedContacts(run)
      if (contacts === undefined) return null
      return optOutRefusal(contacts, (key) => matches.get(optOutKey(run.org_id, key)))
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
