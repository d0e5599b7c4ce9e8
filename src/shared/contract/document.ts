import { contract } from './index.ts'
import { openApiOf, type RecordedExamples } from './openapi.ts'

/** The OpenAPI document as it is committed, with recorded examples: one member a line, so that a diff shows each change of the contract. */
export function contractDocument(recorded: RecordedExamples): string {
  return `${JSON.stringify(openApiOf(contract, recorded), undefined, 1)}\n`
}
