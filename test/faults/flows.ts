/** The flows of the sandbox: a run, a top-up, and what referrals bring. Each with the retries that a client makes. */
import { type Reply, verify } from "../kit/app.ts"
import { type Flow, patiently } from "./stage.ts"

const ledgerOf = async (tenant: Parameters<Flow["check"]>[1]) =>
  (await tenant.ledger()).map((one) => `${one.type} ${one.amount}`)

export const runFlow: Flow = {
  name: "run",
  prepare: async ({ app }, tenant) => {
    const client = tenant.over(app)
    const key = { "idempotency-key": crypto.randomUUID() }
    return async () => {
      const { body, status, text } = await patiently(() => client.run(verify(), key))
      if (status >= 300) throw new Error(`${status} ${text}`)
      if (body.done === false) await patiently(() => client.get(`/v1/runs/${body.run_id}?wait=20`))
    }
  },
  check: async (_stage, tenant) => {
    const found: Array<string> = []
    const { items } = (await tenant.list()).body
    if (items.length !== 1) found.push(`${items.length} runs`)
    if (items[0]?.status !== "succeeded") found.push(`the run is ${items[0]?.status}`)
    const rows = await ledgerOf(tenant)
    const expected = ["release 0.0018", "settle -0.003", "reserve -0.0048", "bonus 5.00"]
    if (rows.join() !== expected.join()) found.push(`the ledger is ${rows.join()}`)
    return found
  }
}

const answers = new Map<string, Reply>()
export const topUpFlow: Flow = {
  name: "sandbox top-up",
  prepare: async ({ app }, tenant) => {
    const client = tenant.over(app)
    return async () => {
      const answer = await patiently(() => client.post("/v1/wallet/topups/checkout", { amount: "25.00" }))
      answers.set(tenant.org_id, answer)
    }
  },
  check: async (_stage, tenant) => {
    const answer = answers.get(tenant.org_id)
    const entries = (await tenant.ledger()).filter((one) => one.type === "topup")
    const found: Array<string> = []
    if (answer?.status !== 200) found.push(`answered ${answer?.status}`)
    if (entries.filter((one) => one.reference === answer?.body.session_id).length !== 1)
      found.push(`${answer?.body.session_id} is not there once: ${entries.map((one) => one.reference)}`)
    // A client that heard nothing asks for another one; what it asked for first may have been credited, once.
    if (entries.length > 2) found.push(`${entries.length} credits of two requests`)
    if (entries.some((one) => one.amount !== "25.00")) found.push("another amount")
    return found
  }
}
