/**
 * Which tests run when: the folder of a test file decides.
 *
 * The fast tier is what a developer runs before each commit. A file belongs into `test/slow/` when it starts processes or browsers, or takes
 * more than four seconds (test/README.md). Chaos kills and freezes processes, so each of its files has the machine to itself.
 */
export type Tier = "fast" | "slow" | "chaos"

/** The command that runs a tier, beside the fast one for `slow`. */
export const commandOf: Readonly<Record<Tier, string>> = {
  fast: "npm test",
  slow: "npm run test:all",
  chaos: "npm run test:chaos"
}

export const tierOf = (file: string): Tier =>
  file.startsWith("test/chaos/") ? "chaos" : file.startsWith("test/slow/") ? "slow" : "fast"
