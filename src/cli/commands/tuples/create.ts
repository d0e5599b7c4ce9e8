import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { previewableCommand } from '../../authz/previewable.ts'
import { asking } from '../../authz/triple.ts'
import type { Command, Given } from '../../command.ts'
import { CAVEAT, withCaveat } from '../../tuples/caveat-flag.ts'
import { createEdit } from '../../tuples/edits.ts'

export function create(manifest: Manifest): Command {
  const command = previewableCommand(manifest, {
    operation: asking(manifest, 'CreateRelationTuple'),
    examples: [
      'ctl tuples create user:alice deployer project:web',
      'ctl tuples create group:ops viewer node:web-1 --project web --dry-run',
      'ctl tuples create service:ci deployer project:web --caveat within_hours',
    ],
    editsOf: createEdit,
    retyped: ({ args, flags }) => ({ args, flags: withProject(args[2], withCaveat(flags)) }),
  })
  const { 'caveat-context': _, ...flags } = command.flags ?? {}
  return { ...command, flags: { ...flags, caveat: CAVEAT } }
}

/** A tuple on a Project lies in that Project. */
function withProject(resource: string | undefined, flags: Given['flags']): Given['flags'] {
  const [type, name] = resource?.split(':') ?? []
  return type === 'project' && name !== undefined && flags['project'] === undefined
    ? { ...flags, project: name }
    : flags
}
