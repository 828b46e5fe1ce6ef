/** A list that is nearly full takes values that it has, and no more new ones than fit. */
import { expect, test } from "bun:test"
import { Layer } from "effect"
import { OptOutsMax } from "../../../src/layers/guards/OptOuts.ts"
import { withApp } from "../../kit/app.ts"

const app = withApp({ limits: Layer.succeed(OptOutsMax, 3) })

test("rows of an import count once, and only if the list has not got them", async () => {
  const org = await app.tenant()
  const add = (...values: ReadonlyArray<string>) => org.post("/v1/opt-outs", { values })
  const imported = (...values: ReadonlyArray<string>) =>
    app.call(org.key, "POST", "/v1/opt-outs/import", {
      raw: ["value", ...values].join("\n"),
      headers: { "content-type": "text/csv" }
    })
  await add("ada@example.com", "acme.example")
  const again = await imported(
    "ada@example.com",
    "ADA@example.com",
    "acme.example",
    "bob@example.com",
    "BOB@example.com"
  )
  expect([again.status, again.body]).toEqual([200, { added: 1, already: 4, refused: 0, refusals: [] }])
  expect((await add("bob@example.com", "acme.example")).body).toMatchObject({ added: 0, already: 2 })
  for (const refused of [await imported("ada@example.com", "carl@example.com"), await add("carl@example.com")])
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining("the 3 opt-outs")])
  expect((await org.get("/v1/opt-outs")).body.items).toHaveLength(3)
})
