import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { cloudNames } from '../clouds/names.ts'
import { lentList } from '../clouds/lent-list.ts'

/** The derived list; its table calls Clouds by their slugs. */
export function list(manifest: Manifest): Command {
  return lentList(manifest, {
    operationId: 'ListCloudAssignments',
    member: 'cloud_id',
    column: 'cloud',
    names: cloudNames,
  })
}
