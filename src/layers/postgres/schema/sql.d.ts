/** SQL files are imported as text: `import runs from "./runs.sql" with { type: "text" }`. */
declare module "*.sql" {
  const text: string
  export default text
}
