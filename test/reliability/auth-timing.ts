/** T53: the kinds of credential that must look alike, for the quick test and for the long one in the chaos suite. */
import { Context, Effect, Redacted } from "effect"
import { Accounts } from "../../src/layers/accounts/Accounts.ts"
import type { App, Tenant } from "../kit/app.ts"
import { compareTimes } from "../kit/compare-times.ts"

/** Asks with each kind of bad credential, `rounds` times. Answers the statistics and the different bodies that came back. */
export const authTiming = async (app: App, org: Tenant, rounds: number) => {
  const accounts = Context.get(app.context, Accounts)
  const made = await Effect.runPromise(accounts.createKey(org.org_id, "revoked", "test"))
  const revoked = Redacted.value(made.token)
  await app.call(revoked, "DELETE", `/v1/api-keys/${made.id}`)
  const bodies = new Set<string>()
  const asking = (token: string) => async () => {
    const { status, headers, body } = await app.call(token, "GET", "/v1/wallet")
    bodies.add(JSON.stringify([status, [...headers.keys()].sort(), Object.keys(body), body.error]))
  }
  const unknown = asking(`rg_test_${"c".repeat(43)}`)
  // The right prefix and all of the secret but its last letter.
  const similar = asking(`${org.key.slice(0, -1)}${org.key.endsWith("a") ? "b" : "a"}`)
  const compared = await compareTimes({ unknown, similar, revoked: asking(revoked) }, rounds)
  // What the statistic says where there is a difference: one refusal, and two.
  const twice = async () => {
    await unknown()
    await unknown()
  }
  const control = await compareTimes({ unknown, twice }, Math.min(rounds, 200), 1)
  return { ...compared, control: control.t, bodies }
}
