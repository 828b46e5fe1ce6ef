/** The sentence that suggests the nearest valid name, for messages about an unknown one. */
import { nearest } from "./nearest.ts"

/** ` Did you mean …?` with a leading space, to append to a sentence. Empty if no name is near. */
export const didYouMean = (name: string, names: Iterable<string>): string => {
  const suggestion = nearest(name, names)
  return suggestion === null ? "" : ` Did you mean \`${suggestion}\`?`
}
