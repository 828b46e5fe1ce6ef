/** The real `rungate`, as a user's shell runs it: a folder of its own for settings and state, a server to talk to. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const main = join(import.meta.dir, "..", "..", "src", "main.ts")

export type Environment = Readonly<Record<string, string>>

export interface Said {
  readonly out: string
  readonly err: string
  readonly code: number
  /** stdout as JSON, when it is. */
  readonly body: ReturnType<typeof JSON.parse>
}

export interface Home {
  readonly folder: string
  /** Where `rungate` keeps what is under way. */
  readonly runsFolder: string
  readonly environment: Environment
  readonly start: (line: string, environment?: Environment) => Bun.Subprocess<"pipe", "pipe", "pipe">
  readonly shell: (line: string, environment?: Environment, stdin?: string) => Promise<Said>
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
export const newHome = (environment: Environment): Home => {
  const folder = mkdtempSync(join(tmpdir(), "rungate-cli-"))
  const bin = join(folder, "bin")
  mkdirSync(bin)
  const command = join(bin, "rungate")
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`)
  chmodSync(command, 0o755)
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
  return {
    folder,
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
