/** The name of an API key, which leads to its page, above what is shown of the key. */
import { RowLink, TextLink } from "../../parts/Page.tsx"

/** An id of a key, which leads to its page. */
export const KeyLink = ({ id, name = id }: { readonly id: string; readonly name?: string }) => (
  <TextLink to={`/settings/keys/${id}`} className="break-words">
    {name}
  </TextLink>
)

export const KeyName = ({
  id,
  name,
  display
}: {
  readonly id: string
  readonly name: string
  readonly display: string
}) => (
  <>
    <RowLink to={`/settings/keys/${id}`} className="break-words">
      {name}
    </RowLink>
    <code className="block font-mono text-muted">{display}</code>
  </>
)
