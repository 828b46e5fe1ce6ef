/** The address of the page: parameters of its path, and filters in its query as plain text, so that a link holds what somebody sees. */
import { useNavigate, useParams, useRouter, useSearch } from "@tanstack/react-router"
import { useCallback, useMemo } from "react"

export type Search = Readonly<Record<string, string>>

/** `?a=1&b=x` as text, without the types that JSON would give it. */
export const parseSearch = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text.replace(/^\?/, "")))

export const writeSearch = (search: Readonly<Record<string, unknown>>): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(search))
    if (typeof value === "string" && value !== "") query.set(name, value)
  const text = query.toString()
  return text === "" ? "" : `?${text}`
}

/** The filters that are set, as a part of the API's query. */
export const setOnly = <K extends string>(filters: Readonly<Record<K, string>>): { readonly [name in K]?: string } => {
  const query: { [name in K]?: string } = {}
  for (const name in filters) if (filters[name] !== "") query[name] = filters[name]
  return query
}

const textsIn = (value: unknown): Search =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).flatMap(([name, one]) => (typeof one === "string" ? [[name, one]] : [])))
    : {}

/** A parameter of the path, such as `run_id`. The rest of a path is `_splat`. */
export const useParam = (name: string): string => textsIn(useParams({ strict: false }))[name] ?? ""

interface Change {
  /** The back button undoes it. */
  readonly push?: boolean
  /** The page stays scrolled as it is. Otherwise its top is shown. */
  readonly stay?: boolean
}

/** The query, and a function that changes parts of it: an empty text removes one. */
export const useFilters = (): readonly [Search, (changes: Search, how?: Change) => void] => {
  const current = useSearch({ strict: false })
  // The same object while the address is the same, so that lists that depend on it are not made anew.
  const search = useMemo(() => textsIn(current), [current])
  const navigate = useNavigate()
  const change = useCallback(
    (changes: Search, { push = false, stay = false }: Change = {}) => {
      void navigate({
        to: ".",
        search: (before: unknown) =>
          Object.fromEntries(Object.entries({ ...textsIn(before), ...changes }).filter(([, value]) => value !== "")),
        replace: !push,
        resetScroll: !stay
      })
    },
    [navigate]
  )
  return [search, change]
}

/** Goes to an address of the console. */
export const useGo = (): ((to: string) => void) => {
  const navigate = useNavigate()
  return useCallback((to: string) => void navigate({ href: to }), [navigate])
}

/** Loads the code of the page at an address before somebody opens it. Links of the router do so by themselves. */
export const usePreload = (): ((to: string) => void) => {
  const router = useRouter()
  return useCallback(
    (to: string) => {
      // The page loads its code once more when it opens, and says what is wrong.
      router.preloadRoute({ to }).catch(() => {})
    },
    [router]
  )
}
