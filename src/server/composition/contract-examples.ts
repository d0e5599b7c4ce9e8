import { existsSync, readFileSync } from 'node:fs'
import { packageFile } from '../../shared/package-files.ts'
import type { RecordedExamples } from '../../shared/contract/openapi.ts'
import { BootError } from '../ports/boot-error.ts'

/**
 * Finds the recorded examples of the API document, and returns what reads them: most servers never need them.
 *
 * @throws BootError when the build has none.
 */
export function openExamples(): () => RecordedExamples {
  const file = packageFile('dist/contract-examples.json')
  if (!existsSync(file)) {
    throw new BootError(1, 'The examples of the API document are missing: build again with npm run build.')
  }
  // The build copied the file that the conformance tests recorded and check.
  return () => JSON.parse(readFileSync(file, 'utf8')) as RecordedExamples
}
