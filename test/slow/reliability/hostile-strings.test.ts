/**
 * Hostile strings in every field that a provider can fill, for every adapter and for raw calls: every run ends, the lanes go on,
 * and history and erasure work on what was stored.
 *
 * The answers are those of the adapters' own tests, with hostile text put into each of their strings. Each offer gets two of the seven kinds of
 * hostile answer in turn, and all of them with TEST_INPUTS=all.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect, Logger } from "effect"
import { Breakers } from "../../../src/layers/executor/Breakers.ts"
import { providers } from "../../../src/layers/providers/index.ts"
import { capabilities } from "../../../src/schema/capabilities/index.ts"
import { type App, figures, startApp, type Tenant, until } from "../../kit/app.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { sampled } from "../../kit/input-samples.ts"
import { ownWhatScenesName } from "../../layers/providers/owned.ts"
import { playedScenes } from "../../layers/providers/scenes.ts"
import { answer, type Played, type Recorded } from "../../layers/providers/stage.ts"
import { hasten, standIn } from "../../layers/providers/standin.ts"

/** A NUL, both halves of a surrogate pair, line separators, text that runs backwards, and what escapes look like. */
const poison = "\u0000 \ud83d \ude00 \u2028\u2029\u0085\u0007 \u202e gnp.exe\u2066 \\u0000 \\\\ud800 ' \" ; -- $1 <b>"
const mebibyte = "long ".repeat(210_000)

const changed = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === "string") return change(value)
  if (Array.isArray(value)) return value.map((one) => changed(one, change))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, changed(one, change)]))
}
/** The same answers with each of their strings changed; what is no JSON is changed as a whole. */
const played = (answers: ReadonlyArray<Played>, change: (text: string) => string): ReadonlyArray<Played> =>
  answers.map((one) => {
    try {
      return { ...one, body: JSON.stringify(changed(JSON.parse(one.body), change)) }
    } catch {
      return { ...one, body: change(one.body) }
    }
  })
/** An error whose every known place for words is hostile. */
const errorAnswer = (status: number, words: string) => {
  const places = {
    message: words,
    Message: words,
    error: words,
    error_code: words,
    detail: words,
    code: words,
    name: words
  }
  return answer(status, { ...places, errors: [{ details: words, title: words, code: words }], status: words })
}
/** What hostile text begins with stays readable, so that adapters which look for a word find it. */
const first = () => {
  let done = false
  return (text: string) => {
    if (done || text === "") return text
    done = true
    return text + mebibyte
  }
}
const variants: ReadonlyArray<readonly [string, (scene: Recorded) => ReadonlyArray<Played>]> = [
  ["at the end of each string", (scene) => played(scene.answers, (text) => text + poison)],
  ["in place of each string", (scene) => played(scene.answers, () => poison)],
  ["a megabyte in one string", (scene) => played(scene.answers, first())],
  ["in an error 500", () => [errorAnswer(500, poison)]],
  ["in a refusal", () => [errorAnswer(400, poison)]],
  ["in a miss", () => [errorAnswer(404, poison)]],
  ["in an error of a megabyte", () => [errorAnswer(422, mebibyte)]]
]

let app: App
let org: Tenant
let scenes: ReadonlyArray<Recorded>
const there = standIn({ slug: "acme", auth: { kind: "bearer" } })
const unhasten = hasten()
beforeAll(async () => {
  const [started, recorded] = await Promise.all([
    startApp({ settings: { ...there.settings, RUNGATE_ORG_QUEUE: "100000" } }),
    playedScenes()
  ])
  app = started
  scenes = recorded
  const body = { type: "object", additionalProperties: true }
  await app.catalog(documentOf("acme", [endpointOf({ path: "/any", method: "POST", body })]))
  org = await app.tenant("9000.00")
  await org.post("/v1/spend-guard", { daily_limit: "9000.00" })
  await ownWhatScenesName(app, org.org_id, scenes)
})
afterAll(async () => {
  await app.stop()
  await there.stop()
  unhasten()
})

/** What one answer did to a breaker must not keep the next one from being asked for. */
const heal = () => {
  const found = Effect.runSync(Effect.provideContext(Effect.serviceOption(Breakers), app.context))
  const breakers = found._tag === "Some" ? found.value : expect.unreachable("the app has no breakers")
  const healed = Effect.forEach(breakers.all(), (one) => breakers.record(one.provider, one.subject, one.org_id, null))
  return Effect.runPromise(healed.pipe(Effect.provide(Logger.layer([]))))
}
const finals = ["succeeded", "no_match", "failed", "timed_out"]
const found = { runs: 0, delivered: 0 }
let turn = 0
/** Postgres itself reads everything that was stored. */
const readable = async (run_id: string) => {
  const [row] = await app.sql(
    `SELECT attempts::text AS attempts, error_message, result::text AS result,
            (SELECT count(a->>'detail') FROM json_array_elements(attempts) a) AS details
     FROM runs WHERE run_id = $1`,
    [run_id]
  )
  const attempts: ReadonlyArray<{ detail: string | null }> = JSON.parse(String(row?.["attempts"]))
  for (const { detail } of attempts) {
    expect(detail?.length ?? 0).toBeLessThanOrEqual(501)
    expect(detail ?? "").not.toMatch(/[\p{Cc}\u2028\u2029\u202e\u2066]/u)
    expect(detail?.isWellFormed() ?? true).toBe(true)
  }
}

describe("every adapter", () => {
  for (const provider of providers.filter((one) => one.offers.some((offer) => offer.wired))) {
    test(provider.slug, async () => {
      for (const offer of provider.offers) {
        const capability = capabilities.find((one) => one.slug === offer.capability)
        const scene = scenes.find(
          (one) => one.provider === provider.slug && one.capability === offer.capability && offer.serves(one.input)
        )
        if (capability === undefined || capability.status !== "live" || scene === undefined) continue
        for (const [variant, make] of sampled(variants, 2, turn++)) {
          // What is asked for once more gets the last answer again: a job's state, say, that is never an end.
          const script = make(scene)
          const last = script.at(-1) ?? answer(500, "")
          there.forget()
          there.play(provider.slug, ...script, ...Array.from({ length: 30 }, () => last), answer(500, "enough"))
          const { body } = await org.run({
            capability: capability.slug,
            input: scene.input,
            routing: { provider: provider.slug },
            wait_seconds: 60
          })
          expect([offer.capability, variant, finals.includes(body.status)]).toEqual([offer.capability, variant, true])
          await readable(body.run_id)
          found.runs += 1
          if (body.status === "succeeded") found.delivered += 1
          await heal()
        }
      }
    })
  }
})

describe("raw calls", () => {
  const json = { "content-type": "application/json" }
  const bytes = (...parts: ReadonlyArray<string | number>) =>
    Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...Buffer.from(part)] : [part])))
  /** Answers, and what of them is delivered: byte for byte, or nothing. */
  const payloads: ReadonlyArray<readonly [string, Played, string | null]> = [
    [
      "escapes of NUL and halves",
      { status: 200, headers: json, body: '{"a":"\\u0000 \\ud83d \\ude00","b\\u0000":1}' },
      "as it is"
    ],
    ["a NUL in a page", { status: 200, headers: { "content-type": "text/plain" }, body: "a\u0000b" }, '"a\\u0000b"'],
    ["line separators", { status: 200, headers: json, body: '["\u2028\u202e"]' }, "as it is"],
    ["a megabyte", { status: 200, headers: json, body: JSON.stringify({ page: mebibyte }) }, "as it is"],
    [
      "broken UTF-8 in JSON",
      { status: 200, headers: json, body: "", bytes: bytes('{"a":"', 0xff, 0xed, 0xa0, 0x80, '"}') },
      null
    ],
    [
      "broken UTF-8 in a page",
      { status: 200, headers: { "content-type": "text/plain" }, body: "", bytes: bytes("a", 0xff) },
      '"a\ufffd"'
    ],
    ["an error", errorAnswer(500, poison), null],
    ["a refusal", errorAnswer(422, poison + mebibyte), null]
  ]
  test.each(payloads)("%s", async (_name, line, delivered) => {
    there.forget()
    there.play("acme", line)
    const { body, text } = await org.run({ provider: "acme", endpoint: "/any", input: { who: "raw@hostile.example" } })
    expect(body.status).toBe(delivered === null ? "failed" : "succeeded")
    const expected = delivered === "as it is" ? line.body : delivered
    if (expected !== null) expect(text).toContain(`"result":{"data":${expected},"raw":true}`)
    if (expected !== null) expect((await org.get(`/v1/runs/${body.run_id}`)).text).toContain(expected)
    await readable(body.run_id)
    found.runs += 1
    await heal()
  })
})

test("the lanes go on, all of it is indexed and found, an erasure takes it away, and the books add up", async () => {
  await org.credit("1.00")
  const queued = () => app.sql("SELECT 1 FROM history_queue")
  await until("all is indexed", queued, (rows) => rows.length === 0, 30)
  expect((await org.get("/v1/history?q=raw@hostile.example")).body.count).toBe(8)
  expect((await org.get("/v1/runs?limit=100")).body.items.length).toBe(100)
  const session = await org.session()
  const erased = await app.call(session, "DELETE", "/v1/history?q=raw@hostile.example")
  expect([erased.status, erased.body.erased]).toEqual([200, 8])
  // And all the rest, as retention does it.
  await app.sql("UPDATE runs SET run_id = 'run_0000000000' || right(run_id, 16) WHERE org_id = $1", [org.org_id])
  const keeper = await startApp({ role: "worker", beside: app, settings: { RUNGATE_RETENTION_DAYS: "1" } })
  const left = () => app.sql("SELECT 1 FROM runs WHERE org_id = $1 AND erased_at IS NULL", [org.org_id])
  await until("all is erased", left, (rows) => rows.length === 0, 30)
  await keeper.stop()
  expect(app.logs.filter((line) => line.includes("a turn failed") || line.includes("dead-lettered"))).toEqual([])
  figures("hostile strings", { runs: found.runs, delivered: found.delivered, dead_letters: 0 })
})
