/** The router of cells: HAProxy with the configuration that ships (deploy/cells), in front of as many cells as a test or bench has. */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterwards } from "../kit/process-end.ts"
import { freePort } from "./ports.ts"
import { until } from "./processes.ts"

const program = Bun.which("haproxy") ?? Bun.which("haproxy", { PATH: "/usr/sbin:/sbin" })

export const hasHaproxy = program !== null
if (!hasHaproxy) console.log("haproxy is not installed: the tests of cells are skipped")

export interface Haproxy {
  readonly url: string
  readonly pid: number
  /** A command of its runtime API, such as `add map moved.map <tag> <backend>`; names of maps are completed. */
  readonly command: (text: string) => Promise<string>
  readonly stop: () => Promise<void>
}

const shipped = join(import.meta.dir, "..", "..", "deploy", "cells")

/** The backend of a cell, as the shipped configuration has it. A busy machine answers late, and no cell may be away for that: no check. */
const backendOf = ([name, url]: readonly [string, string]) =>
  `backend cell_${name}\n    balance leastconn\n    server ${name}1 ${new URL(url).host}\n`

/** `cells`: the name and the address of each. The first one is the default. */
export const startHaproxy = async (cells: Readonly<Record<string, string>>): Promise<Haproxy> => {
  if (program === null) throw new Error("haproxy is not installed")
  const dir = mkdtempSync(join(tmpdir(), "rungate-haproxy-"))
  const port = await freePort()
  const names = Object.keys(cells)
  const [frontend = ""] = readFileSync(join(shipped, "haproxy.cfg"), "utf8").split(/^backend /m)
  const text = frontend
    .replaceAll("/etc/haproxy/", `${dir}/`)
    .replaceAll("/run/haproxy/", `${dir}/`)
    .replaceAll("maxconn 20000", "maxconn 1000")
    .replace("bind :8080", `bind 127.0.0.1:${port}`)
    .replace("default_backend cell_a", `default_backend cell_${names[0]}`)
  writeFileSync(join(dir, "haproxy.cfg"), text + Object.entries(cells).map(backendOf).join("\n"))
  writeFileSync(join(dir, "cells.map"), names.map((name) => `${name} cell_${name}\n`).join(""))
  writeFileSync(join(dir, "moved.map"), readFileSync(join(shipped, "moved.map")))
  afterwards('kill -KILL "$(cat "$1/pid")"; rm -rf "$1"', dir)
  let said = ""
  const child = spawn(program, ["-db", "-f", join(dir, "haproxy.cfg")], { stdio: ["ignore", "pipe", "pipe"] })
  child.stdout.on("data", (part) => (said += String(part)))
  child.stderr.on("data", (part) => (said += String(part)))
  writeFileSync(join(dir, "pid"), String(child.pid))
  const ended = new Promise((resolve) => child.once("exit", resolve))
  const url = `http://127.0.0.1:${port}`
  await until("a ready HAProxy", 20_000, async () => {
    if (child.exitCode !== null) throw new Error(`haproxy ended: ${said}`)
    return (await fetch(`${url}/healthz`).catch(() => undefined))?.ok === true
  })
  return {
    url,
    pid: child.pid ?? 0,
    command: (command) =>
      new Promise((resolve, reject) => {
        const socket = connect(join(dir, "rungate.sock"))
        let answer = ""
        socket.on("data", (part) => (answer += String(part)))
        socket.once("error", reject)
        socket.once("close", () => resolve(answer))
        socket.end(`${command.replace("moved.map", join(dir, "moved.map"))}\n`)
      }),
    stop: async () => {
      child.kill("SIGKILL")
      await ended
    }
  }
}
