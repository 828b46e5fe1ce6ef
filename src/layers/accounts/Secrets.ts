/**
 * Creates and hashes secrets: API keys, session tokens and link tokens are stored as SHA-256 digests, passwords as argon2id hashes.
 *
 * Tokens are shown once.
 */
import { Context, Effect, Redacted } from "effect"

export const randomText = (length: number): string => {
  const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz"
  let text = ""
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      // 216 = 4 * 54: larger bytes would favour the alphabet's first letters.
      if (byte < 216 && text.length < length) text += alphabet.charAt(byte % alphabet.length)
    }
  }
  return text
}

/** A 43-letter secret has 247 bits; a plain digest is enough for those, unlike for passwords. */
export const digest = (token: string): Uint8Array => new Bun.CryptoHasher("sha256").update(token).digest()

/** What a link is for. */
export type LinkPurpose = "verify" | "reset" | "invite"

/** A link's token. Its prefix tells secret scanners and people what it is. */
export const newLinkToken = (purpose: LinkPurpose): Redacted.Redacted =>
  Redacted.make(`rg_${purpose}_${randomText(43)}`)

/** The cost of one password hash. The default is Bun's: 64 MiB and two passes. Tests set a cheaper one. */
export const PasswordCost = Context.Reference<Bun.Password.Argon2Algorithm>("rungate/layers/accounts/PasswordCost", {
  defaultValue: () => ({ algorithm: "argon2id", memoryCost: 65_536, timeCost: 2 })
})

export const hashed = (password: Redacted.Redacted): Effect.Effect<string> =>
  Effect.flatMap(PasswordCost, (cost) => Effect.promise(() => Bun.password.hash(Redacted.value(password), cost)))

/** False also for what is no hash at all. */
export const matches = (password: Redacted.Redacted, hash: string): Effect.Effect<boolean> =>
  Effect.tryPromise(() => Bun.password.verify(Redacted.value(password), hash)).pipe(Effect.orElseSucceed(() => false))
