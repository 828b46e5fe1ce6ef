/** `rungate receipt`: saves the signed receipt of a run, and the keys that verify it. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { keysPath } from "../../../schema/receipts/PublicKeys.ts"
import { ReceiptsApi } from "../../api/Receipts.ts"
import { Client } from "../answers/Client.ts"
import { call } from "../answers/operation.ts"
import { succeeded } from "../answers/show.ts"
import { outputFlag, saveFile } from "./files.ts"
import { verify } from "./verify.ts"
import { argument, withExamples } from "../terminal/flags.ts"

const keys = Command.make(
  "keys",
  { output: outputFlag("jwks.json") },
  Effect.fnUntraced(function* ({ output }) {
    const { send } = yield* Client
    const { text } = yield* Effect.flatMap(send("GET", keysPath), succeeded)
    yield* saveFile(output ?? "jwks.json", text, "the keys of receipts")
  })
).pipe(Command.withDescription("Save the public keys that verify receipts"))

export const receipt = Command.make(
  "receipt",
  {
    run_id: argument("run_id", "a run that has ended"),
    output: outputFlag("<run_id>.jws")
  },
  Effect.fnUntraced(function* ({ run_id, output }) {
    const how = { headers: { accept: "application/jose" } }
    const asking = call(ReceiptsApi.endpoints.get, { params: { run_id } }, how)
    const { text } = yield* Effect.flatMap(asking, succeeded)
    yield* saveFile(output ?? `${run_id}.jws`, text, "the receipt")
  })
).pipe(
  Command.withDescription("Save the signed receipt of a run; verify it, also offline"),
  Command.withSubcommands([verify, keys]),
  withExamples({ "rungate receipt run_01m83b2x7kq4s8d1n6t0v5y9za": "Save it as <run_id>.jws" })
)
