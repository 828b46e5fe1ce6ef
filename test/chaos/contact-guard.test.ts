/**
 * The contact guard while processes die: whoever is killed between two steps, nobody is written to twice.
 *
 * Four clients write to each person at the same time, over a process that dies and one that survives, and repeat their requests afterwards.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { sampled } from "../kit/input-samples.ts"
import { askWhileOneDies } from "./dying.ts"
import type { Service } from "./processes.ts"
import { backends, report, World } from "./world.ts"

const points = [
  "turn.before_commit",
  "turn.after_commit",
  "provider.before",
  "provider.after",
  "mail.before",
  "mail.after"
] as const

describe.each(backends)("the contact guard under kill -9 on %s", (backend) => {
  let world: World
  let survivor: Service
  beforeAll(async () => {
    world = await World.open({ backend })
    survivor = await world.start("all", { RUNGATE_CONCURRENCY: "2", RUNGATE_ORG_CONCURRENCY: "2" })
    await world.openAccounts()
  })
  afterAll(() => world?.close())

  const personOf = (key: string) => key.replace(/-\d+$/, "")
  const bodyOf = (key: string) => ({
    capability: "email.send",
    input: { from: "hello@example.com", to: `${personOf(key)}@example.com`, subject: key, text: "Hit" },
    unless_contacted_within_seconds: 86_400
  })

  // A part of the steps each day.
  test.each(sampled(points, 4, backends.indexOf(backend)))(
    "%s",
    async (point) => {
      const keys = await askWhileOneDies({ world, survivor, point, bodyOf })
      const sent = [...Map.groupBy(keys, personOf)].map(([person, same]) => ({
        person,
        times: same.reduce((sum, key) => sum + world.meter.of(key).length, 0)
      }))
      const twice = sent.filter(({ times }) => times > 1).map(({ person }) => `${person} was written to twice`)
      const violations = [...(await world.violations()), ...twice]
      report({ test: "contact_guard.kill9", backend, point, people: sent.length, runs: keys.length, violations })
      expect(violations).toEqual([])
      expect(sent.some(({ times }) => times > 0)).toBe(true)
    },
    180_000
  )
})
