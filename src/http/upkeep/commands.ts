/**
 * The operator's commands for the installation as a whole: its settings, database, books and catalog. Their handlers work on the database,
 * with the settings of the service, and are loaded on demand.
 */
import { Command, Flag } from "effect/cli"
import { OperatorCatalogApi, ResetImport } from "../api/operator/Catalog.ts"
import { drawn } from "../cli/answers/draw.ts"
import { row } from "../cli/answers/row.ts"
import { argument, between, boolean, required, text } from "../cli/terminal/flags.ts"
import { operated } from "../operator/commands.ts"
import { json } from "../operator/flags.ts"
import { cells } from "./cells.ts"
import { moveFlags, restoreFlags } from "./flags.ts"
import { onDemand, packaged } from "../operator/onDemand.ts"

const migrating = onDemand(() => import("./migrate.ts"))

export const migrate = Command.make(
  "migrate",
  {
    service_role: text("service-role", "database role of the service; it gets only the privileges that it needs")
  },
  ({ service_role }) => migrating((loaded) => loaded.migrate(service_role))
).pipe(
  Command.withDescription(
    "Migrate the database schema as its owner (RUNGATE_MIGRATION_DATABASE_URL, default: DATABASE_URL)"
  )
)

/** Ten years. */
const processorDaysMax = 3_650

export const audit = Command.make(
  "audit",
  {
    days: between(
      "processor-days",
      0,
      processorDaysMax,
      `compare the top-ups of this many days with Stripe, if STRIPE_SECRET_KEY is set; 0 skips this, the most is ${processorDaysMax}`
    ).pipe(
      // A monthly audit then leaves no gap.
      Flag.withDefault(35)
    )
  },
  ({ days }) => onDemand(() => import("./audit.ts"))((loaded) => loaded.audit(days))
).pipe(
  Command.withDescription(
    "Recompute all wallets from the ledger; exit code 1 on an inconsistency, a difference from Stripe, or when Stripe can't be reached"
  )
)

const all = boolean("all", "show every line")
const patterns = (name: string, description: string) => Flag.between(required(name, description), 0, 100)

const importCommand = Command.make(
  "import",
  {
    location: argument("source", "file or URL of an OpenAPI 2, 3.0 or 3.1 document or a manifest; or: apify"),
    provider: text("provider", "slug of the provider of an OpenAPI document"),
    title: text("title", "name of a new provider"),
    sources: text("sources", "folder with the documents of a manifest"),
    task: boolean("task", "request bodies are arrays of task objects"),
    include: patterns("include", "import only these operations, such as 'GET /v1/*'; may be repeated"),
    exclude: patterns("exclude", "skip these operations; may be repeated"),
    allow: patterns("allow", "of apify, import only these actors: owner/name or owner/*; may be repeated"),
    dry_run: boolean("dry-run", "show the changes without applying them"),
    all
  },
  ({ dry_run, all, task, ...given }) =>
    packaged(() => import("./catalog.ts"))((loaded) =>
      loaded.importCatalog({ request: { ...given, body_type: task ? "task" : "json" }, dry_run, all })
    )
).pipe(Command.withDescription("Import a provider's raw endpoints: shows the changes and applies all of them or none"))

const reset = row(OperatorCatalogApi.endpoints.reset, {
  name: "reset",
  about: "Delete a provider's import and use the shipped catalog",
  show: drawn(ResetImport, ({ provider, reset }) => [
    reset
      ? `${provider}: deleted the import; the shipped catalog is used`
      : `${provider}: there is no import, so nothing was changed`
  ])
})

export const catalog = Command.make("catalog").pipe(
  Command.withDescription("Manage the catalog of raw endpoints"),
  Command.withSubcommands([importCommand, reset])
)

const configuration = onDemand(() => import("./config.ts"))

export const config = Command.make("config").pipe(
  Command.withDescription("Check and show the settings of the service"),
  Command.withSubcommands([
    Command.make("check", { json }, ({ json }) => configuration((loaded) => loaded.checkConfig(json))).pipe(
      Command.withDescription("Say what is wrong with the settings and what to do; exit code 1 if something is")
    ),
    Command.make("print", { json }, ({ json }) => configuration((loaded) => loaded.printConfig(json))).pipe(
      Command.withDescription("Show each setting with its value, origin and default; secrets are hidden")
    )
  ])
)

const reload = Command.make("reload", { json }, ({ json }) =>
  onDemand(() => import("./reload.ts"))((loaded) => loaded.reload(json))
).pipe(
  Command.withDescription(
    "Have every process of the service read provider accounts and secrets again, without a restart; exit code 1 if one refuses"
  )
)

const backups = onDemand(() => import("./backup.ts"))

const backupFlags = { file: argument("file", "a new file, such as rungate.backup"), json }
const backup = Command.make("backup", backupFlags, ({ file, json }) =>
  backups((loaded) => loaded.backup(file, json))
).pipe(
  Command.withDescription("Copy the embedded database into a file, also while the service runs; keep the file safe")
)

const restore = Command.make("restore", restoreFlags, (given) => backups((loaded) => loaded.restore(given))).pipe(
  Command.withDescription("Replace the embedded database by a backup; stop the service first")
)

const move = Command.make("move", moveFlags, (given) =>
  onDemand(() => import("./move.ts"))((loaded) => loaded.move(given))
).pipe(Command.withDescription("Copy the embedded database to a PostgreSQL server and compare the books of both"))

const reindex = Command.make(
  "reindex-history",
  {
    restart: boolean("restart", "start from the beginning instead of continuing an interrupted reindex")
  },
  ({ restart }) => onDemand(() => import("./reindex.ts"))((loaded) => loaded.reindexHistory(restart))
).pipe(
  Command.withDescription(
    "Rebuild the history index from the runs, beside a running service: adds, corrects and removes entries"
  )
)

const migrations = Command.make("migrations", { json }, ({ json }) =>
  migrating((loaded) => loaded.migrations(json))
).pipe(Command.withDescription("Show the schema's version and the progress of background migrations"))

export const admin = Command.make("admin").pipe(
  Command.withDescription("Manage organizations: credit, ledger and keys"),
  Command.withSubcommands([...operated, reindex, migrations, reload, backup, restore, move, cells])
)
