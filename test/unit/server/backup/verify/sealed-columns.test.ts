import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { placeOf as providerKeyPlace } from '../../../../../src/server/adapters/bundled-provider/signing-keys.ts'
import { placeOf as providerStatePlace } from '../../../../../src/server/adapters/bundled-provider/state-adapter.ts'
import { placeOf as secretVersionPlace } from '../../../../../src/server/adapters/sealed-secrets/sealed-secrets.ts'
import { placeOf as signingKeyPlace } from '../../../../../src/server/adapters/sealed-signer/sealed-keys.ts'
import { SEALED_COLUMNS } from '../../../../../src/server/backup/verify/sealed-columns.ts'
import type { SealedPlace } from '../../../../../src/server/ports/keyring.ts'
import { placeOf as heldCallPlace } from '../../../../../src/server/slices/approvals/held-calls.ts'
import { sealedSubjectOf } from '../../../../../src/server/slices/identities/add-service-identity.ts'
import { secretPlace } from '../../../../../src/server/slices/idp-bindings/binding.ts'
import { totpPlace } from '../../../../../src/server/slices/local-accounts/sign-in.ts'
import { idTokenPlace } from '../../../../../src/server/slices/sessions/sessions.ts'
import { placeOf as signInPlace } from '../../../../../src/server/slices/sign-in/attempt.ts'
import { placeOf as webhookKeyPlace } from '../../../../../src/server/slices/webhooks/signing.ts'
import { pskPlace } from '../../../../../src/server/sql/node-psk.ts'
import { EMBEDDED, useDatastore } from '../../../../support/datastores/stores.ts'

const inUse = useDatastore(EMBEDDED)

const ID = '01900000-0000-7000-8000-00000000abcd'
const HASH = Buffer.from('00ff7e', 'hex')

/** A row of each table, as far as the place depends on it, and the place of the code that seals. */
const ROWS: readonly { readonly place: SealedPlace; readonly row: string }[] = [
  { place: heldCallPlace(ID), row: `select '${ID}'::uuid as approval_id` },
  { place: secretPlace(ID), row: `select '${ID}'::uuid as id` },
  { place: totpPlace(ID), row: `select '${ID}'::uuid as id` },
  { place: pskPlace(ID), row: `select '${ID}'::uuid as id` },
  { place: sealedSubjectOf(ID), row: `select '${ID}'::uuid as id` },
  { place: providerKeyPlace('kid-1'), row: `select 'kid-1'::text as kid` },
  {
    place: providerStatePlace({ model: 'Grant', idHash: HASH }),
    row: `select 'Grant'::text as model, '\\x00ff7e'::bytea as id_hash`,
  },
  { place: secretVersionPlace('a/b', 12), row: `select 'a/b'::text as path, 12::integer as version` },
  { place: idTokenPlace(ID), row: `select '${ID}'::uuid as id` },
  { place: signInPlace(HASH), row: `select '\\x00ff7e'::bytea as state_hash` },
  { place: signingKeyPlace('kid-2'), row: `select 'kid-2'::text as kid` },
  { place: webhookKeyPlace(ID), row: `select '${ID}'::uuid as id` },
]

it('a verification opens a value in the place where the server seals it', async () => {
  const places: SealedPlace[] = []
  for (const [at, { table, column, rowId }] of SEALED_COLUMNS.entries()) {
    const { rows } = await sql<{ id: string }>`
      select ${sql.raw(rowId)} as id from (${sql.raw(ROWS[at]?.row ?? '')}) as stored`.execute(
      inUse.current().pool('bulk'),
    )
    places.push({ table, column, rowId: rows[0]?.id ?? '' })
  }
  expect(places).toEqual(ROWS.map(({ place }) => place))
})

it('every column that the keyring seals is opened by a verification', async () => {
  const { rows } = await sql<{ name: string }>`
    select relname || '.' || attname as name from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped
      and atttypid = 'bytea'::regtype and attname ~ '(^|_)sealed$' and relname <> 'keyring'
    order by relname, attname`.execute(inUse.current().pool('bulk'))
  expect(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`)).toEqual(rows.map(({ name }) => name))
})
