/** An example of a simulation, for the OpenAPI document. Tests validate it. */
import type { Example } from "./Example.ts"

export const simulationExamples: Readonly<Record<string, Example>> = {
  "simulations.simulate": {
    request: { from: "2026-11-01", routing: { strategy: "cheapest" }, without: ["hunter"], max_cost: "0.02" },
    responses: {
      200: {
        currency: "USD",
        runs: 4210,
        actual: { cost: "61.3848", hit_rate: 0.8413, latency_ms_p95: 2310 },
        simulated: {
          cost: { lower: "38.52", expected: "44.1907", upper: "52.8804" },
          hit_rate: { lower: 0.6917, expected: 0.8102, upper: 0.9033 },
          latency_ms_p95: { lower: 1980, expected: 2204, upper: null }
        },
        unchanged_runs: 1904,
        unknown_runs: 912,
        unknown_share: 0.2166,
        refused_runs: 0,
        left_out: { raw: 120, erased: 3, older: 0 }
      }
    }
  }
}
