/** A client's command, from its one file. */
import { startable } from "./bundle.ts"

await import(await startable("cli"))
