/** What a field of a refused form says, without a browser. */
import { expect, test } from "bun:test"
import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import { ApiError } from "../../src/http/client/Browser.ts"
import { Field, FormError } from "../../src/http/console/parts/Field.tsx"

const details = [
  { path: "", message: "POST /v1/auth/verify-email/resend" },
  { path: "name", message: "is empty" }
]
const refused = new ApiError(
  403,
  "forbidden",
  "Verify your e-mail address.",
  { error: { code: "forbidden", message: "", details } },
  null
)
const shown = (name?: string) =>
  renderToStaticMarkup(createElement(FormError, { value: refused }, createElement(Field, { label: "Name", name })))

test("a field says what the service has about it, and not what is about the whole request", () => {
  expect(shown("name")).toContain("is empty")
  expect(shown()).not.toContain("verify-email")
  expect(shown()).toContain('aria-invalid="false"')
})
