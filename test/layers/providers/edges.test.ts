import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { edges } from "../../../src/layers/providers/edges.ts"
import { conforms } from "./conformance.ts"
import { answer, offerOf, type Played, post, secretInHeader, stage } from "./stage.ts"

const play = stage(edges)
const examples = join(import.meta.dir, "..", "..", "fixtures", "payloads", "edges")
const example = (name: string, status = 200): Played =>
  answer(status, readFileSync(join(examples, `${name}.response.json`), "utf8"))
const account_id = "44444444-4444-4444-4444-444444444444"
const network_url = "https://www.linkedin.com/in/example"
const said = (label: string) => answer(424, { status: 424, error: { label, message: "Integration error" } })

describe("edges network.profile", () => {
  const found = {
    full_name: "Satya Nadella",
    first_name: "Satya",
    last_name: "Nadella",
    headline: "Chairman and CEO",
    job_title: "CEO",
    company_name: "Microsoft",
    summary: "About",
    location: "Mipive",
    profile_country: "us",
    number_followers: 7,
    number_connections: 500,
    linkedin_profile_id: 1,
    sales_navigator_profile_id: "ACwAAA1",
    linkedin_profile_url: network_url,
    experiences: [{ job_title: "CEO", company_name: "Microsoft", start_date: "2014-02" }],
    skills: ["Mosulo", { name: "Leadership" }]
  }

  test("a person, read by an identity of the provider", async () => {
    const input = { network_url: "www.linkedin.com/in/example" }
    const { asked, outcome } = await play("network.profile", input, answer(200, found))
    expect(asked).toEqual([
      expect.objectContaining({
        ...post("/v1/actions/linkedin-extract-people/run/live", {
          identity_mode: "managed",
          input: { linkedin_profile_url: network_url },
          parameters: { sections: true, experiences: true, skills: true, highlights: true }
        }),
        secret: secretInHeader
      })
    ])
    expect(conforms(edges, offerOf(edges, "network.profile").request(input, { run_id: "run_1" }))).toEqual([])
    expect(outcome).toMatchObject({
      _tag: "Match",
      output: {
        full_name: "Satya Nadella",
        title: "CEO",
        company_name: "Microsoft",
        network_url,
        location: { city: null, region: "Mipive", country: "us" },
        about: "About",
        followers: 7,
        connections: 500,
        experience: [
          {
            title: "CEO",
            company_name: "Microsoft",
            company_domain: null,
            start_date: "2014-02",
            end_date: null,
            is_current: null
          }
        ],
        education: null,
        skills: ["Mosulo", "Leadership"],
        is_connected: null,
        provider_ids: { edges: "ACwAAA1" }
      }
    })
  })

  test("a list of one, a profile that can't be seen, and nonsense", async () => {
    const input = { network_url }
    expect((await play("network.profile", input, answer(200, [found]))).outcome?._tag).toBe("Match")
    const hidden = await play("network.profile", input, said("PROFILE_NOT_ACCESSIBLE"))
    expect(hidden.outcome).toEqual({ _tag: "NoMatch", detail: "the profile can't be seen" })
    const failures = [
      [answer(200, []), "invalid_response"],
      [answer(424, { message: "Parsing error" }), "provider_error"],
      [said("LIMIT_REACHED"), "provider_rate_limited"],
      [answer(402, { message: "No access" }), "provider_account"],
      [answer(429, {}, { "retry-after": "60" }), "provider_rate_limited"]
    ] as const
    for (const [played, reason] of failures) {
      expect((await play("network.profile", input, played)).outcome).toMatchObject({ _tag: "Failure", reason })
    }
  })
})

describe("edges network.invite", () => {
  const input = { network_url, account_id, message: "Let's connect" }

  test("sends one invitation as the identity that the input names", async () => {
    const { asked, outcome } = await play("network.invite", input, answer(200, { connected: false, pending: true }))
    expect(asked).toEqual([
      expect.objectContaining(
        post("/v1/actions/linkedin-connect-profile/run/live", {
          identity_ids: [account_id],
          input: { linkedin_profile_url: network_url },
          parameters: { message: "Let's connect" }
        })
      )
    ])
    expect(conforms(edges, offerOf(edges, "network.invite").request(input, { run_id: "run_1" }))).toEqual([])
    expect(outcome).toEqual({
      _tag: "Match",
      output: { invitation_id: null, status: "sent", profile: { network_url, name: null } }
    })
  })

  test("by id, without a note", async () => {
    const known = { provider_member_id: "ACwAAA1", account_id }
    const { asked } = await play("network.invite", known, answer(200, { pending: true }))
    expect(asked[0]?.body).toEqual({
      identity_ids: [account_id],
      input: { sales_navigator_profile_id: "ACwAAA1" }
    })
    const { serves } = offerOf(edges, "network.invite")
    expect(serves({ provider_member_id: "123", account_id })).toBe(false)
    expect(serves({ network_url })).toBe(false)
  })

  test("connected or invited before is a result", async () => {
    const states = [
      [said("ALREADY_CONNECTED"), "already_connected"],
      [answer(200, { connected: true, pending: false }), "already_connected"],
      [said("INVITATION_PENDING"), "already_invited"]
    ] as const
    for (const [played, status] of states) {
      const { outcome, asked } = await play("network.invite", input, played)
      expect(outcome).toMatchObject({ _tag: "Match", output: { status } })
      expect(asked).toHaveLength(1)
    }
    const strange = await play("network.invite", input, answer(200, { message: "ALREADY_CONNECTED" }))
    expect(strange.outcome).toMatchObject({ _tag: "Failure", reason: "invalid_response" })
  })
})

describe("edges network.message", () => {
  const input = { network_url, account_id, text: "Hello" }

  test("sends one message", async () => {
    const { asked, outcome } = await play("network.message", input, example("linkedin_message_profile"))
    expect(asked).toEqual([
      expect.objectContaining(
        post("/v1/actions/linkedin-message-profile/run/live", {
          identity_ids: [account_id],
          input: { linkedin_profile_url: network_url },
          parameters: { message: "Hello" }
        })
      )
    ])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        message_id: "<string>",
        chat_id: "<string>",
        status: "sent",
        sent_at: "2023-11-07T05:31:56Z"
      }
    })
  })

  test("not sent, not connected, or nobody knows", async () => {
    expect((await play("network.message", input, answer(200, { is_sent: false }))).outcome?._tag).toBe("NoMatch")
    expect((await play("network.message", input, said("NOT_CONNECTED"))).outcome?._tag).toBe("NoMatch")
    for (const played of [answer(200, {}), answer(500, "oops"), answer(424, {})]) {
      const { asked, outcome } = await play("network.message", input, played)
      expect(outcome?._tag).toBe("Failure")
      expect(asked).toHaveLength(1)
    }
    const { serves } = offerOf(edges, "network.message")
    expect(serves({ chat_id: "1", account_id, text: "x" })).toBe(false)
    expect(serves({ ...input, subject: "s" })).toBe(false)
  })
})
