/** Roles, what each may do, and the members who have them. */
import type { AnswerOf } from "../../data/api.ts"

export type Member = AnswerOf<"members", "list">["items"][number]
export type Role = Member["role"]

/** Each role may do what the roles above it may do. */
export const roleWords: ReadonlyArray<readonly [Role, string]> = [
  ["viewer", "reads everything but the audit log"],
  ["member", "also runs, and creates and ends own API keys"],
  [
    "admin",
    "also revokes every key, sets limits, pays in, manages senders, webhooks and invitations, and reads the audit log"
  ],
  ["owner", "also changes roles and removes members"]
]
export const roleOf = (text: string): Role => roleWords.find(([role]) => role === text)?.[0] ?? "viewer"

/** What a role means for keys that the person created, said before it happens. Null if nothing happens to them. */
export const keysOfRole = (role: Role): string | null => {
  if (role === "viewer") return "API keys, connected apps and allowances that the person created are revoked at once."
  return role === "member"
    ? "API keys without a scope that the person created get one: they start runs and change nothing else."
    : null
}

/** What has happened to the keys, as the answer lists them. */
export const keysDone = (keys: AnswerOf<"members", "remove">["keys"]): string => {
  const names = (change: "narrowed" | "revoked") =>
    keys.flatMap((key) => (key.change === change ? [key.name] : [])).join(", ")
  const [narrowed, revoked] = [names("narrowed"), names("revoked")]
  return `${narrowed === "" ? "" : ` Keys that got a scope: ${narrowed}.`}${revoked === "" ? "" : ` Revoked keys: ${revoked}.`}`
}
