/**
 * What inspect says of a raw endpoint is what run does: every endpoint of the shipped catalog is inspected, its example is run at the
 * stated price, and a request that its schemas refuse is refused at the same place. Without TEST_INPUTS=all it is a third of the
 * endpoints of each provider and method.
 */
import { beforeAll, expect, test } from "bun:test"
import addFormats from "ajv-formats"
import { Ajv2020 } from "ajv/dist/2020.js"
import { dollars, usd } from "../../../src/schema/money/Money.ts"
import { rawHold } from "../../../src/schema/money/Pricing.ts"
import { sampled } from "../../kit/input-samples.ts"
import { figures, type Tenant, withApp } from "../../kit/app.ts"

let org: Tenant
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("1000000.00")
})

const ajv = new Ajv2020({ strict: false, logger: false, code: { optimize: false } })
addFormats(ajv)
/** Many endpoints have the same few parameters, so each text of a schema is compiled once. */
const validators = new Map<string, ReturnType<typeof ajv.compile>>()
const accepts = (schema: object, value: unknown) => {
  const text = JSON.stringify(schema)
  const validate = validators.get(text) ?? ajv.compile(schema)
  validators.set(text, validate)
  return validate(value)
}
/** Enough to keep the service busy, few enough to see which one failed. */
const atOnce = 8

interface Listed {
  readonly provider: string
  readonly endpoint: string
  readonly method: string
}

const every = async (): Promise<ReadonlyArray<Listed>> => {
  const { body: providers } = await org.get("/v1/catalog/providers?limit=200")
  const all: Array<Listed> = []
  for (const { provider } of providers.items) {
    let cursor: string | null = null
    do {
      const page: { body: any } = await org.get(
        `/v1/catalog/providers/${provider}/endpoints?limit=200${cursor === null ? "" : `&cursor=${cursor}`}`
      )
      all.push(...page.body.items)
      cursor = page.body.next_cursor
    } while (cursor !== null)
  }
  return all
}

let refused = 0
const priced: Record<string, number> = {}

const check = async ({ provider, endpoint, method }: Listed) => {
  const name = `${provider} ${method} ${endpoint}`
  const { status, body } = await org.post("/v1/inspect", { provider, endpoint, method })
  expect([name, status]).toEqual([name, 200])
  expect([name, body.method, body.endpoint]).toEqual([name, method, endpoint])
  const { pathParams, queryParams, body: schema } = body.input
  const { path = {}, query = {}, input } = body.example
  const asked = method === "GET" ? input : query
  expect([name, accepts(pathParams, path), accepts(queryParams, asked)]).toEqual([name, true, true])
  if (schema !== null) expect([name, accepts(schema, input)]).toEqual([name, true])
  if (schema !== null)
    expect([name, typeof schema.properties, Array.isArray(schema.required)]).toEqual([name, "object", true])
  const ran = await org.run(body.example)
  expect([name, ran.status, ran.body.status]).toEqual([name, 200, "succeeded"])
  const charged = ran.body.billing.charged
  priced[body.cost.model] = (priced[body.cost.model] ?? 0) + 1
  // Where the price follows the input, the example's own estimate counts, of which its cap is one and a half.
  if (body.cost.drivers !== undefined && body.cost.estimate !== null) {
    const hold = rawHold({ estimate: dollars(charged) }, null)
    expect([name, usd(hold)]).toEqual([name, body.example.routing.max_cost])
  } else if (body.cost.estimate !== null) expect([name, charged]).toEqual([name, body.cost.estimate])
  expect(Number(charged)).toBeLessThanOrEqual(Number(body.example.routing.max_cost))
  const needs: ReadonlyArray<string> = (method === "GET" ? queryParams : schema)?.required ?? []
  const [needed] = needs
  if (needed === undefined) return
  const { [needed]: _left, ...rest } = input
  const less = await org.run({ ...body.example, input: rest })
  const where = less.body.error?.details?.map((one: { path: string }) => one.path) ?? []
  expect([name, less.status, where.includes(`input.${needed}`)]).toEqual([name, 400, true])
  refused += 1
}

test("every endpoint of the shipped catalog runs as inspect says", async () => {
  const all = await every()
  expect(all.length).toBeGreaterThan(800)
  const groups = [...Map.groupBy(all, (one) => `${one.provider} ${one.method}`).values()]
  const waiting = groups.flatMap((group) => sampled(group, Math.ceil(group.length / 3)))
  const { length: endpoints } = waiting
  const worker = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await check(one)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  const { violations } = await app.books()
  figures("raw endpoints run as inspected", { endpoints, refused, ...priced, violations: violations.length })
})
