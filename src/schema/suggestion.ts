/** The sentence that suggests the nearest valid name, for messages about an unknown one. */
import { nearest } from "./nearest.ts"

/** `Did you mean …?` with a space before it, to stand behind another sentence; empty when no name is near. */
export const didYouMean = (name: string, names: Iterable<string>): string => {
  const found = nearest(name, names)
  return found === null ? "" : ` Did you mean \`${found}\`?`
}
