import type { signIn } from '../../../src/shared/contract/sign-in.ts'
import type { Scenarios } from '../scenario.ts'
import { exchange } from '../wire.ts'
import type { World } from '../world.ts'

/** Scenarios of both ends of a sign-in. Each has a Domain and a binding of its own. */
export const signInScenarios: Pick<Scenarios<World, typeof signIn>, 'PostAuthSignIn' | 'GetAuthCallback'> = {
  async PostAuthSignIn(world) {
    const where = await makeBinding(world)
    return { input: { body: { ...where, return_to: '/v1/device' } }, domainId: where.domain_id }
  },
  async GetAuthCallback(world) {
    const where = await makeBinding(world)
    const wire = { method: 'POST', path: '/v1/auth/sign-in', headers: { 'content-type': 'application/json' } }
    const begun = await exchange(world.url, { ...wire, body: JSON.stringify(where) })
    const [cookie = ''] = begun.headers['set-cookie']?.[0]?.split(';') ?? []
    const asked = await fetch(String(begun.json?.['authorization_url']), { redirect: 'manual' })
    const { searchParams } = new URL(asked.headers.get('location') ?? '')
    const [code, state] = [searchParams.get('code') ?? '', searchParams.get('state') ?? '']
    return { input: { code, state }, cookie, domainId: where.domain_id }
  },
}

/** A Domain of its own with a binding to the world's issuer, which lets whoever comes in. */
async function makeBinding({ make, name, issuer }: World) {
  const { id } = await make('CreateDomain', { body: { slug: name(), display_name: 'Signed in to' } })
  issuer.forgery = { claims: { sub: name(), name: 'A person', email: `${name()}@acme.example`, groups: ['staff'] } }
  await make('PostAdminIdP', {
    domain_id: id,
    body: {
      alias: name(),
      label: 'An issuer',
      issuer: issuer.url,
      client_id: name(),
      allow_private_network: true,
      claims: { groups: 'groups' },
      auto_provision: { groups: ['staff'] },
    },
  })
  return { domain_id: id }
}
