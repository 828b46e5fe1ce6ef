/** What the console shows of commands: a word as a POSIX shell reads it, quoted where it needs that, and what somebody runs first. */
export { firstRun, quoted } from "../../schema/Steps.ts"
