/** The pages of the settings, above each of them. */
import { useLocation } from "@tanstack/react-router"
import { pagesAt } from "../data/page.ts"
import { useCurrentInSight } from "../look/useCurrentInSight.ts"
import { Link } from "../parts/Link.tsx"

export const SettingsNav = () => {
  const { pathname } = useLocation()
  const list = useCurrentInSight(pathname)
  const isCurrent = (path: string) => pathname === path || pathname.startsWith(`${path}/`)
  return (
    <nav ref={list} aria-label="Settings" className="mb-6 flex gap-1 overflow-x-auto border-b border-line">
      {pagesAt("settings").map(({ path, title }) => (
        <Link
          key={path}
          to={path}
          aria-current={isCurrent(path) ? "page" : undefined}
          className={`border-b-2 px-3 py-2 whitespace-nowrap ${isCurrent(path) ? "border-accent font-semibold" : "border-transparent text-muted hover:text-text"}`}
        >
          {title}
        </Link>
      ))}
    </nav>
  )
}
