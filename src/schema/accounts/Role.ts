/**
 * The roles of an organization's members. Each role may do everything that the roles before it may do.
 *
 * `viewer` reads. `member` also runs and creates own API keys. `admin` also manages keys, limits, top-ups, senders and invitations.
 * `owner` also manages the members' roles and removes members.
 */
export const roles = ["viewer", "member", "admin", "owner"] as const
export type Role = (typeof roles)[number]

/** Whether a member with the role `has` may do what needs the role `needed`. */
export const allows = (has: Role, needed: Role): boolean => roles.indexOf(has) >= roles.indexOf(needed)

/** The role that a person needs to invite somebody to the role `invited`. */
export const inviterOf = (invited: Role): Role => (invited === "owner" ? "owner" : "admin")
