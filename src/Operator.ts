/**
 * The operator's commands: they work on the database itself, with the settings of the service.
 *
 * `catalog import` shows what would change before anything does, and changes all of it or nothing. What they do is loaded when
 * one of them is run (Operations.ts).
 */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"

const operations = Effect.promise(() => import("./Operations.ts"))

export const serve = Command.make(
  "serve",
  {
    role: Flag.Literals("role", ["all", "http", "worker"]).pipe(
      Flag.withDescription("what this process does; any number of processes of each role share one database"),
      Flag.withDefault("all")
    )
  },
  ({ role }) => Effect.flatMap(operations, (loaded) => loaded.serve(role))
).pipe(Command.withDescription("Run the service (or one role of it)"))

export const audit = Command.make("audit", {}, () => Effect.flatMap(operations, (loaded) => loaded.audit)).pipe(
  Command.withDescription("Recompute the books from the ledger; exit code 1 when something does not add up")
)

const all = Flag.Boolean("all").pipe(Flag.withDescription("show every line"), Flag.withDefault(false))
const patterns = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.between(0, 100))

const importCommand = Command.make(
  "import",
  {
    location: Argument.String("source").pipe(
      Argument.withDescription("a file or an address: an OpenAPI 2, 3.0 or 3.1 document, or a manifest; or: apify")
    ),
    provider: Flag.String("provider").pipe(Flag.withDescription("whose catalog an OpenAPI document is"), Flag.optional),
    title: Flag.String("title").pipe(Flag.withDescription("the provider's name, when it is new"), Flag.optional),
    sources: Flag.String("sources").pipe(
      Flag.withDescription("folder of the documents that a manifest names"),
      Flag.optional
    ),
    task: Flag.Boolean("task").pipe(Flag.withDescription("bodies are arrays of task objects"), Flag.withDefault(false)),
    include: patterns("include", "only these operations, such as 'GET /v1/*'; may be repeated"),
    exclude: patterns("exclude", "not these operations; may be repeated"),
    dry_run: Flag.Boolean("dry-run").pipe(Flag.withDescription("only show what would change"), Flag.withDefault(false)),
    all
  },
  ({ location, provider, title, sources, task, include, exclude, dry_run, all }) =>
    Effect.flatMap(operations, (loaded) =>
      loaded.importCatalog({
        request: {
          location,
          provider: Option.getOrNull(provider),
          title: Option.getOrNull(title),
          sources: Option.getOrNull(sources),
          body_type: task ? "task" : "json",
          include,
          exclude
        },
        dry_run,
        all
      })
    )
).pipe(
  Command.withDescription(
    "Import a provider's raw endpoints: shows the difference, and replaces all of them or nothing"
  )
)

const reset = Command.make("reset", { provider: Argument.String("provider") }, ({ provider }) =>
  Effect.flatMap(operations, (loaded) => loaded.resetCatalog(provider))
).pipe(Command.withDescription("Forget a provider's import, and use what the package ships"))

export const catalog = Command.make("catalog").pipe(
  Command.withDescription("Maintain the catalog of raw endpoints"),
  Command.withSubcommands([importCommand, reset])
)
