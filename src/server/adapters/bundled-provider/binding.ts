import type { Insertable } from 'kysely'
import type { IdSource } from '../../ports/clock.ts'
import type { Db } from '../../ports/datastore.ts'
import type { IdpBindingRow } from '../../ports/tables/sign-in.ts'
import { lockProvider } from './locks.ts'
import { issuerOf, CLIENT_ID } from './relying-party.ts'

export interface BindingDeps {
  readonly ids: IdSource
  readonly at: Date
}

const ALIAS = 'local'
/** The alias where an operator uses the first one for another provider. */
const OTHER_ALIAS = 'local-accounts'

/**
 * Creates the binding of the bundled provider, or updates the existing one: its issuer follows the base URL, and it
 * is active as long as the provider is on. Members that an operator may choose, such as the label, stay.
 */
export async function bindProvider(db: Db, baseUrl: string, { ids, at }: BindingDeps): Promise<void> {
  await lockProvider(db)
  const technical = technicalOf(baseUrl)
  const bound = await findBundled(db)
  if (bound !== undefined) {
    if (bound.is_active && bound.issuer === technical.issuer) return
    await db
      .updateTable('idp_bindings')
      .set({ ...technical, updated_at: at })
      .where('id', '=', bound.id)
      .execute()
    return
  }
  await db
    .insertInto('idp_bindings')
    .values({ ...technical, ...CHOSEN, id: ids.next(), alias: await freeAlias(db), created_at: at, updated_at: at })
    .execute()
}

/** Nobody signs in with the binding until the provider is on again. */
export async function unbindProvider(db: Db, at: Date): Promise<void> {
  await db
    .updateTable('idp_bindings')
    .set({ is_active: false, updated_at: at })
    .where('is_bundled', '=', true)
    .where('is_active', '=', true)
    .execute()
}

function findBundled(db: Db) {
  return db
    .selectFrom('idp_bindings')
    .select(['id', 'issuer', 'is_active'])
    .where('is_bundled', '=', true)
    .executeTakeFirst()
}

async function freeAlias(db: Db): Promise<string> {
  const taken = await db
    .selectFrom('idp_bindings')
    .select('id')
    .where('domain_id', 'is', null)
    .where('alias', '=', ALIAS)
    .executeTakeFirst()
  return taken === undefined ? ALIAS : OTHER_ALIAS
}

const CHOSEN = {
  domain_id: null,
  label: 'Local account',
  required_acr: '[]',
  required_amr: '[]',
  is_primary: false,
  is_bundled: true,
  auto_provision: 'null',
  api_audience: null,
} satisfies Partial<Insertable<IdpBindingRow>>

function technicalOf(baseUrl: string) {
  return {
    issuer: issuerOf(baseUrl),
    client_id: CLIENT_ID,
    client_secret_sealed: null,
    algorithms: JSON.stringify(['ES256']),
    claims: JSON.stringify({ subject: 'sub', email: 'email', name: 'name', groups: null, domain: 'domain' }),
    is_active: true,
    // It is this server itself, whatever its address.
    allow_private_network: true,
  } satisfies Partial<Insertable<IdpBindingRow>>
}
