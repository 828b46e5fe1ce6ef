/** `rungate apply` and `rungate export`: the file, its diff, its secrets and its mistakes with their lines. */
import { beforeAll, describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { withApp } from "../../../kit/app.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"
import { NotConfiguration, parsedYaml } from "../../../../src/http/client/YamlText.ts"

const app = withApp()
let home: Home
beforeAll(async () => {
  home = newHome({ RUNGATE_URL: app.url })
  const login = "rungate login --sign-up --email code@example.com --organization Code --password-stdin"
  expect((await home.shell(login, {}, "correct horse battery\n")).code).toBe(0)
  return () => home.remove()
})
const write = (text: string) => {
  writeFileSync(join(home.folder, "rungate.yaml"), text)
  return join(home.folder, "rungate.yaml")
}

const file = `
keys:
  - name: agent
    budget: { limit: "5.00", period: day }
spend_guard:
  daily_limit: "20.00"
`

describe("a file", () => {
  test("is shown, applied once with its secrets, exported, and changes nothing again", async () => {
    const path = write(file)
    const dry = await home.shell(`rungate apply -f ${path} --dry-run`)
    expect([dry.code, dry.body.changes.length]).toEqual([0, 2])
    const unsure = await home.shell(`rungate apply -f ${path}`)
    expect([unsure.code, unsure.err]).toEqual([5, expect.stringContaining("--yes")])
    const applied = await home.shell(`rungate apply -f - --yes --json`, {}, file)
    expect([applied.code, applied.body.created]).toEqual([
      0,
      [
        {
          section: "keys",
          name: "agent",
          id: expect.stringMatching(/^key_/),
          secret: expect.stringMatching(/^rg_test_/)
        }
      ]
    ])
    const again = await home.shell(`rungate apply -f ${path} --yes`)
    expect([again.code, again.body.changes, again.body.created]).toEqual([0, [], []])
    const saved = join(home.folder, "saved.yaml")
    expect((await home.shell(`rungate export -o ${saved}`)).code).toBe(0)
    expect(readFileSync(saved, "utf8")).toContain('daily_limit: "20.00"')
    expect((await home.shell(`rungate apply -f ${saved} --yes --prune`)).body.changes).toEqual([])
    expect((await home.shell("rungate export")).out).toBe(readFileSync(saved, "utf8"))
  })

  test("with a mistake names the line and the path", async () => {
    const cases = [
      [file.replace("budget", "budgt"), "rungate.yaml:4: keys[0].budgt: Unknown field `budgt`"],
      [file.replace('"20.00"', "20.00"), "rungate.yaml:6: spend_guard.daily_limit: must be"],
      [`a: &x 1\nb: *x\n`, "has an alias at line 2"],
      ["keys: []\nkeys: []\n", "has keys for the second time at line 2"],
      ["keys: [", "is not valid YAML at line 1"],
      ["__proto__: {keys: []}\n", "rungate.yaml:1: __proto__"]
    ] as const
    for (const [text, message] of cases) {
      const { code, err } = await home.shell(`rungate apply -f ${write(text)} --yes`)
      expect([code, err]).toEqual([5, expect.stringContaining(message)])
    }
    expect((await home.shell("rungate apply -f /nowhere/rungate.yaml --yes")).code).toBe(5)
  })
})

test("text that would take gigabytes or hours is refused at once", () => {
  const laughs = ["a0: &a0 [x, x]", ...Array.from({ length: 60 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`)]
  expect(() => parsedYaml(laughs.join("\n"))).toThrow("has an alias at line 2")
  expect(() => parsedYaml("x".repeat(1024 * 1024 + 1))).toThrow(NotConfiguration)
  expect(parsedYaml('{"keys": [{"name": "a"}]}').value).toEqual({ keys: [{ name: "a" }] })
  expect(Object.keys(JSON.parse(JSON.stringify(parsedYaml("__proto__: {admin: true}\n").value)))).toEqual(["__proto__"])
  expect(Reflect.get({}, "admin")).toBeUndefined()
})
