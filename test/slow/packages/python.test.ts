/** The Python client as a program gets it: built, installed from its wheel, and run by Python against the service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import packageJson from "../../../package.json" with { type: "json" }
import { document, operations } from "../../../scripts/packages/operations.ts"
import { buildPython } from "../../../scripts/packages/python.ts"
import { snake } from "../../../scripts/packages/pythontypes.ts"
import { type App, startApp, type Tenant } from "../../kit/app.ts"
import { cutLine } from "../../http/cli/wire.ts"

type Json = ReturnType<typeof JSON.parse>

const python = Bun.which("python3")
if (python === null) console.log("skipped: no python3 is installed here, so its client is not tested")
const root = join(import.meta.dir, "..", "..", "..")
const folder = mkdtempSync(join(tmpdir(), "rungate-python-"))
const site = join(folder, "site")
let app: App
let org: Tenant

const command = async (words: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
  const child = Bun.spawn([...words], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, PYTHONPATH: site, PYTHONDONTWRITEBYTECODE: "1", ...env },
    stdout: "pipe",
    stderr: "pipe"
  })
  const [out, err, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited
  ])
  return { out, err, exit }
}

/** Runs a program and answers what it put into `seen`. `rungate` is its client. */
const ran = async (program: string, { url = app.url, key = org.key, more = "" } = {}): Promise<Json> => {
  const text = `import json, sys, rungate as package
from rungate import RungateError, connect
seen = {}
def error_of(call):
    try:
        call()
    except RungateError as error:
        return {name: getattr(error, name) for name in ("code", "message", "status", "details", "run_id", "request_id", "retry_after", "body")}
rungate = connect(${JSON.stringify(url)}, ${JSON.stringify(key)}${more})
${program}
print(json.dumps(seen))`
  const { out, err, exit } = await command([python ?? "", "-c", text])
  expect([exit, err]).toEqual([0, ""])
  return JSON.parse(out)
}

const verify = (name: string) => `{"capability": "email.verify", "input": {"email": "${name}@example.com"}}`

describe.if(python !== null)("the Python client", () => {
  let wheels: ReadonlyArray<string> = []
  let built = ""
  beforeAll(async () => {
    built = buildPython(join(folder, "build"))
    const wheel = join(root, "scripts", "packages", "wheel.py")
    for (const place of ["dist", "again"]) {
      const { exit, err } = await command([python ?? "", wheel, built, join(folder, place)])
      expect([exit, err]).toEqual([0, ""])
    }
    wheels = readdirSync(join(folder, "dist")).sort()
    const unpacked = await command([python ?? "", "-m", "zipfile", "-e", join(folder, "dist", wheels[0] ?? ""), site])
    expect(unpacked).toEqual({ out: "", err: "", exit: 0 })
    app = await startApp()
    org = await app.tenant("25.00")
  })
  afterAll(async () => {
    await app?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test("is a wheel and a source distribution of this version, the same bytes each time, and needs nothing else", async () => {
    const { version } = packageJson
    expect(wheels).toEqual([`rungate-${version}-py3-none-any.whl`, `rungate-${version}.tar.gz`])
    for (const name of wheels) {
      const [one, other] = ["dist", "again"].map((place) => readFileSync(join(folder, place, name)))
      expect(one?.equals(other ?? Buffer.of())).toBe(true)
    }
    const about = await command([
      python ?? "",
      "-c",
      `from importlib.metadata import distribution
one = distribution("rungate")
print(one.version, one.requires, all((one.locate_file(file)).exists() for file in one.files), len(one.files))`
    ])
    const modules = readdirSync(join(built, "rungate")).length
    expect(about.out).toBe(`${version} None True ${modules + 4}\n`)
  })

  test("pip installs the wheel without a registry", async () => {
    const has = await command([python ?? "", "-m", "pip", "--version"])
    if (has.exit !== 0) return console.log("skipped: no pip is here")
    const words =
      "-m pip install --quiet --no-index --no-deps --no-compile --disable-pip-version-check --root-user-action=ignore --target"
    const { err, exit } = await command([
      python ?? "",
      ...words.split(" "),
      join(folder, "pip"),
      join(folder, "dist", wheels[0] ?? "")
    ])
    expect([exit, err]).toEqual([0, ""])
    expect(readdirSync(join(folder, "pip")).sort()).toEqual(["rungate", `rungate-${packageJson.version}.dist-info`])
  })

  test("has every operation of the API, and types whose names all resolve", async () => {
    const { out, err } = await command([
      python ?? "",
      "-c",
      `import inspect, json, sys, typing
import rungate, rungate.types as types
classes = [one for one in vars(types).values() if isinstance(one, type) and one.__module__ == types.__name__]
# Older ones can't evaluate them. They never have to: the types are for editors and type checkers.
if sys.version_info >= (3, 11):
    types.NotRequired = typing.NotRequired
    for one in classes:
        typing.get_type_hints(one)
client = rungate.connect("http://127.0.0.1:1")
names = [f"{group}.{name}" for group, part in vars(client).items() if not group.startswith("_") for name, one in inspect.getmembers(part, inspect.ismethod) if not name.startswith("_")]
print(json.dumps({"names": names, "classes": len(classes)}))`
    ])
    expect(err).toBe("")
    const { names, classes } = JSON.parse(out)
    expect(names.sort()).toEqual(
      operations(document())
        .map(({ group, name }) => `${snake(group)}.${snake(name)}`)
        .sort()
    )
    expect(classes).toBeGreaterThan(100)
  })

  test("signs up, inspects, runs once per idempotency key, and reads pages", async () => {
    const other = await app.tenant("1.00")
    const seen = await ran(
      `address = rungate._transport.settings.url
session = connect(address).auth.sign_up({"email": "ada@python.test", "password": "correct horse battery", "organization": "Python"})
made = connect(address, session["session_token"]).keys.create({"name": "program", "environment": "test"})
seen["available"] = connect(address, made["api_key"]).wallet.get()["available"]
seen["inspected"] = rungate.catalog.inspect({"capability": "email.verify"})["capability"]
runs = [rungate.runs.run(${verify("a")}, idempotency_key="lead-1") for _ in range(2)]
seen["ids"] = [run["run_id"] for run in runs]
seen["status"], seen["charged"] = runs[0]["status"], runs[0]["billing"]["charged"]
for name in "bc":
    rungate.runs.run({"capability": "email.verify", "input": {"email": f"{name}@example.com"}, "metadata": {"campaign": name}})
page = rungate.runs.list(limit=2).page()
seen["page"] = [len(page.items), len(rungate.runs.list(limit=2).page(page.next_cursor).items)]
seen["all"] = len({run["run_id"] for run in rungate.runs.list(limit=1)})
seen["labelled"] = len(list(rungate.runs.list(metadata={"campaign": "b"}, from_="2020-01-01")))
seen["waited"] = rungate.runs.get(seen["ids"][0], wait=1)["done"]`,
      { key: other.key }
    )
    expect(seen.available).toBe("0.00")
    expect(seen.inspected).toBe("email.verify")
    expect(seen.ids[0]).toStartWith("run_")
    expect(seen.ids[1]).toBe(seen.ids[0])
    expect([seen.status, seen.page, seen.all, seen.labelled, seen.waited]).toEqual(["succeeded", [2, 1], 3, 1, true])
    expect(seen.charged).toMatch(/^\d+\.\d{2,6}$/)
  })

  test("raises an error with the code, the fields, the run, and no key", async () => {
    const { failed, read, malformed, refused, id } = await ran(
      `seen["failed"] = error_of(lambda: rungate.runs.run({"capability": "email.verify", "input": {"email": "error@sandbox.test"}, "routing": {"provider": "hunter"}}))
seen["read"] = rungate.runs.get(seen["failed"]["run_id"])["status"]
seen["malformed"] = error_of(lambda: rungate.runs.run({"capability": "email.find", "input": {}}))
seen["refused"] = error_of(lambda: connect(rungate._transport.settings.url, "rg_test_wrong").wallet.get())
try:
    rungate.runs.get("..")
except TypeError as error:
    seen["id"] = str(error)`
    )
    expect(failed).toMatchObject({ code: "provider_error", status: 502, body: { run_id: failed.run_id } })
    expect(read).toBe("failed")
    expect([malformed.code, malformed.details.length > 0, malformed.details[0].length]).toEqual([
      "invalid_request",
      true,
      2
    ])
    expect([refused.code, refused.status, refused.message.includes("rg_test_wrong")]).toEqual([
      "unauthorized",
      401,
      false
    ])
    expect(refused.request_id).toBeString()
    expect(id).toContain("run_id must be an id")
  })

  test("sends CSV, reads text, and follows events", async () => {
    const seen = await ran(
      `batch = rungate.batches.create("email\\ncsv@example.com\\n", capability="email.verify", max_total="1.00")
for event in rungate.events(types=["run.finished"]):
    if rungate.batches.get(batch["id"])["done"]:
        break
row = json.loads(rungate.batches.results(batch["id"]).strip())
seen["status"] = row["status"]
seen["receipt"] = len(rungate.receipts.get(row["run_id"]).split("."))
events = list(rungate.events(run_id=row["run_id"]))
seen["types"] = [event.type for event in events]
seen["rest"] = [event.type for event in rungate.events(run_id=row["run_id"], after=events[-2].id)]`
    )
    expect(seen).toEqual({
      status: "succeeded",
      receipt: 3,
      types: ["run.created", "run.started", "run.attempt", "run.finished"],
      rest: ["run.finished"]
    })
  })

  test("repeats a lost run under one key, which is paid once, and nothing that could act twice", async () => {
    const before = (await org.list("?limit=200")).body.items.length
    const wire = cutLine(app.url, 2)
    const { status } = await ran(`seen["status"] = rungate.runs.run(${verify("cut")})["status"]`, { url: wire.url })
    await wire.stop()
    expect([status, wire.cut()]).toEqual(["succeeded", 2])
    expect((await org.list("?limit=200")).body.items.length).toBe(before + 1)
    const second = cutLine(app.url, 1)
    const create = `seen["lost"] = error_of(lambda: rungate.keys.create({"name": "once", "environment": "test"}))["code"]`
    const { lost } = await ran(create, { url: second.url })
    await second.stop()
    expect([lost, second.cut()]).toEqual(["connection_lost", 1])
  })

  test("waits as long as a 429 says, follows no redirect, and says when nobody is there", async () => {
    let asked = 0
    const keys: Array<string | null> = []
    using thief = Bun.serve({
      port: 0,
      fetch: (request) => {
        keys.push(request.headers.get("authorization"))
        return Response.json({})
      }
    })
    using other = Bun.serve({
      port: 0,
      fetch: (request) => {
        if (request.url.endsWith("/v1/wallet")) return Response.redirect(thief.url.href)
        if (request.url.endsWith("/v1/service"))
          return Response.json(
            { error: { code: "not_ours", message: "No.", details: ["a", { path: "b" }] } },
            { status: 404 }
          )
        asked += 1
        const refused = { error: { code: "rate_limited", message: "Slow down." } }
        return asked === 1
          ? Response.json(refused, { status: 429, headers: { "retry-after": "0.1" } })
          : Response.json({ id: "key_1" })
      }
    })
    const gone = Bun.serve({ port: 0, fetch: () => new Response() })
    const nobody = gone.url.href
    await gone.stop(true)
    const seen = await ran(
      `seen["made"] = rungate.keys.create({"name": "a", "environment": "test"})["id"]
seen["elsewhere"] = error_of(rungate.wallet.get)["code"]
seen["foreign"] = error_of(rungate.service.get)["code"]
seen["nobody"] = error_of(connect(${JSON.stringify(nobody)}).wallet.get)["code"]`,
      { url: other.url.href }
    )
    expect(seen).toEqual({ made: "key_1", elsewhere: "unexpected_answer", foreign: "not_ours", nobody: "unreachable" })
    expect([asked, keys]).toEqual([2, []])
  })

  test("the programs of its README run", async () => {
    const readme = readFileSync(join(root, "packages", "python", "README.md"), "utf8")
    const programs = Array.from(readme.matchAll(/^```python\n([^]*?)^```/gm), ([, program = ""]) => program)
    expect(programs).toHaveLength(2)
    mkdirSync(join(folder, "programs"), { recursive: true })
    const outputs = await Promise.all(
      programs.map((program, at) => {
        const file = join(folder, "programs", `${at}.py`)
        writeFileSync(file, program)
        return command([python ?? "", file], { RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
      })
    )
    expect(outputs).toEqual(programs.map(() => ({ out: expect.any(String), err: "", exit: 0 })))
    expect(outputs[0]?.out).toContain("ada.lovelace@example.com")
    expect(outputs[1]?.out.match(/^run\.\w+/gm)).toEqual(["run.created", "run.started", "run.attempt", "run.finished"])
  })
})
