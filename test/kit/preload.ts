/**
 * Runs before every test file (bunfig.toml). A developer's own settings change no test: variables of the service, of its database and of
 * Stripe are removed. `TEST_*` and `RUNGATE_TEST_*` stay.
 */
import { setDefaultTimeout } from "bun:test"

/** Long enough for a busy machine, short enough to notice a test that hangs. bunfig.toml has no setting for it. */
setDefaultTimeout(30_000)

const ours = /^(RUNGATE_(?!TEST_)|STRIPE_)|^(DATABASE_URL|REDIS_URL|PORT)$/
for (const name of Object.keys(process.env)) if (ours.test(name)) delete process.env[name]
