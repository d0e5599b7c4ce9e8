import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { lentList } from '../clouds/lent-list.ts'
import { credentialNames } from '../clouds/names.ts'

/** The derived list; its table calls credentials by their names. */
export function list(manifest: Manifest): Command {
  return lentList(manifest, {
    operationId: 'ListCredentialAssignments',
    member: 'cloud_credential_id',
    column: 'credential',
    names: credentialNames,
  })
}
