/**
 * A few thousand random requests to every operation of the contract and to every tool, by callers of each kind, many at once. TEST_SEED
 * repeats a day's.
 *
 * No answer is a failure of the service or differs from the contract. No caller reads of another organization or changes it. No secret is
 * in an answer, but in the one that creates it. The books balance afterwards.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { type App, figures, type Reply, startApp } from "../kit/app.ts"
import { contract } from "../kit/documented-answers.ts"
import { exhaustive, howMany, sampleSeed } from "../kit/input-samples.ts"
import { slowness } from "../kit/slowness.ts"
import { receiver } from "../kit/webhook-receiver.ts"
import { operatorOf, ownPage } from "../http/operator/operator.ts"
import { busy, callersOf, idsIn, isBusy, namesOf, type Organization, organization, rowsOf } from "./organizations.ts"
import { type Draft, type Names, type RandomRequest, roundsOf } from "./random-requests.ts"
import { failureOf, mcpHeaders, toolCallsOf } from "./random-tools.ts"

/** With few inputs, sixteen days have all requests that there are: what is new on a day is then the code, and not the requests. */
const seed = exhaustive ? sampleSeed : sampleSeed % 16
/** Requests at once. */
const clients = 12
/** Longer than any request waits. */
const answerMillisMax = 45_000
const rounds = { strangers: howMany(30, 9), everybody: howMany(40, 12), tools: howMany(80, 30) }

let app: App
let victim: Organization
let stranger: Organization
const hooks = receiver()
beforeAll(async () => {
  app = await startApp({
    settings: {
      RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1",
      RUNGATE_WARRANTY_SHARE: "1",
      RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64")
    }
  })
  victim = await organization(app, "vqz", hooks.url)
  stranger = await organization(app, "sqz", hooks.url)
  console.log(`random requests: TEST_SEED=${seed} repeats these`)
})
afterAll(async () => {
  await app.stop()
  await hooks.stop()
})

interface Answer {
  readonly request: RandomRequest
  readonly reply: Reply
}

/** An organization whose key or session a caller has. */
type Home = Organization | "nobody" | "operator"
interface Caller {
  readonly of: Home
  readonly token: string | null
  readonly headers: Readonly<Record<string, string>>
}

/** Answers that create a secret, and show it once. */
const creates =
  /^(mcp\.allowances|keys\.(create|rotate)|allowances\.create|webhooks\.(create|rotate)|auth\.sign(Up|In)|invitations\.(create|accept)|operatorInvitations\.create|recovery\.startSecondFactor|configuration\.apply|oauth\.decide)$/
const token = /\brg_(?:test|live|sess|oper|operator)_[0-9A-Za-z]{30,}|\bwhsec_[0-9A-Za-z+/=]{20,}/g
/** One that requests make up. */
const madeUp = `rg_test_${"0".repeat(43)}`

const shown = ({ id, method, path, headers, raw = "" }: RandomRequest) =>
  `${id}: ${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 200)} ${raw.slice(0, 500)}`

const wrong: Array<string> = []
const statuses = new Map<string, Set<number>>()
const answers = new Map<Home, Array<Answer>>()

/** A run that failed at its provider is answered so. */
const isRun = ({ status, body }: Reply) => (status === 502 || status === 504) && typeof body?.run_id === "string"

/** `app.call` compares the body with the document. An id that is longer than any meets no operation. */
const isDocumented = (id: string, { status, body }: Reply) =>
  contract().operations.some((one) => one.id === id && one.responses[status] !== undefined) ||
  (status === 404 && body?.error?.code === "not_found")

type Asked = readonly [RandomRequest, Caller]

/** False: the service was too busy, and this request may be sent again. */
const send = async ([request, { of, token, headers }]: Asked, mayRepeat: boolean): Promise<boolean> => {
  const { id, method, path, raw } = request
  try {
    const reply = await app.call(token, method, path, {
      headers: { ...request.headers, ...headers },
      ...(raw === undefined ? {} : { raw }),
      signal: AbortSignal.timeout(answerMillisMax * slowness)
    })
    if (mayRepeat && isBusy(reply)) {
      busy.add(reply.body.request_id)
      return false
    }
    if (reply.status >= 500 && !isRun(reply))
      wrong.push(`${shown(request)} -> ${reply.status} ${reply.text.slice(0, 300)}`)
    const failure = failureOf(reply.body)
    if (failure !== null) wrong.push(`${shown(request)} -> ${failure}: ${reply.text.slice(0, 300)}`)
    if (path !== "/mcp" && !isDocumented(id, reply))
      wrong.push(`${shown(request)} -> ${reply.status} is not documented: ${reply.text}`)
    if (!reply.text.isWellFormed()) wrong.push(`${shown(request)} -> half of a surrogate pair`)
    if (path !== "/mcp") statuses.set(id, (statuses.get(id) ?? new Set()).add(reply.status))
    const list = answers.get(of) ?? []
    list.push({ request, reply })
    answers.set(of, list)
  } catch (error) {
    wrong.push(`${shown(request)} -> ${String(error)}`)
  }
  return true
}

/** Sends all, several at once. What met a busy service is sent again at the end, alone. */
const play = async (drafts: ReadonlyArray<Draft>, requestOf: (draft: Draft) => Asked) => {
  const left = [...drafts]
  const again: Array<Asked> = []
  const client = async () => {
    for (let draft = left.shift(); draft !== undefined; draft = left.shift()) {
      const asked = requestOf(draft)
      if (!(await send(asked, true))) again.push(asked)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  for (const asked of again) await send(asked, false)
}

const documentOf = async () => (await app.call(null, "GET", "/openapi.json")).body
const idsOf = async ({ tenant }: Organization) => idsIn(await rowsOf(app, tenant.org_id))
const nobodys: ReadonlyArray<Caller> = [
  { of: "nobody", token: null, headers: {} },
  { of: "nobody", token: madeUp, headers: {} },
  { of: "nobody", token: null, headers: { authorization: "Basic OnRlc3Q=" } }
]

/** Ids and texts of the organization in answers to others. */
const leaks = (
  of: Organization,
  ids: ReadonlySet<string>,
  known: ReadonlySet<string>,
  isAbout: (request: RandomRequest) => boolean = () => true
): ReadonlyArray<string> =>
  [...answers].flatMap(([to, list]) =>
    to === of || to === "operator"
      ? []
      : list.flatMap(({ request, reply }) => {
          if (!isAbout(request)) return []
          const text = reply.text + JSON.stringify([...reply.headers])
          const found = [...idsIn([text])].filter((id) => ids.has(id) && !known.has(id))
          if (text.toLowerCase().includes(of.hidden)) found.push(of.hidden)
          return found.length === 0
            ? []
            : [`${shown(request)} -> ${reply.status} shows ${found}: ${text.slice(0, 500)}`]
        })
  )

const empty: Names = { ids: new Map(), cursors: [], hooks: [], texts: [] }
/** What others know of an organization: half of its ids, and those in cursors. */
const knownOf = (one: Organization, ids: ReadonlySet<string>) => {
  const names = namesOf(one, ids, false)
  return { names, ids: new Set([...[...names.ids.values()].flat(), ...one.cursors]) }
}

test("strangers change nothing of an organization and read nothing of it", async () => {
  const before = await rowsOf(app, victim.tenant.org_id)
  const ids = idsIn(before)
  const known = knownOf(victim, ids)
  let tokens: ReadonlyArray<string> = []
  for (const [round, all] of roundsOf(await documentOf(), seed, "strangers", rounds.strangers).entries()) {
    // The operators' operations refuse all of them at the door.
    const drafts = all.filter(({ id }) => round === 0 || !id.startsWith("operator"))
    const own = namesOf(stranger, await idsOf(stranger), true)
    tokens = await callersOf(app, stranger, tokens)
    const callers = [...tokens.map((token): Caller => ({ of: stranger, token, headers: {} })), ...nobodys]
    await play(drafts, (draft) => {
      const caller = callers[Math.floor(draft.random() * callers.length)] ?? nobodys[0]
      if (caller === undefined) throw new Error("no caller")
      return [draft.fill(own, known.names), caller]
    })
  }
  expect(wrong).toEqual([])
  expect(leaks(victim, ids, known.ids)).toEqual([])
  const after = await rowsOf(app, victim.tenant.org_id)
  expect(after.filter((row) => !before.includes(row))).toEqual([])
  expect(before.filter((row) => !after.includes(row))).toEqual([])
})

test("customers, people and operators at once: no answer fails, and none tells of others or of a secret", async () => {
  const both = [victim, stranger]
  const known = new Map(await Promise.all(both.map(async (one) => [one, knownOf(one, await idsOf(one))] as const)))
  const tokens = new Map<Organization, ReadonlyArray<string>>()
  for (const drafts of roundsOf(await documentOf(), seed, "everybody", rounds.everybody)) {
    const own = new Map(
      await Promise.all(both.map(async (one) => [one, namesOf(one, await idsOf(one), true)] as const))
    )
    const { cookie } = await operatorOf(app)
    const operator: Caller = { of: "operator", token: null, headers: { ...ownPage(app), cookie } }
    const callers = [...nobodys]
    for (const one of both) {
      const working = await callersOf(app, one, tokens.get(one))
      tokens.set(one, working)
      callers.push(...working.map((token): Caller => ({ of: one, token, headers: {} })))
    }
    /** What the caller has, and what it knows of others. */
    const namesFor = (of: Home): readonly [Names, Names] => {
      const home = of === stranger ? stranger : victim
      const all = own.get(home) ?? empty
      const others = known.get(home === victim ? stranger : victim)?.names ?? empty
      if (of === "operator") return [all, own.get(stranger) ?? empty]
      return [of === "nobody" ? (known.get(home)?.names ?? empty) : all, others]
    }
    await play(drafts, (draft) => {
      const isOperators = draft.id.startsWith("operator") && draft.random() < 0.9
      const caller = isOperators ? operator : (callers[Math.floor(draft.random() * callers.length)] ?? operator)
      const [names, others] = namesFor(caller.of)
      return [draft.fill(names, others), caller]
    })
  }
  expect(wrong).toEqual([])
  for (const one of both) expect(leaks(one, await idsOf(one), known.get(one)?.ids ?? new Set())).toEqual([])
})

test("tools called by agents of two organizations: no answer fails, and none tells of the other organization", async () => {
  const both = [victim, stranger]
  const known = new Map(await Promise.all(both.map(async (one) => [one, knownOf(one, await idsOf(one))] as const)))
  const own = new Map(await Promise.all(both.map(async (one) => [one, namesOf(one, await idsOf(one), true)] as const)))
  const callers = await Promise.all(
    both.map(async (one) =>
      (await callersOf(app, one)).map((token): Caller & { readonly of: Organization } => ({
        of: one,
        token,
        headers: {}
      }))
    )
  )
  const ask = { body: { jsonrpc: "2.0", id: 1, method: "tools/list" }, headers: mcpHeaders }
  const { tools } = (await app.call(callers[0]?.[0]?.token ?? null, "POST", "/mcp", ask)).body.result
  await play(toolCallsOf(tools, seed, rounds.tools), (draft) => {
    const all = callers.flat()
    const caller = all[Math.floor(draft.random() * all.length)]
    if (caller === undefined) throw new Error("no caller")
    const other = known.get(caller.of === victim ? stranger : victim)
    return [draft.fill(own.get(caller.of) ?? empty, other?.names ?? empty), caller]
  })
  expect(wrong).toEqual([])
  // Requests of the tests before knew other ids.
  const isCall = ({ path }: RandomRequest) => path === "/mcp"
  for (const one of both) expect(leaks(one, await idsOf(one), known.get(one)?.ids ?? new Set(), isCall)).toEqual([])
  const calls = [...answers.values()].flat().filter(({ request }) => isCall(request))
  const served = new Set(
    calls.flatMap(({ request, reply }) => (reply.body?.result?.isError === false ? [request.id] : []))
  )
  expect(served.size).toBeGreaterThan(tools.length * 0.6)
})

test("no answer shows a secret but the one that creates it", () => {
  const all = [...answers.values()].flat()
  const secrets = [...victim.secrets, ...stranger.secrets]
  const shows = all.filter(
    ({ request: { id }, reply: { text } }) =>
      secrets.some((secret) => text.includes(secret)) ||
      (!creates.test(id) && Array.from(text.matchAll(token)).some(([one]) => one !== madeUp))
  )
  expect(shows.map(({ request, reply }) => `${shown(request)} -> ${reply.text.slice(0, 500)}`)).toEqual([])
})

test("the service is well, and its books balance", async () => {
  expect((await app.call(null, "GET", "/readyz")).status).toBe(200)
  const errors = app.logs.filter((line) => line.startsWith("Error"))
  expect(errors.filter((line) => ![...busy].some((id) => line.includes(id)))).toEqual([])
  await app.books()
  const all = [...answers.values()].flat()
  const served = [...statuses].filter(([, seen]) => [...seen].some((status) => status < 300))
  // Most operations are reached, and not refused at their first check.
  expect(served.length).toBeGreaterThan(statuses.size * 0.6)
  const succeeded = all.filter(({ reply }) => reply.status < 300).length
  figures("random requests", {
    seed,
    operations: statuses.size,
    served: served.length,
    requests: all.length,
    succeeded
  })
})
