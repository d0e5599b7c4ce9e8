import type { Manifest } from '../../shared/contract/manifest-format.ts'
import type { CommandRow } from '../command.ts'

/** The rows of the commands that the contract describes and that have no file of their own. */
export function derivedRows(manifest: Manifest): readonly CommandRow[] {
  return Object.values(manifest.operations).flatMap((operation) => {
    const { cli } = operation
    if (cli === undefined || cli.custom === true) return []
    const load = async () => (await import('./derive.ts')).derivedCommand(operation, manifest)
    return [{ words: cli.command, summary: operation.summary, load }]
  })
}
