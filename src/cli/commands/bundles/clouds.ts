import type { Page } from '../../../client/pages.ts'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { noteList, readList } from '../../derive/lists.ts'
import { perform, rowMembers } from '../../derive/perform.ts'
import { usageError } from '../../errors/cli-error.ts'
import { isText } from '../../output/screen.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { pinStatus } from '../clouds/pin-status.ts'
import { namedBundle, type CloudOfBundle } from '../clouds/reading.ts'

const OWN = ['version', 'status']
const COLUMNS = ['slug', ...OWN, 'display_name', 'cloud_id']

/** The derived roster of one bundle; its table also says how far each Cloud is behind. */
export function clouds(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'ListProviderBundleClouds')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    args: (derived.args ?? []).map((argument) => ({ ...argument, many: false })),
    examples: ['ctl bundles clouds hetzner-base'],
    async run(session, given) {
      if (session.shared.curl === true || !(await isText(session))) return perform(session, { operation }, given)
      const [text] = given.args
      if (text === undefined) throw usageError('<bundle> is missing', 'See: ctl bundles clouds --help')
      const { id, latest_version: latest } = await namedBundle(session, text)
      const page = (await readList(session, operation, { id })) as Page<CloudOfBundle> // What the contract says of 200.
      const items = page.items.map((cloud) => ({
        ...cloud,
        version: cloud.provider_bundle_version,
        status: pinStatus(cloud.provider_bundle_version, latest),
      }))
      await session.emit({ ...page, items }, { columns: COLUMNS, members: [...OWN, ...(rowMembers(operation) ?? [])] })
      noteList(session, page)
    },
  }
}
