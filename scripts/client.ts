/** A client's command: makes its one file anew when the sources are newer, and runs it; the sources themselves where that can't be done. */
import { bundle, bundled, isFresh } from "./bundle.ts"

const progressMillis = 1_000

const ready = async (): Promise<boolean> => {
  if (isFresh()) return true
  const progress = setTimeout(() => console.error("rungate: getting ready (once after each change)"), progressMillis)
  try {
    await bundle()
    return true
  } catch {
    // A folder that this user may not write, or sources that somebody is just editing: those say themselves what is wrong.
    return false
  } finally {
    clearTimeout(progress)
  }
}

await import((await ready()) ? bundled : "../src/main.ts")
