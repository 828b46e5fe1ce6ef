/** A word of a command as a POSIX shell reads it: quoted when it contains anything that the shell would take for syntax. */
export { quoted } from "../../schema/Steps.ts"
