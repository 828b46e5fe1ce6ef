/** The name of an API key, which leads to its page, above what is shown of the key. */
import { Link } from "../../parts/Link.tsx"

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
    <Link to={`/settings/keys/${id}`} className="font-medium break-words hover:underline">
      {name}
    </Link>
    <code className="block font-mono text-muted">{display}</code>
  </>
)
