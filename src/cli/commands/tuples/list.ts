import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { namedListCommand } from '../../authz/named-list.ts'
import type { Command } from '../../command.ts'

export function list(manifest: Manifest): Command {
  return {
    ...namedListCommand(manifest, 'ListRelationTuples'),
    examples: ['ctl tuples list --project web', 'ctl tuples list --project web --all -o jsonl'],
  }
}
