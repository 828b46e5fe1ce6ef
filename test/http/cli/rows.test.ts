/** Commands as rows: flags, help and requests follow from an operation of the contract. */
import { expect, test } from "bun:test"
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import { Effect, Layer, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { operation as operationWith } from "../../../src/http/api/shapes/Common.ts"
import { type Ask, Client, type Method } from "../../../src/http/cli/answers/Client.ts"
import { requestOf } from "../../../src/http/cli/answers/operation.ts"
import { rowWith } from "../../../src/http/cli/answers/row.ts"
import { Credentials } from "../../../src/http/cli/state/Credentials.ts"
import { Screen } from "../../../src/http/cli/terminal/Screen.ts"
import { commandTree } from "../../../src/http/cli/terminal/tree.ts"
import { Usd } from "../../../src/schema/money/Money.ts"

const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const operation = operationWith(
  { role: "viewer", keys: "people", command: "things paint" },
  "Paint a thing",
  "It dries."
).post("paint", "/things/:thing_id/paint", {
  params: { thing_id: Schema.String },
  query: { dry: Schema.optionalKey(Schema.String) },
  payload: Schema.Struct({
    title: Schema.String.annotate({ description: "The name on it." }),
    layers: optional(Schema.Int),
    most: optional(Usd),
    gloss: optional(Schema.Literals(["matt", "bright"]).annotate({ description: "API default: matt" })),
    fast: optional(Schema.Boolean),
    colors: optional(Schema.Array(Schema.String)),
    hidden: optional(Schema.String)
  }),
  success: Schema.Struct({ id: Schema.String })
})

const shown: Array<unknown> = []
const paint = rowWith(
  operation,
  { twice: Flag.Boolean("twice").pipe(Flag.withDefault(false)) },
  ({ twice }) => Effect.succeed(twice ? { hidden: null, "metadata.by": "me" } : {}),
  {
    fields: { thing_id: "id from things list", hidden: false },
    confirm: "Paint {thing_id}?",
    show: (_, { fields }, flags) => Effect.sync(() => void shown.push(fields, flags))
  }
)

const Platform = NodeChildProcessSpawner.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeStdio.layer, NodeTerminal.layer))
)
const sent: Array<readonly [Method, string, Ask | undefined]> = []
const Fakes = Layer.mergeAll(
  Layer.mock(Client, {
    url: "http://127.0.0.1",
    send: (method: Method, path: string, ask?: Ask) => {
      sent.push([method, path, ask])
      return Effect.succeed({ status: 200, headers: {}, text: "{}", request: { method, path } })
    }
  }),
  Layer.mock(Credentials, {
    ...{ url: "http://127.0.0.1", profile: "default", key: null, source: null, missing: "" },
    session: Effect.succeed(Redacted.make("rg_sess_x"))
  }),
  Layer.mock(Screen, {
    ...{ person: false, askable: false, animated: false, quiet: false, width: 80 },
    paint: (_, text) => text,
    closed: () => false
  })
)
const run = (...words: ReadonlyArray<string>) =>
  Command.runWith(paint, { version: "1" })(words).pipe(
    Effect.provide(Layer.merge(Fakes, Platform)),
    Effect.exit,
    Effect.runPromise
  )

test("a field's type, words and place make its flag or argument", async () => {
  const tree = await commandTree(paint, []).pipe(Effect.provide(Platform), Effect.runPromise)
  expect(tree.description).toBe("Paint a thing. Needs a session (rungate login). It dries")
  expect(paint.shortDescription).toBe("Paint a thing")
  expect(tree.arguments).toMatchObject([{ name: "thing_id", required: true, description: "id from things list" }])
  expect(
    tree.flags.map(({ name, type, required, variadic, choices }) => [name, type, required, variadic, choices])
  ).toEqual([
    ["dry", "string", false, false, null],
    ["title", "string", true, false, null],
    ["layers", "integer", false, false, null],
    ["most", "string", false, false, null],
    ["gloss", "choice", false, false, ["matt", "bright"]],
    ["fast", "boolean", false, false, null],
    ["colors", "string", false, true, null],
    ["twice", "boolean", false, false, null],
    ["yes", "boolean", false, false, null],
    ["json", "boolean", false, false, null]
  ])
  expect(tree.flags.slice(1, 5).map(({ description }) => description)).toEqual([
    "the name on it",
    "",
    "",
    "API default: matt"
  ])
})

test("what is typed is sent in its place, and what is left out is not sent", async () => {
  const exit = await run("a/b", "--title", "T", "--yes")
  expect(exit._tag).toBe("Success")
  const [method, path, ask] = sent.pop() ?? expect.unreachable("nothing was sent")
  expect([method, path, ask?.body]).toEqual(["POST", "/v1/things/a%2Fb/paint", { title: "T" }])
  expect(Redacted.value(ask?.token ?? Redacted.make("none"))).toBe("rg_sess_x")

  await run(
    ...["x", "--title", "T", "--dry", "a b", "--layers", "0", "--most", "$0.5", "--gloss", "matt", "--fast"],
    ...["--colors", "red", "--colors", "blue", "--twice", "-y"]
  )
  const [, all, { body } = {}] = sent.pop() ?? expect.unreachable("nothing was sent")
  expect(all).toBe("/v1/things/x/paint?dry=a+b&metadata.by=me")
  expect(body).toEqual({
    ...{ title: "T", layers: 0, most: "0.50", gloss: "matt", fast: true, colors: ["red", "blue"] },
    hidden: null
  })
  expect(shown.slice(-2)).toMatchObject([{ thing_id: "x", layers: 0 }, { twice: true }])
})

test("what needs a confirmation asks before it is sent, with the fields in the question", async () => {
  const exit = await run("x", "--title", "T")
  expect(JSON.stringify(exit)).toContain("Paint x?")
  expect(sent).toEqual([])
})

test("an id of dots stays an id in the address", () => {
  for (const thing_id of [".", ".."]) {
    const { path } = requestOf(operation, { params: { thing_id } })
    expect(new URL(path, "http://service.example").pathname).toBe(`/v1/things/(${thing_id})/paint`)
  }
})

test("a query that is null or absent is not in the path", () => {
  const { path } = requestOf(operation, { params: { thing_id: "x" }, query: { dry: null, other: undefined, n: 0 } })
  expect(path).toBe("/v1/things/x/paint?n=0")
})
