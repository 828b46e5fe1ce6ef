/** README and docs: every link and anchor exists, and lists of codes, settings, endpoints and commands are complete. */
import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { endpointsText } from "../scripts/endpoints.ts"
import { exits } from "../src/http/cli/terminal/exits.ts"
import { statusOf } from "../src/schema/Errors.ts"
import { pages, pageText, root } from "./http/cli/pages.ts"

/** Examples in code blocks are no links. */
const prose = (text: string) =>
  text.replace(/^```[^]*?^```/gm, "").replace(/`[^`\n]*`/g, (code) => "x".repeat(code.length))

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-")
const anchorsOf = (page: string) =>
  Array.from(
    pageText(page)
      .replace(/^```[^]*?^```/gm, "")
      .matchAll(/^#+ (.+)$/gm),
    ([, heading = ""]) => anchorOf(heading)
  )

const missing = (page: string): ReadonlyArray<string> =>
  Array.from(prose(pageText(page)).matchAll(/\]\(([^)\s]+)\)/g), ([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path = "", anchor] = link.split("#")
      const target = path === "" ? page : normalize(join(dirname(page), path))
      if (!existsSync(join(root, target))) return true
      return anchor !== undefined && !anchorsOf(target).includes(anchor)
    })

test.each(pages.map((page) => [page]))("every relative link and anchor of %s exists", (page) => {
  expect(missing(page)).toEqual([])
})

test("each page of docs is linked from README, or from a page that README links", () => {
  const linked = (page: string) =>
    Array.from(prose(pageText(page)).matchAll(/\]\(([^)#\s]+)/g), ([, link = ""]) =>
      normalize(join(dirname(page), link))
    )
  const first = linked("README.md")
  const reached = new Set([...first, ...first.filter((page) => pages.includes(page)).flatMap(linked)])
  expect(pages.filter((page) => page.startsWith("docs/") && !reached.has(page))).toEqual([])
})

/** Rows that follow a paragraph are shown as its text. */
test.each(pages.map((page) => [page]))("every table of %s has a head", (page) => {
  const blocks = pageText(page)
    .replace(/^```[^]*?^```/gm, "")
    .split(/^(?!\|).*$/m)
    .map((block) => block.trim().split("\n"))
    .filter(([first = ""]) => first.startsWith("|"))
  expect(blocks.filter(([, line = ""]) => !/^\|[\s:|-]+\|$/.test(line)).map(([first]) => first)).toEqual([])
})

test("README has at most 700 words", () => {
  expect(pageText("README.md").split(/\s+/).length).toBeLessThanOrEqual(700)
})

test("concepts.md explains each control in at most 120 words", () => {
  const entries = pageText("docs/concepts.md").split(/^(?=- \*\*|\n|#)/m)
  const names = [
    ...[
      "Label budget",
      "Statement",
      "Approval",
      "Provider credits",
      "Acceptance",
      "Opt-out",
      "Time zone",
      "Signing in"
    ],
    ...["Configuration as code", "Found by agents"]
  ]
  const words = (name: string) => {
    const [, ...all] =
      entries
        .find((one) => one.startsWith(`- **${name}**`))
        ?.trim()
        .split(/\s+/) ?? []
    return all.length
  }
  expect(names.filter((name) => words(name) < 1 || words(name) > 120)).toEqual([])
})

test("a decision has at most eight lines of 180 characters", () => {
  const long = pages
    .filter((page) => page.startsWith("docs/decisions/"))
    .flatMap((page) =>
      pageText(page)
        .split(/^## /m)
        .slice(1)
        .map((section) => ({ page, lines: section.split("\n").filter((line) => line !== "") }))
    )
    .filter(({ lines }) => lines.length > 9 || lines.some((line) => line.length > 180))
  expect(long.map(({ page, lines }) => `${page}: ${lines[0]}`)).toEqual([])
})

const rows = (page: string, pattern: RegExp) =>
  Array.from(pageText(page).matchAll(pattern), (found) => found.slice(1).join(" "))

describe("lists are complete", () => {
  test("architecture.md has each folder of src", () => {
    const folders = ["actors", "http", "layers"].flatMap((layer) =>
      readdirSync(join(root, "src", layer), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `src/${layer}/${name}`)
    )
    const listed = rows("docs/architecture.md", /^\| `(src\/[a-z]+\/[a-z]+)` /gm)
    expect(listed.toSorted()).toEqual(folders.toSorted())
  })

  test("errors.md has each public code once, with its status", () => {
    const expected = Object.entries(statusOf).map(([code, status]) => `${code} ${status}`)
    expect(rows("docs/errors.md", /^\| `([a-z_]+)` +\| (\d{3}) /gm).toSorted()).toEqual(expected.toSorted())
  })

  test("cli.md has each exit code once", () => {
    const expected = Object.values(exits).map(String)
    expect(rows("docs/cli.md", /^\| (\d+) +\| /gm).toSorted()).toEqual(expected.toSorted())
  })

  test("api.md has each endpoint of the contract, with who may call it and its command (bun scripts/endpoints.ts)", () => {
    expect(pageText("docs/api.md")).toContain(`\n${endpointsText()}\n`)
  })
})
