/** The operator's session. It has nothing to do with a customer's: both may be in one browser. */
import { type AnswerOf, api, ApiError, useRead } from "./api.ts"

export type OperatorSession = AnswerOf<"operatorSession", "get">

const key = ["operator", "session"]

/** Null without a session, or after it has ended. */
const readSession = async (): Promise<OperatorSession | null> => {
  try {
    return await api.operatorSession.get({})
  } catch (error) {
    if (error instanceof ApiError && error.code === "forbidden") return null
    throw error
  }
}

/** Asked for again when somebody comes back, at once if the session had ended: another tab may have a new one. */
export const useOperatorQuery = () =>
  useRead(key, readSession, { staleTime: ({ state }) => (state.data === null ? 0 : 60_000) })

/** After signing in or out: nothing of the session before may stay on the page. */
export const operatorSessionChanged = (to: string): void => location.assign(to)
