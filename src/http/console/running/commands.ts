/** A run's request as other tools write it, to paste: each asks for the same run, for at most the same amount. */
import { quoted } from "../../client/Shell.ts"
import { type RunBody, withCap } from "./request.ts"

export interface Place {
  readonly address: string
  /** The most that the run may cost, such as "0.0468". */
  readonly cap: string
}

export type Copied = readonly [word: string, text: string]

const isSet = (value: unknown) => value !== undefined && value !== null
const setMembers = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => isSet(value)))

const curl = (body: RunBody, { address, cap }: Place) => `curl -s ${address}/v1/run \\
  -H "Authorization: Bearer $RUNGATE_API_KEY" -H "Content-Type: application/json" \\
  -d ${quoted(JSON.stringify(withCap(body, cap)))}`

const flag = (name: string, value: unknown): ReadonlyArray<string> => {
  if (!isSet(value)) return []
  return [name, quoted(typeof value === "string" ? value : JSON.stringify(value))]
}

/** Whether the command has no flag for a part of a request: a result of any age, and a guard or the whole answer of a raw call. */
const lacksFlag = ({ response, reuse, capability, unless_contacted_within_seconds: guard, accept }: RunBody) =>
  (isSet(reuse) && reuse?.mode !== "only" && !(reuse?.mode === "prefer" && isSet(reuse.max_age_seconds))) ||
  (typeof capability !== "string" && (isSet(guard) || isSet(accept) || response?.include_raw === true))

const seconds = (value: number | null | undefined) => (isSet(value) ? `${value}s` : null)

/** A request that the command has no flags for goes through `rungate api`. */
const command = (body: RunBody, { cap }: Place) => {
  const capped = withCap(body, cap)
  if (lacksFlag(body)) return `rungate api POST /v1/run -i ${quoted(JSON.stringify(capped))}`
  const { capability, provider, endpoint, method, path, query, input, routing, metadata, reuse, response, accept } =
    capped
  const target =
    typeof capability === "string"
      ? ["run", quoted(capability)]
      : ["call", quoted(provider ?? ""), quoted(endpoint ?? ""), ...flag("--method", method)]
  const labels = Object.entries(metadata ?? {}).flatMap(([name, value]) => flag("--metadata", `${name}=${value}`))
  return [
    "rungate",
    ...target,
    ...flag("--path", path),
    ...flag("--query", query),
    "-i",
    quoted(JSON.stringify(input)),
    ...flag("--provider", typeof capability === "string" ? routing?.provider : null),
    ...flag("--strategy", routing?.strategy),
    ...(routing?.allow_fallback === false ? ["--no-fallback"] : []),
    ...flag("--max-cost", routing?.max_cost),
    ...flag("--max-total", routing?.max_total),
    ...flag("--unless-contacted", seconds(capped.unless_contacted_within_seconds)),
    ...flag("--accept", accept?.fields?.join(",")),
    ...flag("--phone-type", accept?.phone_type),
    ...flag("--max-age", isSet(accept?.max_age_days) ? `${accept?.max_age_days}d` : null),
    ...(isSet(accept?.agree) ? ["--agree"] : []),
    ...flag("--reuse", seconds(reuse?.max_age_seconds)),
    ...(reuse?.mode === "only" ? ["--reuse-only"] : []),
    ...(response?.include_raw === true ? ["--include-raw"] : []),
    ...labels
  ].join(" ")
}

const indented = (text: string, spaces: number) => text.replaceAll("\n", `\n${" ".repeat(spaces)}`)

/** Amounts of the typed client are made with `dollars`. */
const routingCode = (routing: RunBody["routing"]) =>
  Object.entries(setMembers({ ...routing }))
    .map(([name, value]) => {
      const code = JSON.stringify(value)
      return `${name}: ${name === "max_cost" || name === "max_total" ? `dollars(${code})` : code}`
    })
    .join(", ")

const typescript = (body: RunBody, { address, cap }: Place) => {
  const { routing, ...rest } = withCap(body, cap)
  const members = Object.entries(setMembers(rest)).map(
    ([name, value]) => `    ${name}: ${indented(JSON.stringify(value, null, 2), 4)},\n`
  )
  return `import { connect, dollars } from "rungate/client"

const rungate = connect({ url: ${JSON.stringify(address)}, key: process.env.RUNGATE_API_KEY })
const run = await rungate.runs.run({
  headers: { "idempotency-key": crypto.randomUUID() },
  payload: {
${members.join("")}    routing: { ${routingCode(routing)} }
  }
})
`
}

/** A call of the MCP tool `run`, which takes the caps beside the routing. */
const mcp = (body: RunBody, { cap }: Place) => {
  const { routing, response, wait_seconds: _wait, async: _async, ...rest } = withCap(body, cap)
  const { max_cost, max_total, ...chosen } = routing ?? {}
  const others = setMembers(chosen)
  const call = {
    name: "run",
    arguments: setMembers({
      ...rest,
      max_cost,
      max_total,
      routing: Object.keys(others).length === 0 ? null : others,
      include_raw: response?.include_raw === true ? true : null
    })
  }
  return JSON.stringify(call, null, 2)
}

export const commandsOf = (body: RunBody, place: Place): ReadonlyArray<Copied> => [
  ["curl", curl(body, place)],
  ["Command (CLI)", command(body, place)],
  ["TypeScript", typescript(body, place)],
  ["MCP tool call", mcp(body, place)]
]
