import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { unipile } from "../../../src/layers/providers/unipile.ts"
import { conforms } from "./conformance.ts"
import { answer, get, offerOf, type Played, post, secretInHeader, stage } from "./stage.ts"

const play = stage(unipile)
const examples = join(import.meta.dir, "..", "..", "fixtures", "payloads", "unipile")
const example = (name: string, status = 200): Played =>
  answer(status, readFileSync(join(examples, `${name}.response.json`), "utf8"))
const account_id = "3H-KVe-mQ2GT9M0hKSkgHgs"
const julien = { network_url: "https://www.linkedin.com/in/julien-crepieux/", account_id }
const refused = (type: string, status = 422) => answer(status, { status, type: `errors/${type}`, title: "No" })
const context = { run_id: "run_1" }

describe("unipile network.invite", () => {
  const input = { ...julien, message: "Let's connect!" }

  test("looks the person up, then invites once", async () => {
    const { asked, outcomes, outcome, kept } = await play(
      "network.invite",
      input,
      example("users_get"),
      example("users_invite")
    )
    expect(asked).toEqual([
      expect.objectContaining({ ...get("/api/v1/users/julien-crepieux", { account_id }), secret: secretInHeader }),
      expect.objectContaining(
        post("/api/v1/users/invite", { account_id, provider_id: "ACoAAA1", message: "Let's connect!" })
      )
    ])
    expect(outcomes[0]).toMatchObject({ _tag: "Again", job: false })
    expect(kept).toEqual([])
    expect(outcome).toEqual({
      _tag: "Match",
      output: {
        invitation_id: "string",
        status: "sent",
        profile: { network_url: input.network_url, name: "Julien Crepieux" }
      }
    })
    const { request, next } = offerOf(unipile, "network.invite")
    expect(conforms(unipile, request(input, context))).toEqual([])
    expect(conforms(unipile, next({ provider_id: "ACoAAA1" }, input, context))).toEqual([])
  })

  test("an id needs no look-up", async () => {
    const known = { provider_member_id: "ACoAAA1", account_id }
    const { asked, outcome } = await play("network.invite", known, example("users_invite"))
    expect(asked).toEqual([
      expect.objectContaining(post("/api/v1/users/invite", { account_id, provider_id: "ACoAAA1" }))
    ])
    expect(outcome).toMatchObject({ output: { status: "sent", profile: { network_url: null, name: null } } })
  })

  test("connected or invited before is a result", async () => {
    const person = JSON.parse(example("users_get").body)
    const connected = await play("network.invite", input, answer(200, { ...person, is_relationship: true }))
    expect(connected.asked).toHaveLength(1)
    expect(connected.outcome).toMatchObject({
      _tag: "Match",
      output: { invitation_id: null, status: "already_connected", profile: { name: "Julien Crepieux" } }
    })
    const pending = await play("network.invite", input, answer(200, { ...person, invitation: { type: "SENT" } }))
    expect(pending.outcome).toMatchObject({ output: { status: "already_invited" } })
    const said = await play("network.invite", input, example("users_get"), example("users_invite.422_already", 422))
    expect(said.outcome).toMatchObject({ _tag: "Match", output: { status: "already_connected" } })
    const recently = await play("network.invite", input, example("users_get"), refused("already_invited_recently"))
    expect(recently.outcome).toMatchObject({ _tag: "Match", output: { status: "already_invited" } })
  })

  test("nobody at the address", async () => {
    const { asked, outcome } = await play("network.invite", input, refused("resource_not_found", 404))
    expect(outcome).toEqual({ _tag: "NoMatch", detail: "nobody has this profile URL" })
    expect(asked).toHaveLength(1)
    const path = await play("network.invite", input, answer(404, "<h1>no route</h1>"))
    expect(path.outcome).toMatchObject({ _tag: "Failure" })
  })

  const failures = [
    [example("error.401", 401), "provider_account"],
    [example("error.429", 429), "provider_rate_limited"],
    [refused("cannot_resend_yet"), "provider_rate_limited"],
    [refused("feature_not_subscribed", 403), "provider_account"],
    [refused("invalid_account"), "provider_error"],
    [refused("request_timeout", 504), "provider_error"],
    [answer(200, {}), "invalid_response"]
  ] as const
  for (const [played, reason] of failures) {
    test(`${played.status} ${played.body.slice(0, 60)} is ${reason}, invited once`, async () => {
      const { asked, outcome } = await play("network.invite", input, example("users_get"), played)
      expect(outcome).toMatchObject({ _tag: "Failure", reason })
      expect(asked.filter((one) => one.method === "POST")).toHaveLength(1)
    })
  }

  test("needs an account and a person", () => {
    const { serves } = offerOf(unipile, "network.invite")
    expect(serves({ network_url: julien.network_url })).toBe(false)
    expect(serves({ network_url: "/", account_id })).toBe(false)
    expect(serves(input)).toBe(true)
  })
})

describe("unipile network.message", () => {
  const input = { ...julien, text: "Hello world !" }

  test("looks the person up, then begins a conversation, as a form", async () => {
    const { asked, outcome } = await play("network.message", input, example("users_get"), example("chats_start"))
    expect(asked[1]).toMatchObject({
      method: "POST",
      path: "/api/v1/chats",
      body: [
        ["account_id", account_id],
        ["attendees_ids", "ACoAAA1"],
        ["text", "Hello world !"]
      ]
    })
    expect(asked[1]?.headers["content-type"]).toStartWith("multipart/form-data")
    expect(outcome).toEqual({
      _tag: "Match",
      output: { message_id: "Gav3xjVKVNe0IRZBEC9mSg", chat_id: "dMW1cjFwXq-dYoAEaMXo2d", status: "sent", sent_at: null }
    })
    const { request, next } = offerOf(unipile, "network.message")
    expect(conforms(unipile, request(input, context))).toEqual([])
    const subject = { ...input, subject: "Hello" }
    expect(conforms(unipile, next({ provider_id: "ACoAAA1" }, subject, context))).toEqual([])
    expect(next({ provider_id: "ACoAAA1" }, subject, context).body).toMatchObject({ title: "Hello", inmail: true })
  })

  test("into a conversation", async () => {
    const chat = { chat_id: "9f9/x", text: "Hello world !" }
    const { asked, outcome } = await play("network.message", chat, example("chat_messages_send"))
    expect(asked).toEqual([
      expect.objectContaining({ path: "/api/v1/chats/9f9%2Fx/messages", body: [["text", "Hello world !"]] })
    ])
    expect(outcome).toMatchObject({ output: { message_id: "string", chat_id: "9f9/x", status: "sent" } })
    expect(conforms(unipile, offerOf(unipile, "network.message").request(chat, context))).toEqual([])
  })

  test("people who can't be written to, and failures, after one message at most", async () => {
    const stranger = await play("network.message", input, example("users_get"), refused("no_connection_with_recipient"))
    expect(stranger.outcome).toMatchObject({ _tag: "NoMatch" })
    const nobody = await play("network.message", input, refused("resource_not_found", 404))
    expect(nobody.outcome).toMatchObject({ _tag: "NoMatch" })
    for (const played of [answer(500, "oops"), answer(200, {}), refused("insufficient_credits")]) {
      const { asked, outcome } = await play("network.message", input, example("users_get"), played)
      expect(outcome?._tag).toBe("Failure")
      expect(asked).toHaveLength(2)
    }
  })

  test("needs an account, but in a conversation", () => {
    const { serves } = offerOf(unipile, "network.message")
    expect(serves({ network_url: julien.network_url, text: "x" })).toBe(false)
    expect(serves({ chat_id: "1", text: "x" })).toBe(true)
    expect(serves({ chat_id: "1", text: "x", subject: "s" })).toBe(false)
  })
})
