/**
 * Creates and hashes secrets. API keys, session tokens and link tokens are stored as SHA-256 digests, passwords as argon2id hashes.
 */
import { Context, Effect, Redacted } from "effect"
import { markOf } from "../../schema/accounts/TokenText.ts"

export const randomText = (length: number): string => {
  const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz"
  let text = ""
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      // 216 = 4 * 54. Larger bytes would favor the alphabet's first letters.
      if (byte < 216 && text.length < length) text += alphabet.charAt(byte % alphabet.length)
    }
  }
  return text
}

/** Nobody knows it: for accounts that sign in without a password. */
export const randomPassword = (): Redacted.Redacted => Redacted.make(randomText(43))

/** A plain digest is enough for secrets of 43 random letters (247 bits). Passwords need `hashed`. */
export const digest = (token: string): Uint8Array => new Bun.CryptoHasher("sha256").update(token).digest()

/** What is stored of a token. */
export const tokenHash = (token: Redacted.Redacted): Uint8Array => digest(Redacted.value(token))

/** What a link is for. */
type LinkPurpose = "verify" | "reset" | "invite" | "join" | "operator" | "approve"

type TokenKind = "test" | "live" | "sess" | "oper" | "code" | "refresh" | LinkPurpose

/**
 * The text of every token. Its prefix lets people and secret scanners recognize it. In a cell, it also has the mark by which the router finds
 * the cell (schema/accounts/TokenText.ts). `org_id` null: it belongs to no organization.
 */
export const newToken = (cell: string | null, kind: TokenKind, org_id: string | null): string =>
  `rg_${kind}_${cell === null ? "" : `${markOf(cell, org_id)}_`}${randomText(43)}`

export const newLinkToken = (cell: string | null, purpose: LinkPurpose, org_id: string | null): Redacted.Redacted =>
  Redacted.make(newToken(cell, purpose, org_id))

/** The cost of one password hash. The default is Bun's: 64 MiB and two passes. Tests use a cheaper one. */
export const PasswordCost = Context.Reference<Bun.Password.Argon2Algorithm>("rungate/layers/accounts/PasswordCost", {
  defaultValue: () => ({ algorithm: "argon2id", memoryCost: 65_536, timeCost: 2 })
})

export const hashed = (password: Redacted.Redacted): Effect.Effect<string> =>
  Effect.flatMap(PasswordCost, (cost) => Effect.promise(() => Bun.password.hash(Redacted.value(password), cost)))

/** Returns false if `hash` is not a valid hash. */
export const matches = (password: Redacted.Redacted, hash: string): Effect.Effect<boolean> =>
  Effect.tryPromise(() => Bun.password.verify(Redacted.value(password), hash)).pipe(Effect.orElseSucceed(() => false))
