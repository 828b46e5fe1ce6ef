/**
 * `bun scripts/packages/try-image.ts [base]`: builds the image in plain folders (image.ts) and starts it as a container would, on a machine without
 * a container daemon.
 *
 * It takes some minutes, so tests don't run it. It needs root on Linux, and `debootstrap` unless `base`, a clean Debian root, is given; elsewhere it
 * says what is missing and ends with 0. What it finds wrong is thrown.
 */
import { strict as assert } from "node:assert"
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import packageJson from "../../package.json" with { type: "json" }
import { buildImage, contained, type Image } from "./image.ts"

const startMillisMax = 60_000
const stopMillisMax = 30_000

const missing = (base: string | undefined): string | null => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "it needs root on Linux"
  const programs = ["unshare", "chroot", "setpriv", ...(base === undefined ? ["debootstrap"] : [])]
  const absent = programs.filter((name) => Bun.which(name, { PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` }) === null)
  return absent.length === 0 ? null : `it needs ${absent.join(", ")}`
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const megabytes = (folder: string) =>
  Number(Bun.spawnSync(["du", "-sm", folder]).stdout.toString().split("\t", 1)[0] ?? 0)

const output = (words: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...words], { env })
  return { code: exitCode, text: `${stdout}${stderr}`.trim() }
}

const started = async (image: Image) => {
  const port = await freePort()
  const env = { ...image.environment, HOST: "127.0.0.1", PORT: String(port) }
  const began = performance.now()
  const child = Bun.spawn([...contained(image, [...image.entrypoint, ...image.command])], {
    env,
    stdout: "pipe",
    stderr: "inherit"
  })
  const timer = setTimeout(() => child.kill("SIGKILL"), startMillisMax)
  let log = ""
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    log += text
    if (log.includes("Try:")) break
  }
  clearTimeout(timer)
  assert.match(log, /listens on/, `it did not start:\n${log}`)
  return { child, env, log, url: `http://127.0.0.1:${port}`, millis: Math.round(performance.now() - began) }
}

/** The process of the image that `unshare` waits for. */
const processOf = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0] ?? ""

const check = async (image: Image) => {
  const { child, env, log, url, millis } = await started(image)
  const inner = processOf(child.pid)
  try {
    // From outside, in a root without /proc: as an orchestrator may ask.
    const healthy = output(["chroot", `--userspec=${image.user}`, image.folder, ...image.healthcheck], env)
    assert.equal(healthy.code, 0, "the health check fails")
    const status = readFileSync(`/proc/${inner}/status`, "utf8")
    assert.match(status, new RegExp(`^Uid:\\s+${image.user.split(":")[0]}\\s`, "m"))
    for (const name of ["CapEff", "CapPrm", "CapBnd"]) assert.match(status, new RegExp(`^${name}:\\s+0+$`, "m"))
    assert.match(status, /^NoNewPrivs:\s+1$/m)
    assert.match(readFileSync(`/proc/${inner}/mountinfo`, "utf8"), / \/ \/ ro[, ]| \S+ \/ ro[, ]/)
    const answer = await fetch(`${url}/v1/run`, {
      method: "POST",
      headers: { authorization: `Bearer ${/rg_test_\w+/.exec(log)?.[0]}`, "content-type": "application/json" },
      body: JSON.stringify({ capability: "email.verify", input: { email: "ada@example.com" } })
    })
    const run = await answer.json()
    assert.equal(run.status, "succeeded", JSON.stringify(run))
    const page = await fetch(url, { headers: { accept: "text/html" } })
    assert.match(await page.text(), /<div id="root">/)
  } finally {
    process.kill(Number(inner), "SIGTERM")
  }
  const began = performance.now()
  const timer = setTimeout(() => child.kill("SIGKILL"), stopMillisMax)
  await child.exited
  clearTimeout(timer)
  assert.equal(child.signalCode, null, "it does not stop")
  const dead = output(["chroot", image.folder, ...image.healthcheck], env)
  assert.equal(dead.code, 1, "the health check succeeds though nothing runs")
  return { millis, stopMillis: Math.round(performance.now() - began) }
}

const given = process.argv[2]
const reason = missing(given)
if (reason !== null) {
  console.log(`SKIPPED: the image is not built here, because ${reason}`)
  process.exit(0)
}
const folder = mkdtempSync(join(tmpdir(), "rungate-image-"))
try {
  const base = given ?? join(folder, "base")
  const began = performance.now()
  if (given === undefined) {
    const { code, text } = output(["debootstrap", "--variant=minbase", "bookworm", base], {
      PATH: process.env["PATH"] ?? ""
    })
    assert.equal(code, 0, text)
  }
  if (existsSync("/etc/hosts")) cpSync("/etc/hosts", join(base, "etc/hosts"))
  const image = buildImage(base, folder)
  const built = Math.round((performance.now() - began) / 1000)
  const version = output(contained(image, [...image.entrypoint, "--version"]), { ...image.environment })
  assert.equal(version.code, 0, version.text)
  assert.ok(version.text.includes(packageJson.version), version.text)
  const { millis, stopMillis } = await check(image)
  const size = megabytes(image.folder)
  console.log(`the image: built in ${built} s, ${size} MB, of these Debian ${megabytes(base)} MB`)
  console.log(
    `it listened after ${millis} ms, ran a job as user ${image.user} on a read-only root, and stopped in ${stopMillis} ms`
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
