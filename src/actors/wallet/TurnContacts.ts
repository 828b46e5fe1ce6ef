/** The contact guard during a turn: each command sees the claims of the commands before it. */
import { contactKey, type ContactEffects, noContactEffects } from "../../layers/guards/ContactTurn.ts"
import type { TurnRun, TurnView } from "../../layers/ledger/Turn.ts"
import {
  type Contact,
  contactedNobody,
  contactRefusal,
  type Contacts,
  contactsPeople
} from "../../schema/guards/ContactGuard.ts"
import type { RunStatus } from "../../schema/runs/Run.ts"

export const turnContacts = ({ contacts: view, now_micros }: Pick<TurnView, "contacts" | "now_micros">) => {
  const claimed = new Map<string, ContactEffects["claimed"][number]>()
  const latest = new Map<string, Contact>()
  const released: Array<ContactEffects["released"][number]> = []
  /** Null for a run that contacts nobody. Its plan is not read. */
  const contactsOf = (run: TurnRun): Contacts | null =>
    contactsPeople(run.capability) ? (run.plan().contacts ?? null) : null

  return {
    refusal: (run: TurnRun) => {
      const contacts = contactsOf(run)
      if (contacts === null) return null
      return contactRefusal(contacts, {
        days: view.days.get(run.org_id) ?? null,
        latest: (identity) => {
          const key = contactKey(run.org_id, identity)
          return latest.get(key) ?? view.latest.get(key) ?? null
        },
        now: now_micros
      })
    },
    /** `waits`: seconds until its approval expires. Null for a run that needs none. */
    admitted: (run: TurnRun, waits: number | null) => {
      const contacts = contactsOf(run)
      if (contacts === null) return
      const { org_id, run_id } = run
      claimed.set(run_id, { org_id, run_id, contacts, ...(waits === null ? {} : { waits }) })
      const at = now_micros + BigInt(waits ?? 0) * 1_000_000n
      for (const { identities } of contacts.recipients)
        for (const identity of identities) latest.set(contactKey(org_id, identity), { run_id, at })
    },
    ended: ({ org_id, run_id, capability }: TurnRun, status: RunStatus, error_code: string | null) => {
      if (!contactsPeople(capability) || !contactedNobody(status, error_code)) return
      if (!claimed.delete(run_id)) released.push({ org_id, run_id })
    },
    effects: (): ContactEffects =>
      claimed.size + released.length === 0 ? noContactEffects : { claimed: [...claimed.values()], released }
  }
}
