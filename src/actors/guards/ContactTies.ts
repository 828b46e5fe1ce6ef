/**
 * Completes whom a guarded run contacts, or one that names a person by a provider's id only: all identities that earlier runs tie to a recipient, and contacts from before they were claimed.
 *
 * It happens before the turn, from history and the runs that history has not indexed yet. The turn then decides on all of a person's
 * identities at once, so it does not matter by which of them two runs name the person.
 */
import { Clock, Effect, Stream } from "effect"
import type { GuardStore } from "../../layers/guards/GuardStore.ts"
import type { HistoryStore } from "../../layers/history/HistoryStore.ts"
import type { NoLookups } from "../../layers/history/index/Lookups.ts"
import type { SubjectSummary } from "../../layers/history/index/SubjectSummary.ts"
import type { NewRun } from "../../layers/runs/NewRuns.ts"
import { problem } from "../../schema/Errors.ts"
import { guardedSeconds, type Recipient } from "../../schema/guards/ContactGuard.ts"
import { optOutKeys } from "../../schema/guards/OptOut.ts"
import { subjectOfIdentity, tiesIn } from "../../schema/guards/PersonTies.ts"
import { parsedOrText } from "../../schema/json/Json.ts"
import type { Run } from "../../schema/segments/Docs.ts"
import type { Subject } from "../../schema/subjects/Subject.ts"

/** An identity that is tied to one that is tied to the recipient, and one more. */
const roundsMax = 3
/** Identities of one person. */
const identitiesMax = 20
/** The newest runs that name an identity. */
const runsMax = 200
/** Identities of one question to history. */
const subjectsAtOnce = 32
const everyRun: NoLookups = { capabilities: [], providers: [] }

/** A recipient, while its identities are gathered. */
interface Person {
  readonly recipient: Recipient
  readonly identities: Set<string>
  /** The identities that history was asked about. */
  readonly searched: Set<string>
  /** The latest contact that history knows from before runs claimed their recipients. */
  contact: Run | null
}

const personOf = (recipient: Recipient): Person => ({
  recipient,
  identities: new Set(recipient.identities),
  searched: new Set(),
  contact: null
})

/** Marks the identities as asked that no round has asked about. */
const takeFresh = ({ identities, searched }: Person): ReadonlyArray<string> => {
  const fresh = [...identities].filter((identity) => !searched.has(identity))
  for (const identity of fresh) searched.add(identity)
  return fresh
}

const noteContact = (person: Person, contact: Run | null, claimedSince: Date | null) => {
  if (contact === null || claimedSince === null || contact.created_at >= claimedSince.getTime()) return
  if (person.contact === null || person.contact.created_at < contact.created_at) person.contact = contact
}

const tie = ({ identities }: Person, groups: ReadonlyArray<ReadonlyArray<string>>) => {
  for (const tied of groups)
    if (tied.some((one) => identities.has(one)))
      for (const one of tied) if (identities.size < identitiesMax) identities.add(one)
}

/** A provider's id of a person or a conversation is on no opt-out list. What is tied to it may be, also by an entry that comes while the run waits. */
const isById = ({ identities }: Recipient) => identities.every((identity) => optOutKeys(identity).length === 0)

export const contactTies = (history: HistoryStore["Service"], guards: GuardStore["Service"]) => {
  /** What history knows of each identity that it has a subject for. */
  const summaries = Effect.fnUntraced(function* (org_id: string, identities: ReadonlyArray<string>) {
    const subjects = new Map<string, Subject>()
    for (const identity of identities) {
      const subject = subjectOfIdentity(identity)
      if (subject !== null) subjects.set(identity, subject)
    }
    const bySubject = new Map<Subject, SubjectSummary>()
    const all = [...subjects.values()]
    for (let from = 0; from < all.length; from += subjectsAtOnce)
      for (const [subject, summary] of yield* history.batch(
        org_id,
        all.slice(from, from + subjectsAtOnce),
        everyRun,
        runsMax
      ))
        bySubject.set(subject, summary)
    return (identity: string) => {
      const subject = subjects.get(identity)
      return subject === undefined ? undefined : bySubject.get(subject)
    }
  })

  /** The groups of identities that the runs tie, by run. */
  const ties = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
    const groups = new Map<string, ReadonlyArray<ReadonlyArray<string>>>()
    yield* Stream.runForEach(guards.personRuns(org_id, run_ids), ({ run_id, capability, input, result }) =>
      Effect.sync(() =>
        groups.set(run_id, tiesIn({ capability, input: parsedOrText(input), result: parsedOrText(result) }))
      )
    )
    return groups
  })

  /** All identities of the recipients, and their earlier contacts. Each round asks once for all recipients. */
  const completed = Effect.fnUntraced(function* (
    org_id: string,
    recipients: ReadonlyArray<Recipient>,
    claimedSince: Date | null
  ) {
    const people = recipients.map(personOf)
    for (let round = 0; round <= roundsMax; round++) {
      // After the last round, the identities that it found are asked about for their contacts only.
      const last = round === roundsMax
      if (last && claimedSince === null) break
      const asking = people
        .map((person) => ({ person, fresh: takeFresh(person) }))
        .filter(({ fresh }) => fresh.length > 0)
      if (asking.length === 0) break
      const summaryOf = yield* summaries(org_id, [...new Set(asking.flatMap(({ fresh }) => fresh))])
      const naming = asking.map(({ person, fresh }) => {
        const facts = fresh.flatMap((identity) => summaryOf(identity) ?? [])
        for (const { contact } of facts) noteContact(person, contact, claimedSince)
        return {
          person,
          run_ids: new Set(facts.flatMap(({ newest }) => newest.map(({ run }) => run.run_id)))
        }
      })
      if (last) break
      const groups = yield* ties(org_id, [...new Set(naming.flatMap(({ run_ids }) => [...run_ids]))])
      for (const { person, run_ids } of naming) for (const run_id of run_ids) tie(person, groups.get(run_id) ?? [])
    }
    return people.map(({ recipient, identities, contact }) => ({
      ...recipient,
      identities: [...identities],
      ...(contact === null
        ? {}
        : { contacted: { run_id: contact.run_id, at: String(BigInt(contact.created_at) * 1_000n) } })
    }))
  })

  return Effect.fnUntraced(
    function* (run: NewRun) {
      const { contacts } = run.plan
      const isGuarded = run.capability !== null
      if (contacts === undefined || !(isGuarded || contacts.recipients.some(isById))) return run
      const { days, claimed_since } = yield* guards.contactRule(run.org_id)
      // The guard knows runs of capabilities only. Opt-outs are for raw calls too.
      const seconds = isGuarded ? guardedSeconds(contacts, days) : null
      if (seconds === null && !contacts.recipients.some(isById)) return run
      const isCovered = seconds === null || claimed_since.getTime() < (yield* Clock.currentTimeMillis) - seconds * 1_000
      const recipients = yield* completed(run.org_id, contacts.recipients, isCovered ? null : claimed_since)
      return { ...run, plan: { ...run.plan, contacts: { ...contacts, recipients } } }
    },
    Effect.mapError(({ message }) =>
      problem("rate_limited", `The contact guard can't tell yet whom this organization has contacted. ${message}`)
    )
  )
}
