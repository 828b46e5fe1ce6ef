/** An agent host that has started `rungate mcp`, or was given the address of a service: the reference client of the protocol, which holds every answer against the tool's full schema. */
import { expect } from "bun:test"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { Effect } from "effect"
import { toolsWith } from "../../../src/http/mcp/toolHandlers.ts"
import * as Tools from "../../../src/http/mcp/Tools.ts"
import type { Environment } from "./shell.ts"

export type Json = ReturnType<typeof JSON.parse>
export type Arguments = Readonly<Record<string, unknown>>

interface Called {
  readonly failed: boolean
  /** The JSON that structured content and text both are. */
  readonly body: Json
  readonly text: string
}

interface Options {
  readonly signal?: AbortSignal
  readonly onprogress?: (progress: { readonly progress: number; readonly message?: string | undefined }) => void
}

export interface Host {
  readonly client: Client
  readonly pid: number
  readonly tools: Awaited<ReturnType<Client["listTools"]>>["tools"]
  /** Lines of stdout that were no message. */
  readonly noise: ReadonlyArray<string>
  readonly call: (name: string, given?: Arguments, options?: Options) => Promise<Called>
}

const clients: Array<Client> = []

const ajv = new Ajv2020({ strict: false })
const validators = new Map<string, ValidateFunction>()
/** Each schema is compiled once, when an answer is first held against it: to compile all of them takes a second. */
const validatorOf = (schema: object | boolean): ValidateFunction => {
  const text = JSON.stringify(schema)
  const validate = validators.get(text) ?? ajv.compile(schema)
  validators.set(text, validate)
  return validate
}

/** What the service promises of every answer. The list of tools only names the members, to stay short. */
const answerSchemas = new Map(
  toolsWith(Tools.run.withHandler(() => Effect.never)).map(({ name, answerSchema }) => [name, answerSchema])
)

const hostOver = async (transport: Transport): Promise<Omit<Host, "pid">> => {
  const client = new Client({ name: "test", version: "1" })
  const noise: Array<string> = []
  Object.assign(client, { onerror: (error: unknown) => void noise.push(String(error)) })
  await client.connect(transport)
  clients.push(client)
  const { tools } = await client.listTools()
  const named = new Map(tools.map(({ name, outputSchema }) => [name, Object.keys(outputSchema?.properties ?? {})]))
  const call: Host["call"] = async (name, given = {}, options = {}) => {
    const answer: Json = await client.callTool({ name, arguments: { ...given } }, undefined, options)
    const [{ type, text }] = answer.content
    const fits = validatorOf(answerSchemas.get(name) ?? false)
    expect([type, fits(answer.structuredContent), fits.errors ?? null]).toEqual(["text", true, null])
    expect(named.get(name)).toEqual(expect.arrayContaining(Object.keys(answer.structuredContent)))
    expect(JSON.parse(text)).toEqual(answer.structuredContent)
    return { failed: answer.isError === true, body: answer.structuredContent, text }
  }
  return { client, tools, noise, call }
}

/** An agent host that has started the command. */
export const hostOf = async (command: string, args: ReadonlyArray<string>, env: Environment): Promise<Host> => {
  const transport = new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: "ignore" })
  return { ...(await hostOver(transport)), pid: transport.pid ?? 0 }
}

/** An agent host that was given the address of a service, and maybe a key. */
export const remoteHostOf = (url: string, key: string | null): Promise<Omit<Host, "pid">> => {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
  return hostOver(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
}

/** Arguments of a run, with a cap. */
export const verify = (email: string, more: Arguments = {}) => ({
  capability: "email.verify",
  input: { email },
  max_cost: "0.05",
  ...more
})

/** A call of each tool that asks for a key. */
export const keyed: ReadonlyArray<readonly [string, Arguments]> = [
  ["inspect", { capability: "email.verify" }],
  ["quote", verify("a@example.com")],
  ["run", verify("a@example.com")],
  ["get_run", { run_id: "run_1" }],
  ["cancel_run", { run_id: "run_1" }],
  ["list_runs", {}],
  ["history", { q: "a.com" }],
  ["wallet", {}],
  ["allowances", { action: "list" }]
]

/** A promise, and what keeps it. */
export const signal = <A>() => {
  let send: (value: A) => void = () => {}
  const received = new Promise<A>((resolve) => {
    send = resolve
  })
  return { send, received }
}

export const closeHosts = () => Promise.all(clients.map((client) => client.close()))
