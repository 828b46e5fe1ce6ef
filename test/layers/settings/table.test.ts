/**
 * The table of settings: docs/operate.md and .env.example say the same, and secrets come from files.
 */
import { afterAll, describe, expect, test } from "bun:test"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Redacted } from "effect"
import { readingOf, settingsOf } from "../../../src/layers/platform/Settings.ts"
import { environmentOf } from "../../../src/layers/platform/settings/environmentFile.ts"
import { settingsReport } from "../../../src/layers/platform/settings/report.ts"
import {
  fileVariable,
  settingNames,
  settingOf,
  settingsTable
} from "../../../src/layers/platform/settings/settingsTable.ts"
import { exampleText, tableText } from "../../../scripts/settings.ts"

const folder = mkdtempSync(join(tmpdir(), "rungate-settings-"))
afterAll(() => rmSync(folder, { recursive: true }))
const fileWith = (text: string, mode = 0o600) => {
  const path = join(folder, crypto.randomUUID())
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}
const problemsOf = (environment: Record<string, string>) => readingOf(environment).problems

describe("the table", () => {
  test("its defaults are valid, and those of the service", async () => {
    const plain = settingsTable.flatMap(({ name, default: usual }) => {
      const [, value] = /^`([^`]*)`$/.exec(usual) ?? []
      return value === undefined ? [] : [[name, value] as const]
    })
    expect(plain.length).toBeGreaterThan(25)
    const { names: _given, ...withDefaults } = await Effect.runPromise(settingsOf(Object.fromEntries(plain)))
    const { names: _none, ...without } = await Effect.runPromise(settingsOf({}))
    expect(withDefaults).toEqual(without)
  })

  test("docs/operate.md and .env.example have it (bun scripts/settings.ts writes both)", () => {
    const fileText = (path: string) => readFileSync(join(import.meta.dir, "..", "..", "..", path), "utf8")
    expect(fileText("docs/operate.md")).toContain(`\n\n${tableText()}\n\n`)
    expect(fileText(".env.example")).toBe(exampleText())
  })
})

const secrets = settingsTable.filter(({ secret }) => secret).map(({ name }) => name.replace("<SLUG>", "HUNTER"))

describe("a secret from a file", () => {
  test.each(secrets.map((name) => [name]))("%s", (name) => {
    const path = fileWith("  s3cret-in-a-file\r\n")
    const { values, files, warnings } = readingOf({ [fileVariable(name)]: path })
    expect(values.get(name)).toBe("s3cret-in-a-file")
    expect(files.get(name)).toBe(path)
    expect(warnings).toEqual([])
    const both = problemsOf({ [name]: "x", [fileVariable(name)]: path })
    expect(both).toContain(`${name} and ${name}_FILE are both set: unset one of them`)
  })

  test("is the same setting as the variable", async () => {
    const key = "0123456789abcdef-metrics"
    const { metricsToken } = await Effect.runPromise(settingsOf({ RUNGATE_METRICS_TOKEN_FILE: fileWith(`${key}\n`) }))
    expect(metricsToken === null ? null : Redacted.value(metricsToken)).toBe(key)
  })

  test("that can't be read says which file and why, and never its text", () => {
    const name = "STRIPE_SECRET_KEY_FILE"
    const long = fileWith("x".repeat(70_000))
    expect(problemsOf({ [name]: join(folder, "none") })).toEqual([
      `${name}: can't read ${join(folder, "none")}: there is no such file`
    ])
    expect(problemsOf({ [name]: folder })[0]).toContain("it is a folder")
    expect(problemsOf({ [name]: fileWith("\n") })[0]).toContain("is empty; write the secret into it")
    expect(problemsOf({ [name]: long })[0]).toContain("larger than 65536 bytes")
    expect(problemsOf({ RUNGATE_ENCRYPTION_KEY_FILE: fileWith("not-a-key") })[0]).not.toContain("not-a-key")
  })

  test("that everybody can read is warned about", () => {
    const path = fileWith("sk_test_1", 0o644)
    expect(readingOf({ STRIPE_SECRET_KEY_FILE: path }).warnings).toEqual([
      `STRIPE_SECRET_KEY_FILE: every user of this machine can read ${path}; to fix: chmod 600 ${path}`
    ])
  })
})

test("an unknown log level is refused with those that exist", () => {
  expect(problemsOf({ RUNGATE_LOG_LEVEL: "verbose" })).toEqual([
    "RUNGATE_LOG_LEVEL must be debug or info or warn or error"
  ])
  expect(Exit.isFailure(Effect.runSyncExit(settingsOf({ RUNGATE_LOG_LEVEL: "verbose" })))).toBe(true)
})

describe("the report", () => {
  test("hides every secret, also the password of an address", () => {
    const given = Object.fromEntries(secrets.map((name) => [name, "s3cret"]))
    const addresses = {
      DATABASE_URL: "postgres://user:s3cret@db.example.com:5432/rungate?password=s3cret",
      REDIS_URL: "redis+cluster://:s3cret@one:1,two:2",
      RUNGATE_PROVIDER_EXA_BASE_URL: "https://user:s3cret@proxy.example.com/x"
    }
    const report = settingsReport(readingOf({ ...given, ...addresses }), new Set(["REDIS_URL"]))
    expect(JSON.stringify(report)).not.toContain("s3cret")
    const of = (name: string) => report.find((one) => one.name === name)
    expect(of("DATABASE_URL")).toMatchObject({
      value: "postgres://********@db.example.com:5432/rungate",
      source: "environment"
    })
    expect(of("REDIS_URL")?.source).toBe("env_file")
    expect(of("RUNGATE_LANES")).toMatchObject({ value: null, source: "default", default: "2, or the stored number" })
    expect(of("RUNGATE_PROVIDER_HUNTER_API_KEY")).toMatchObject({ value: "********", reloads: true })
  })
})

describe("the environment file", () => {
  test("is read again, and the real environment wins", () => {
    const path = fileWith("PORT=1\nHOST=a\n")
    // As Bun starts: the file's values are among the variables.
    const read = environmentOf({ PORT: "1", HOST: "b", HOME: "/" }, [], path)
    expect(read().variables).toEqual({ PORT: "1", HOST: "b", HOME: "/" })
    expect([...read().fromFile]).toEqual(["PORT"])
    writeFileSync(path, 'HOST=c\nRUNGATE_MODE="production"\n')
    expect(read().variables).toEqual({ HOST: "b", HOME: "/", RUNGATE_MODE: "production" })
  })

  test("is not read by a process that Bun started without it", () => {
    expect(environmentOf({ PORT: "1" }, ["--no-env-file"], fileWith("HOST=a"))().variables).toEqual({ PORT: "1" })
  })
})

test("the table names each setting once", () => {
  expect(new Set(settingNames).size).toBe(settingNames.length)
  expect(settingOf("RUNGATE_PROVIDER_EXA_API_KEY")?.secret).toBe(true)
  expect(settingOf("RUNGATE_PROVIDER_EXA_API_KEYS")).toBeUndefined()
})
