import { readFileSync } from 'node:fs'
import { packageFile } from '../../shared/package-files.ts'

/** The version of the package that this is, from its `package.json`. */
export function packageVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
