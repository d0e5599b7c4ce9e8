import { contract } from './index.ts'
import { openApiOf } from './openapi.ts'

/** The OpenAPI document as it is committed: one member a line, so that a change of the contract can be read as one. */
export function contractDocument(): string {
  return `${JSON.stringify(openApiOf(contract), undefined, 1)}\n`
}
