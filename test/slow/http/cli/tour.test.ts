/**
 * docs/quickstart.md, followed by a new user: a service that starts on an empty database, a terminal, and every command block in its
 * order. The terminal must show the lines that the page shows below a block.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { until } from "../../../kit/app.ts"
import { runMain } from "../../../chaos/processes.ts"
import { freshDatabase } from "../../../kit/postgres.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

const page = readFileSync(join(import.meta.dir, "..", "..", "..", "..", "docs", "quickstart.md"), "utf8")

interface Block {
  readonly title: string
  readonly commands: string
  readonly shown: ReadonlyArray<string>
}
const blocks: ReadonlyArray<Block> = Array.from(
  page.matchAll(/```sh\n([^]*?)```\n(?:\n```text\n([^]*?)```)?/g),
  ([, commands = "", shown = ""]) => ({ title: commands.split("\n")[0] ?? "", commands, shown: shown.split("\n") })
)

let service: ReturnType<typeof runMain>
let home: Home
let key: string
beforeAll(async () => {
  service = runMain(["serve"], { PORT: "0", DATABASE_URL: await freshDatabase(), REDIS_URL: "" })
  const said = await until("the service's first words", service.output, (text) => text.includes("/v1/discover"), 30)
  key = /rg_test_\w+/.exec(said)?.[0] ?? expect.unreachable("it prints no key")
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? expect.unreachable("it prints no address")
  home = newHome({ RUNGATE_URL: url })
})
afterAll(async () => {
  service.child.kill("SIGTERM")
  await service.ended
  home.remove()
})

/** What somebody types, at which question. */
const answers = () =>
  [
    [/API key: $/, key],
    [/\[y\/N\] $/, "y"],
    [/E-mail: $/, "ada@example.com"],
    [/Organization: $/, "Ada & Co"],
    [/Password: $/, "correct horse battery"],
    [/Repeat the password: $/, "correct horse battery"]
  ] as const

/** What differs from one day to the next. */
const plain = (text: string) =>
  Bun.stripANSI(text)
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, "http://127.0.0.1:8787")
    .replace(/\b(run|key|txn|cs|ref)_\w+…?/g, "$1_…")
    .replace(/rg_test_\w+…\w+/g, "rg_test_…")
    .replace(/\b[0-9a-f]{64}\b/g, "(hash)")
    .replace(/\d{4}-\d\d-\d\d[ T][\d:.]+Z?/g, "(time)")
    .replace(/\b\d+(\.\d+)? (ms|s|min)\b/g, "(duration)")
    .replace(/\b[A-Z0-9]{8}$/gm, "(code)")
    .replace(/join\/[A-Z0-9]{8}/g, "join/(code)")
    .replace(/[ \t]+/g, " ")

const walk = async (commands: string): Promise<{ readonly seen: string; readonly code: number }> => {
  writeFileSync(join(home.folder, "block.sh"), commands)
  const screen = home.terminal("sh -e block.sh")
  let done = false
  let answered = 0
  const ended = screen.ended.finally(() => {
    done = true
  })
  while (!done) {
    const fresh = screen.seen().slice(answered)
    const found = answers().find(([question]) => question.test(Bun.stripANSI(fresh)))
    if (found !== undefined) {
      answered = screen.seen().length
      screen.type(`${found[1]}\r`)
    }
    await Bun.sleep(10)
  }
  return { seen: screen.seen(), code: await ended }
}

test("the page has commands, and says what they print", () => {
  expect(blocks.length).toBeGreaterThan(8)
  expect(blocks.filter(({ shown }) => shown.length > 1).length).toBeGreaterThan(6)
})

test.each(blocks)(
  "$title",
  async ({ commands, shown }) => {
    const { seen, code } = await walk(commands)
    expect([code, code === 0 ? "" : seen]).toEqual([0, ""])
    const lines = plain(seen)
      .split(/\r?\n/)
      // A status line is overwritten by what follows it.
      .map((line) => (line.split("\r").at(-1) ?? "").trim())
    const missing = shown.filter(
      (line) => line.trim() !== "" && line.trim() !== "…" && !lines.includes(plain(line).trim())
    )
    expect(missing).toEqual([])
    expect(seen).not.toContain(key)
  },
  30_000
)

test("what it left in files is what programs read", () => {
  const read = (name: string) =>
    existsSync(join(home.folder, name)) ? readFileSync(join(home.folder, name), "utf8") : ""
  expect(JSON.parse(read("result.json")).status).toBe("succeeded")
  expect(read("ledger.csv")).toMatch(/^id,type,amount,[^]*,bonus,25\.00,25\.00,/)
})
