/**
 * Completes whom a guarded run contacts: all identities that earlier runs tie to a recipient, and contacts from before they were claimed.
 *
 * It happens before the turn, from history and the runs that history has not indexed yet. The turn then decides on all of a person's
 * identities at once, so it does not matter by which of them two runs name the person.
 */
import { Clock, Effect } from "effect"
import type { GuardStore } from "../../layers/guards/GuardStore.ts"
import type { HistoryStore } from "../../layers/history/HistoryStore.ts"
import type { NewRun } from "../../layers/runs/RunStore.ts"
import { problem } from "../../schema/Errors.ts"
import { guardedSeconds, type Recipient } from "../../schema/guards/ContactGuard.ts"
import { subjectOfIdentity, tiesIn } from "../../schema/guards/PersonTies.ts"
import { parsedOrText } from "../../schema/json/Json.ts"

/** An identity that is tied to one that is tied to the recipient, and one more. */
const roundsMax = 3
/** Identities of one person. */
const identitiesMax = 20
/** The newest runs that name an identity. */
const runsMax = 200
const recipientsAtOnce = 4

export const contactTies = (history: HistoryStore["Service"], guards: GuardStore["Service"]) => {
  /** All identities of the person who has these. */
  const identitiesOf = Effect.fnUntraced(function* (org_id: string, identities: ReadonlyArray<string>) {
    const known = new Set(identities)
    const asked = new Set<string>()
    for (let round = 0; round < roundsMax; round++) {
      const fresh = [...known].filter((identity) => !asked.has(identity))
      for (const identity of fresh) {
        asked.add(identity)
        const subject = subjectOfIdentity(identity)
        if (subject === null) continue
        const run_ids = yield* history.newest(org_id, subject, runsMax)
        for (const { capability, input, result } of yield* guards.personRuns(org_id, run_ids))
          for (const tied of tiesIn({ capability, input: parsedOrText(input), result: parsedOrText(result) }))
            if (tied.some((one) => known.has(one)))
              for (const one of tied) if (known.size < identitiesMax) known.add(one)
      }
      if (known.size === asked.size) break
    }
    return [...known]
  })

  /** The latest contact from before runs claimed their recipients. */
  const earlierContact = Effect.fnUntraced(function* (org_id: string, identities: ReadonlyArray<string>, since: Date) {
    const subjects = identities.flatMap((identity) => subjectOfIdentity(identity) ?? [])
    const found = yield* history.batch(org_id, subjects, { capabilities: [], providers: [] })
    const contacts = [...found.values()].flatMap(({ contact }) => contact ?? [])
    const before = contacts.filter(({ created_at }) => created_at < since.getTime())
    return before.sort((a, b) => b.created_at - a.created_at)[0] ?? null
  })

  const completed = Effect.fnUntraced(function* (org_id: string, recipient: Recipient, claimedSince: Date | null) {
    const identities = yield* identitiesOf(org_id, recipient.identities)
    const earlier = claimedSince === null ? null : yield* earlierContact(org_id, identities, claimedSince)
    const contacted =
      earlier === null ? {} : { contacted: { run_id: earlier.run_id, at: String(BigInt(earlier.created_at) * 1_000n) } }
    return { ...recipient, identities, ...contacted }
  })

  return Effect.fnUntraced(
    function* (run: NewRun) {
      const { contacts } = run.plan
      if (contacts === undefined) return run
      const seconds = guardedSeconds(contacts, yield* guards.contactDays(run.org_id))
      if (seconds === null) return run
      const claimedSince = yield* guards.claimedSince
      const isCovered = claimedSince.getTime() < (yield* Clock.currentTimeMillis) - seconds * 1_000
      const recipients = yield* Effect.forEach(
        contacts.recipients,
        (one) => completed(run.org_id, one, isCovered ? null : claimedSince),
        { concurrency: recipientsAtOnce }
      )
      return { ...run, plan: { ...run.plan, contacts: { ...contacts, recipients } } }
    },
    Effect.mapError(({ message }) =>
      problem("rate_limited", `The contact guard can't tell yet whom this organization has contacted. ${message}`)
    )
  )
}
