/** The checks of `rungate doctor`, in order. Each check that warns or fails says what to do. */
import { Clock, Effect, Redacted, Schema } from "effect"
import { WalletApi } from "../../api/Wallet.ts"
import { type Answer, Client } from "../answers/Client.ts"
import { call } from "../answers/operation.ts"
import { Credentials, savedKeys, savedSessions } from "../state/Credentials.ts"
import { complaint } from "../state/PrivateFile.ts"
import { decoded, failureOf } from "../answers/show.ts"
import { dollars } from "../terminal/values.ts"
import * as Money from "../../../schema/money/Money.ts"

export type Verdict = "pass" | "warn" | "fail"
export interface Check {
  readonly name: string
  readonly verdict: Verdict
  readonly detail: string
}
export const check = (name: string, verdict: Verdict, detail: string): Check => ({ name, verdict, detail })

/** The API version that this client supports. */
const apiVersion = "1"
/** The Date header has whole seconds, and the response takes time to arrive. */
const skewSecondsMost = 30
/** A lower balance is a warning. */
const availableLeast = Money.dollars("1.00")

const Document = Schema.Struct({ info: Schema.Struct({ title: Schema.String, version: Schema.String }) })
const Wallet = Schema.Struct({ available: Money.Usd })

const reachable = (url: string, answer: Answer) =>
  answer.status === 200
    ? check("service", "pass", `${url} is ready`)
    : answer.status === 503
      ? check("service", "warn", `${url} runs but is not ready. Its operator finds the reason at /readyz.`)
      : check("service", "fail", `${url} answered HTTP ${answer.status}. Check RUNGATE_URL.`)

const version = (answer: Answer) => {
  const document = decoded(Document, answer.text)
  if (answer.status !== 200 || document === null || document.info.title !== "Rungate") {
    return check("version", "fail", "This address is not a Rungate service. Check RUNGATE_URL.")
  }
  return document.info.version === apiVersion
    ? check("version", "pass", `API ${apiVersion}`)
    : check(
        "version",
        "warn",
        `The service has API version ${document.info.version} and this command version ${apiVersion}. Update the older one.`
      )
}

/** Compares the clocks by the Date header of the response. */
const clock = (answer: Answer, now: number) => {
  const serverTime = Date.parse(answer.headers["date"] ?? "")
  if (Number.isNaN(serverTime))
    return check("clock", "warn", "The response of the service has no Date header, so the clock was not compared.")
  const seconds = Math.round((serverTime - now) / 1000)
  return Math.abs(seconds) <= skewSecondsMost
    ? check("clock", "pass", "matches the clock of the service")
    : check(
        "clock",
        "warn",
        `The clock of the service is ${Math.abs(seconds)} s ${seconds > 0 ? "ahead" : "behind"}. Set the clock of this machine.`
      )
}

const sources = {
  environment: "RUNGATE_API_KEY",
  profile: "the profile's key",
  session: "the profile's session"
} as const

/** Checks the saved files, even when the environment's key is used. */
const settings = Effect.gen(function* () {
  const { profile, source } = yield* Credentials
  const paths = yield* Effect.forEach([savedKeys.file, savedSessions.file], Effect.option)
  const wrong = paths.flatMap((path) => (path._tag === "Some" ? (complaint(path.value) ?? []) : []))
  if (wrong.length > 0) return check("settings", "fail", wrong.join(" "))
  const where = source === "environment" ? "the environment" : `profile "${profile}"`
  return check("settings", "pass", `${where}; other users can't read the saved files`)
})

/** Runs from the service to the wallet, and stops at the first check that makes the next ones impossible. */
export const checks = Effect.gen(function* () {
  const { url, key, source, missing } = yield* Credentials
  const { send } = yield* Client
  const checks: Array<Check> = [yield* settings]
  const ready = yield* Effect.result(send("GET", "/readyz"))
  if (ready._tag === "Failure") return [...checks, check("service", "fail", ready.failure.message)]
  checks.push(reachable(url, ready.success))
  checks.push(clock(ready.success, yield* Clock.currentTimeMillis))
  const document = yield* Effect.result(send("GET", "/openapi.json"))
  checks.push(
    document._tag === "Success" ? version(document.success) : check("version", "fail", document.failure.message)
  )
  if (key === null || source === null) return [...checks, check("key", "fail", missing)]
  const wallet = yield* Effect.result(call(WalletApi.endpoints.get, {}))
  if (wallet._tag === "Failure") return [...checks, check("key", "fail", wallet.failure.message)]
  const refused = yield* failureOf(wallet.success)
  // Such as a key that reads its own budget only, and has none.
  const closed = wallet.success.status === 403
  if (refused !== null && !closed) return [...checks, check("key", "fail", refused.message)]
  const environment = /^rg_(test|live)_/.exec(Redacted.value(key))?.[1]
  checks.push(
    check("key", "pass", `${sources[source]} works${environment === undefined ? "" : `; environment ${environment}`}`)
  )
  if (refused !== null) return [...checks, check("balance", "warn", refused.message)]
  const balance = decoded(Wallet, wallet.success.text)
  if (balance === null)
    return [
      ...checks,
      check("balance", "warn", "Can't read the balance. Check that this command and the service have the same version.")
    ]
  const amount = `${dollars(Money.usd(balance.available))} available`
  return [
    ...checks,
    balance.available < availableLeast
      ? check("balance", "warn", `${amount}. Add funds with: rungate wallet topup 25.00`)
      : check("balance", "pass", amount)
  ]
})
