/** The help: for people as text, for programs as `--help --json`, the same in both; and the flags that every command takes. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Context } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../../src/http/api/Api.ts"
import { CommandName } from "../../../src/http/api/shapes/Common.ts"
import type { CommandHint } from "../../../src/schema/Hints.ts"
import * as Steps from "../../../src/schema/Steps.ts"
import type { CommandTree, ParameterTree } from "../../../src/http/cli/terminal/tree.ts"
import { type Tenant, withApp } from "../../kit/app.ts"
import { type Home, newHome } from "./shell.ts"

const root = join(import.meta.dir, "..", "..", "..")
let org: Tenant
let home: Home
let tree: CommandTree & {
  readonly global_flags: ReadonlyArray<ParameterTree>
  readonly exit_codes: ReadonlyArray<{ readonly code: number }>
}
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("25.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
  tree = (await home.shell("rungate --help --json")).body
})
afterAll(async () => {
  home.remove()
})

const everyCommand = (command: CommandTree): ReadonlyArray<CommandTree> => [
  command,
  ...command.commands.flatMap(everyCommand)
]
const at = (line: string) => everyCommand(tree).find(({ command }) => command === line) ?? expect.unreachable(line)
const flagOf = (line: string, name: string) => at(line).flags.find((flag) => flag.name === name)

/** Names below a heading of the text help. */
const named = (text: string, heading: string) =>
  (text.split(/\n\n/).find((block) => block.startsWith(`${heading}\n`)) ?? "")
    .split("\n")
    .slice(1)
    .flatMap((line) => /^ {2}(?:--)?([\w-]+)/.exec(line)?.[1] ?? [])

test("the tree holds every command that completes, and no other", async () => {
  const script = (await home.shell("rungate completions bash")).out
  const functions = Array.from(script.matchAll(/^_rungate(\w*)\(\)$/gm), ([, name = ""]) => `rungate${name}`)
  const aliased = everyCommand(tree).flatMap(({ path, aliases }) => [
    path.join(" "),
    ...aliases.map((alias) => [...path.slice(0, -1), alias].join(" "))
  ])
  expect(aliased.map((line) => line.replace(/\W/g, "_")).sort()).toEqual(functions.sort())
})

/** The command that an operation of the contract names, by method and path. */
const commands = new Map<string, string>()
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }) => {
    const name = Context.get(endpoint.annotations, CommandName)
    if (name !== "") commands.set(`${endpoint.method} ${endpoint.path.replace(/:\w+/g, "*")}`, `rungate ${name}`)
  }
})

test("every command that an operation names exists", () => {
  expect(commands.size).toBeGreaterThan(60)
  const lines = everyCommand(tree).map(({ command }) => command)
  expect(Array.from(commands.values()).filter((line) => !lines.includes(line))).toEqual([])
})

/** With words for the functions among them: the path of each has one id at most. */
const steps = Object.values(Steps).flatMap((step): ReadonlyArray<CommandHint> => {
  if (typeof step === "object") return [step]
  return typeof step === "function" && step !== Steps.quoted && step !== Steps.viaApi
    ? [Reflect.apply(step, null, ["x", "y"])]
    : []
})

test("a step that a message suggests is the command of its request", () => {
  const compared = steps.flatMap(({ http, cli }) => {
    const [, method = "", path = ""] = /^([A-Z]+) (\/v1[^ ?]*)/.exec(http) ?? []
    const pattern = `${method} ${path.replace(/\{\w+\}|(?<=\/)x(?=\/|$)/g, "*")}`
    const command = commands.get(pattern)
    return command === undefined ? [] : [[http, cli, cli === command || cli.startsWith(`${command} `)]]
  })
  expect(compared.length).toBeGreaterThan(20)
  expect(compared.filter(([, , same]) => same !== true)).toEqual([])
})

const groups = ["FIND", "RUN", "MONEY", "ACCOUNT", "TOOLS", "THE SERVICE ITSELF"]

test("a command's text says the same as its tree: arguments, flags, what is below it", async () => {
  const lines = [
    "rungate",
    "rungate run",
    "rungate runs",
    "rungate wallet transactions",
    "rungate api",
    "rungate admin"
  ]
  const texts = await Promise.all(lines.map((line) => home.shell(`${line} --help`)))
  const compared = lines.map((line, index) => {
    const { out } = texts[index] ?? expect.unreachable(line)
    return {
      line,
      flags: named(out, "FLAGS"),
      global_flags: named(out, "GLOBAL FLAGS"),
      commands: line === "rungate" ? groups.flatMap((group) => named(out, `${group}:`)) : named(out, "SUBCOMMANDS"),
      described: out.startsWith(`DESCRIPTION\n  ${at(line).description}\n`)
    }
  })
  const names = (parameters: ReadonlyArray<{ readonly name: string }>) => parameters.map(({ name }) => name)
  expect(compared).toEqual(
    lines.map((line) => ({
      line,
      flags: names(at(line).flags),
      global_flags: names(tree.global_flags),
      commands: at(line).commands.map(({ name, aliases }) => [name, ...aliases][0] ?? name),
      described: true
    }))
  )
  // The flags of every command come after its own commands and flags.
  const first = texts[0]?.out ?? ""
  expect(first.indexOf("GLOBAL FLAGS")).toBeGreaterThan(first.indexOf("THE SERVICE ITSELF:"))
  const [, run] = texts
  expect(run?.out).toMatch(/--wait integer .*\(default: 30\)/)
  expect(run?.out).toContain(at("rungate run").examples[0]?.command ?? "no example")
})

test("the package starts every command of the service itself from the service's file", async () => {
  const { out } = await home.shell("rungate --help")
  const [, block = ""] = out.split("THE SERVICE ITSELF:\n")
  const [commands = ""] = block.split("\n\n")
  const listed = [...commands.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = ""]) => name)
  expect(listed).toContain("serve")
  const scripts = ["rungate", "rungate.mjs"].map((name) => readFileSync(join(root, "scripts", name), "utf8"))
  const named = [/^ {2}(serve .+)\)$/m, /operators = \[(.+)\]/].map((line, n) => line.exec(scripts[n] ?? "")?.[1] ?? "")
  for (const names of named) expect([...names.matchAll(/[a-z]+/g)].map(([name]) => name)).toEqual(listed)
})

test("types, defaults, choices, aliases and what is required", async () => {
  expect(flagOf("rungate run", "wait")).toMatchObject({ type: "integer", default: 30, required: false })
  expect(flagOf("rungate run", "yes")).toMatchObject({ type: "boolean", default: false, aliases: ["-y"] })
  expect(flagOf("rungate run", "strategy")?.choices).toContain("cheapest")
  expect(flagOf("rungate api", "header")).toMatchObject({ variadic: true, required: false, default: null })
  expect(flagOf("rungate admin credit", "note")).toMatchObject({ required: true })
  expect(at("rungate call").arguments.map(({ name, required }) => [name, required])).toEqual([
    ["provider", true],
    ["endpoint", true],
    ["name=value", false]
  ])
  expect(at("rungate runs list").aliases).toEqual(["ls"])
  expect(at("rungate topup").flags).toEqual(at("rungate wallet topup").flags)
  expect(tree.exit_codes.map(({ code }) => code).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 250])
  const [part, asked] = await Promise.all(
    ["rungate runs ls -q --help", "rungate help runs list --json"].map((line) => home.shell(line))
  )
  expect([asked?.code, asked?.out]).toEqual([0, part?.out])
  expect([part?.body.command, part?.body.flags]).toEqual(["rungate runs list", at("rungate runs list").flags])
})

test("--quiet is JSON and silence, also at a terminal; --verbose tells what was asked, and no secret; a slip is one line", async () => {
  const screen = home.terminal("rungate topup 10 -q")
  expect(await screen.ended).toBe(0)
  expect(Object.keys(JSON.parse(screen.seen()))).toContain("session_id")
  const [asked, slip, lost] = await Promise.all([
    home.shell("rungate runs ls --verbose"),
    home.shell("rungate runs lst"),
    home.shell("rungate wallet -q", { RUNGATE_URL: "http://127.0.0.1:1" })
  ])
  expect(asked.err).toMatch(/^> GET http:\/\/[\d.:]+\/v1\/runs\?limit=50\n< 200 in \d+ ms, req_\w+\n$/)
  expect(asked.err).not.toContain(org.key)
  expect(asked.body.items).toEqual([])
  expect([slip.code, slip.err]).toEqual([
    5,
    'rungate: Unknown subcommand "lst" for "rungate runs"; did you mean list or ls\nSee: rungate runs --help\n'
  ])
  expect([lost.code, lost.err]).toEqual([1, expect.stringContaining("RUNGATE_URL")])
})
