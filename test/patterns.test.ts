/**
 * No regular expression takes a time that grows with the square of a text, or worse: one such text would keep the process from everything
 * else. Those that may are listed, each with what bounds its text.
 */
import { expect, test } from "bun:test"
import { RegExpParser } from "@eslint-community/regexpp"
import { parseSync, Visitor } from "oxc-parser"
import { analyse } from "scslre"
import { findScenario } from "../src/schema/runs/Scenario.ts"

/** The end of a URL of a few hundred characters, and an e-mail address of 254. */
const everywhere = ["/\\/+$/", "/^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$/"]
/** By file: the beginnings of the expressions. */
const bounded: Readonly<Record<string, string>> = {
  "src/http/System.ts": "/^bearer", // A header has no line end, so the end always fits.
  "src/http/cli/answers/pages.ts": "/[?&]cursor", // A header of the service.
  "src/http/cli/setup/api.ts": "/^([\\w-]+):", // A flag of the person at the terminal.
  "src/http/cli/terminal/presenter.ts": "/\\s*\\n", // The command's own messages.
  "src/http/console/forms/providerText.ts": "/", // A description of 2,000 characters, in a browser.
  "src/http/pages/Docs.ts": "/\\[", // Our own documents.
  "src/http/upkeep/providers/recording.ts": "/[\\w.+-]+@", // The operator records answers for tests.
  "src/layers/catalog/CatalogImports.ts": '/^\\s*"?(openapi', // The operator's import.
  "src/layers/catalog/import/marketplace/allowed.ts": "/\\/.*$/", // The operator's setting.
  "src/layers/platform/settings/readSettings.ts": "/^\\s*([\\w-]+)", // The operator's setting.
  "src/layers/platform/settings/ServerUrls.ts": "/^", // The operator's setting.
  "src/layers/providers/kit/outcome.ts": "/\\.?0+$/", // A number's digits.
  "src/layers/providers/predictleads.ts": "/\\{.*\\}/", // Our own paths.
  "src/layers/search/Tokens.ts": "/([A-Z]+)", // A query of 1,000 characters, and the catalog.
  "src/schema/guards/OptOut.ts": "/[^/]+$/", // The longest subject.
  "src/schema/money/Decimal.ts": "/0+$/", // An amount's digits.
  "src/layers/platform/settings/settingsTable.ts": "/\\[", // Our own words.
  "src/schema/wallet/Referral.ts": "/0+$/", // An amount's digits.
  "src/schema/subjects/Handle.ts": "/^[\\p{L}", // 100 characters.
  "src/schema/subjects/Phone.ts": "/^(?:" // As long as a phone number.
}

const isSlow = (text: string): boolean => analyse(new RegExpParser().parseLiteral(text)).reports.length > 0

test("no expression is slow that a stranger's text reaches", async () => {
  const all: Array<readonly [string, string]> = []
  for await (const file of new Bun.Glob("src/**/*.{ts,tsx}").scan(".")) {
    const { program } = parseSync(file, await Bun.file(file).text())
    new Visitor({
      Literal: (node) => {
        if ("regex" in node) all.push([`/${node.regex.pattern}/${node.regex.flags}`, file])
      }
    }).visit(program)
  }
  expect(all.length).toBeGreaterThan(500)
  const slow = all.filter(([text]) => !everywhere.includes(text) && isSlow(text))
  expect(slow.filter(([text, file]) => !text.startsWith(bounded[file] ?? "\n"))).toEqual([])
  expect(new Set(slow.map(([, file]) => file))).toEqual(new Set(Object.keys(bounded)))
})

test("slow ones are noticed (control)", () => {
  expect(isSlow("/^[a-z]([_-]?[A-Za-z0-9]+)*$/")).toBe(true)
  expect(isSlow("/(\\d+)K/")).toBe(true)
  expect(isSlow("/(\\d{1,9})K/")).toBe(false)
})

test("a scenario's name has a limit", () => {
  expect(findScenario("no_match@sandbox.test")).toMatchObject({ word: "no_match" })
  expect(findScenario(`${"x".repeat(41)}@sandbox.test`)).toBeNull()
})
