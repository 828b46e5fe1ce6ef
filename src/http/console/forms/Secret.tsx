/** A secret that the service shows only once. The page keeps it until the person says that it is stored. */
import { Button } from "../parts/Page.tsx"
import { CodeBlock } from "../parts/Values.tsx"

interface SecretProps {
  readonly title: string
  readonly label: string
  readonly text: string
  /** The words of the button, such as "I have stored the key". */
  readonly done: string
  readonly onStored: () => void
}

export const Secret = ({ title, label, text, done, onStored }: SecretProps) => (
  <section aria-label={title} className="space-y-3 rounded border border-amber bg-amber-soft p-4">
    <p className="font-medium text-amber">{title}</p>
    <CodeBlock label={label} text={text} />
    <Button onClick={onStored}>{done}</Button>
  </section>
)
