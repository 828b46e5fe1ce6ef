/**
 * Runs before every test file (bunfig.toml).
 *
 * A developer's own settings change no test: variables of the service, of its database and of Stripe are removed. `TEST_*` and
 * `RUNGATE_TEST_*` stay. Folders that tests make for themselves lie in memory where there is room, because a copy of a template database
 * takes 50 ms there and up to a second on a disk.
 */
import { setDefaultTimeout } from "bun:test"
import { statfsSync } from "node:fs"
import { repeatedBy } from "./input-samples.ts"
import { testMillis } from "./slowness.ts"

// The only place for it: bunfig.toml has no setting, and Bun's --timeout does not change it. A test or hook gives a limit of its own only if it
// needs more (test/tidy-tests.test.ts).
setDefaultTimeout(testMillis)

const ours = /^(RUNGATE_(?!TEST_)|STRIPE_)|^(DATABASE_URL|REDIS_URL|PORT)$/
for (const name of Object.keys(process.env)) if (ours.test(name)) delete process.env[name]

const memory = "/dev/shm"
/** The databases of three test processes take about 1.2 GB at most. */
const memoryBytesMin = 2_000_000_000
const freeBytes = (folder: string): number => {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return 0
  }
}
if (process.env["TMPDIR"] === undefined && freeBytes(memory) >= memoryBytesMin) process.env["TMPDIR"] = memory

if (repeatedBy !== null) console.log(`tests try samples of their inputs: ${repeatedBy} tries these again`)
