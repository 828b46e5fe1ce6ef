/**
 * What SIGHUP does to this process: it stops, as after SIGTERM, or reads its settings again if it is a service without a terminal.
 *
 * A terminal that closes sends SIGHUP to what was started in it. Then the service has to stop, or its embedded database would be left running.
 * Supervisors send it to have the settings read again.
 */
import { isatty } from "node:tty"

let reload: (() => void) | null = null

const standardStreams = [0, 1, 2]

/** From now on SIGHUP calls `act`, unless the process belongs to a terminal. */
export const reloadOnHangUp = (act: () => void) => {
  if (!standardStreams.some((stream) => isatty(stream))) reload = act
}

/** Registers the handler. */
export const handleHangUp = () => {
  process.on("SIGHUP", () => (reload === null ? process.kill(process.pid, "SIGTERM") : reload()))
}
