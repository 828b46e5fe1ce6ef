/** The error of a listener whose port is taken. */
import { Schema } from "effect"

export class PortTaken extends Schema.TaggedError<PortTaken>()("PortTaken", { message: Schema.String }) {}

export const portTaken = (host: string, port: number, settings: string) =>
  new PortTaken({ message: `Can't listen on ${host}:${port}; is another process there? Set ${settings}.` })
