/** Roles, what each may do, and the members who have them. */
import type { AnswerOf } from "../../../client/Browser.ts"
import { queries } from "../../data/api.ts"

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

export const membersChanged = () => queries.invalidateQueries({ queryKey: ["members"] })
