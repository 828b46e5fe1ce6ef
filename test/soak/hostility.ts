/**
 * How the providers of a soak misbehave. The seed decides it for each run's key and provider, so a key meets the same answers in each soak
 * of that seed, however fast the machine is.
 */
import type { Disturb } from "../chaos/meter.ts"
import { randomOf, seedOf } from "./plan.ts"

/** Of all calls. Small, because breakers would soon leave a worse provider alone, and then nothing would be called. */
export const hostileShare = 0.06
const hangSecondsMax = 12
const mebibyte = 2 ** 20

/** A NUL, halves of a surrogate pair, line separators, text that runs backwards, and what escapes look like. */
const poison = "\u0000 \ud83d \ude00 \u2028\u2029\u0007 \u202e gnp.exe \\u0000 \\ud800 ' \" ; -- $1 <b>"

const json = (body: string, status = 200, headers: Readonly<Record<string, string>> = {}) =>
  new Response(body, { status, headers: { "content-type": "application/json", ...headers } })
/** A body that begins and never ends. */
const endless = (first: string) =>
  new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(first)) }), {
    headers: { "content-type": "application/json" }
  })
const never = new Promise<Response>(() => {})
const huge = Buffer.alloc(34 * mebibyte, "[1,").toString("latin1")

/** `delivers`: an adapter may take it for an answer, and then the run is charged. */
export interface Hostility {
  readonly name: string
  readonly weight: number
  readonly delivers: boolean
  /** After so many seconds at most, the provider closes the connection. */
  readonly breaksAfterMax?: number
  readonly answer: (random: () => number) => Response | Promise<Response>
}

const found = (email: unknown, credits: unknown) =>
  JSON.stringify({
    first_name: poison,
    last_name: email,
    domain: poison,
    email,
    status: "valid",
    credits_consumed: credits,
    id: email,
    data: { first_name: email, last_name: poison, email, score: credits, verification: { status: poison }, sources: [] }
  })

const statuses = [204, 302, 404, 418, 429, 500, 503, 599]

export const hostilities: ReadonlyArray<Hostility> = [
  { name: "no JSON", weight: 5, delivers: false, answer: () => json("<!doctype html>maintenance") },
  { name: "half a JSON", weight: 5, delivers: false, answer: () => json('{"email":"jane@exa') },
  { name: "breaks off", weight: 5, delivers: false, breaksAfterMax: 1, answer: () => endless('{"email":') },
  { name: "too deep", weight: 2, delivers: false, answer: () => json("[".repeat(100_000) + "]".repeat(100_000)) },
  { name: "huge", weight: 0.5, delivers: false, answer: () => json(huge) },
  { name: "hangs", weight: 3, delivers: false, breaksAfterMax: hangSecondsMax, answer: () => never },
  {
    name: "wrong status",
    weight: 8,
    // An adapter may read "not found" in one of them, which some capabilities charge.
    delivers: true,
    answer: (random) => {
      const status = statuses[Math.floor(random() * statuses.length)] ?? 500
      const headers =
        status === 302 ? { location: "http://127.0.0.1:1/" } : status === 429 ? { "retry-after": "1" } : {}
      return status === 204
        ? new Response(null, { status })
        : json(JSON.stringify({ message: poison }), status, headers)
    }
  },
  { name: "hostile strings", weight: 5, delivers: true, answer: () => json(found(`${poison}@example.com`, 1)) },
  { name: "wrong types", weight: 5, delivers: true, answer: (random) => json(found(random() < 0.5 ? 7 : [null], {})) },
  {
    name: "lies about costs",
    weight: 5,
    delivers: true,
    answer: (random) => json(found("found@example.com", [-1, 1e308, "NaN", 1e9][Math.floor(random() * 4)]))
  }
]
const weights = hostilities.reduce((sum, { weight }) => sum + weight, 0)

/** Null: this call is answered well. */
const hostilityOf = (random: () => number): Hostility | null => {
  if (random() >= hostileShare) return null
  let left = random() * weights
  return hostilities.find(({ weight }) => (left -= weight) < 0) ?? null
}

/** For the providers of the chaos tests (chaos/meter.ts). `count` hears of each hostile answer. */
export const hostileBy =
  (seed: number, count: (name: string) => void): Disturb =>
  ({ key, provider }) => {
    const random = randomOf(seedOf(seed, "provider", provider, key))
    const hostility = hostilityOf(random)
    if (hostility === null) return null
    count(hostility.name)
    const { delivers, breaksAfterMax } = hostility
    const breaks_after_seconds = breaksAfterMax === undefined ? null : Math.ceil(breaksAfterMax * random())
    return { delivers, breaks_after_seconds, answer: hostility.answer(random) }
  }
