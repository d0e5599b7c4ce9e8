import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { Row } from '../../output/members.ts'
import type { Gateway } from '../gateway.ts'
import type { Kind } from '../kind.ts'
import { LABELS, picked, replaced, required, ruled, text, valuesOf } from './member-sets.ts'

const SHOWN = ['display_name', 'disabled']
const MEMBERS = ['display_name', 'disabled', 'spiffe_id', 'jwks']

/** Service identities, named by subject. The API shows neither keys nor SPIFFE IDs again: a file may set them at creation. */
export const serviceIdentity: Kind = {
  name: 'service-identity',
  nouns: ['service-identities'],
  omitted: {
    'keys and SPIFFE IDs of service identities': 'The API does not show them again; a file may set them at creation',
  },
  summary: 'A workload that calls the API',
  naming: { pattern: /^.{1,1024}$/su, describe: 'a subject such as build' },
  members: (manifest) => [
    ...valuesOf(manifest, 'CreateServiceIdentity', ['display_name']).map(required),
    ...valuesOf(manifest, 'UpdateServiceIdentity', ['disabled']),
    ...valuesOf(manifest, 'CreateServiceIdentity', ['spiffe_id', 'jwks']).map((member) => ruled(member, 'fixed')),
    LABELS,
  ],
  labels: 'serviceaccount',
  async read({ api, names }) {
    const rows = await api.all('ListIdentities', { id: names.domainId, reveal: 'true' })
    if (await areHidden(api, { domainId: names.domainId, rows })) throw hiddenNames(names.domainSlug)
    const shared = sharedHandles(rows)
    return rows.flatMap((row) => {
      const id = text(row, 'id')
      const handle = text(row, 'handle')
      const name = handle === '' || (!isService(row) && shared.has(handle)) ? id : handle
      names.add(isService(row) ? 'serviceaccount' : 'user', name, id)
      return isService(row) ? [{ kind: 'service-identity', name, id, members: picked(row, SHOWN), row }] : []
    })
  },
  async create(world, { document, managedBy }) {
    const { disabled, ...members } = picked(document.members, MEMBERS)
    const body = { subject: document.name, ...members, managed_by: managedBy }
    const input = { id: world.names.domainId }
    const row = await world.api.call('CreateServiceIdentity', { ...input, body })
    const principal_id = text(row, 'id')
    world.names.add('serviceaccount', document.name, principal_id)
    if (disabled === true) await world.api.call('UpdateServiceIdentity', { ...input, principal_id, body: { disabled } })
    return principal_id
  },
  async change({ api, names }, { live, changes }) {
    const body = replaced(changes, SHOWN)
    if (Object.keys(body).length > 0)
      await api.call('UpdateServiceIdentity', { id: names.domainId, principal_id: live.id, body })
  },
  async remove({ api, names }, { id }) {
    await api.call('DeleteServiceIdentity', { id: names.domainId, principal_id: id })
  },
  reread: ({ api, names }, { id }) => api.call('GetIdentity', { id: names.domainId, principal_id: id }),
  // Lists have no `updated_at`.
  revision: SHOWN,
}

/**
 * Whether the caller may not read names. A service identity always has one; people of an external identity provider may have none, so
 * that their rows alone do not say it.
 */
async function areHidden(
  api: Gateway,
  { domainId, rows }: { readonly domainId: string; readonly rows: readonly Row[] },
): Promise<boolean> {
  const [first] = rows
  if (first === undefined || rows.some((row) => row['handle'] !== undefined)) return false
  const detail = await api.call('GetIdentity', { id: domainId, principal_id: first['id'] })
  return detail['external_subject'] === undefined
}

function isService(row: Row): boolean {
  return row['kind'] === 'service-identity'
}

/**
 * Handles that several people have, such as an e-mail address from two identity providers. They name none of them: a file would give
 * the roles of one to another.
 */
function sharedHandles(rows: readonly Row[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const handles = rows.filter((row) => !isService(row)).map((row) => text(row, 'handle'))
  return new Set(handles.filter((handle) => seen.size === seen.add(handle).size))
}

function hiddenNames(domain: string): CliError {
  return new CliError(
    'files name people and service identities, and only auditors of the Domain may read these names',
    {
      exitCode: EXIT.denied,
      code: 'names_hidden',
      hints: [`An administrator gives the role: ctl grants create SUBJECT auditor domain:${domain}`],
    },
  )
}
