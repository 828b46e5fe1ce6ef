/** The guards that decide during a turn whether a run may be admitted, apart from its price. */
import { type OptedOut, refusalOf } from "../../layers/guards/OptOutTurn.ts"
import type { EndedRun, TurnRun, TurnView } from "../../layers/ledger/Turn.ts"
import { plannedContacts } from "../../schema/guards/ContactGuard.ts"
import { turnContacts } from "./TurnContacts.ts"
import { turnFree } from "./TurnFree.ts"
import { turnRepeats } from "./TurnRepeats.ts"

export const turnGuards = (view: TurnView) => {
  const repeats = turnRepeats(view)
  const contacts = turnContacts(view)
  const free = turnFree(view)
  const opted_out: Array<OptedOut> = []
  /** Plans are read only if a list has somebody. */
  const optOutRefusal = (run: TurnRun) => {
    const contacts = view.opt_outs.matches.size === 0 ? undefined : plannedContacts(run)
    return contacts === undefined ? null : refusalOf(view.opt_outs, { org_id: run.org_id, contacts })
  }
  return {
    /** The run, and why it may not be admitted if a guard refuses it. */
    guarded: (run: TurnRun | null): TurnRun | null => {
      if (run === null || run.status !== "created") return run
      const guarded = optOutRefusal(run) ?? repeats.refusal(run) ?? contacts.refusal(run)
      return guarded === null ? free.withFree(run) : { ...run, guarded }
    },
    /** Returns what the run may store if it is free, or null. */
    admitted: (run: TurnRun, waits: number | null): bigint | null => {
      repeats.admitted(run)
      contacts.admitted(run, waits)
      return free.admitted(run)
    },
    copied: free.copied,
    stored: free.stored,
    refused: (run: TurnRun, error_code: string | null) => {
      const { org_id, run_id, guarded } = run
      // A run that an earlier rule refuses names no entry.
      if (error_code === "opt_out" && guarded?.code === "opt_out") opted_out.push({ org_id, run_id, ...guarded.match })
      free.refused(run)
    },
    /** A run in status `created` was refused or cancelled before it was admitted, so no guard knows it. */
    ended: (run: TurnRun, { status, error_code }: Pick<EndedRun, "status" | "error_code">) => {
      if (run.status === "created") return
      repeats.ended(run, status)
      contacts.ended(run, status, error_code)
    },
    effects: () => ({
      repeats: repeats.effects(),
      contacts: contacts.effects(),
      opted_out,
      free: free.effects()
    })
  }
}
