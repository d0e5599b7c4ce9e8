import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { previewableCommand } from '../authz/previewable.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { CAVEAT, withCaveat } from './caveat-flag.ts'
import { createEdit } from './edits.ts'
import { operationOf } from '../../session/noun-lists.ts'

export function create(manifest: Manifest): Command {
  const command = previewableCommand(manifest, {
    operation: operationOf(manifest, 'CreateRelationTuple'),
    examples: [
      'ctl tuples create user:alice deployer project:web',
      'ctl tuples create group:ops viewer node:web-1 --project web --dry-run',
      'ctl tuples create service:ci deployer project:web --caveat within_hours',
    ],
    editsOf: createEdit,
    isRepeatable: true,
    roleOf: ({ args: [, role = '', resource = ''] }) => ({ type: resource.split(':')[0] ?? '', role }),
    retyped: ({ args, flags }) => ({ args, flags: withProject(args.slice(2), withCaveat(flags)) }),
  })
  const { 'caveat-context': _, ...flags } = command.flags ?? {}
  return { ...command, flags: { ...flags, caveat: CAVEAT } }
}

/** A tuple on a Project is in that Project. */
function withProject(resources: readonly string[], flags: Given['flags']): Given['flags'] {
  const projects = new Set(resources.flatMap((text) => (text.startsWith('project:') ? [text.slice(8)] : [])))
  const [project, ...others] = projects
  if (project === undefined || flags['project'] !== undefined) return flags
  if (others.length > 0) throw usageError('one call creates tuples of one Project', 'Call it once for each.')
  return { ...flags, project }
}
