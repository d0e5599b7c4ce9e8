import { existsSync, readFileSync } from 'node:fs'
import { packageFile } from '../../shared/package-files.ts'
import type { RecordedExamples } from '../../shared/contract/openapi.ts'

/** Reads the recorded examples of the API document; none where the build has none. */
export function readExamples(): RecordedExamples {
  const file = packageFile('dist/contract-examples.json')
  // The build wrote the file from what the conformance tests recorded and checked.
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RecordedExamples) : {}
}
