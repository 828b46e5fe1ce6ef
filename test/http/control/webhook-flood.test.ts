/** Strangers whose receivers hold every webhook and never answer: the webhooks of others arrive meanwhile. */
import { afterAll, expect, test } from "bun:test"
import { Layer } from "effect"
import { AnswerMillisMax } from "../../../src/layers/webhooks/Sender.ts"
import { placesOfOrganization } from "../../../src/schema/webhooks/Shares.ts"
import { type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { type Receiver, receiver } from "../../kit/webhook-receiver.ts"

const strangers = 3
/** The limit of endpoints of one organization. */
const endpoints = 20

// No attempt ends while the test runs.
const app = withApp({
  limits: Layer.succeed(AnswerMillisMax, 3_600_000),
  settings: { RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1" }
})
const receivers: Array<Receiver> = []
afterAll(() => Promise.all(receivers.map(({ stop }) => stop())))

const receiverOf = async (org: Tenant, count: number) => {
  const hooks = receiver()
  receivers.push(hooks)
  const session = await org.session()
  for (let n = 0; n < count; n++) {
    const body = { url: `${hooks.url}/${n}`, events: ["run.finished"] }
    expect((await app.call(session, "POST", "/v1/webhook-endpoints", { body })).status).toBe(200)
  }
  return hooks
}

test("webhooks of others arrive while receivers of three organizations hold all that they are sent", async () => {
  const floods = await Promise.all(
    Array.from({ length: strangers }, async () => {
      const org = await app.tenant("5.00")
      const hooks = await receiverOf(org, endpoints)
      hooks.state.mute = true
      await org.run(verify())
      return hooks
    })
  )
  const held = () => floods.map(({ got }) => got.length)
  const share = floods.map(() => placesOfOrganization)
  await until("all places that the strangers get", held, (counts) =>
    counts.every((count) => count >= placesOfOrganization)
  )

  const victim = await app.tenant("5.00")
  const hooks = await receiverOf(victim, 1)
  const { body: run } = await victim.run(verify())
  const [first] = await until(
    "the victim's webhook",
    () => hooks.got,
    ({ length }) => length > 0
  )
  expect(first?.event.data.run_id).toBe(run.run_id)
  expect(held()).toEqual(share)
})
