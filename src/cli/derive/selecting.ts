import type { Manifest, ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { selectableList } from '../argv/selector.ts'
import { isWords, membersOf, nounOf, type Member } from './members.ts'

/**
 * The member that takes several references of a noun whose objects can be selected by labels instead: the last argument,
 * or a list of what the command is about.
 */
export function selectableMember(operation: ManifestOperation, manifest: Manifest): Member | undefined {
  const last = (operation.cli?.args?.length ?? 0) - 1
  const several = membersOf(operation).find(
    ({ field, position, noun }) =>
      noun !== undefined && (position === undefined ? isWords(field) && noun === nounOf(operation) : position === last),
  )
  return selectableList(manifest, several?.noun) === undefined ? undefined : several
}
