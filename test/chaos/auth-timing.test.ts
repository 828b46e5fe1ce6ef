/** T53 auth.timing with the 20,000 samples of each kind that the plan asks for; `npm test` takes 600. */
import { expect, test } from "bun:test"
import { figures, startApp } from "../kit/app.ts"
import { authTiming } from "../reliability/auth-timing.ts"
import { tLimit } from "../kit/compare-times.ts"

test("T53 auth.timing: 20,000 samples of an unknown, a similar and a revoked key", async () => {
  const app = await startApp()
  try {
    const samples = 20_000
    const { t, attempts, control, bodies } = await authTiming(app, await app.tenant("5.00"), samples)
    figures("T53 auth.timing", { samples, t_max: t, attempts, t_control: control, violations: bodies.size - 1 })
    expect(bodies.size).toBe(1)
    expect(t).toBeLessThan(tLimit)
    expect(control).toBeGreaterThan(tLimit)
  } finally {
    await app.stop()
  }
}, 400_000)
