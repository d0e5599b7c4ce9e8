import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Page } from '../../../client/pages.ts'
import type { Command } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { noteList, readList } from '../../derive/lists.ts'
import { perform, rowMembers } from '../../derive/perform.ts'
import { isText } from '../../output/screen.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import { latestVersions, pinStatus, type LatestVersions } from './pin-status.ts'
import { isBundled, type Cloud } from './reading.ts'

/** Members that a table has beside those of the API. */
const OWN = ['mode', 'bundle', 'version', 'status']
const COLUMNS = ['slug', 'provider', ...OWN, 'id']
const WIDE = ['display_name', 'external_id', 'provider_config_api_version', 'provider_packages']

/** The derived list; its table also says where packages come from, and how far each Cloud is behind its bundle. */
export function list(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'ListClouds')
  return {
    ...derivedCommand(operation, manifest),
    description:
      'A table also shows the mode (inline: packages of its own; bundle), the pinned version and how far that is behind the latest one: unknown where you may not read the bundle. Other formats have the shape of the API.',
    examples: ['ctl clouds list', 'ctl clouds list --sort status', 'ctl clouds list -o json'],
    async run(session, given) {
      // Other formats need nothing but the list itself.
      if (session.shared.curl === true || !(await isText(session))) return perform(session, { operation }, given)
      const page = (await readList(session, operation, {})) as Page<Cloud> // What the contract says of 200.
      await session.emit(await withStatus(session, page), {
        columns: COLUMNS,
        wide: WIDE,
        members: [...OWN, ...(rowMembers(operation) ?? [])],
      })
      noteList(session, page)
    },
  }
}

async function withStatus(session: Session, page: Page<Cloud>): Promise<Page<unknown>> {
  const bundleIds = new Set(page.items.flatMap(({ provider_bundle_id: id }) => (id === undefined ? [] : [id])))
  const latest = await latestVersions(session, bundleIds)
  return { ...page, items: page.items.map((cloud) => ({ ...cloud, ...ownMembers(cloud, latest) })) }
}

function ownMembers(cloud: Cloud, latest: LatestVersions): object {
  if (!isBundled(cloud)) return { mode: 'inline' }
  const version = cloud.provider_bundle_version
  return {
    mode: 'bundle',
    bundle: cloud.provider_bundle_slug,
    version,
    status: pinStatus(version, latest.get(cloud.provider_bundle_id)),
  }
}
