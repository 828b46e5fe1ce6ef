/**
 * T68 soak.vopr_lite: one stage of the soak (test/soak) per backend: 40 s of random faults at processes, PostgreSQL, Redis, clocks and
 * providers, from a seed. An even seed has two installations in two schemas of one database. `npm run soak` plays many stages.
 *
 * SEED=… repeats a schedule (the faults and their times; the load is as fast as the machine).
 */
import { describe, expect, test } from "bun:test"
import { soak } from "../soak/soak.ts"
import { stageSeconds } from "../soak/plan.ts"
import { backends, report } from "./world.ts"

const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31))
const schemas = seed % 2 === 0 ? 2 : 1
/** Starting, settling and checking, on a busy machine. */
const aroundMillisMax = 900_000

describe.each(backends)("T68 soak.vopr_lite on %s", (backend) => {
  test(
    "random faults, seeded",
    async () => {
      const history: Array<string> = []
      const outcome = await soak({
        backend,
        seed,
        schemas,
        from: 1,
        more: () => false,
        say: (line) => history.push(line)
      })
      const { findings, figures, faults, hostile, kept } = outcome
      report({ test: "T68", backend, seed, schemas, seconds: stageSeconds, ...figures, faults, hostile, findings })
      if (findings.length > 0) console.log([...history, `kept in ${kept}`].join("\n"))
      expect({ seed, findings }).toEqual({ seed, findings: [] })
      expect(figures["audits"]).toBeGreaterThan(0)
    },
    stageSeconds * 1_000 + aroundMillisMax
  )
})
