/**
 * `bun run bench:features`: what a run costs with a feature, as a ratio to the same run without it.
 *
 * CPU of the service, PostgreSQL and Redis, with and without in turn on one PostgreSQL, until all background work of a window has ended. The
 * machine's speed changes over minutes, so a ratio of neighbours says more than two figures. `--rounds`, `--seconds` and `--only` (names,
 * separated by commas) change the size. `--against` compares with the program of another version, as `RUNGATE_BENCH_PROGRAM` names it (stage.ts).
 */
import { Client } from "pg"
import { digest } from "../../src/layers/accounts/Secrets.ts"
import { busySeconds, cpuSeconds } from "./machine.ts"
import { drained, fund, loadIn, newDatabase, openStage, program, type Running, start } from "./stage.ts"

const option = (name: string): string | undefined => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? undefined : process.argv[at + 1]
}
const rounds = Number(option("rounds") ?? 8)
const seconds = Number(option("seconds") ?? 1)
const only = option("only")?.split(",")
const against = option("against")
const clients = 32

const stage = await openStage()

interface Side {
  readonly running: Running
  readonly database: Client
  readonly key: string
  readonly body?: object
  /** What listens while the side runs. */
  readonly listen?: () => Promise<() => void>
}

/** A service with a database and funded keys of its own. */
const open = async (settings: Readonly<Record<string, string>>, of?: string) => {
  const url = await newDatabase(stage)
  const running = await start([of ?? (await program()), "serve"], {
    DATABASE_URL: url,
    PORT: "0",
    RUNGATE_RATE_LIMIT: "0",
    RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1",
    ...(stage.redis === undefined ? {} : { REDIS_URL: stage.redis }),
    ...settings
  })
  const keys = await fund(url, 16)
  const database = new Client({ connectionString: url })
  await database.connect()
  const org = (n: number) => `org_bench${String(n).padStart(21, "0")}`
  const side = (n: number, body?: object): Side => ({
    running,
    database,
    key: keys[n] ?? "",
    ...(body === undefined ? {} : { body })
  })
  return { running, database, org, side }
}

const service = await open({})
const unguarded = await open({ RUNGATE_REPEAT_GUARD: "0" })
const other = against === undefined ? null : await open({}, against)

/** A side whose organization's owner has changed something before. */
const changed = async (side: Side, n: number, method: string, path: string, request: object): Promise<Side> => {
  const token = `rg_sess_${crypto.randomUUID().replaceAll("-", "")}`
  const user_id = `usr_bench${n}`
  await side.database.query(
    "INSERT INTO users (user_id, org_id, email, password_hash) VALUES ($1, $2, $1 || '@example.com', 'none')",
    [user_id, service.org(n)]
  )
  await side.database.query(
    "INSERT INTO sessions (token_hash, user_id, org_id, expires_at) VALUES ($1, $2, $3, now() + interval '1 hour')",
    [digest(token), user_id, service.org(n)]
  )
  const answer = await fetch(`${side.running.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(request)
  })
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return side
}

const budgetOf = async (n: number) => {
  await service.database.query(
    `WITH made AS (
       INSERT INTO key_budgets (budget_id, org_id, key_id, amount, period)
       SELECT 'budget_' || key_id, org_id, key_id, 1000000000000, 'day' FROM api_keys WHERE org_id = $1 RETURNING budget_id, key_id)
     UPDATE api_keys k SET budget_id = made.budget_id FROM made WHERE k.key_id = made.key_id`,
    [service.org(n)]
  )
  return service.side(n)
}

/** Reads the events of a key's organization until it is stopped. */
const listening = (side: Side): Side => ({
  ...side,
  listen: async () => {
    const stop = new AbortController()
    const answer = await fetch(`${side.running.url}/v1/events`, {
      headers: { authorization: `Bearer ${side.key}` },
      signal: stop.signal
    })
    if (answer.status !== 200) throw new Error(`the event stream answered ${answer.status}`)
    const reader = answer.body?.getReader()
    void (async () => {
      while (reader !== undefined && !(await reader.read()).done);
    })().catch(() => {})
    return () => stop.abort()
  }
})

const receiver = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(null, { status: 204 }) })
const webhookOf = async (n: number) => {
  await service.database.query(
    `INSERT INTO webhook_endpoints (endpoint_id, org_id, url, events, secret, position)
     VALUES ('we_bench', $1, $2, ARRAY['run.finished'], 'whsec_' || encode(decode(repeat('ab', 32), 'hex'), 'base64'), 0)`,
    [service.org(n), `http://127.0.0.1:${receiver.port}/`]
  )
  return service.side(n)
}

const person = { capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "%n.example.com" } }
const same = { capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "example.com" } }
const mail = {
  capability: "email.send",
  input: { from: "hello@example.com", to: "p%n@example.com", subject: "Hello", text: "Hello" }
}
const labels = { campaign: "spring", customer: "customer 7", agent: "researcher" }
const budgetOfLabel = { label: "customer", limit: "1000000.00", period: "day" }
const reuse = { mode: "prefer", max_age_seconds: 86_400 }

type Feature = readonly [name: string, with_: Side, without: Side]
const features: ReadonlyArray<Feature> = [
  ["the same run again", service.side(0), service.side(1)],
  ["a key with a budget", await budgetOf(2), service.side(1)],
  ["metadata of three labels", service.side(3, { ...same, metadata: labels }), service.side(1)],
  [
    "a budget of one of its labels",
    await changed(service.side(11, { ...same, metadata: labels }), 11, "PUT", "/v1/label-budgets", budgetOfLabel),
    service.side(3, { ...same, metadata: labels })
  ],
  [
    "no label, beside such budgets",
    await changed(service.side(12), 12, "PUT", "/v1/label-budgets", budgetOfLabel),
    service.side(1)
  ],
  ["a wanted field (accept)", service.side(13, { ...same, accept: { fields: ["email"] } }), service.side(1)],
  [
    "a time zone",
    await changed(service.side(14), 14, "POST", "/v1/spend-guard", { time_zone: "Pacific/Auckland" }),
    service.side(1)
  ],
  [
    "an approval rule of others",
    await changed(service.side(15), 15, "POST", "/v1/approval-rules", { name: "large", min_hold: "100.00" }),
    service.side(1)
  ],
  ["a listening event stream", listening(service.side(4)), service.side(1)],
  ["a webhook endpoint", await webhookOf(5), service.side(1)],
  ["repeat guard on (off without)", service.side(1), unguarded.side(1)],
  ["reuse that finds nothing", service.side(6, { ...person, reuse }), service.side(7, person)],
  ["reuse of a result", service.side(8, { ...same, reuse }), service.side(1)],
  ...(other === null ? [] : [["this version (--against)", service.side(1), other.side(1)] as const]),
  ["contact guard", service.side(9, { ...mail, unless_contacted_within_seconds: 3_600 }), service.side(10, mail)]
]

/** Microseconds of CPU per run. */
const cost = async (side: Side, secs: number) => {
  const stop = await side.listen?.()
  const pids = [side.running.pid, stage.postgresPid, ...(stage.redisPid === null ? [] : [stage.redisPid])]
  const before = cpuSeconds(pids)
  const result = await loadIn(side.running.url, [side.key], clients, secs, side.body)
  await drained([side.database])
  const spent = cpuSeconds(pids) - before
  stop?.()
  if (result.failed > 0) throw new Error(`${result.failed} of ${result.runs} runs failed: ${result.failure}`)
  return (spent / result.runs) * 1e6
}

const at = (values: ReadonlyArray<number>, share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0
console.log(
  `PostgreSQL durable, ${stage.redis === undefined ? "no Redis" : "Redis"}; ${rounds} pairs of ${seconds} s, ${clients} clients, one wallet`
)
for (const [name, with_, without] of features) {
  if (only !== undefined && !only.some((one) => name.includes(one))) continue
  // Compiles the code, and fills what the feature reads.
  await cost(with_, 1)
  await cost(without, 1)
  const ratios: Array<number> = []
  const plain: Array<number> = []
  const [busy, own, began] = [busySeconds(), cpuSeconds([process.pid, stage.postgresPid]), performance.now()]
  for (let round = 0; round < rounds; round++) {
    // The first one of a pair runs on a cooler machine, so they take turns.
    const first = await cost(round % 2 === 0 ? with_ : without, seconds)
    const second = await cost(round % 2 === 0 ? without : with_, seconds)
    ratios.push(round % 2 === 0 ? first / second : second / first)
    plain.push(round % 2 === 0 ? second : first)
  }
  const others = busySeconds() - busy - (cpuSeconds([process.pid, stage.postgresPid]) - own)
  const cores = others / ((performance.now() - began) / 1000)
  console.log(
    `${name.padEnd(30)} × ${at(ratios, 0.5).toFixed(2)} (half of the pairs: ${at(ratios, 0.25).toFixed(2)} to ${at(ratios, 0.75).toFixed(2)}); without: ${Math.round(at(plain, 0.5))} µs of CPU; other programs used ${cores.toFixed(1)} cores`
  )
}
receiver.stop(true)
for (const { running, database } of [service, unguarded, ...(other === null ? [] : [other])]) {
  await database.end()
  await running.stop()
}
process.exit(0)
