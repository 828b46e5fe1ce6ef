/**
 * The entry of the service's one file (scripts/bundle.ts).
 *
 * Effect makes an error and reads its stack while it is loaded, to learn which engine runs it. That would decode the source map of the whole
 * file at each start (40 ms, 15 MB). So until everything is loaded, errors have no stacks.
 */
// oxlint-disable-next-line import/no-unassigned-import -- it is the program
import "../src/main.ts"

/** Bun's default. */
Error.stackTraceLimit = 10
