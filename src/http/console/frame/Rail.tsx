/** The pages at hand: a rail with words on wide screens, icons alone below 1,024 px, a bar at the bottom below 640 px. */
import { useLocation } from "@tanstack/react-router"
import { BookText, Braces, Command, Settings } from "lucide-react"
import { useSignOut } from "../account/useSignOut.ts"
import { useAction } from "../actions/Actions.tsx"
import { api } from "../data/api.ts"
import { paletteKey } from "../data/keys.ts"
import { type Page, pagesAt } from "../data/page.ts"
import { sessionChanged, useSession } from "../data/session.ts"
import { Icon } from "../parts/Icon.tsx"
import { Menu } from "../parts/Menu.tsx"
import { Link } from "../parts/Page.tsx"
import { Balance } from "./Balance.tsx"
import { Environment, ThemeMenu } from "./ThemeMenu.tsx"
import { isCurrent } from "./Shortcuts.tsx"
import { openPalette } from "./openPalette.ts"

/** The organization of this session, the person's others, and signing out. */
const OrganizationMenu = ({ iconOnly = false }: { readonly iconOnly?: boolean }) => {
  const session = useSession()
  const signOut = useSignOut()
  const change = useAction((organization_id: string) => api.browser.switch({ payload: { organization_id } }), {
    fails: "",
    after: () => sessionChanged("/")
  })
  if (session === null) return null
  const { organization, organizations, user } = session
  return (
    <Menu
      label={`Organization ${organization.name}, signed in as ${user.email}`}
      className="min-h-8 min-w-0 rounded px-2 py-1 font-semibold hover:bg-hover"
      actions={[
        ...organizations.map(({ id, name }) => ({
          word: name,
          chosen: id === organization.id,
          run: () => {
            if (id !== organization.id) change.mutate(id)
          }
        })),
        { word: `Sign out ${user.email}`, run: () => signOut.mutate() }
      ]}
    >
      <span className={iconOnly ? "font-semibold" : "truncate"}>
        {iconOnly ? organization.name.slice(0, 1).toUpperCase() : organization.name}
      </span>
    </Menu>
  )
}

/** The settings are one entry, which leads to the first of their pages. */
const railPages = (): ReadonlyArray<Page> => [
  ...pagesAt("rail"),
  ...pagesAt("settings")
    .slice(0, 1)
    .map((first) => ({ ...first, title: "Settings", icon: Settings }))
]
/** More do not fit beside each other at 360 px. The palette has the rest. */
const barMax = 4

/** Whether the page that is open belongs to an entry, whose first page may stand for a whole room. */
const isUnder = (path: string, { path: own, title }: Page) =>
  isCurrent(path, title === "Settings" ? "/settings" : own) || (own === "/activity" && path.startsWith("/runs/"))

const Entry = ({ page, form }: { readonly page: Page; readonly form: "rail" | "bar" }) => {
  const isHere = isUnder(useLocation().pathname, page)
  const look = isHere ? "bg-accent-soft text-accent font-semibold" : "text-text hover:bg-hover"
  const shape =
    form === "bar"
      ? "flex-col gap-0.5 px-1 py-1.5 text-small flex-1"
      : "gap-2.5 px-2.5 py-1.5 max-lg:justify-center max-lg:px-0"
  return (
    <Link
      to={page.path}
      aria-current={isHere ? "page" : undefined}
      title={page.title}
      className={`flex items-center rounded ${shape} ${look}`}
    >
      <Icon of={page.icon} size={18} />
      <span className={form === "rail" ? "max-lg:sr-only" : ""}>{page.title}</span>
    </Link>
  )
}

const SearchButton = () => (
  <button
    type="button"
    onClick={openPalette}
    title={`Go to a page, find a run (${paletteKey})`}
    className="flex min-h-8 items-center gap-2 rounded border border-line px-2.5 text-muted hover:bg-hover max-lg:justify-center max-lg:px-0"
  >
    <Command size={16} aria-hidden="true" />
    <span className="max-lg:sr-only">Go to…</span>
    <kbd className="ml-auto text-small max-lg:hidden">{paletteKey}</kbd>
  </button>
)

/** Pages of the service outside of the console. */
const guides = [
  { href: "/docs", word: "Docs", rest: "", Shape: BookText },
  { href: "/docs/api", word: "API", rest: " reference", Shape: Braces }
] as const

const Guides = () =>
  guides.map(({ href, word, rest, Shape }) => (
    <a
      key={href}
      href={href}
      title={word + rest}
      className="flex min-h-8 items-center gap-1.5 rounded px-1.5 text-muted hover:bg-hover hover:text-text"
    >
      <Shape size={16} aria-hidden="true" />
      <span className="max-lg:sr-only">
        {word}
        <span className="sr-only">{rest}</span>
      </span>
    </a>
  ))

export const Rail = () => (
  <header className="sticky top-0 flex h-dvh w-56 shrink-0 flex-col gap-3 border-r border-line bg-sunken p-3 max-lg:w-14 max-lg:p-2 max-sm:hidden">
    <div className="flex items-center justify-between gap-1 max-lg:flex-col">
      <div className="flex min-w-0 max-lg:hidden">
        <OrganizationMenu />
      </div>
      <div className="lg:hidden">
        <OrganizationMenu iconOnly />
      </div>
      <Environment />
    </div>
    <SearchButton />
    <nav aria-label="Pages" className="flex flex-1 flex-col gap-0.5 overflow-y-auto">
      {railPages().map((page) => (
        <Entry key={page.title} page={page} form="rail" />
      ))}
    </nav>
    <div className="flex items-center gap-1 max-lg:flex-col">
      <ThemeMenu />
      <Guides />
    </div>
    <div className="border-t border-line pt-3 max-lg:hidden">
      <Balance />
    </div>
  </header>
)

export const TopBar = () => (
  <header className="sticky top-0 z-20 flex items-center justify-between gap-2 border-b border-line bg-sunken px-3 py-1.5 lg:hidden">
    <div className="flex min-w-0 items-center gap-2 sm:hidden">
      <OrganizationMenu />
      <Environment />
    </div>
    <div className="ml-auto flex items-center gap-1">
      <Balance compact />
      <div className="flex sm:hidden">
        <Guides />
        <ThemeMenu />
      </div>
    </div>
  </header>
)

export const BottomBar = () => (
  <nav
    aria-label="Pages"
    className="fixed inset-x-0 bottom-0 z-20 flex border-t border-line bg-sunken px-1 pb-[env(safe-area-inset-bottom)] sm:hidden"
  >
    {railPages()
      .slice(0, barMax)
      .map((page) => (
        <Entry key={page.title} page={page} form="bar" />
      ))}
    <button
      type="button"
      onClick={openPalette}
      className="flex flex-1 flex-col items-center gap-0.5 rounded px-1 py-1.5 text-small hover:bg-hover"
    >
      <Command size={18} aria-hidden="true" />
      More
    </button>
  </nav>
)
