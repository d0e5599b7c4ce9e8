import { contract } from './index.ts'
import { openApiOf } from './openapi.ts'

/** The OpenAPI document as it is committed: one member a line, so that a diff shows each change of the contract. */
export function contractDocument(): string {
  return `${JSON.stringify(openApiOf(contract), undefined, 1)}\n`
}
