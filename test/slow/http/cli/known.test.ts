/** `history` of one, of many and of a file; `api`, whose answers are the API's own; completions. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { unparse } from "papaparse"
import { readCsv } from "../../../../src/http/client/Csv.ts"
import { type Tenant, until, withApp } from "../../../kit/app.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

let org: Tenant
let home: Home
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("25.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
  await org.run({ capability: "email.verify", input: { email: "ada@example.com" } })
})
afterAll(async () => {
  home.remove()
})
const file = (name: string, text: string) => writeFileSync(join(home.folder, name), text)

test("whatever a spreadsheet holds is read as it was written, without spaces around it", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", ";", "\n", "\r", " ", "é") })
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), (rows) => {
      const trimmed = rows.map((row) => row.map((one) => one.trim())).filter((row) => row.join("") !== "")
      expect(readCsv(unparse([["h", "i"], ...rows], { newline: "\n" }))).toEqual({
        rows: [["h", "i"], ...trimmed],
        brokenLine: null
      })
    })
  )
})

test.each([
  ["semicolons and a byte order mark", '\ufeffname;email\r\n"A; B";a@b.co\r\n\r\nC;d@e.co', ["A; B", "C"]],
  ["tabs", "name\temail\nA, B\ta@b.co\n", ["A, B"]],
  ["carriage returns only", "name,email\rA,a@b.co\r", ["A"]],
  ["line endings of joined files", "name,email\r\nA,a@b.co\nC,d@e.co\r\n\r\nE,f@g.co", ["A", "C", "E"]]
])("a file with %s is read", (_, text, names) => {
  const { rows } = readCsv(text)
  expect(rows[0]).toEqual(["name", "email"])
  expect(rows.slice(1).map(([name]) => name)).toEqual(names)
})

describe("history", () => {
  test("of one subject is the API's own answer, and a page for people", async () => {
    const one = await home.shell("rungate history ada@example.com")
    expect(one.out).toBe(`${(await org.get("/v1/history?q=ada%40example.com&limit=50")).text}\n`)
    const screen = home.terminal("rungate history ada@example.com")
    expect(await screen.ended).toBe(0)
    expect(Bun.stripANSI(screen.seen())).toMatch(/subject +ada@example\.com \(email\)\s+runs +1\s/)
  })

  test("of an e-mail that a run returned says what was bought, when and for how much", async () => {
    const ran = await org.run({
      capability: "email.find",
      input: { full_name: "Grace Hopper", company_domain: "golden.example" }
    })
    const { run_id, result, billing, created_at } = ran.body
    const screen = home.terminal(`rungate history ${result.email}`)
    expect(await screen.ended).toBe(0)
    const page = Bun.stripANSI(screen.seen()).replaceAll(/\s+/g, " ")
    expect(page).toContain("reusable a result that names it, see below")
    expect(page).toContain(
      `Already bought: email.find returned this subject on ${created_at.slice(0, 10)} for $${billing.charged}. Read its result with \`rungate runs get ${run_id}\` instead of paying again.`
    )
    expect((await org.get(`/v1/history?q=${result.email}`)).body.reusable).toEqual([])
  })

  test("of arguments, lines and a CSV column is a row each, once, in their order", async () => {
    file("leads.csv", 'Name,E-Mail\n"Lovelace, Ada",ada@example.com\n,\nBob,bob@example.com\nAda,ada@example.com\n')
    const subjects = ["ada@example.com", "bob@example.com"]
    const rows = {
      items: subjects.map((query) => expect.objectContaining({ query })),
      seen: 1,
      unseen: 1,
      contacted: 0
    }
    const [many, csv, lines, screen, column] = await Promise.all([
      home.shell(`rungate history ${subjects.join(" ")}`),
      home.shell("rungate history --csv leads.csv --column e-mail"),
      home.shell("rungate history -f - --jsonl", {}, `${subjects.join("\r\n")}\n`),
      home.terminal("rungate history --csv leads.csv --column e-mail").ended,
      home.shell("rungate history --csv leads.csv --column mail")
    ])
    expect(many.body).toEqual(rows)
    expect(csv.body).toEqual(rows)
    expect(
      lines.out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    ).toEqual(rows.items)
    expect(screen).toBe(0)
    expect([column.code, column.err]).toEqual([5, expect.stringContaining("Name, E-Mail")])
  })

  test("of a CSV file with a broken quote is refused, because its rows run together", async () => {
    file("open.csv", 'name,email\nAda,ada@example.com\n"Bob,bob@example.com\nEve,eve@example.com\n')
    file("stray.csv", 'name,email\n"Bob" Smith,bob@example.com\n')
    const [open, stray] = await Promise.all([
      home.shell("rungate history --csv open.csv --column email"),
      home.shell("rungate history --csv stray.csv --column email")
    ])
    expect([open.code, open.out, open.err]).toEqual([5, "", expect.stringContaining("quote in line 3.")])
    expect([stray.code, stray.out, stray.err]).toEqual([5, "", expect.stringContaining("quote in line 2.")])
  })

  test("has no limit of runs, because each subject is one row", async () => {
    const { code, out, err } = await home.shell("rungate history ada@example.com bob@example.com --limit 5")
    expect([code, out, err]).toEqual([5, "", expect.stringContaining("--limit needs a single subject")])
  })

  test("of more than a batch is one answer that counts all", async () => {
    const many = Array.from({ length: 401 }, (_, index) => `p${index}@example.org`)
    const { body } = await home.shell("rungate history -f -", {}, ["ada@example.com", ...many].join("\n"))
    expect([body.items.length, body.seen, body.unseen]).toEqual([402, 1, 401])
    expect(body.items.map(({ query }: { query: string }) => query)).toEqual(["ada@example.com", ...many])
  })
})

describe("api", () => {
  test("sends what is asked and prints what comes", async () => {
    const [read, short, sent, all] = await Promise.all([
      home.shell("rungate api GET /v1/wallet"),
      home.shell("rungate api get wallet --include"),
      home.shell("rungate api POST discover -", {}, '{"query": "email", "limit": 1}'),
      home.shell("rungate api GET '/v1/wallet/transactions?limit=1' --paginate")
    ])
    expect(read.out).toBe(`${(await org.get("/v1/wallet")).text}\n`)
    expect(short.out).toMatch(/^HTTP 200\n[^]*\nx-request-id: req_\w+\n[^]*\n\{"currency"/)
    expect(sent.body.items).toHaveLength(1)
    expect(all.body).toEqual({ items: await org.ledger(), next_cursor: null })
  })

  test("an Idempotency-Key joins, as over HTTP", async () => {
    const line = `rungate api POST run -H 'Idempotency-Key: k1' -i '{"capability":"email.verify","input":{"email":"b@example.com"}}'`
    const [first, second] = [await home.shell(line), await home.shell(line)]
    expect([second.code, second.body.run_id]).toEqual([0, first.body.run_id])
  })

  test.concurrent.each([
    ["GET /v1/nothing", 250, "This path does not exist"],
    ["GET https://evil.example/v1/wallet", 5, "Give only the path"],
    ["GET //evil.example/", 250, "This path does not exist"],
    ["FETCH /v1/wallet", 5, "FETCH"],
    ["GET /v1/wallet -H 'Authorization: Bearer x'", 5, "Don't pass the Authorization header"],
    ["POST /v1/run -i nonsense", 5, "not JSON"],
    ["GET /v1/auth/session --session", 4, "rungate login"]
  ])("%s", async (line, code, words) => {
    const said = await home.shell(`rungate api ${line}`)
    expect([said.code, said.err]).toEqual([code, expect.stringContaining(words)])
  })
})

/** What a bash offers when Tab is pressed at the end of the line. */
const offeredBy = (line: string) => `COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; COMP_WORDS=($COMP_LINE)
    [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMPREPLY=()
    _rungate rungate "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"; echo "\${COMPREPLY[@]}"`

test("completions complete commands and names, in a real bash; the first Tab fetches the names behind its back, the next has them offline", async () => {
  const script = await home.shell(
    "rungate completions bash > done && rungate completions zsh && rungate completions fish"
  )
  expect([script.code, script.out]).toEqual([0, expect.stringContaining("#compdef rungate")])
  expect(script.out).not.toContain("RUNGATE-NAMES")
  const cache = join(home.folder, ".cache", "rungate")
  const names = "rungate run email.f"
  const between = Bun.serve({
    port: 0,
    fetch: (request) => fetch(request.url.replace(new URL(request.url).origin, app.url), { decompress: false })
  })
  const ask = (lines: ReadonlyArray<string>) => {
    file("ask.sh", [". ./done", ...lines.map(offeredBy)].join("\n"))
    return home.shell("bash ask.sh", { RUNGATE_URL: between.url.href })
  }
  expect(await ask(["rungate wallet t", names])).toMatchObject({ code: 0, out: "transactions topup\n\n", err: "" })
  const kept = () => readdirSync(cache).flatMap((name) => (name.endsWith(".json") ? [join(cache, name)] : []))
  await until(
    "the names that the first Tab asked for",
    () => (existsSync(cache) ? kept().map((path) => readFileSync(path, "utf8")) : []).join(""),
    (found) => found.includes("email.find")
  )
  expect(kept().map((path) => statSync(path).mode & 0o777)).toEqual([0o600])
  await between.stop(true)
  const lines = [
    names,
    "rungate inspect email.v",
    "rungate inspect sec_",
    "rungate call sec_edgar /subm",
    "rungate runs list --provider sec_e",
    "rungate call nobody "
  ]
  const offered = await ask(lines)
  expect([offered.code, offered.err]).toEqual([0, ""])
  expect(offered.out.split("\n")).toEqual([
    "email.find",
    "email.verify",
    "sec_edgar",
    "/submissions/CIK\\{cik\\}.json",
    "sec_edgar",
    "",
    ""
  ])
  const blind = await home.shell("bash ask.sh", { RUNGATE_URL: "http://127.0.0.1:1" })
  expect([blind.code, blind.err, blind.out.trim()]).toEqual([0, "", ""])
})
