/** An operator's command or the service, from its one file. */
import { startable } from "./bundle.ts"

await import(await startable("service"))
