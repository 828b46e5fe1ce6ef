/**
 * Every line of README and docs that installs a package of ours, run in an empty folder. Nothing is published, so none may ask a registry for our
 * packages: each names a checkout or a release file. test/slow/packages/npx.test.ts runs the line of the service.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildClient } from "../../../scripts/packages/client.ts"
import { buildPython } from "../../../scripts/packages/python.ts"
import { dueToday } from "../../kit/input-samples.ts"

const root = join(import.meta.dir, "..", "..", "..")
const folder = mkdtempSync(join(tmpdir(), "rungate-install-"))
const built = join(folder, "dist", "packages", "client")
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const python = Bun.which("python3")

const ran = async (line: string, cwd: string, env: Readonly<Record<string, string>> = {}) => {
  const child = Bun.spawn(["sh", "-c", line], {
    cwd,
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe"
  })
  const [out, err, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited
  ])
  return { out, exit, err: exit === 0 ? "" : err }
}

const client = "npm install /path/to/rungate/dist/packages/client"
const clientFile = "npm install ./rungate-client-*.tgz"
const source = "pip install /path/to/rungate/packages/python"
const wheel = "pip install ./rungate-*.whl"
const service = "npm install --global ./rungate-[0-9]*.tgz"

test("no page tells to install from a registry what is not published", () => {
  const globs = ["README.md", "docs/*.md", "packages/*/README.md", "deploy/systemd/*"]
  const pages = globs.flatMap((glob) => Array.from(new Bun.Glob(glob).scanSync(root)))
  const lines = pages.flatMap((page) =>
    Array.from(
      readFileSync(join(root, page), "utf8").matchAll(/\b(?:npm|pip) install .*?(?=`| {2}|$)/gm),
      ([line]) => line
    )
  )
  expect([...new Set(lines.filter((line) => line.includes("rungate")))].sort()).toEqual(
    [client, clientFile, source, wheel, service].sort()
  )
})

describe("@rungate/client", () => {
  const files = join(folder, "release")
  beforeAll(async () => {
    buildClient(built)
    mkdirSync(files)
    expect(await ran(`npm pack --silent --pack-destination ${files}`, built)).toMatchObject({ exit: 0, err: "" })
  })

  test.each([client, clientFile])("%s", async (line) => {
    const project = mkdtempSync(join(folder, "project-"))
    writeFileSync(join(project, "package.json"), '{"name":"program","private":true,"type":"module"}')
    const there = line.replace("/path/to/rungate/dist/packages/client", built).replace("./", `${files}/`)
    expect(await ran(`${there} --offline --no-audit --no-fund`, project)).toMatchObject({ exit: 0, err: "" })
    const program =
      'import { connect } from "@rungate/client"; console.log(typeof connect({ url: "http://h" }).runs.run)'
    writeFileSync(join(project, "program.js"), program)
    expect(await ran("node program.js", project)).toEqual({ out: "function\n", exit: 0, err: "" })
  })
})

describe.if(python !== null)("rungate for Python", () => {
  const program = `${python} -c 'import rungate; print(rungate.connect("http://h").runs.run.__name__)'`
  /** What `pip` does in a new virtual environment, without making one. */
  const pip = (line: string, into: string) =>
    line.replace("pip", `${python} -m pip`) + ` --target ${into} --disable-pip-version-check --root-user-action=ignore`
  const imported = async (place: string) => {
    const empty = mkdtempSync(join(folder, "empty-"))
    return ran(program, empty, { PYTHONPATH: place, PYTHONDONTWRITEBYTECODE: "1" })
  }

  test("a checkout is imported as it is", async () => {
    expect(await imported(join(root, "packages", "python"))).toEqual({ out: "run\n", exit: 0, err: "" })
  })

  test(wheel, async () => {
    const has = await ran(`${python} -m pip --version`, folder)
    if (has.exit !== 0) return console.log("skipped: no pip is here")
    const files = join(folder, "wheels")
    const maker = join(root, "scripts", "packages", "wheel.py")
    expect(await ran(`${python} ${maker} ${buildPython(join(folder, "python"))} ${files}`, folder)).toMatchObject({
      exit: 0
    })
    const into = join(folder, "from-wheel")
    expect(await ran(pip(`${wheel} --no-index`, into), files)).toMatchObject({ exit: 0, err: "" })
    expect(await imported(into)).toEqual({ out: "run\n", exit: 0, err: "" })
  })

  /** The tools that build it come from a registry. */
  test.if(dueToday(1))(source, async () => {
    const has = await ran(`${python} -m pip --version`, folder)
    if (has.exit !== 0) return console.log("skipped: no pip is here")
    const checkout = join(folder, "checkout")
    expect(await ran(`cp -R ${join(root, "packages", "python")} ${checkout}`, folder)).toMatchObject({ exit: 0 })
    const into = join(folder, "from-source")
    const line = source.replace("/path/to/rungate/packages/python", checkout)
    expect(await ran(pip(line, into), folder)).toMatchObject({ exit: 0, err: "" })
    expect(await imported(into)).toEqual({ out: "run\n", exit: 0, err: "" })
  })
})
