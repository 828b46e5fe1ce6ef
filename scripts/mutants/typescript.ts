/**
 * Faults in TypeScript: comparisons, conditions, arithmetic, constants, defaults, dropped statements, and the SQL in its templates.
 *
 * Types, imports, messages for people, log lines and the names of metrics stay as they are. Neither are faults made that change nothing
 * but the speed: an early return for an empty list.
 */
import { parseSync } from "oxc-parser"
import { constants, type Edit } from "./edits.ts"
import { hole, sqlEdits } from "./sql.ts"

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  // oxlint-disable-next-line typescript/no-explicit-any -- one shape for all nodes
  readonly [key: string]: any
}
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** What these make is for people, or for a log. */
const forPeople =
  /^(Effect\.(log\w*|annotate\w*|withSpan)|Metric\.\w+|console\.\w+|problem|withCommands|sentence|crashPoint)$/
/** Parts of a node that are types. */
const types = new Set("typeAnnotation returnType typeParameters typeArguments superTypeArguments implements".split(" "))
const comparisons: Readonly<Record<string, ReadonlyArray<string>>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="]
}
const arithmetic: Readonly<Record<string, string>> = {
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "+=": "-=",
  "-=": "+="
}
/** Functions of our own and of Math and Array. A name without an object must be known in the file. */
const opposites: Readonly<Record<string, string>> = {
  min: "max",
  max: "min",
  plus: "minus",
  minus: "plus",
  floor: "ceil",
  ceil: "floor"
}
const members: Readonly<Record<string, string>> = { some: "every", every: "some", startsWith: "endsWith" }
/** What a table has for a name. A name such as `constructor` is in no table. */
const entry = (table: Readonly<Record<string, string>>, name: string) =>
  Object.hasOwn(table, name) ? table[name] : undefined
const dropped = new Set(["filter", "toSorted", "sort", "toReversed", "reverse"])
const roles = ["viewer", "member", "admin", "owner"]
const isText = (node: Node) =>
  node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node.value === "string")
const looksLikeSql = /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|ORDER BY)\s|^\s*(AND|CASE)\s/

/** The faults of a file. */
export const typescriptEdits = (file: string, source: string): ReadonlyArray<Edit> => {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file} can't be parsed: ${errors[0]?.message}`)
  const edits: Array<Edit> = []
  const textOf = (node: Node) => source.slice(node.start, node.end)
  const replace = (node: Node, text: string) => edits.push({ start: node.start, end: node.end, text })
  const operator = (node: Node, text: string) => {
    const start = source.indexOf(node["operator"], node["left"].end)
    edits.push({ start, end: start + node["operator"].length, text })
  }
  const knows = (name: string) => new RegExp(`^(import .*|export const |const |  )\\b${name}\\b`, "m").test(source)

  const sql = (node: Node) => {
    const from = node.start + 1
    let text = source.slice(from, node.end - 1)
    for (const inner of (node["expressions"] ?? []) as ReadonlyArray<Node>) {
      const start = source.lastIndexOf("${", inner.start) - from
      const end = source.indexOf("}", inner.end) + 1 - from
      text = text.slice(0, start) + hole.repeat(end - start) + text.slice(end)
    }
    for (const { start, end, text: other } of sqlEdits(text)) {
      // What a fault keeps of the statement has its interpolations back.
      const kept = other.includes(hole)
        ? source.slice(from + text.indexOf(other, start), from + text.indexOf(other, start) + other.length)
        : other
      edits.push({ start: from + start, end: from + end, text: kept, sql: true })
    }
  }

  const negate = (test: Node) => {
    const negates =
      test.type === "UnaryExpression" || (test.type === "BinaryExpression" && comparisons[test["operator"]])
    if (!negates && test.type !== "Literal") replace(test, `!(${textOf(test)})`)
  }
  const returned = (value: Node | null) => {
    if (value?.type === "ArrayExpression" && value["elements"].length > 0) replace(value, "[]")
    if (value !== null && isText(value) && !/\s/.test(textOf(value)) && textOf(value).length > 2) replace(value, '""')
  }

  const call = (node: Node) => {
    const { callee } = node
    const [first, second] = node["arguments"] as ReadonlyArray<Node>
    if (callee.type === "Identifier") {
      const other = entry(opposites, callee.name)
      if (other === undefined || first === undefined || second === undefined) return
      if (knows(other)) replace(callee, other)
      else for (const one of [first, second]) replace(node, textOf(one))
    }
    if (callee.type !== "MemberExpression" || callee.computed) return
    const { object, property } = callee
    const isModule = object.type === "Identifier" && /^[A-Z]/.test(object.name)
    const name =
      isModule && !/^(Math|Money|Decimal)$/.test(object.name)
        ? undefined
        : entry(isModule ? opposites : members, property.name)
    if (name !== undefined) replace(property, name)
    if (!isModule && dropped.has(property.name)) edits.push({ start: object.end, end: node.end, text: "" })
  }

  const visitors: Readonly<Record<string, (node: Node, parent: Node) => void>> = {
    BinaryExpression: (node) => {
      const { left, right } = node
      for (const other of comparisons[node["operator"]] ?? []) operator(node, other)
      const other = arithmetic[node["operator"]]
      if (other !== undefined && !isText(left) && !isText(right)) operator(node, other)
    },
    AssignmentExpression: (node) => {
      const other = arithmetic[node["operator"]]
      if (other !== undefined && !isText(node["right"])) operator(node, other)
    },
    LogicalExpression: (node) => {
      if (node["operator"] !== "??") operator(node, node["operator"] === "&&" ? "||" : "&&")
      else {
        replace(node, textOf(node["right"]))
        // Undefined in place of null is no difference for a column, and hardly one elsewhere.
        if (!/^(null|undefined)$/.test(textOf(node["right"]))) replace(node, textOf(node["left"]))
      }
    },
    UnaryExpression: (node) => {
      if (node["operator"] === "!" || node["operator"] === "-") replace(node, textOf(node["argument"]))
    },
    ConditionalExpression: (node) => negate(node["test"]),
    IfStatement: (node) => {
      negate(node["test"])
      const test = textOf(node["test"])
      const shortens = /\.(length|size) === 0$/.test(test)
      // It tells the compiler what always holds.
      const asserts = /=== (undefined|null)$/.test(test) && node["consequent"].type === "ThrowStatement"
      if (node["alternate"] === null && !shortens && !asserts) replace(node, "{}")
    },
    ExpressionStatement: (node, parent) => {
      const inside = parent.type !== "Program"
      const { expression } = node
      const called = expression.type === "YieldExpression" ? expression.argument : expression
      if (!inside || typeof node["directive"] === "string") return
      if (called?.type !== "CallExpression" || !forPeople.test(textOf(called.callee))) replace(node, "{}")
    },
    Literal: (node, parent) => {
      const { raw, value } = node
      if (typeof value === "boolean") replace(node, String(!value))
      if (/^\d[\d_]*(\.\d+)?n?$/.test(raw)) for (const other of constants(raw)) replace(node, other)
      const role = roles.indexOf(value)
      if (role >= 0 && /^(Property|ConditionalExpression|LogicalExpression)$/.test(parent.type))
        replace(node, `"${roles[role === 0 ? 1 : role - 1]}"`)
      if (typeof value === "string" && looksLikeSql.test(value)) sql(node)
    },
    TemplateLiteral: (node, parent) => {
      const tag: string = parent.type === "TaggedTemplateExpression" ? textOf(parent["tag"]) : ""
      const literal = parent.type === "CallExpression" && textOf(parent["callee"]) === "sql.literal"
      const text = node["quasis"].map((part: Node) => part["value"].raw).join(" ")
      if (tag === "sql" || literal || (tag === "" && looksLikeSql.test(text))) sql(node)
    },
    CallExpression: call,
    ReturnStatement: (node) => returned(node["argument"]),
    ArrowFunctionExpression: (node) => returned(node["body"])
  }

  const visit = (node: Node, parent: Node): void => {
    const { type } = node
    const isCast = /^TS(As|Satisfies|NonNull)/.test(type)
    if ((type.startsWith("TS") && !isCast) || /^(Import|ExportAll)/.test(type)) return
    visitors[type]?.(node, parent)
    const callee = type === "TaggedTemplateExpression" ? node["tag"] : node["callee"]
    if (isNode(callee) && (forPeople.test(textOf(callee)) || textOf(callee).endsWith("Error"))) return
    for (const [key, value] of Object.entries(node)) {
      if (types.has(key) || (isCast && key !== "expression")) continue
      if (key === "key" && !node["computed"]) continue
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, node)
    }
  }
  visit(program as unknown as Node, program as unknown as Node)
  return edits
}
