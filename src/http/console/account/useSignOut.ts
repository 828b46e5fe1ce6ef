/** Ends the session in the cookie, and shows the start page. */
import { useAction } from "../actions/Actions.tsx"
import { api } from "../data/api.ts"
import { sessionChanged } from "../data/session.ts"

/** What stands before the reason when signing out is refused. */
export const stillSignedIn = "You are still signed in. "

export const useSignOut = () =>
  useAction(() => api.auth.signOut({}), { fails: stillSignedIn, after: () => sessionChanged("/") })
