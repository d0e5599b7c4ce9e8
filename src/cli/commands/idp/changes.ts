import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { perform } from '../../derive/perform.ts'
import { bindingCommand, bindingPlan } from './place.ts'

export const updateBinding = (manifest: Manifest): Command => changing(manifest, 'PatchAdminIdPByID')
export const deleteBinding = (manifest: Manifest): Command => changing(manifest, 'DeleteAdminIdPByID')

function changing(manifest: Manifest, operationId: string): Command {
  return bindingCommand(manifest, operationId, (session, given) =>
    perform(session, bindingPlan(session, operationId, given), given),
  )
}
