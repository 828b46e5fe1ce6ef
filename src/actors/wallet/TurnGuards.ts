/** The guards that decide during a turn whether a run may be admitted, apart from its price. */
import type { EndedRun, TurnRun, TurnView } from "../../layers/ledger/TurnStore.ts"
import { turnContacts } from "./TurnContacts.ts"
import { turnRepeats } from "./TurnRepeats.ts"

export const turnGuards = (view: Pick<TurnView, "repeats" | "repeat_guard" | "contacts" | "now_micros">) => {
  const repeats = turnRepeats(view)
  const contacts = turnContacts(view)
  return {
    /** The run, and why it may not be admitted if a guard refuses it. */
    guarded: (run: TurnRun | null): TurnRun | null => {
      if (run === null || run.status !== "created") return run
      const guarded = repeats.refusal(run) ?? contacts.refusal(run)
      return guarded === null ? run : { ...run, guarded }
    },
    admitted: (run: TurnRun) => {
      repeats.admitted(run)
      contacts.admitted(run)
    },
    /** A run in status `created` was refused or cancelled before it was admitted, so no guard knows it. */
    ended: (run: TurnRun, { status, error_code }: Pick<EndedRun, "status" | "error_code">) => {
      if (run.status === "created") return
      repeats.ended(run, status)
      contacts.ended(run, status, error_code)
    },
    effects: () => ({ repeats: repeats.effects(), contacts: contacts.effects() })
  }
}
