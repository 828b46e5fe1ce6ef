/** What an agent is told to conclude from what is known: each conclusion alone, and all of them in order of weight. */
import { describe, expect, test } from "bun:test"
import { channelOf, conclude, isBought, recipientFields, touchCapabilities } from "../../src/schema/runs/History.ts"
import type { HistoryReusable, HistoryTouch } from "../../src/schema/nouns/History.ts"
import { emailSend } from "../../src/schema/capabilities/email.send.ts"
import { networkInvite } from "../../src/schema/capabilities/network.invite.ts"
import { networkMessage } from "../../src/schema/capabilities/network.message.ts"

type Conclusions = Parameters<typeof conclude>[0]

const touch: typeof HistoryTouch.Encoded = {
  run_id: "run_touch",
  capability: "email.send",
  channel: "email",
  status: "succeeded",
  created_at: "2026-03-04T05:06:07.000Z"
}
const reusable: typeof HistoryReusable.Encoded = {
  run_id: "run_bought",
  capability: "email.find",
  endpoint: null,
  provider: "hunter",
  charged: "0.012",
  created_at: "2026-02-03T04:05:06.000Z"
}
const nothing: Conclusions = {
  count: 0,
  truncated: false,
  limit: 50,
  last_touch: null,
  last_contact: null,
  last_unknown: null,
  reusable: null,
  returned_by: null,
  failed_touches: 0,
  in_flight: 0
}
const seen: Conclusions = { ...nothing, count: 1 }
const said = (change: Partial<Conclusions>) => conclude({ ...seen, ...change })

describe("conclusions", () => {
  test("nothing on record says what is recorded at all, and nothing else", () => {
    const hints = conclude({ ...nothing, truncated: true, in_flight: 2, last_touch: touch })
    expect(hints).toHaveLength(1)
    expect(hints[0]).toStartWith("Nothing on record")
    expect(hints[0]).toContain("Only calls made through this service are on record.")
  })

  test.each([
    [
      { last_touch: touch, last_contact: touch },
      /^Already contacted: email\.send succeeded on 2026-03-04 \(run_touch\)/
    ],
    [{ last_touch: touch }, /^Mentioned but not contacted: email\.send on 2026-03-04 \(run_touch\)/],
    [{ reusable }, /^Already bought: email\.find on 2026-02-03 for \$0\.012\. .*GET \/v1\/runs\/run_bought /],
    [
      { returned_by: reusable },
      /^Already bought: email\.find returned this subject on 2026-02-03 for \$0\.012\. Read its result with GET \/v1\/runs\/run_bought instead/
    ],
    [{ reusable: { ...reusable, capability: null, endpoint: "/people/{id}" } }, /^Already bought: \/people\/\{id\} on/],
    [{ reusable: { ...reusable, capability: null } }, /^Already bought: a lookup on/],
    [{ failed_touches: 1 }, /^Never reached: 1 outbound run did not succeed\.$/],
    [{ failed_touches: 2 }, /^Never reached: 2 outbound runs did not succeed\.$/],
    [
      { last_unknown: touch },
      /^Outcome unknown: email\.send on 2026-03-04 \(run_touch\) may have reached this subject\. Check before writing again\.$/
    ],
    [{ last_unknown: touch, failed_touches: 1 }, /^Outcome unknown: /],
    [{ in_flight: 1 }, /^1 run is still under way; .* lists it\. Wait for the result instead of paying again\.$/],
    [{ in_flight: 3 }, /^3 runs are still under way; .* lists them\. Wait for the result instead of paying again\.$/],
    [{ truncated: true, limit: 7 }, /^Only the newest 7 are shown;/],
    [{}, /^On record, but neither contacted nor bought/]
  ] satisfies ReadonlyArray<[Partial<Conclusions>, RegExp]>)("%j", (change, words) => {
    const hints = said(change)
    expect(hints).toHaveLength(1)
    expect(hints[0]).toMatch(words)
  })

  test("the weightiest comes first, and a touch that succeeded outweighs those that did not", () => {
    const hints = said({
      last_touch: touch,
      last_contact: touch,
      failed_touches: 3,
      reusable,
      returned_by: { ...reusable, run_id: "run_returned" },
      in_flight: 1,
      truncated: true
    })
    expect(
      hints.map((hint) => (hint.split(/[ :]/)[0] === "Already" ? hint.split(":")[0] : hint.split(" ")[0]))
    ).toEqual(["Already contacted", "Already bought", "Already bought", "1", "Only"])
    expect(hints.map(isBought)).toEqual([false, true, true, false, false])
    expect(said({ failed_touches: 1, reusable }).map((hint) => hint.split(":")[0])).toEqual([
      "Never reached",
      "Already bought"
    ])
  })

  test("a touch whose outcome is unknown comes after one that succeeded, and before all others", () => {
    const first = (change: Partial<Conclusions>) =>
      said({ last_unknown: touch, ...change }).map((hint) => hint.split(":")[0])
    expect(first({ last_touch: touch, last_contact: touch, reusable })).toEqual([
      "Already contacted",
      "Outcome unknown",
      "Already bought"
    ])
    expect(first({ last_touch: touch, reusable })).toEqual([
      "Outcome unknown",
      "Mentioned but not contacted",
      "Already bought"
    ])
  })

  test("a later touch of somebody else takes nothing away from the one that went to the subject", () => {
    const later = { ...touch, run_id: "run_later", created_at: "2026-05-04T05:06:07.000Z" }
    expect(said({ last_touch: later, last_contact: touch })).toEqual([
      expect.stringMatching(/^Already contacted: email\.send succeeded on 2026-03-04 \(run_touch\)/)
    ])
    expect(said({ last_touch: later, failed_touches: 1 }).map((hint) => hint.split(":")[0])).toEqual([
      "Mentioned but not contacted",
      "Never reached"
    ])
  })
})

test("whom a touch goes to stands in members that its input has", () => {
  const inputs = [emailSend, networkInvite, networkMessage].flatMap(({ input }) => [...input.fields])
  expect(recipientFields.filter((field) => !inputs.includes(field))).toEqual([])
  expect(inputs.filter((field) => !recipientFields.includes(field)).sort()).toEqual([
    ...["account_id", "account_id", "from", "headers", "html", "message", "reply_to", "subject", "subject", "tags"],
    ...["text", "text"]
  ])
})

test("the outbound capabilities of the specification, and no others, are touches", () => {
  expect([...touchCapabilities].sort()).toEqual(["email.send", "network.invite", "network.message"])
  expect(touchCapabilities.map(channelOf)).toEqual(["email", "network", "network"])
  for (const none of [null, "", "email.find", "email.send ", "EMAIL.SEND", "constructor", "__proto__"])
    expect(channelOf(none)).toBeNull()
})
