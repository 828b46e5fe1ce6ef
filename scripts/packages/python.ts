/**
 * `bun scripts/packages/python.ts [folder]`: makes the Python package, by default in dist/packages/python.
 *
 * The sources in packages/python are the same for every API, except `types.py` and `api.py`, which are generated from this one's OpenAPI document, and
 * `_version.py`, which has the service's version. The command renews these three in packages/python too, so that a checkout can be imported.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import packageJson from "../../package.json" with { type: "json" }
import {
  componentsOf,
  document,
  type Operation,
  operations,
  type Parameter,
  resolved,
  type Shape,
  shapesOf
} from "./operations.ts"
import { argument, className, docstring, PythonTypes, snake } from "./pythontypes.ts"

const root = join(import.meta.dir, "..", "..")
const source = join(root, "packages", "python")

/** Everything in an address is text. In programs these are numbers and truth values. */
const numbers = ["limit", "wait"]
const truths = ["keep_keys"]
const lineMax = 120
const text = JSON.stringify

const from = document()

/** The types that an operation names are those of the module `types`. */
const qualified = (type: string) =>
  type
    .replace(/"[^"]*"|\b[A-Z]\w*\b/g, (word) =>
      word.startsWith('"') || ["None", "Any", "Literal", "True", "False"].includes(word) ? word : `types.${word}`
    )
    // In a class with a method of that name, the name is the method's.
    .replace(/\b(list|dict)\[/g, (name) => className(name))

/** One line, or one line for each where that is too long. */
const listed = (before: string, parts: ReadonlyArray<string>, after: string): string => {
  const line = `${before}${parts.join(", ")}${after}`
  if (line.length <= lineMax) return line
  const indent = /^ */.exec(before)?.[0] ?? ""
  return `${before}\n${parts.map((part) => `${indent}    ${part},\n`).join("")}${indent}${after}`
}

const bodyIsOptional = (body: Shape) => (resolved(from, body).required ?? []).length === 0

const methodOf = (all: PythonTypes, operation: Operation): string => {
  const { group, name, pathParameters, body, takesCsv, query, answers, textType, item, takesKey, isRead } = operation
  const place = `${className(group)}${className(name)}`
  const typeOf = (shape: Shape, part: string) => qualified(all.typeOf(shape, `${place}${part}`))
  const queryType = ({ name: own, schema }: Parameter) => {
    if (numbers.includes(own)) return "int"
    if (truths.includes(own)) return "bool"
    return typeOf(schema, className(own))
  }
  const keywords = [
    ...query.map((one) => `${argument(one.name)}: ${queryType(one)}${one.required === true ? "" : " | None = None"}`),
    ...(takesKey ? ["idempotency_key: str | None = None"] : [])
  ]
  const parameters = [
    "self",
    ...pathParameters.map((one) => `${one.name}: str`),
    ...(body === null
      ? []
      : [`body: ${typeOf(body, "Body")}${takesCsv ? " | str" : ""}${bodyIsOptional(body) ? " | None = None" : ""}`]),
    ...(keywords.length === 0 ? [] : ["*", ...keywords])
  ]
  const answer =
    answers === null
      ? textType === null
        ? "None"
        : "str"
      : [...new Set(answers.map((one) => typeOf(one, "Answer")))].join(" | ")
  const path = `f${text(operation.path.replace(/\{(\w+)\}/g, "{segment('$1', $1)}"))}`
  const given = [
    ...(query.length === 0 && item === null
      ? []
      : [
          `query={${[...query.map((one) => `${text(one.name)}: ${argument(one.name)}`), ...(item === null ? [] : ['"cursor": cursor'])].join(", ")}}`
        ]),
    ...(body === null ? [] : [`body=${bodyIsOptional(body) ? "{} if body is None else body" : "body"}`]),
    ...(takesKey ? ["idempotency_key=idempotency_key or str(uuid.uuid4())"] : []),
    ...(isRead || takesKey ? ["repeatable=True"] : []),
    ...(textType === null ? [] : [`accept=${text(textType)}`])
  ]
  const call = [text(operation.method), pathParameters.length === 0 ? text(operation.path) : path, ...given]
  const about = query.flatMap(({ name: own, description }) =>
    description === undefined ? [] : [`${argument(own)}: ${description.replace(/\s+/g, " ")}`]
  )
  const documented =
    about.length === 0
      ? docstring(operation.summary, "        ")
      : `        """${operation.summary.replace(/\s+/g, " ")}\n\n${about.map((line) => `        ${line.replaceAll("\\", "\\\\")}\n`).join("")}        """\n`
  const returned = item === null ? answer : `Pages[${typeOf(item, "Item")}]`
  const head = listed(`    def ${snake(name)}(`, parameters, `) -> ${returned}:`)
  const statement =
    item === null
      ? listed("        return self._transport.call(", call, ")")
      : listed("        return Pages(lambda cursor: self._transport.call(", call, "))")
  return `${head}\n${documented}${statement}\n`
}

/** The two generated modules. */
export const pythonOf = (): { readonly types: string; readonly api: string } => {
  const all = operations(from)
  const types = new PythonTypes()
  for (const name of componentsOf(from, all.flatMap(shapesOf))) types.declare(name, from.components.schemas[name] ?? {})
  const groups = [...new Set(all.map(({ group }) => group))]
  const classes = groups.map((group) => {
    const own = all.filter((one) => one.group === group)
    return `class ${className(group)}:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

${own.map((one) => methodOf(types, one)).join("\n")}`
  })
  const events = from.components.schemas["Event"]?.properties?.["type"]?.enum ?? []
  const api = `# mypy: disable-error-code="no-any-return"
"""Generated from the OpenAPI document of the service."""

from __future__ import annotations

import ssl
import uuid
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Literal, Sequence

from ._events import Event, follow
from ._pages import Pages
from ._transport import Settings, Transport, segment

if TYPE_CHECKING:
    from . import types


${classes.join("\n\n")}

class Rungate:
    """Every operation by group and name."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
${groups.map((group) => `        self.${snake(group)} = ${className(group)}(transport)\n`).join("")}
    def events(
        self,
        *,
        run_id: str | None = None,
        types: Sequence[Literal[${events.map((one) => text(one)).join(", ")}]] | None = None,
        after: str | None = None,
    ) -> Iterator[Event]:
        """Follows the events of the organization, or those of a run from its beginning until it ends.

        After a lost connection it continues with the next event. ${"`after`"} is the id of the last event that the program has.
        """
        return follow(self._transport, run_id, types, after)


def connect(
    url: str,
    key: str | None = None,
    *,
    timeout_seconds: float = 150.0,
    retry_seconds: float = 20.0,
    ssl_context: ssl.SSLContext | None = None,
) -> Rungate:
    """The client of a service. It sends nothing until a method is called.

    url: the service's address, such as http://127.0.0.1:8787. A path after it is kept, except a /v1 at its end.
    key: API key or session token. Public operations need none.
    timeout_seconds: how long a request waits for data. The default is longer than the longest wait for a run.
    retry_seconds: how long a lost request is repeated. 0 turns it off.
    """
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise ValueError(f"connect needs url: the address of the service, such as 'http://127.0.0.1:8787'. It is {url!r}.")
    return Rungate(Transport(Settings(url, key, timeout_seconds, retry_seconds, ssl_context)))
`
  return { types: types.text(), api }
}

/** Writes the generated modules into the folder of a package. */
export const writeGenerated = (folder = join(source, "rungate")): void => {
  const { types, api } = pythonOf()
  writeFileSync(join(folder, "types.py"), types)
  writeFileSync(join(folder, "api.py"), api)
  writeFileSync(
    join(folder, "_version.py"),
    `"""Generated: the version of the service."""\n\n__version__ = ${text(packageJson.version)}\n`
  )
}

/** Makes the folder that \`python -m build\` takes, and wheel.py. */
export const buildPython = (folder = join(root, "dist", "packages", "python")): string => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of ["rungate", "pyproject.toml", "README.md"])
    cpSync(join(source, name), join(folder, name), {
      recursive: true,
      filter: (path) => !path.includes("__pycache__")
    })
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"))
  writeGenerated(join(folder, "rungate"))
  return folder
}

if (import.meta.main) {
  writeGenerated()
  console.log(buildPython(process.argv[2]))
}
