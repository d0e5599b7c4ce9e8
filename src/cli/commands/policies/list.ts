import type { Page } from '../../../client/pages.ts'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { targetsOf } from '../../derive/input.ts'
import { noteList, readList } from '../../derive/lists.ts'
import { perform, viewOf } from '../../derive/perform.ts'
import { isText } from '../../output/screen.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Policy } from './answers.ts'

/** The derived list; its table leaves the Domain out of keys, which bare keys mean anyway. */
export function list(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'ListPolicies')
  return {
    ...derivedCommand(operation, manifest),
    examples: ['ctl policies list', 'ctl policies list --domain acme -o name'],
    async run(session, given) {
      if (session.shared.curl === true || !(await isText(session))) return perform(session, { operation }, given)
      const [target] = await targetsOf(session, { operation }, given)
      const page = (await readList(session, operation, target?.input ?? {})) as Page<Policy> // What the contract says of 200.
      await session.emit({ ...page, items: page.items.map(withBareKeys) }, viewOf(operation))
      noteList(session, page)
    },
  }
}

function withBareKeys(policy: Policy): Policy {
  return { ...policy, selector: policy.selector.replaceAll(`domain:${policy.domain_id}/`, '') }
}
