/** What a page shows when its address leads nowhere, or its code failed. */
import { type ErrorComponentProps, useLocation } from "@tanstack/react-router"
import { allPages, pagesAt } from "../data/page.ts"
import { useSession } from "../data/session.ts"
import { Button, Failed, OutLink, PageHead, TextLink } from "../parts/Page.tsx"
import { Icon } from "../parts/Icon.tsx"
import { openPalette } from "./openPalette.ts"

/** Pages that have a part of the address in theirs, such as API keys for `/keys`. */
const likely = (address: string) => {
  const parts = new Set(address.toLowerCase().split("/"))
  return allPages().filter(
    ({ path, place }) => place !== undefined && path.split("/").some((part) => part !== "" && parts.has(part))
  )
}

const SignedIn = ({ address }: { readonly address: string }) => {
  const near = likely(address)
  return (
    <>
      <p className="mb-2 text-muted">{near.length === 0 ? "These pages exist:" : "You may want one of these:"}</p>
      <ul className="mb-4 flex flex-wrap gap-x-6 gap-y-2">
        {(near.length === 0 ? pagesAt("rail") : near).map(({ path, title, icon }) => (
          <li key={path} className="flex items-center gap-1.5">
            <Icon of={icon} />
            <TextLink to={path}>{title}</TextLink>
          </li>
        ))}
      </ul>
      <Button look="primary" onClick={openPalette}>
        Search pages, runs and capabilities
      </Button>
    </>
  )
}

export const PageMissing = () => {
  const { pathname } = useLocation()
  const session = useSession()
  return (
    <>
      <PageHead title="This page does not exist">
        Nothing is at <code className="font-mono text-small break-all">{pathname}</code>. Check the address, or go on
        from here.
      </PageHead>
      {session !== null ? (
        <SignedIn address={pathname} />
      ) : (
        <p>
          <TextLink to="/">What this service is</TextLink>, <TextLink to="/sign-in">sign in</TextLink>, or the{" "}
          <OutLink href="/docs">docs</OutLink>.
        </p>
      )}
    </>
  )
}

/** The code of a page could not be loaded, often because the service has a newer version: loading the page anew gets it. */
export const PageFailed = ({ error }: ErrorComponentProps) => (
  <>
    <PageHead title="This page failed" />
    <Failed error={error} retry={() => location.reload()} />
  </>
)
