/** What `doctor` looks at, one thing after the other; each that is wrong says what to do. */
import { Clock, Effect, Redacted, Schema } from "effect"
import { type Answer, Client } from "../answers/Client.ts"
import { Credentials, keysFile, sessionsFile } from "../state/Credentials.ts"
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

/** The contract that this client was made for. */
const apiVersion = "1"
/** An answer is dated to the second, and some time passes on its way. */
const skewSecondsMost = 30
/** Less does not pay for many runs. */
const availableLeast = Money.dollars("1.00")

const Document = Schema.Struct({ info: Schema.Struct({ title: Schema.String, version: Schema.String }) })
const Wallet = Schema.Struct({ available: Money.Usd })

const reachable = (url: string, answer: Answer) =>
  answer.status === 200
    ? check("service", "pass", `${url} is ready`)
    : answer.status === 503
      ? check("service", "warn", `${url} runs but is not ready; its operator sees why at /readyz`)
      : check("service", "fail", `${url} answered HTTP ${answer.status}; is RUNGATE_URL right?`)

const version = (answer: Answer) => {
  const document = decoded(Document, answer.text)
  if (answer.status !== 200 || document === null || document.info.title !== "Rungate") {
    return check("version", "fail", "this address is no Rungate service")
  }
  return document.info.version === apiVersion
    ? check("version", "pass", `API ${apiVersion}`)
    : check(
        "version",
        "warn",
        `the service speaks API ${document.info.version}, this command ${apiVersion}: update the older one`
      )
}

/** Whole seconds that the service's clock is ahead, as far as its answer's date tells. */
const clock = (answer: Answer, now: number) => {
  const told = Date.parse(answer.headers["date"] ?? "")
  if (Number.isNaN(told)) return check("clock", "warn", "the service does not say what time it is")
  const seconds = Math.round((told - now) / 1000)
  return Math.abs(seconds) <= skewSecondsMost
    ? check("clock", "pass", "agrees with the service's")
    : check(
        "clock",
        "warn",
        `the service's clock is ${Math.abs(seconds)} s ${seconds > 0 ? "ahead" : "behind"}: set this machine's`
      )
}

const sources = {
  environment: "RUNGATE_API_KEY",
  profile: "the profile's key",
  session: "the profile's session"
} as const

/** What is saved, also where the environment's key is used instead of it. */
const settings = Effect.gen(function* () {
  const { profile, source } = yield* Credentials
  const paths = yield* Effect.forEach([keysFile, sessionsFile], Effect.option)
  const wrong = paths.flatMap((path) => (path._tag === "Some" ? (complaint(path.value) ?? []) : []))
  if (wrong.length > 0) return check("settings", "fail", wrong.join(" "))
  const where = source === "environment" ? "the environment" : `profile "${profile}"`
  return check("settings", "pass", `${where}; nobody else can read what is saved`)
})

/** From the service to the wallet; what can't be asked any more is left out. */
export const checks = Effect.gen(function* () {
  const { url, key, source, missing } = yield* Credentials
  const { send } = yield* Client
  const found: Array<Check> = [yield* settings]
  const ready = yield* Effect.result(send("GET", "/readyz"))
  if (ready._tag === "Failure") return [...found, check("service", "fail", ready.failure.message)]
  found.push(reachable(url, ready.success))
  found.push(clock(ready.success, yield* Clock.currentTimeMillis))
  const document = yield* Effect.result(send("GET", "/openapi.json"))
  found.push(
    document._tag === "Success" ? version(document.success) : check("version", "fail", document.failure.message)
  )
  if (key === null || source === null) return [...found, check("key", "fail", missing)]
  const wallet = yield* Effect.result(send("GET", "/v1/wallet"))
  if (wallet._tag === "Failure") return [...found, check("key", "fail", wallet.failure.message)]
  const refused = yield* failureOf(wallet.success)
  if (refused !== null) return [...found, check("key", "fail", refused.message)]
  const environment = /^rg_(test|live)_/.exec(Redacted.value(key))?.[1]
  found.push(
    check("key", "pass", `${sources[source]} works${environment === undefined ? "" : `; environment ${environment}`}`)
  )
  const balance = decoded(Wallet, wallet.success.text)
  if (balance === null)
    return [...found, check("balance", "warn", "can't be read; is this command as new as the service?")]
  const amount = `${dollars(Money.usd(balance.available))} available`
  return [
    ...found,
    balance.available < availableLeast
      ? check("balance", "warn", `${amount}: rungate wallet topup 25.00 pays in`)
      : check("balance", "pass", amount)
  ]
})
