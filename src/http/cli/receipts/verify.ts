/**
 * `rungate receipt verify`: verifies a saved receipt, or a statement with its receipts, offline, and says in plain words what it proves. With
 * `--head` it also asks the service for the ledger of today, and compares it with heads that were saved before.
 */
import { Effect, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { LabelStatement, statementChecks } from "../../../schema/receipts/LabelStatement.ts"
import { receiptType, statementType } from "../../../schema/receipts/PublicKeys.ts"
import { Receipt } from "../../../schema/receipts/Receipt.ts"
import { type Check, checksOf, failed, ok } from "../../../schema/receipts/Verification.ts"
import { readText } from "../runs/input.ts"
import { formatOf, json } from "../answers/show.ts"
import { failedWith, bad } from "../terminal/exits.ts"
import { optionalArgument, text, withExamples } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"
import { harmless } from "../terminal/text.ts"

const jwsModule = Effect.promise(() => import("./Jws.ts"))
const headsModule = Effect.promise(() => import("./keptHeads.ts"))
const nothing = { checks: [], receipt: null }
const noHeads = { ofHeads: [], compared: [] }
type Keys = NonNullable<ReturnType<Effect.Success<typeof jwsModule>["keysIn"]>>

const when = (seconds: number) => new Date(seconds * 1_000).toISOString()

const receiptChecks = Effect.fnUntraced(function* (jws: string, keys: Keys) {
  const { verified, sha256, typeOf } = yield* jwsModule
  const lines = jws.split(/\s+/)
  if (typeOf(lines[0] ?? "") === statementType) return { checks: yield* statementOf(lines, keys), receipt: null }
  const receipt = yield* verified(jws, keys, receiptType, Receipt)
  if (Result.isFailure(receipt)) return { checks: [failed(receipt.failure)], receipt: null }
  const { key_id, payload } = receipt.success
  const { run_id, iss, iat } = payload
  const signature = ok(
    `The signature is valid. ${iss} signed the receipt of ${run_id} at ${when(iat)} with the key ${key_id}.`
  )
  return { checks: [signature, ...checksOf(payload, sha256)], receipt: payload }
})

/** A file with a signed statement, and the receipts of its runs below it. */
const statementOf = Effect.fnUntraced(function* ([first = "", ...others]: ReadonlyArray<string>, keys: Keys) {
  const { verified, sha256 } = yield* jwsModule
  const statement = yield* verified(first, keys, statementType, LabelStatement)
  if (Result.isFailure(statement)) return [failed(statement.failure)]
  const receipts: Array<Receipt> = []
  const wrong: Array<Check> = []
  for (const [n, jws] of others.entries()) {
    const receipt = yield* verified(jws, keys, receiptType, Receipt)
    if (Result.isSuccess(receipt)) receipts.push(receipt.success.payload)
    else wrong.push(failed(`Line ${n + 2}: ${receipt.failure}`))
  }
  const { key_id, payload } = statement.success
  const { iss, iat, label, value, from, to, time_zone } = payload
  const signature = ok(
    `The signature is valid. ${iss} signed the statement of ${label} "${value}" from ${from} to ${to} (${time_zone}) at ${when(iat)} with the key ${key_id}.`
  )
  return [signature, ...wrong, ...statementChecks(payload, receipts, sha256)]
})

const marks = { ok: "ok", failed: "FAILED", unknown: "unknown" } as const
const colors = { ok: "green", failed: "red", unknown: "yellow" } as const

const shown = Effect.fnUntraced(function* (
  checks: ReadonlyArray<Check>,
  /** What became of each kept head. */
  compared: ReadonlyArray<Check>,
  receipt: Receipt | null,
  flags: { readonly json: boolean }
) {
  const screen = yield* Screen
  const valid = checks.every(({ result }) => result !== "failed")
  if (formatOf(screen, flags) === "json") {
    yield* screen.out(`${JSON.stringify({ valid, checks, receipt }, null, 2)}\n`)
  } else {
    const line = ({ result, text }: Check) =>
      `${screen.paint(colors[result], marks[result].padEnd(8))}${harmless(text)}\n`
    yield* screen.out(checks.map(line).join(""))
  }
  if (valid && compared.length > 0 && !compared.some(({ result }) => result === "ok"))
    return yield* failedWith(
      "None of the ledger heads could be compared: their entries were dropped with their months."
    )
  if (!valid) return yield* failedWith("Not valid: see FAILED above. Do not rely on it.")
})

export const verify = Command.make(
  "verify",
  {
    file: optionalArgument(
      Argument.String("file"),
      "the receipt or statement, or - for stdin; default: stdin, or no receipt with --head"
    ),
    jwks: Flag.String("jwks").pipe(Flag.withDescription("the service's keys, as rungate receipt keys saved them")),
    head: text("head", "ledger heads that you kept (rungate wallet heads): are they still in the ledger of today?"),
    json
  },
  Effect.fnUntraced(function* ({ file: given, jwks, head, ...flags }) {
    const file = given ?? (head === null ? "-" : null)
    if ([file, jwks, head].filter((one) => one === "-").length > 1)
      return yield* bad("Only one of the receipt, --jwks and --head can be stdin.")
    const { keysIn } = yield* jwsModule
    const keys = keysIn(yield* readText(jwks))
    if (keys === null) return yield* bad(`${jwks} does not hold keys. Save them with: rungate receipt keys -o ${jwks}`)
    const jws = file === null ? null : (yield* readText(file)).trim()
    if (jws === "") return yield* bad("The receipt is empty. Save it with: rungate receipt <run_id>")
    const { checks, receipt } = jws === null ? nothing : yield* receiptChecks(jws, keys)
    const { ofHeads, compared } =
      head === null ? noHeads : yield* (yield* headsModule).headChecks(yield* readText(head), keys)
    yield* shown([...checks, ...ofHeads], compared, receipt, flags)
  })
).pipe(
  Command.withDescription(
    "Verify a saved receipt or statement, offline, and kept ledger heads; exit code 1 when one is not valid"
  ),
  withExamples({
    "rungate receipt verify run_01m83b2x7kq4s8d1n6t0v5y9za.jws --jwks jwks.json": "Nothing is asked of the service",
    "rungate receipt verify --head ledger-heads.json --jwks jwks.json":
      "Asks for the ledger, and finds out if it was rewritten"
  })
)
