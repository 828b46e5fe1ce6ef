/**
 * Which tests run when: the folder of a test file decides.
 *
 * The fast tier is what a developer runs before each commit. A file belongs into `test/slow/` when it starts processes or browsers, or takes
 * more than about ten seconds (test/README.md). Chaos kills and freezes processes and waits for them, so two of its files run at once. The
 * security tier runs tools that other people wrote to find mistakes.
 */
export type Tier = "fast" | "slow" | "chaos" | "security"

/** The command that runs what `npm test` leaves out. */
export const commandOf: Readonly<Record<Exclude<Tier, "fast">, string>> = {
  slow: "npm run test:all",
  chaos: "npm run test:chaos",
  security: "npm run test:security"
}

const pathOf = (name: string): string => `test/chaos/${name}.test.ts`

/** Files of chaos that every `.ci/run` has, because money depends on them most. */
const always = ["commit", "crash", "freeze", "overspend", "payments"].map(pathOf)

/** One stage of the soak, of which `.ci/run` plays many. */
const never = pathOf("soak")

/** Files of chaos that compare times or start many servers, so each has the machine to itself. */
export const alone = ["auth-timing", "patroni", "slowloris", "soak"].map(pathOf)

/** Files that start many servers. One of them is due each day. */
const inTurn = ["patroni", "sentinel"].map(pathOf)

/**
 * Those, one in turn, and half of the others, by the day's seed. The queue backend of most files changes every two days, so four days have
 * each file on both.
 */
export const chaosDue = (files: ReadonlyArray<string>, seed: number): ReadonlyArray<string> =>
  files.filter((file, at) => {
    if (file === never || always.includes(file)) return file !== never
    return inTurn.includes(file) ? file === inTurn[seed % inTurn.length] : (at + seed) % 2 === 0
  })

export const tierOf = (file: string): Tier =>
  (["slow", "chaos", "security"] as const).find((tier) => file.startsWith(`test/${tier}/`)) ?? "fast"
