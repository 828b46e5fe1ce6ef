/** A person's own passkeys. Starting one needs the password, and the code of a second factor. */
import { Effect, Schema } from "effect"
import { AccountMails } from "../../../actors/accounts/AccountMails.ts"
import { Passkeys, registerUse } from "../../../layers/accounts/Passkeys.ts"
import { SecondFactors } from "../../../layers/accounts/SecondFactors.ts"
import { refusedWith } from "../../../schema/Errors.ts"
import { Passkey } from "../../../schema/nouns/Passkey.ts"
import { shownName } from "../../../schema/json/StorableText.ts"
import { allowCode, codeRefused } from "../../pages/SignIn.ts"
import { makeSite } from "../../pages/PasskeySite.ts"
import { group } from "../group.ts"
import { allowAttempt } from "../../middleware/Attempts.ts"
import { makeAsCaller, makeOwnSession } from "../../middleware/Bearer.ts"
import { Limits } from "../../middleware/Limits.ts"
import { makeWithPassword } from "./withPassword.ts"

const unknown = (id: string) =>
  refusedWith("not_found", `You have no passkey "${shownName(id)}". List them with GET /v1/auth/passkeys.`, [
    { path: "path.passkey_id", message: "is not a passkey of yours" }
  ])

const shown = Schema.encodeSync(Passkey)

export const PasskeysHandlers = group(
  "passkeys",
  Effect.fnUntraced(function* (handlers) {
    const passkeys = yield* Passkeys
    const factors = yield* SecondFactors
    const mails = yield* AccountMails
    const limits = yield* Limits
    const asCaller = yield* makeAsCaller
    const session = yield* makeOwnSession
    const site = yield* makeSite
    const withPassword = yield* makeWithPassword

    return handlers.handleAll({
      list: Effect.fnUntraced(function* () {
        const rows = yield* passkeys.list((yield* session).user_id)
        return { items: rows.map((row) => shown(row)), next_cursor: null }
      }),

      start: Effect.fnUntraced(function* ({ payload: { current_password, code = null } }) {
        const { hostname } = yield* site
        const { user_id, email } = yield* withPassword(current_password)
        yield* allowCode(limits, email, code)
        yield* factors.check(user_id, code).pipe(Effect.catchTags(codeRefused(limits, email, "invalid_request")))
        return {
          challenge: yield* passkeys.challenge(registerUse(user_id)),
          rp_id: hostname,
          user_handle: Buffer.from(user_id).toString("base64url"),
          // Browsers register none of these twice.
          credential_ids: (yield* passkeys.list(user_id)).map(({ credential_id }) => credential_id)
        }
      }),

      create: Effect.fnUntraced(function* ({ payload }) {
        const mine = yield* session
        yield* allowAttempt(limits, mine.email)
        const row = yield* asCaller(passkeys.add(yield* site, mine, payload))
        yield* mails.wake
        return shown(row)
      }),

      rename: Effect.fnUntraced(function* ({ params: { passkey_id }, payload: { name } }) {
        const row = yield* asCaller(passkeys.rename((yield* session).user_id, passkey_id, name))
        return shown(row ?? (yield* unknown(passkey_id)))
      }),

      remove: Effect.fnUntraced(function* ({ params: { passkey_id } }) {
        const removed = yield* asCaller(passkeys.remove((yield* session).user_id, passkey_id))
        if (!removed) return yield* unknown(passkey_id)
        yield* mails.wake
        return { id: passkey_id, deleted: true as const }
      })
    })
  })
)
