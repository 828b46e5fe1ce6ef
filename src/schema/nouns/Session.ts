/** A person's session in an organization. */
import { Schema } from "effect"
import { roles } from "../accounts/Role.ts"
import { withColumns } from "../Columns.ts"
import { component, such, time, withExample } from "./Noun.ts"

const organization = { id: "org_01m81nzgh66f8vfxqbkda58gtf", name: "Acme" }
const example = {
  expires_at: "2026-12-22T09:30:00.000Z",
  organization,
  user: { id: "usr_01m81nzgvweh2hdt7twdxbzz25", email: "jane@acme.example" },
  role: "owner"
} as const

export const Session = component("Session", {
  expires_at: time,
  organization: Schema.Struct({ id: Schema.String, name: Schema.String }),
  user: Schema.Struct({ id: Schema.String, email: Schema.String }),
  role: Schema.Literals(roles).annotate({ description: "The user's role in the organization." }),
  verification: Schema.optionalKey(Schema.Literal("pending")).annotate({
    description:
      "Present until the e-mail address is verified with the link that was mailed to it. Until then the session can't create keys, run or pay."
  })
}).pipe(withExample(example))

/** The session, and where else its user may sign in. */
export const OwnSession = component("OwnSession", {
  ...Session.fields,
  organizations: Schema.Array(
    Schema.Struct({ id: Schema.String, name: Schema.String, role: Schema.Literals(roles) })
  ).annotate({ description: "All organizations of the user, oldest membership first. Sign-in takes their ids." })
}).pipe(withExample({ ...example, organizations: [{ ...organization, role: "owner" }] }))

export const NewSession = component("NewSession", { session_token: Schema.String, ...Session.fields }).pipe(
  withExample({ session_token: "rg_sess_YOUR_TOKEN", ...example })
)

export const OpenSession = component("OpenSession", {
  id: such("ses_4f1c2a9e0b7d4c55a1e6f0b3c8d92e17", "Id of the session, `ses_…`. It is not the token."),
  organization: Schema.Struct({ id: Schema.String, name: Schema.String }),
  current: Schema.Boolean.annotate({ description: "True for the session that asks." }),
  created_at: time,
  expires_at: time
}).pipe(
  withColumns({
    list: ["created_at", "organization.name", "expires_at"],
    wide: ["expires_at"],
    titles: { created_at: "Signed in", "organization.name": "Organization", expires_at: "Ends" }
  }),
  withExample({
    id: "ses_4f1c2a9e0b7d4c55a1e6f0b3c8d92e17",
    organization,
    current: true,
    created_at: "2026-11-20T08:00:00.000Z",
    expires_at: "2026-12-20T08:00:00.000Z"
  })
)
