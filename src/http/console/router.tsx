/** Routes of all pages, each loaded when somebody opens it or is about to. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router"
import { parseSearch, writeSearch } from "./data/address.ts"
import { type Page, registerPages } from "./data/page.ts"
import { sessionRead } from "./data/session.ts"
import { PageFailed, PageMissing } from "./frame/Missing.tsx"
import { OperatorFrame, Root } from "./frame/Root.tsx"
import { pages } from "./pages.ts"
import { Skeleton } from "./parts/Page.tsx"

const preloadMillis = 50

/** A final `$` takes at least one segment, so `/catalog/email.find` is a capability and not a provider without a path. */
const restOf = (params: Record<string, string>) => (params["_splat"] === "" ? false : params)

/**
 * The page's code, together with what its frame needs before it can show the page. They come at once and are shown at once: each Suspense
 * fallback on the way to a page keeps React from showing anything else for 300 ms.
 */
const withFrame = async ({ load, access }: Page) => {
  const [page] = await Promise.all([
    load(),
    access === "operator" ? OperatorFrame.preload?.() : access === "public" ? undefined : sessionRead()
  ])
  return page
}

export const makeRouter = () => {
  registerPages(pages)
  const root = createRootRoute({ component: Root, notFoundComponent: PageMissing })
  const routes = pages.map((page) =>
    createRoute({
      getParentRoute: () => root,
      path: page.path,
      component: lazyRouteComponent(() => withFrame(page)),
      ...(page.path.endsWith("/$") ? { params: { parse: restOf } } : {})
    })
  )
  return createRouter({
    routeTree: root.addChildren(routes),
    parseSearch,
    stringifySearch: writeSearch,
    defaultPreload: "intent",
    defaultPreloadDelay: preloadMillis,
    scrollRestoration: true,
    defaultPendingComponent: Skeleton,
    defaultErrorComponent: PageFailed,
    defaultNotFoundComponent: PageMissing
  })
}
