/** What a page shows when its address leads nowhere, or its code failed. */
import type { ErrorComponentProps } from "@tanstack/react-router"
import { TextLink } from "../parts/Link.tsx"
import { Failed, PageHead } from "../parts/Page.tsx"

export const PageMissing = () => (
  <>
    <PageHead title="This page does not exist" />
    <p>
      Check the address, or go to <TextLink to="/">the start page</TextLink>.
    </p>
  </>
)

/** The code of a page could not be loaded, often because the service has a newer version: loading the page anew gets it. */
export const PageFailed = ({ error }: ErrorComponentProps) => (
  <>
    <PageHead title="This page failed" />
    <Failed error={error} retry={() => location.reload()} />
  </>
)
