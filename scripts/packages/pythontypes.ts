/** Writes the schemas of the API as Python types: a `TypedDict` for each object, a `Literal` for each enumeration. */
import { nameOf, type Shape } from "./operations.ts"

const reserved = new Set(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " "
  )
)

/** A name that a program can write: Python's own words get an underscore. */
export const argument = (name: string): string => (reserved.has(name) ? `${name}_` : name)

/** `setAutoTopup` → `set_auto_topup`. */
export const snake = (name: string): string => argument(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))

export const className = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

export const docstring = (text: string | undefined, indent: string): string =>
  text === undefined || text === "" ? "" : `${indent}"""${oneLine(text)}"""\n`

const oneLine = (text: string) => {
  const line = text.replaceAll("\\", "\\\\").replaceAll('"""', "'''").replace(/\s+/g, " ").trim()
  return line.endsWith('"') ? `${line} ` : line
}

const quoted = (value: unknown) =>
  value === null ? "None" : value === true ? "True" : value === false ? "False" : JSON.stringify(value)

const descriptionOf = ({ description, anyOf }: Shape): string | undefined =>
  description ?? anyOf?.find((one) => one.description !== undefined)?.description

const pascal = (name: string) =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map(className)
    .join("")

/** Collects the classes that types need. A type that has no name in the document gets that of its place: `RunRequestRouting`. */
export class PythonTypes {
  private readonly classes = new Map<string, string>()

  /** The text of a type. `place` names an object that has no name of its own. */
  typeOf(shape: Shape, place: string): string {
    if (shape.$ref !== undefined) return nameOf(shape.$ref)
    if (shape.enum !== undefined) return `Literal[${shape.enum.map(quoted).join(", ")}]`
    if (shape.anyOf !== undefined) {
      // The document allows for numbers that JSON does not have. The service sends none.
      const members = shape.anyOf.filter((one) => one.enum?.includes("Infinity") !== true)
      const objects = members.filter((one) => one.properties !== undefined)
      const types = members.map((one) =>
        this.typeOf(
          one,
          objects.length > 1 && one.properties !== undefined ? `${place}${objects.indexOf(one) + 1}` : place
        )
      )
      return [...new Set(types)].sort((a, b) => Number(a === "None") - Number(b === "None")).join(" | ")
    }
    switch (shape.type) {
      case "string":
        return "str"
      case "integer":
        return "int"
      case "number":
        return "float"
      case "boolean":
        return "bool"
      case "null":
        return "None"
      case "array":
        return `list[${shape.items === undefined ? "Any" : this.typeOf(shape.items, `${place}Item`)}]`
      case "object":
        return this.objectOf(shape, place)
      default:
        return "Any"
    }
  }

  private objectOf(shape: Shape, place: string): string {
    const { properties, required = [], additionalProperties, patternProperties = {}, description } = shape
    if (properties === undefined || Object.keys(properties).length === 0) {
      const rest = typeof additionalProperties === "object" ? additionalProperties : Object.values(patternProperties)[0]
      return `dict[str, ${rest === undefined ? "Any" : this.typeOf(rest, `${place}Value`)}]`
    }
    const fields = Object.entries(properties).map(([name, one]) => {
      const type = this.typeOf(one, `${place}${pascal(name)}`)
      return { name, type: required.includes(name) ? type : `NotRequired[${type}]`, about: descriptionOf(one) }
    })
    this.classes.set(
      place,
      // A class can't have a field that is a word of Python.
      fields.some(({ name }) => argument(name) !== name || !/^[A-Za-z_]\w*$/.test(name))
        ? `${place} = TypedDict(\n    ${quoted(place)},\n    {\n${fields.map(({ name, type }) => `        ${quoted(name)}: ${JSON.stringify(type.replaceAll('"', "'"))},\n`).join("")}    },\n)\n`
        : `class ${place}(TypedDict):\n${docstring(description, "    ")}${description === undefined ? "" : "\n"}${fields.map(({ name, type, about }) => `    ${name}: ${type}\n${docstring(about, "    ")}`).join("")}`
    )
    return place
  }

  /** A type that has a name in the document. */
  declare(name: string, shape: Shape): void {
    const type = this.typeOf(shape, name)
    if (type === name) return
    const members = type.split(" | ")
    if (!members.every((one) => /^\w+$/.test(one))) throw new Error(`${name} is ${type}, which has no alias yet`)
    const named = members.map((one) => (this.classes.has(one) ? quoted(one) : one))
    this.classes.set(name, `${name} = ${named.length === 1 ? members[0] : `Union[${named.join(", ")}]`}\n`)
  }

  /** The module. */
  text(): string {
    return `"""Generated from the OpenAPI document of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

${[...this.classes.values()].join("\n\n")}`
  }
}
