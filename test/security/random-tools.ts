/**
 * Random messages to `POST /mcp`: calls of each published tool, with arguments that fit its schema or that few expect, and other messages.
 *
 * A seed gives the same messages, whatever the answers are.
 */
import fc from "fast-check"
import { accepted } from "../kit/schema-inputs.ts"
import { type Random, randomOf, seedOf } from "../soak/plan.ts"
import { bodies, chance, type Draft, named, namerOf, pick, spoilt, texts } from "./random-requests.ts"

type Json = ReturnType<typeof JSON.parse>

export interface Tool {
  readonly name: string
  readonly inputSchema: Json
}

export const mcpHeaders = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-11-25"
}

const person = "jane.doe@example.com"
/** What schemas say in words only. Ids, addresses and cursors become those of the organizations. */
const known: Readonly<Record<string, ReadonlyArray<Json>>> = {
  provider: ["hunter", "leadmagic"],
  input: [{}],
  runs: [
    [{ capability: "email.verify", input: { email: person } }],
    [{ provider: "hunter", endpoint: "/", input: {} }]
  ],
  metadata: [{ campaign: "spring" }, { customer: "acme" }],
  allow: [{}, { capabilities: ["email.verify"], read: "own" }, { mint: true }],
  max_cost: ["0.05", "0"],
  max_total: ["0.05", "5.00"],
  amount: ["0.01", "2.00"],
  subjects: [[person, "example.com"]],
  q: [person, "example.com", "spring"],
  group_by: ["day", "provider,day", "metadata.customer", "key"],
  from: ["2026-11-01", "2026-11-27T10:00:00Z"],
  to: ["2026-11-27", "2027-01-01"],
  cursor: ["cursor"],
  wait_seconds: [0, 1]
}

/** What a tool runs, quotes or inspects. */
const targets: ReadonlyArray<Json> = [
  { capability: "email.verify", input: { email: person } },
  { capability: "email.find", input: { full_name: "Jane Doe", company_domain: "example.com" } },
  { provider: "hunter", endpoint: "/email-verifier", query: { email: person } },
  {}
]

/** What the ids of a property begin with. */
const prefixOf = ({ description = "" }: Json): string | undefined => /([a-z]{2,4})_…/.exec(description)?.[1]

const valueOf = (random: Random, property: string, schema: Json, sample: Json): Json => {
  const prefix = prefixOf(schema)
  return prefix === undefined ? (pick(random, known[property] ?? [sample]) ?? sample) : `${prefix}_${"0".repeat(26)}`
}

/** Messages that call no tool, and those that no client sends. */
const others = (random: Random): Json => {
  const text = pick(random, texts)
  const method = pick(random, [
    ...["ping", "tools/list", "resources/list", "resources/read", "resources/templates/list", "prompts/get"],
    ...["initialize", "completion/complete", "notifications/cancelled", "logging/setLevel", "server/discover", text]
  ])
  const params = pick(random, [{}, { uri: text, name: text }, { cursor: text }, { requestId: 1 }, null, [], text])
  return { jsonrpc: "2.0", id: pick(random, [1, text, null, -1, 1.5, 2 ** 53, {}]), method, params }
}

const toolDrafts = ({ name: tool, inputSchema }: Tool, daySeed: number, rounds: number): ReadonlyArray<Draft> => {
  const seed = seedOf(daySeed, `mcp.${tool}`)
  const properties = Object.entries<Json>(inputSchema.properties)
  const ids = properties.filter(([, schema]) => prefixOf(schema) !== undefined)
  const samples = properties.map(([property, schema]) =>
    fc.sample(accepted(schema), { seed: seedOf(seed, property), numRuns: rounds })
  )
  return Array.from({ length: rounds }, (_, round): Draft => {
    const random = randomOf(seedOf(seed, round))
    const fill: Draft["fill"] = (own, other) => {
      const share = chance(random, 0.5) ? 0 : 0.7
      const often = pick(random, [0, 0.3, 0.6]) ?? 0
      const [only] = chance(random, 0.5) ? (pick(random, ids) ?? []) : []
      const chosen = properties.flatMap(([property, schema], at) =>
        // No answer waits for long: a run that waits for an approval would.
        property === "wait_seconds" ||
        inputSchema.required?.includes(property) === true ||
        (only === undefined ? chance(random, often) : property === only)
          ? [[property, valueOf(random, property, schema, samples[at]?.[round])]]
          : []
      )
      const target = Object.entries(pick(random, targets)).filter(([property]) => property in inputSchema.properties)
      const fitting = named(Object.fromEntries([...chosen, ...target]), namerOf(random, own, other))
      const given = chance(random, share) ? spoilt(fitting, random) : fitting
      const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: given } }
      const message = chance(random, share / 10)
        ? others(random)
        : chance(random, share / 10)
          ? spoilt(call, random)
          : call
      return {
        id: `mcp.${tool}`,
        method: "POST",
        path: "/mcp",
        headers: {
          ...mcpHeaders,
          ...(chance(random, share / 20) ? { "mcp-protocol-version": pick(random, ["2026-07-28", "x"]) ?? "" } : {})
        },
        raw: (chance(random, share / 20) ? pick(random, bodies) : undefined) ?? JSON.stringify(message)
      }
    }
    return { id: `mcp.${tool}`, random, fill }
  })
}

/** Each tool `rounds` times, in turns. */
export const toolCallsOf = (tools: ReadonlyArray<Tool>, seed: number, rounds: number): ReadonlyArray<Draft> => {
  const drafts = tools.map((tool) => toolDrafts(tool, seed, rounds))
  return Array.from({ length: rounds }, (_, round) => drafts.flatMap((of) => of[round] ?? [])).flat()
}

/** What is wrong with an answer, whatever was sent. */
export const failureOf = (body: Json): string | null => {
  if (body?.error?.code === -32_603) return "an internal error of the protocol"
  const code = body?.result?.structuredContent?.error?.code
  return ["internal_error", "unexpected_answer", "connection_lost"].includes(code) ? code : null
}
