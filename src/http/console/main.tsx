/** The console's entry: mounts the router and the cache of the API's answers. */
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { queries } from "./data/api.ts"
import { followSystem } from "./look/themes.ts"
import { makeRouter } from "./router.tsx"

followSystem()

const element = document.getElementById("root")
if (element !== null) {
  createRoot(element).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={makeRouter()} />
      </QueryClientProvider>
    </StrictMode>
  )
}
