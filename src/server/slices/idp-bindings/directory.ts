import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import type { IdpBindings, WhereToSignIn } from '../../ports/idp-bindings.ts'
import type { Sealing } from '../../ports/keyring.ts'
import { secretPlace, toPort } from './binding.ts'
import * as store from './store.ts'

/** Creates the port through which a sign-in finds bindings. */
export function createBindingDirectory({ sealing }: { readonly sealing: Sealing }): IdpBindings {
  return {
    async choose(db, where) {
      const domainId = await domainMeant(db, where)
      // An unknown Domain is answered like one without bindings.
      const offered = domainId === undefined ? [] : await store.offeredBindings(db, domainId)
      const binding = chosenAmong(offered, where)
      if (domainId === undefined || binding === undefined) throw problem('idp_binding_not_found')
      return { domainId, binding: toPort(binding) }
    },

    async find(db, id) {
      const binding = await store.findBinding(db, id)
      return binding?.is_active === true && binding.signs_in ? toPort(binding) : undefined
    },

    async ofIssuer(db, origin) {
      return (await store.bindingsTaking(db, origin)).map(toPort)
    },

    async clientSecret(db, id) {
      const sealed = (await store.findBinding(db, id))?.client_secret_sealed ?? null
      return sealed === null ? undefined : (await sealing.open(secretPlace(id), sealed)).toString('utf8')
    },
  }
}

/** The named Domain; else that of the named binding; else the only one. @throws Problem `domain_required` */
async function domainMeant(db: Db, where: WhereToSignIn): Promise<string | undefined> {
  const { domain_id: id, domain: slug, idp_binding_id: bindingId } = where
  if (id === undefined && slug === undefined && bindingId !== undefined) {
    const binding = await store.findBinding(db, bindingId)
    if (binding === undefined) return undefined
    if (binding.domain_id !== null) return binding.domain_id
  }
  const [only, another] = await store.findDomainIds(db, { id, slug })
  // Ids and slugs are unique, so the caller named none. Strangers must not learn which Domains exist.
  if (another !== undefined) throw problem('domain_required')
  return only
}

type Offered = readonly store.BindingRecord[]

/** The binding by precedence: id, alias, primary, the only one (S0 Authentication surface). */
function chosenAmong(offered: Offered, where: WhereToSignIn): store.BindingRecord | undefined {
  const { idp_binding_id: id, idp_binding_alias: alias } = where
  if (id !== undefined) return offered.find((binding) => binding.id === id)
  if (alias !== undefined) return byAlias(offered, alias)
  const [first, second] = offered
  if (first !== undefined && second !== undefined && !first.is_primary) throw problem('multiple-bindings')
  return first
}

function byAlias(offered: Offered, alias: string): store.BindingRecord {
  const found = offered.find((binding) => binding.alias === alias)
  if (found === undefined) throw problem('alias-not-found')
  return found
}
