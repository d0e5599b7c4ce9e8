import { readFileSync } from 'node:fs'
import { packageFile } from '../shared/package-files.ts'

/** The version of this program. */
export function ownVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
