/**
 * What is wrong with each field of an input that a schema refused, in plain words: "must be a whole number between 0 and 120".
 *
 * Requests, tools, forms and manifests have the same words. Types are named as JSON has them, because that is what the user wrote.
 */
import { SchemaAST, SchemaIssue } from "effect"

export interface FieldProblem {
  readonly path: ReadonlyArray<string>
  readonly message: string
  /** Of an unknown field: the names that are valid in its place, and the dotted path at which its own name is valid. */
  readonly unknown?: { readonly names: ReadonlyArray<string>; readonly place: string | null }
}

/** A longer list of names is not read. */
const namesMax = 5

const objectsIn = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.Objects> =>
  ast._tag === "Objects" ? [ast] : ast._tag === "Union" ? ast.types.flatMap(objectsIn) : []
const propertiesOf = (ast: SchemaAST.AST) => objectsIn(ast).flatMap((one) => one.propertySignatures)
const namesOf = (ast: SchemaAST.AST): ReadonlyArray<string> => propertiesOf(ast).map(({ name }) => String(name))

/** The object inside this one that has a field of the name. */
const placeOf = (name: string, ast: SchemaAST.AST): string | null => {
  const parent = propertiesOf(ast).find(({ type }) => namesOf(type).includes(name))
  return parent === undefined ? null : `${String(parent.name)}.${name}`
}

const textsOf = (ast: SchemaAST.AST, name: "message" | "expected"): ReadonlyArray<string> =>
  (ast.checks ?? []).flatMap(({ annotations }) => {
    const text = annotations?.[name]
    return typeof text === "string" ? [text] : []
  })

const numberOf = (ast: SchemaAST.AST): string => {
  const rules = textsOf(ast, "expected")
  const range = rules.find((rule) => rule.startsWith("a value between"))?.slice("a value".length)
  return `a ${rules.includes("an integer") ? "whole " : ""}number${range ?? ", without quotes"}`
}

const objectOf = (ast: SchemaAST.AST): string => {
  const names = namesOf(ast)
  const more = names.length > namesMax ? ", …" : ""
  return names.length === 0
    ? "a JSON object"
    : `a JSON object with fields such as ${names.slice(0, namesMax).join(", ")}${more}`
}

/** A value of this type, as JSON has it. */
const nounOf = (given: SchemaAST.AST): string => {
  const ast = SchemaAST.toEncoded(given)
  switch (ast._tag) {
    case "String":
      return "text in double quotes"
    case "Number":
      return numberOf(ast)
    case "Boolean":
      return "true or false, without quotes"
    case "Arrays":
      return "a list in [ ]"
    case "Objects":
      return objectOf(ast)
    case "Literal":
      return JSON.stringify(String(ast.literal))
    case "Union": {
      const types = ast.types.filter((one) => one._tag !== "Null" && one._tag !== "Undefined")
      const nouns = [...new Set(types.map(nounOf))]
      return types.length > 1 && types.every((one) => one._tag === "Literal")
        ? `one of ${nouns.join(", ")}`
        : nouns.join(" or ")
    }
    default:
      return "another kind of value"
  }
}

/** The schema's own words for a text count for a value that is no text, too. */
const wrongType = (given: SchemaAST.AST): string => {
  const ast = SchemaAST.toEncoded(given)
  const types = ast._tag === "Union" ? ast.types.filter((one) => one._tag !== "Null") : [ast]
  const [own] = types.length === 1 ? types.flatMap((one) => textsOf(SchemaAST.toEncoded(one), "message")) : []
  return own?.startsWith("must be ") === true
    ? `must be text in double quotes: ${own.slice("must be ".length)}`
    : `must be ${nounOf(ast)}`
}

/** Effect's name of a rule, such as "a value with a length of at most 200". */
const rulePlain = (expected: string): string =>
  expected.startsWith("a value with ")
    ? `must have ${expected.slice("a value with ".length)}`
    : `must be ${expected === "an integer" ? "a whole number" : expected.replace(/^a value between/, "a number between")}`

const leaf = SchemaIssue.defaultLeafHook
const ruleOf = (issue: SchemaIssue.Filter): string | undefined => {
  const own = SchemaIssue.defaultCheckHook(issue)
  const expected = issue.filter.annotations?.["expected"]
  return own ?? (issue.issue._tag === "InvalidValue" && typeof expected === "string" ? rulePlain(expected) : undefined)
}

const walk = (issue: SchemaIssue.Issue, path: ReadonlyArray<string>, own?: string): ReadonlyArray<FieldProblem> => {
  switch (issue._tag) {
    case "Filter":
      return walk(issue.issue, path, own ?? ruleOf(issue))
    case "Encoding":
      return walk(issue.issue, path, own)
    case "Pointer":
      return walk(issue.issue, [...path, ...issue.path.map(String)], own)
    case "Composite":
      return issue.issues.flatMap((one) => walk(one, path, own))
    case "AnyOf":
      return issue.issues.length > 0
        ? issue.issues.flatMap((one) => walk(one, path, own))
        : [{ path, message: own ?? wrongType(issue.ast) }]
    case "InvalidType":
      return [{ path, message: own ?? wrongType(issue.ast) }]
    case "MissingKey":
      return [{ path, message: own ?? (issue.annotations === undefined ? "is missing" : leaf(issue)) }]
    case "UnexpectedKey": {
      const unknown = { names: namesOf(issue.ast), place: placeOf(path.at(-1) ?? "", issue.ast) }
      return [{ path, message: own ?? "is not a known field", unknown }]
    }
    default:
      return [{ path, message: own ?? leaf(issue) }]
  }
}

export const fieldProblems = (issue: SchemaIssue.Issue): ReadonlyArray<FieldProblem> => walk(issue, [])

/** The problem as a sentence that begins with its field. Rules of schemas may have words of their own, after a colon. */
export const fieldSentence = (subject: string, message: string): string =>
  `${subject}${/^(must|is|are|has|have|needs) /.test(message) ? "" : ":"} ${message}`
