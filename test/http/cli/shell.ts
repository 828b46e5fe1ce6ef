/** The real `rungate`, as a user's shell runs it: a folder of its own for settings and state, a server to talk to. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { until } from "../../kit/app.ts"
import { compiledCommand } from "../../kit/compiled-command.ts"

const root = join(import.meta.dir, "..", "..", "..")
const source = join(root, "src", "main.ts")
const compiled = await compiledCommand()

export type Environment = Readonly<Record<string, string>>

export interface Said {
  readonly out: string
  readonly err: string
  readonly code: number
  /** stdout as JSON, when it is. */
  readonly body: ReturnType<typeof JSON.parse>
}

/** A terminal with `rungate` in it, as a person has it. */
export interface Screen {
  /** Everything that stood on it, escape sequences included. */
  readonly seen: () => string
  readonly type: (text: string) => void
  /** Waits until the text stands on it. */
  readonly shows: (text: string | RegExp) => Promise<string>
  readonly ended: Promise<number>
  readonly pid: number
}

export interface Home {
  readonly folder: string
  /** Where `rungate` keeps what is under way. */
  readonly runsFolder: string
  readonly environment: Environment
  readonly start: (line: string, environment?: Environment) => Bun.Subprocess<"pipe", "pipe", "pipe">
  readonly shell: (line: string, environment?: Environment, stdin?: string) => Promise<Said>
  readonly terminal: (line: string, environment?: Environment, columns?: number) => Screen
  readonly remove: () => void
}

const parsed = (text: string) => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** `rungate` on the PATH, and nothing that this machine's own user has set. */
export const newHome = (environment: Environment, main: "compiled" | "source" = "compiled"): Home => {
  const folder = mkdtempSync(join(tmpdir(), "rungate-cli-"))
  const bin = join(folder, "bin")
  mkdirSync(bin)
  const command = join(bin, "rungate")
  if (main === "compiled") symlinkSync(compiled, command)
  else {
    writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${source}" "$@"\n`)
    chmodSync(command, 0o755)
  }
  const own: Environment = {
    PATH: `${bin}:${process.env["PATH"] ?? "/usr/bin:/bin"}`,
    HOME: folder,
    TMPDIR: process.env["TMPDIR"] ?? "/tmp",
    XDG_CONFIG_HOME: join(folder, "config"),
    XDG_STATE_HOME: join(folder, "state"),
    ...environment
  }
  const start = (line: string, more: Environment = {}) =>
    // The shell is replaced, so that a signal reaches the command itself.
    Bun.spawn(["sh", "-c", line], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      env: { ...own, ...more },
      cwd: folder
    })
  const terminal = (line: string, more: Environment = {}, columns = 100): Screen => {
    let seen = ""
    const decoder = new TextDecoder()
    const child = Bun.spawn(["sh", "-c", `exec ${line}`], {
      env: { TERM: "xterm-256color", ...own, ...more },
      cwd: folder,
      terminal: {
        cols: columns,
        rows: 40,
        data: (_terminal, data) => {
          seen += decoder.decode(data, { stream: true })
        }
      }
    })
    const holds = (text: string | RegExp) => (typeof text === "string" ? seen.includes(text) : text.test(seen))
    return {
      seen: () => seen,
      type: (text) => void child.terminal?.write(text),
      shows: (text) =>
        until(
          `a terminal that shows ${text}`,
          () => seen,
          () => holds(text)
        ),
      // What was written last arrives a moment after the process is gone.
      ended: child.exited.then(async (code) => {
        for (let length = -1; length !== seen.length; await Bun.sleep(30)) length = seen.length
        return code
      }),
      pid: child.pid
    }
  }
  return {
    folder,
    terminal,
    runsFolder: join(folder, "state", "rungate", "runs"),
    environment: own,
    start,
    shell: async (line, more, stdin) => {
      const child = start(line, more)
      if (stdin !== undefined) child.stdin.write(stdin)
      await child.stdin.end()
      const [out, err, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited
      ])
      return { out, err, code, body: parsed(out) }
    },
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}
