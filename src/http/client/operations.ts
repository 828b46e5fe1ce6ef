/**
 * Method and path of every operation of the contract, by group and name.
 *
 * A bundler macro: the console's bundle holds the finished table in place of the contract and its schemas, which are ten times as large.
 */
import { HttpApi } from "effect/http-api"
import { Api } from "../api/Api.ts"

/** As `POST /v1/run`. */
export type OperationTable = Record<string, Record<string, string>>

export const operations = (): OperationTable => {
  const table: OperationTable = {}
  HttpApi.reflect(Api, {
    onGroup: ({ group }) => {
      table[group.identifier] = {}
    },
    onEndpoint: ({ group, endpoint }) => {
      table[group.identifier] = {
        ...table[group.identifier],
        [endpoint.identifier]: `${endpoint.method} ${endpoint.path}`
      }
    }
  })
  return table
}
