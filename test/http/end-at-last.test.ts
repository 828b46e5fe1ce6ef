/** A process that hangs after a stop signal says what still runs, and ends. */
import { expect, test } from "bun:test"
import { join } from "node:path"

/** As `rungate serve` does it, with something that can't be interrupted in place of the service. */
const program = `
  import { Effect } from "effect"
  import { endAtLast, EndLimits } from "./src/http/EndAtLast.ts"
  import { Settings } from "./src/layers/platform/Settings.ts"
  import { underway } from "./src/layers/platform/Underway.ts"
  const hangs = underway("closing worker lane-0")(Effect.uninterruptible(Effect.never))
  process.on("SIGTERM", () => {})
  setInterval(() => {}, 1_000)
  Effect.gen(function* () {
    yield* endAtLast
    yield* Effect.forkChild(Effect.asVoid(underway("usage")(Effect.void)), { startImmediately: true })
    yield* Effect.forkChild(hangs, { startImmediately: true })
    console.log("ready")
    yield* Effect.never
  }).pipe(
    Effect.provide(Settings.layerFrom({ RUNGATE_DRAIN_SECONDS: "0", RUNGATE_STOP_DELAY_SECONDS: "0" })),
    Effect.provideService(EndLimits, { say_seconds: 0.2, end_seconds: 0.5 }),
    Effect.runFork
  )`

test("a process that hangs names what still runs, and ends with 0", async () => {
  const child = Bun.spawn([process.execPath, "-e", program], {
    cwd: join(import.meta.dir, "..", ".."),
    stdout: "pipe",
    stderr: "pipe"
  })
  const reader = child.stdout.getReader()
  await reader.read()
  child.kill("SIGTERM")
  const said = await new Response(child.stderr).text()
  expect(await child.exited).toBe(0)
  const running = String.raw`Still running: closing worker lane-0 \(\d+\.\d s\)\.`
  expect(said).toMatch(new RegExp(`^rungate: is still stopping 0\\.2 s after the signal\\. ${running}$`, "m"))
  expect(said).toMatch(
    new RegExp(`^rungate: did not stop within 0\\.5 s of the signal, so it ends now\\. ${running}`, "m")
  )
})
