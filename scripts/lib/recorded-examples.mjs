import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The recorded examples of the API document, by operation. */
export function recordedExamples(root) {
  return JSON.parse(readFileSync(join(root, 'docs/contract/examples.json'), 'utf8'))
}
