/** The router of cells: HAProxy with the configuration that ships (deploy/cells), in front of two services of this process. */
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
  /** A command of its runtime API, such as `add map moved.map <tag> <backend>`; names of maps are completed. */
  readonly command: (text: string) => Promise<string>
  readonly stop: () => Promise<void>
}

const shipped = join(import.meta.dir, "..", "..", "deploy", "cells")

/** `cells`: the address of each cell of the shipped configuration. */
export const startHaproxy = async (cells: Readonly<Record<"a" | "b", string>>): Promise<Haproxy> => {
  if (program === null) throw new Error("haproxy is not installed")
  const dir = mkdtempSync(join(tmpdir(), "rungate-haproxy-"))
  const port = await freePort()
  const text = readFileSync(join(shipped, "haproxy.cfg"), "utf8")
    .replaceAll("/etc/haproxy/", `${dir}/`)
    .replaceAll("/run/haproxy/", `${dir}/`)
    .replaceAll("maxconn 20000", "maxconn 200")
    // A busy machine answers late, and no cell may be away for that.
    .replaceAll(/:8787 check$/gm, ":8787")
    .replace("bind :8080", `bind 127.0.0.1:${port}`)
    .replace(/10\.0\.1\.\d:8787/g, new URL(cells.a).host)
    .replace(/10\.0\.2\.\d:8787/g, new URL(cells.b).host)
  writeFileSync(join(dir, "haproxy.cfg"), text)
  for (const map of ["cells.map", "moved.map"]) writeFileSync(join(dir, map), readFileSync(join(shipped, map)))
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
