/** What the API says in requests and fields, the command says in commands and flags. */
import { expect, test } from "bun:test"
import { cliHints, inCommands } from "../../../src/http/cli/answers/commands.ts"
import { sentenceFor } from "../../../src/http/cli/answers/problems.ts"
import { hinted, withCommands, type Sentence } from "../../../src/schema/Hints.ts"
import * as steps from "../../../src/schema/Steps.ts"

const shown = ({ message, commands }: Sentence) => [message, inCommands(message, commands)]

test("a sentence names requests, and a person reads commands", () => {
  expect(shown(withCommands`Read its result with ${steps.getRun("run_1")} instead of paying again.`)).toEqual([
    "Read its result with GET /v1/runs/run_1 instead of paying again.",
    "Read its result with `rungate runs get run_1` instead of paying again."
  ])
  expect(
    shown(
      withCommands`${steps.viaApi("GET", "/v1/catalog/providers/x/endpoints")} lists its ${3}, or ${steps.discover}.`
    )
  ).toEqual([
    "GET /v1/catalog/providers/x/endpoints lists its 3, or POST /v1/discover.",
    "`rungate api GET /v1/catalog/providers/x/endpoints` lists its 3, or `rungate discover 'what you need'`."
  ])
})

test("a command that follows a colon and ends the sentence stands alone", () => {
  expect(
    shown(withCommands`What you already know about it costs nothing: ${steps.history("ada@example.com & co")}`)
  ).toEqual([
    "What you already know about it costs nothing: GET /v1/history?q=ada%40example.com%20%26%20co",
    "What you already know about it costs nothing: rungate history 'ada@example.com & co'"
  ])
  expect(shown(withCommands`Inspect before you run: ${steps.inspectEndpoint("x", "/it's")}`)).toEqual([
    `Inspect before you run: POST /v1/inspect {"provider":"x","endpoint":"/it's"}`,
    "Inspect before you run: rungate inspect x '/it'\\''s'"
  ])
})

test("a request that begins another one, or is named twice, is replaced once", () => {
  const list = { http: "GET /v1/runs", cli: "rungate runs list" }
  const both = withCommands`${list}, ${steps.getRun("run_1")} or ${steps.viaApi("GET", "/v1/me")}; then ${steps.viaApi("GET", "/v1/me")} again.`
  expect(inCommands(both.message, both.commands)).toBe(
    "`rungate runs list`, `rungate runs get run_1` or `rungate api GET /v1/me`; then `rungate api GET /v1/me` again."
  )
})

test("fields that are flags are named as flags, but not inside a command", () => {
  expect(inCommands("lower it with routing.max_cost")).toBe("lower it with --max-cost")
  expect(inCommands("routing.allow_fallback is false, so only one provider was tried.")).toBe(
    "--no-fallback is set, so only one provider was tried."
  )
  const run = steps.runCapability("a.b", { c: "routing.provider" })
  expect(inCommands(`Run it: ${run.http}`, [run])).toBe(`Run it: rungate run a.b -i '{"c":"routing.provider"}'`)
})

test("a hint that has the command already is left out", () => {
  const run = steps.runCapability("a.b", { c: 1 })
  expect(cliHints(hinted([withCommands`Run it: ${run}`, `Or: ${run.cli}`, "Something else."]))).toEqual([
    `Run it: rungate run a.b -i '{"c":1}'`,
    "Something else."
  ])
})

test("an error of a run, which has no details, names commands too", () => {
  expect(sentenceFor({ code: "insufficient_balance", message: `top up with ${steps.topUp.http}` })).toBe(
    "top up with `rungate wallet topup 25.00`"
  )
})

test("an unknown name without a command gets one, and only then", () => {
  const find = "Search the catalog with `rungate discover 'what you need'`."
  expect(sentenceFor({ code: "endpoint_not_found", message: "x is gone" })).toBe(`x is gone. ${find}`)
  const { message, commands } = withCommands`There is no "x". Search the catalog with ${steps.discover}.`
  expect(sentenceFor({ code: "capability_not_found", message }, commands)).toBe(`There is no "x". ${find}`)
  expect(sentenceFor({ code: "no_match", message: "Nothing." })).toBe("Nothing.")
})
