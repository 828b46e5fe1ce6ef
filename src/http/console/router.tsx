/** Routes of all pages, each loaded when somebody opens it or is about to. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router"
import { registerPages } from "./data/page.ts"
import { parseSearch, writeSearch } from "./data/address.ts"
import { PageFailed, PageMissing } from "./frame/Missing.tsx"
import { Root } from "./frame/Root.tsx"
import { pages } from "./pages.ts"
import { Skeleton } from "./parts/States.tsx"

const preloadMillis = 50

/** A final `$` takes at least one segment, so `/catalog/email.find` is a capability and not a provider without a path. */
const restOf = (params: Record<string, string>) => (params["_splat"] === "" ? false : params)

export const makeRouter = () => {
  registerPages(pages)
  const root = createRootRoute({ component: Root, notFoundComponent: PageMissing })
  const routes = pages.map(({ path, load }) =>
    createRoute({
      getParentRoute: () => root,
      path,
      component: lazyRouteComponent(load),
      ...(path.endsWith("/$") ? { params: { parse: restOf } } : {})
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
