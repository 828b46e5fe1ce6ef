/** The scopes of access tokens, and the scope of the API key that a token is. Pure. */
import type { Allow } from "../accounts/KeyAccess.ts"

/** `run`: every run, also those that act outside, such as sending a message. `lookup`: runs that read and look up. */
export const oauthScopes = ["run", "lookup"] as const
export type OAuthScope = (typeof oauthScopes)[number]

const isScope = (text: string): text is OAuthScope => oauthScopes.some((one) => one === text)

/** The widest known scope of a request. Other names, such as `offline_access`, ask for nothing here. Null if it names no known one. */
export const requestedScope = (text: string | undefined): OAuthScope | null => {
  if (text === undefined || text.trim() === "") return "run"
  const scopes = text.split(" ").filter(isScope)
  if (scopes.length === 0) return null
  return scopes.includes("run") ? "run" : "lookup"
}

/** A key with a scope starts runs, and changes nothing else in the organization. It reads its own runs and budget. */
export const allowOf: Readonly<Record<OAuthScope, Allow>> = {
  run: { raw: true, read: "own" },
  lookup: { read_only: true, read: "own" }
}
