/** Whom a guarded run contacts: the identities that earlier runs tie to each recipient, with one question to history for all of them. */
import { describe, expect, test } from "bun:test"
import { Effect, Stream } from "effect"
import { contactTies } from "../../src/actors/guards/ContactTies.ts"
import { GuardStore } from "../../src/layers/guards/GuardStore.ts"
import { HistoryStore } from "../../src/layers/history/HistoryStore.ts"
import type { SubjectSummary } from "../../src/layers/history/index/SubjectSummary.ts"
import type { NewRun } from "../../src/layers/runs/NewRuns.ts"
import { type Contacts, recipientsOf } from "../../src/schema/guards/ContactGuard.ts"
import type { Run } from "../../src/schema/segments/Docs.ts"
import type { Subject } from "../../src/schema/subjects/Subject.ts"

const claimedSince = new Date("2026-06-01T00:00:00Z")
const before = claimedSince.getTime() - 1_000
const unexpected = () => Effect.die(new Error("not asked in this test"))

const run = (run_id: string, created_at = before): Run => ({
  run_id,
  created_at,
  charged: 0n,
  kind: { status: "succeeded", capability: "people.enrich", endpoint: null, provider: null }
})
const summary = (runs: ReadonlyArray<Run>, contact: Run | null): SubjectSummary => ({
  ...{ count: runs.length, groups: [], oldest: null, touch: null, unknown: null, reusable: [] },
  newest: runs.map((one) => ({ run: one, flags: 1 })),
  contact
})

/** Which two identities a run ties, and the latest contact of a subject. */
interface Past {
  readonly ties?: Readonly<Record<string, ReadonlyArray<string>>>
  readonly contacts?: Readonly<Record<string, Run>>
  readonly days?: number
}

const worldOf = ({ ties = {}, contacts = {}, days }: Past) => {
  const questions: Array<ReadonlyArray<string>> = []
  const all = Object.entries(ties)
  const known = ({ normalized }: Subject) =>
    summary(
      all.filter(([, names]) => names.includes(normalized)).map(([run_id]) => run(run_id)),
      contacts[normalized] ?? null
    )
  const history = HistoryStore.of({
    subjectHistory: unexpected,
    newest: unexpected,
    batch: (_, subjects) =>
      Effect.sync(() => {
        questions.push(subjects.map(({ normalized }) => normalized))
        return new Map(subjects.map((subject) => [subject, known(subject)]))
      })
  })
  const guards = GuardStore.of({
    ...{
      tries: unexpected,
      contactDays: unexpected,
      setContactDays: unexpected,
      contacts: unexpected,
      contactedMeanwhile: unexpected,
      optOuts: unexpected,
      hasOptOuts: unexpected
    },
    ...{
      reusable: unexpected,
      saved: unexpected,
      rawResults: () => Stream.fromEffect(unexpected()),
      forget: Effect.void
    },
    contactRule: () => Effect.succeed({ days: days ?? null, claimed_since: claimedSince }),
    personRuns: (_, run_ids) =>
      Stream.fromIterable(
        all
          .filter(([run_id]) => run_ids.includes(run_id))
          .map(([run_id, [first, second]]) => ({
            run_id,
            capability: "people.enrich",
            input: JSON.stringify({ [first?.includes("@") === true ? "email" : "network_url"]: first }),
            result: JSON.stringify({ [second?.includes("@") === true ? "email" : "network_url"]: second })
          }))
      )
  })
  const complete = contactTies(history, guards)
  return {
    questions,
    complete: (contacts: Contacts) => Effect.runPromise(complete(newRun({ contacts }))),
    completed: async (to: ReadonlyArray<string>, within_seconds: number | null = 365 * 86_400) => {
      const contacts = { within_seconds, recipients: recipientsOf("email.send", { to }) }
      const completed = await Effect.runPromise(complete(newRun({ contacts })))
      return completed.plan.contacts?.recipients ?? []
    }
  }
}

/** Only what is read of a run here. */
const newRun = (plan: Partial<NewRun["plan"]>): NewRun => ({
  ...{ org_id: "org_1", run_id: "run_new", request_id: "req_1", fingerprint: "f", kind: "capability" },
  ...JSON.parse('{"capability":"email.send"}'),
  plan
})

describe("the recipients of a guarded run", () => {
  test("history is asked once about all of them, whom it knows nothing about", async () => {
    const { questions, completed } = worldOf({})
    const to = Array.from({ length: 20 }, (_, n) => `p${n}@example.com`)
    const recipients = await completed(to)
    expect(questions).toEqual([to])
    expect(recipients.map(({ identities }) => identities)).toEqual(to.map((address) => [`e:${address}`]))
  })

  test("each has the identities that are tied to it, over two runs, and nobody else's", async () => {
    const { questions, completed } = worldOf({
      ties: {
        run_a: ["ada@example.com", "in/ada"],
        run_b: ["in/ada", "ada@home.example"],
        run_c: ["grace@example.com", "in/grace"]
      }
    })
    const recipients = await completed(["ada@example.com", "grace@example.com", "eve@example.com"])
    expect(recipients.map(({ identities }) => identities)).toEqual([
      ["e:ada@example.com", "n:in/ada", "e:ada@home.example"],
      ["e:grace@example.com", "n:in/grace"],
      ["e:eve@example.com"]
    ])
    expect(questions).toEqual([
      ["ada@example.com", "grace@example.com", "eve@example.com"],
      ["in/ada", "in/grace"],
      ["ada@home.example"]
    ])
  })

  test("the latest contact from before claims counts for whom it was, by any identity", async () => {
    const ties = {
      run_a: ["ada@example.com", "in/ada"],
      run_b: ["in/ada", "ada@home.example"],
      run_c: ["ada@home.example", "in/ada-again"]
    }
    const contacts = {
      "ada@example.com": run("run_early", before - 2_000),
      "in/ada-again": run("run_late", before),
      "grace@example.com": run("run_claimed", claimedSince.getTime() + 1)
    }
    const [ada, grace] = await worldOf({ ties, contacts }).completed(["ada@example.com", "grace@example.com"])
    expect(ada).toMatchObject({ contacted: { run_id: "run_late", at: `${before}000` } })
    expect(grace).not.toHaveProperty("contacted")
  })

  test("a run without a guard asks nothing, and the organization's days guard it", async () => {
    const free = worldOf({})
    await free.completed(["ada@example.com"], null)
    expect(free.questions).toEqual([])
    const guarded = worldOf({ days: 30 })
    await guarded.completed(["ada@example.com"], null)
    expect(guarded.questions).toEqual([["ada@example.com"]])
  })

  // It may wait for an approval, and an opt-out of the person may be added meanwhile.
  test("a run without a guard that names a person by an id only has the ties of the person", async () => {
    const { questions, complete } = worldOf({})
    const recipients = recipientsOf("network.message", { provider_member_id: "ACoAA1" })
    await complete({ within_seconds: null, recipients })
    expect(questions).toEqual([["acoaa1"]])
  })
})
