/** The guards that decide during a turn whether a run may be admitted, apart from its price. */
import type { EndedRun, TurnRun, TurnView } from "../../layers/ledger/Turn.ts"
import { turnContacts } from "./TurnContacts.ts"
import { turnFree } from "./TurnFree.ts"
import { turnOptOuts } from "./TurnOptOuts.ts"
import { turnRepeats } from "./TurnRepeats.ts"

export const turnGuards = (view: TurnView) => {
  const repeats = turnRepeats(view)
  const contacts = turnContacts(view)
  const optOuts = turnOptOuts(view)
  const free = turnFree(view)
  return {
    /** The run, and why it may not be admitted if a guard refuses it. */
    guarded: (run: TurnRun | null): TurnRun | null => {
      if (run === null || run.status !== "created") return run
      const guarded = optOuts.refusal(run) ?? repeats.refusal(run) ?? contacts.refusal(run)
      return guarded === null ? free.withFree(run) : { ...run, guarded }
    },
    /** Returns what the run may store if it is free, or null. */
    admitted: (run: TurnRun): bigint | null => {
      repeats.admitted(run)
      contacts.admitted(run)
      optOuts.admitted(run)
      return free.admitted(run)
    },
    copied: free.copied,
    stored: free.stored,
    refused: (run: TurnRun, error_code: string | null) => {
      optOuts.refused(run, error_code)
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
      opt_outs: optOuts.effects(),
      free: free.effects()
    })
  }
}
