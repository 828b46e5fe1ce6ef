/** `rungate config`, as an operator calls it. */
import { expect, test } from "bun:test"
import { runMain } from "../../../chaos/processes.ts"

const config = async (env: Record<string, string>, ...args: ReadonlyArray<string>) => {
  const { ended, errors, output } = runMain(["config", ...args], env)
  const { code } = await ended
  return { code, out: output(), err: errors() }
}

test("check: exit code 0, or 1 with every mistake and what to do", async () => {
  const [good, bad, json] = await Promise.all([
    config({ PORT: "1" }, "check"),
    config({ PORT: "s3cret", RUNGATE_LOG_LEVEL: "loud", RUNGATE_MARKUPS: "2" }, "check"),
    config({ PORT: "s3cret" }, "check", "--json")
  ])
  expect(good).toMatchObject({ code: 0, out: expect.stringContaining("The settings are valid: 2 set") })
  expect(bad.code).toBe(1)
  expect(bad.err).toContain("wrong: PORT must be a whole number from 0 to 65535")
  expect(bad.err).toContain("wrong: RUNGATE_LOG_LEVEL must be debug or info or warn or error")
  expect(bad.err).toContain("warning: RUNGATE_MARKUPS is not a setting and is ignored. Did you mean RUNGATE_MARKUP?")
  expect(bad.err).toContain("2 settings are wrong, so a service does not start with them")
  expect(bad.err).not.toContain("s3cret")
  expect(json.code).toBe(1)
  expect(JSON.parse(json.out)).toMatchObject({ ok: false, problems: ["PORT must be a whole number from 0 to 65535"] })
})

test("check: names what a production service still lacks, and nothing of a complete one or of the sandbox", async () => {
  const production = { RUNGATE_MODE: "production" }
  const [bare, complete, plain, sandbox] = await Promise.all([
    config(production, "check"),
    config(
      {
        ...production,
        RUNGATE_PUBLIC_URL: "https://rungate.example.com",
        RUNGATE_SMTP_URL: "smtps://user:s3cret@smtp.example.com",
        RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
        STRIPE_SECRET_KEY: "sk_live_s3cret",
        STRIPE_WEBHOOK_SECRET: "whsec_s3cret"
      },
      "check"
    ),
    config({ ...production, RUNGATE_PUBLIC_URL: "http://rungate.example.com" }, "check"),
    config({}, "check")
  ])
  expect([bare.code, complete.code, plain.code, sandbox.code]).toEqual([0, 0, 0, 0])
  const named = bare.err.split("\n").flatMap((line) => /^warning: (\w+)/.exec(line)?.[1] ?? [])
  expect(named).toEqual(["RUNGATE_PUBLIC_URL", "RUNGATE_SMTP_URL", "RUNGATE_ENCRYPTION_KEY", "STRIPE_SECRET_KEY"])
  expect(plain.err).toContain("RUNGATE_PUBLIC_URL is an http address")
  expect([complete.err, sandbox.err]).toEqual(["", ""])
})

test("print: value, origin and default of each setting, without secrets", async () => {
  const env = { DATABASE_URL: "postgres://me:s3cret@db.example.com/rungate", STRIPE_SECRET_KEY: "sk_live_s3cret" }
  const [text, json] = await Promise.all([config(env, "print"), config(env, "print", "--json")])
  expect(text.out).toMatch(/^DATABASE_URL +postgres:\/\/\*+@db\.example\.com\/rungate +environment +unset: embedded/m)
  expect(text.out).toMatch(/^PORT +\(8787\) +default +8787/m)
  expect(`${text.out}${text.err}${json.out}`).not.toContain("s3cret")
  const { settings } = JSON.parse(json.out)
  expect(settings.find((one: { name: string }) => one.name === "STRIPE_SECRET_KEY")).toMatchObject({
    value: "********",
    source: "environment",
    secret: true,
    change_needs: "reload"
  })
})
