/**
 * The address of the service on this machine. `rungate serve` announces it in the user's state folder while it runs.
 *
 * Commands use it when neither RUNGATE_URL nor a profile names an address. An announcement of a process that has ended is
 * ignored, so a key is never sent to another process that took over the port.
 */
import { join } from "node:path"
import { Effect, Option, Schema } from "effect"
import * as PrivateFile from "./PrivateFile.ts"
import { isAlive, ownProcess, ProcessId } from "./ProcessId.ts"

const Announcement = Schema.fromJsonString(Schema.Struct({ url: Schema.String, process: ProcessId }))
const decode = Schema.decodeUnknownOption(Announcement)

const path = Effect.map(PrivateFile.stateFolder, (folder) => join(folder, "service.json"))

const announced = Effect.gen(function* () {
  const text = yield* PrivateFile.read(yield* path)
  return Option.getOrNull(decode(text ?? ""))
})

/** The address of the running service; null when none is announced. */
export const localUrl = announced.pipe(
  Effect.map((service) => (service !== null && isAlive(service.process) ? service.url : null)),
  Effect.orElseSucceed(() => null)
)

/** Announces this process until the scope closes. A service runs without an announcement when the folder can't be written. */
export const announce = (url: string) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      yield* PrivateFile.write(yield* path, `${JSON.stringify({ url, process: ownProcess() })}\n`)
    }).pipe(Effect.ignore),
    () =>
      Effect.gen(function* () {
        const service = yield* announced
        // A service that started later has replaced the announcement.
        if (service?.process.id === process.pid) yield* PrivateFile.remove(yield* path)
      }).pipe(Effect.ignore)
  )
