/** Who is signed in, and what this service is. */
import { useQuery } from "@tanstack/react-query"
import { type AnswerOf, api, ApiError, type OperationId, queries, sessionEnded, signedInAs, useRead } from "./api.ts"
import { stored } from "./store.ts"
import { restrictedOperations } from "../../client/operations.ts" with { type: "macro" }

export type OwnSession = AnswerOf<"auth", "session">

const sessionKey = ["session"]
const restricted = restrictedOperations()

/** Null for somebody who is signed out. A session that ends while its page is open stays known, so that the page stays. */
const readSession = async (): Promise<OwnSession | null> => {
  try {
    const session = await api.auth.session({})
    signedInAs.set({ user: session.user.id, organization: session.organization.id })
    return session
  } catch (error) {
    if (error instanceof ApiError && error.status === 401 && signedInAs.get() === null) return null
    throw error
  }
}

const sessionQuery = { queryKey: sessionKey, queryFn: readSession, staleTime: 60_000 }

export const useSessionQuery = () => useQuery(sessionQuery)

/** Asks for the session once, unless it was read before. Never fails: whoever shows the session asks again, and says what went wrong. */
export const sessionRead = async (): Promise<void> => {
  if (queries.getQueryData(sessionKey) === undefined) await queries.prefetchQuery({ ...sessionQuery, retry: false })
}

/** The session of a page in the frame, where there is one. */
export const useSession = (): OwnSession | null => useSessionQuery().data ?? null

export const useService = () => useRead(["service"], () => api.service.get({}), { staleTime: Number.POSITIVE_INFINITY })

/** Whether the person's role may call an operation. The service decides; this only says so before a click. */
export const useMay = (operation: OperationId): boolean => {
  const session = useSession()
  return session !== null && restricted[operation]?.roles.includes(session.role) !== false
}

/** Who may call an operation, for somebody who may not. Null for others. No session is asked for where any caller may. */
export const useDenied = (operation: OperationId): string | null => {
  const restriction = restricted[operation]
  const { data: session } = useQuery({ ...sessionQuery, enabled: restriction !== undefined })
  if (!session || restriction === undefined || restriction.roles.includes(session.role)) return null
  return `Your role is ${session.role}. ${restriction.words}`
}

/** Other tabs of this browser learn that the session changed: they would show one organization's page with another's data. */
const changedAt = "rungate.session"
/** Without storage, the next request of another tab shows the change. */
const tellTabs = () => stored(() => localStorage.setItem(changedAt, crypto.randomUUID()), undefined)

/** Whether somebody has signed in with this browser, perhaps long ago. Only says what is worth loading early. */
export const hasSignedInBefore = (): boolean => stored(() => localStorage.getItem(changedAt), null) !== null

const isSame = (session: OwnSession | null) => {
  const mine = signedInAs.get()
  return session?.organization.id === mine?.organization && session?.user.id === mine?.user
}

const followOtherTabs = async () => {
  const before = signedInAs.get()
  const session = await api.auth.session({}).catch(() => null)
  if (before === null || !isSame(session)) location.reload()
  else sessionEnded.set(false)
}
window.addEventListener("storage", ({ key }) => {
  if (key === changedAt) void followOtherTabs()
})

/** After signing in in place of an ended session: goes on if it is the same person in the same organization, else loads the page anew. */
export const sessionRenewed = async (): Promise<void> => {
  const mine = signedInAs.get()
  const session = await api.auth.session({})
  tellTabs()
  if (session.user.id !== mine?.user || session.organization.id !== mine.organization) return location.assign("/")
  sessionEnded.set(false)
  await queries.invalidateQueries()
}

/** After signing in, up or out, or switching the organization: nothing of the session before may stay on the page. */
export const sessionChanged = (to: string): void => {
  tellTabs()
  location.assign(to)
}

/** A local address to return to after signing in. Anything else, such as `//other.example`, is the start page. */
export const localAddress = (text: string | undefined): string =>
  text !== undefined && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(text) ? text : "/"
