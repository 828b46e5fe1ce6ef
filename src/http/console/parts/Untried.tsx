/** What stands wherever the console counts providers: how far their adapters were tried. */
import { OutLink } from "./Link.tsx"

export const Untried = () => (
  <>
    No adapter has been tried against a paid account yet.{" "}
    <OutLink href="/docs/providers">How each was verified</OutLink>
  </>
)
