/**
 * `npm run soak -- --minutes 60 --seed 7`: random faults for an hour (see soak.ts and docs/reliability.md).
 *
 * Prints the seed, each fault, a line for each stage, and at the end the figures and `N passed, N failed`: one for each check and backend.
 * Exit code: 0 when everything held, 1 at a violation, 2 for wrong flags, 130 when it was interrupted.
 */
import { canBend } from "../chaos/clock.ts"
import { installedBackends } from "../chaos/world.ts"
import { type Flags, flagsOf, usage } from "./flags.ts"
import { stageSeconds } from "./plan.ts"
import { checks, type Outcome, soak } from "./soak.ts"

const flags = flagsOf(process.argv.slice(2))
if (flags === null) {
  console.log(usage)
  process.exit(0)
}
if (typeof flags === "string") {
  console.error(`soak: ${flags} See npm run soak -- --help`)
  process.exit(2)
}

const schemasOf = ({ schemas }: Flags) => (schemas === 1 ? "" : ` --schemas ${schemas}`)
const lineOf = (flags: Flags, more: string) =>
  `npm run soak -- --minutes ${flags.minutes} --seed ${flags.seed}${schemasOf(flags)}${more}`

const chosen = flags.backend === null ? installedBackends : installedBackends.filter((one) => one === flags.backend)
if (chosen.length === 0) {
  console.error("soak: redis-server is not installed. Install it, or use --backend postgres.")
  process.exit(2)
}
const budgetSeconds = (flags.minutes * 60) / chosen.length

const interrupted = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort(signal))

const pairs = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ")

const tellViolation = ({ backend, findings, stage, seconds, kept }: Outcome) => {
  const { seed } = flags
  console.log(`\nVIOLATION after ${seconds} s, in stage ${stage} on ${backend}, seed ${seed}:`)
  for (const { check, text } of findings) console.log(`  ${checks[check]}\n    ${text}`)
  const only = `--backend ${backend}`
  console.log(`\nThe lines above are the history of faults. Repeat them all, or only this stage:`)
  console.log(`  ${lineOf(flags, ` ${only}`)}`)
  console.log(`  npm run soak -- --seed ${seed}${schemasOf(flags)} ${only} --stage ${stage}`)
  console.log(`PostgreSQL's files (stopped), the processes' logs and the history are kept in ${kept}`)
}

const tell = (outcome: Outcome) => {
  const { backend, stages, seconds, figures, faults, hostile } = outcome
  console.log(`\n${backend}: ${stages} stages in ${seconds} s`)
  console.log(`  ${pairs(figures)}`)
  console.log(`  faults: ${pairs(faults)}`)
  console.log(`  hostile answers: ${pairs(hostile)}`)
}

console.log(`soak: ${flags.minutes} minutes, seed ${flags.seed}, queues on ${chosen.join(" and then on ")}`)
console.log(`repeat it with: ${lineOf(flags, flags.backend === null ? "" : ` --backend ${flags.backend}`)}`)
if (flags.backend === null && !chosen.includes("redis"))
  console.log("redis-server is not installed: only the Postgres queues are tested")
if (!canBend) console.log("wrong_clock only restarts a process here, because faketime is not installed")
console.log("slow_disk makes PostgreSQL's commits wait for a standby that does not exist: it slows down no real disk\n")

const outcomes: Array<Outcome> = []
for (const backend of chosen) {
  const began = performance.now()
  const enough = () => (performance.now() - began) / 1_000 + stageSeconds > budgetSeconds
  const outcome = await soak({
    backend,
    seed: flags.seed,
    schemas: flags.schemas,
    from: flags.stage ?? 1,
    more: () => flags.stage === null && !enough(),
    say: (line) => console.log(line),
    signal: interrupted.signal
  })
  outcomes.push(outcome)
  if (outcome.findings.length > 0) tellViolation(outcome)
  if (outcome.findings.length > 0 || interrupted.signal.aborted) break
}

for (const outcome of outcomes) tell(outcome)
let [passed, failed] = [0, 0]
console.log()
for (const { backend, findings, stages } of outcomes) {
  for (const [check, sentence] of Object.entries(checks)) {
    if (check === "schemas" && flags.schemas === 1) continue
    const count = findings.filter((one) => one.check === check).length
    if (count > 0) failed += 1
    else if (stages > 0) passed += 1
    const verdict = count > 0 ? `FAILED (${count})` : stages > 0 ? "passed" : "not reached"
    console.log(`${verdict.padEnd(11)} ${backend}: ${sentence}`)
  }
}
if (interrupted.signal.aborted) console.log(`stopped early by ${interrupted.signal.reason}`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : interrupted.signal.aborted ? 130 : passed > 0 ? 0 : 1)
