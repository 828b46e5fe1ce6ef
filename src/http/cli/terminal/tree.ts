/**
 * The command tree as data: `--help --json`, for programs and agents.
 *
 * It is derived from the definitions that parse the command line, so both always agree.
 */
import { Effect, Option, Predicate } from "effect"
import { type Command, Param, Primitive } from "effect/cli"
import { exitNames, exits, meanings } from "./exits.ts"

/** The default value of a flag as JSON; null when it has none. */
type Default = string | number | boolean | ReadonlyArray<string> | null

export type ParameterTree = NonNullable<Effect.Success<ReturnType<typeof parameterTree>>>

export interface CommandTree {
  readonly name: string
  readonly path: ReadonlyArray<string>
  /** As it is typed. */
  readonly command: string
  readonly aliases: ReadonlyArray<string>
  readonly description: string | null
  readonly arguments: ReadonlyArray<ParameterTree>
  readonly flags: ReadonlyArray<ParameterTree>
  readonly examples: ReadonlyArray<{ readonly command: string; readonly description: string | null }>
  readonly commands: ReadonlyArray<CommandTree>
}

type Parameter = Param.Param<Param.ParamKind, unknown>

/** The parameter inside the wrappers for optional values, lists and schemas. */
const coreOf = (parameter: Parameter): Param.Single<Param.ParamKind, unknown> | null =>
  Param.isSingle(parameter)
    ? parameter
    : Predicate.hasProperty(parameter, "param") && Param.isParam(parameter.param)
      ? coreOf(parameter.param)
      : null

const isVariadic = (parameter: Parameter): boolean =>
  parameter._tag === "Variadic" ||
  (Predicate.hasProperty(parameter, "param") && Param.isParam(parameter.param) && isVariadic(parameter.param))

const choicesOf = (primitive: Primitive.Primitive<unknown>): ReadonlyArray<string> | null =>
  Predicate.hasProperty(primitive, "choiceKeys") && Array.isArray(primitive.choiceKeys)
    ? primitive.choiceKeys.map(String)
    : null

const shownDefault = (value: unknown): Default => {
  const preset = Option.isOption(value) ? Option.getOrNull(value) : value
  if (Array.isArray(preset)) return preset.length === 0 ? null : preset.map(String)
  return typeof preset === "string" || typeof preset === "number" || typeof preset === "boolean" ? preset : null
}

/** One flag or argument; null when it is hidden. */
const parameterTree = Effect.fnUntraced(function* (parameter: Parameter) {
  const core = coreOf(parameter)
  if (core === null || core.hidden) return null
  // Parse an empty command line: success gives the default, failure means that the parameter is required.
  const absent = yield* Effect.option(parameter.parse({ flags: {}, arguments: [] }))
  return {
    name: core.name,
    // As they are typed.
    aliases: core.aliases.map((alias) => (alias.length === 1 ? `-${alias}` : `--${alias}`)),
    type: Primitive.getTypeName(core.primitiveType),
    required: Option.isNone(absent),
    variadic: isVariadic(parameter),
    default: Option.match(absent, { onNone: () => null, onSome: ([, value]) => shownDefault(value) }),
    choices: choicesOf(core.primitiveType),
    description: Option.getOrNull(core.description)
  }
})

const parameterTrees = (parameters: ReadonlyArray<Parameter>) =>
  Effect.map(Effect.forEach(parameters, parameterTree), (trees) => trees.filter(Predicate.isNotNull))

/** A command's parameters. Effect keeps them under `config`; a test compares them with the help text. */
const takenBy = (command: Command.Command.Any, kind: "flags" | "arguments"): ReadonlyArray<Parameter> => {
  const config = Predicate.hasProperty(command, "config") ? command.config : null
  const parameters = Predicate.hasProperty(config, kind) ? config[kind] : null
  return Array.isArray(parameters) ? parameters.filter((one) => Param.isParam(one)) : []
}

export const childrenOf = (command: Command.Command.Any): ReadonlyArray<Command.Command.Any> =>
  command.subcommands.flatMap(({ commands }) => commands).filter(({ unlisted }) => !unlisted)

/** A command and its subcommands. `path` holds the names above it. */
export const commandTree = (
  command: Command.Command.Any,
  path: ReadonlyArray<string>
): Effect.Effect<CommandTree, never, Command.Environment> =>
  Effect.gen(function* () {
    const here = [...path, command.name]
    return {
      name: command.name,
      path: here,
      command: here.join(" "),
      aliases: command.alias === undefined ? [] : [command.alias],
      description: command.description ?? null,
      arguments: yield* parameterTrees(takenBy(command, "arguments")),
      flags: yield* parameterTrees(takenBy(command, "flags")),
      examples: command.examples.map((one) => ({ command: one.command, description: one.description ?? null })),
      commands: yield* Effect.forEach(childrenOf(command), (child) => commandTree(child, here))
    }
  })

/** The command at a path, root first, or the deepest existing one on it. */
export const commandAt = (root: Command.Command.Any, path: ReadonlyArray<string>): Command.Command.Any =>
  path.slice(1).reduce((at, name) => childrenOf(at).find((child) => child.name === name) ?? at, root)

/** The output of `--help --json` for the command at `path`. */
export const helpJson = Effect.fnUntraced(function* (
  root: Command.Command.Any,
  path: ReadonlyArray<string>,
  globals: ReadonlyArray<{ readonly flag: Parameter }>,
  version: string
) {
  const tree = yield* commandTree(commandAt(root, path), path.slice(0, -1))
  const global_flags = yield* parameterTrees(globals.map(({ flag }) => flag))
  const exit_codes = exitNames.map((name) => ({ code: exits[name], name, meaning: meanings[name] }))
  return `${JSON.stringify({ version, ...tree, global_flags, exit_codes })}\n`
})
