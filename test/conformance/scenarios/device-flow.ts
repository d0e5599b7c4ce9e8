import type { deviceFlow } from '../../../src/shared/contract/device-flow.ts'
import type { Scenarios } from '../scenario.ts'
import { exchange, signed } from '../wire.ts'
import type { World } from '../world.ts'

export const deviceFlowScenarios: Scenarios<World, typeof deviceFlow> = {
  async PostAuthDeviceCode(world) {
    return { input: { body: { ...(await place(world)), client_name: 'conformance', scope: 'audit:read' } } }
  },
  async PostAuthDeviceToken(world) {
    const { device_code: deviceCode, user_code: userCode } = await begun(world)
    const session = await world.signedIn()
    await post(world, { path: '/v1/auth/device/approve', body: { user_code: userCode }, as: session })
    return { input: { body: { device_code: deviceCode } } }
  },
  async PostAuthDeviceApprove(world) {
    const { user_code: userCode } = await begun(world)
    return { input: { body: { user_code: userCode } }, as: await world.signedIn() }
  },
  async PostAuthDeviceDeny(world) {
    const { user_code: userCode } = await begun(world)
    return { input: { body: { user_code: userCode } }, as: await world.signedIn() }
  },
}

const places = new WeakMap<World, Promise<{ readonly idp_binding_id: string }>>()

/** A binding of the world's Domain, made once: a Domain takes 50 of them. */
function place(world: World): Promise<{ readonly idp_binding_id: string }> {
  const known = places.get(world) ?? makePlace(world)
  places.set(world, known)
  return known
}

async function makePlace({ make, name, domainId }: World): Promise<{ readonly idp_binding_id: string }> {
  const body = { alias: name(), label: 'An issuer', issuer: 'https://127.0.0.1:1', client_id: name() }
  const { id } = await make('PostAdminIdP', { domain_id: domainId, body })
  return { idp_binding_id: id }
}

async function begun(world: World): Promise<{ readonly device_code: string; readonly user_code: string }> {
  const answer = await post(world, { path: '/v1/auth/device-code', body: await place(world) })
  return { device_code: String(answer['device_code']), user_code: String(answer['user_code']) }
}

interface Posting {
  readonly path: string
  readonly body: object
  readonly as?: string
}

async function post({ url }: World, { path, body, as }: Posting): Promise<Readonly<Record<string, unknown>>> {
  const headers = { 'content-type': 'application/json' }
  const { status, json, text } = await exchange(
    url,
    signed({ method: 'POST', path, headers, body: JSON.stringify(body) }, as),
  )
  if (status !== 200 || json === undefined) throw new Error(`${path} answered ${status} ${text}`)
  return json
}
