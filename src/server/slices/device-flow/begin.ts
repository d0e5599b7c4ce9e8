import { randomBytes } from 'node:crypto'
import { problem } from '../../../shared/problems.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Db } from '../../ports/datastore.ts'
import type { IdpBindings, SignInPlace, WhereToSignIn } from '../../ports/idp-bindings.ts'
import { INTERVAL_SECONDS, LIFETIME_SECONDS, TOKEN_LIFETIME_SECONDS } from './device-sign-in.ts'
import { hashOf } from './poll.ts'
import * as store from './store.ts'
import { mintUserCode, showUserCode } from './user-code.ts'

/** Devices that may wait in one Domain, and of those begun at one address. */
export const WAITING_IN_DOMAIN_MAX = 2000
export const WAITING_AT_ADDRESS_MAX = 200

/** Codes that are tried; a collision of all of them does not happen in practice. */
const CODES_TRIED = 4

const DEFAULT_CLIENT = 'ctl'

export interface BeginDeps {
  readonly bindings: Pick<IdpBindings, 'choose'>
  readonly ids: IdSource
  /** Where people reach this server, without a slash at its end. */
  readonly baseUrl: string
  /** The requested scopes, `*` by default. @throws Problem `invalid_scope` */
  readonly requireScopes: (asked: readonly string[] | undefined) => string[]
}

/** What a device requests, and its address. */
export interface BeginOrder extends SignInPlace {
  readonly request: WhereToSignIn & {
    readonly client_id?: string | undefined
    readonly client_name?: string | undefined
    readonly scope?: string | undefined
    readonly acr_values?: string | undefined
    readonly max_age?: number | undefined
    readonly token_expires_in_seconds?: number | undefined
  }
  readonly sourceAddress: string
  readonly nowMs: number
}

/**
 * Begins a device sign-in; its device code leaves the server with this answer and is stored nowhere.
 *
 * @throws Problem `invalid_scope`, `idp_binding_not_found` when the Domain was just deleted, `device_flow_exhausted`
 */
export async function begin(deps: BeginDeps, tx: Db, order: BeginOrder) {
  const { domainId, sourceAddress, nowMs } = order
  const scopes = deps.requireScopes(scopesIn(order.request.scope))
  if (!(await store.lockDomain(tx, domainId))) throw problem('idp_binding_not_found')
  const { inDomain, atAddress } = await store.countWaiting(tx, { domainId, sourceAddress, now: new Date(nowMs) })
  if (inDomain >= WAITING_IN_DOMAIN_MAX || atAddress >= WAITING_AT_ADDRESS_MAX) throw problem('device_flow_exhausted')
  const deviceCode = randomBytes(32).toString('base64url')
  const userCode = await insert(tx, draftOf(deps, { ...order, scopes, deviceCode }))
  return { device_code: deviceCode, ...invitationOf(deps, order.request, userCode) }
}

const SCOPE = /^(\*|[a-z-]+:(read|write))$/

/** The scopes of RFC 6749 §3.3; undefined where none is named. */
function scopesIn(text: string | undefined): readonly string[] | undefined {
  const scopes = text?.split(/\s+/).filter((scope) => scope !== '')
  if (scopes === undefined || scopes.length === 0) return undefined
  if (!scopes.every((scope) => SCOPE.test(scope))) throw problem('invalid_scope')
  return scopes
}

interface Drafting extends BeginOrder {
  readonly scopes: string[]
  readonly deviceCode: string
}

type Draft = Omit<store.DeviceSignInDraft, 'user_code'>

function draftOf({ ids }: BeginDeps, { request, nowMs, ...order }: Drafting): Draft {
  return {
    id: ids.next(),
    device_code_hash: hashOf(order.deviceCode),
    domain_id: order.domainId,
    binding_id: order.binding.id,
    client_id: request.client_id ?? DEFAULT_CLIENT,
    client_name: request.client_name ?? null,
    acr_values: request.acr_values?.split(' ') ?? [],
    max_age_seconds: request.max_age ?? null,
    token_seconds: request.token_expires_in_seconds ?? TOKEN_LIFETIME_SECONDS,
    scopes: order.scopes,
    source_address: order.sourceAddress,
    interval_seconds: INTERVAL_SECONDS,
    created_at: new Date(nowMs),
    expires_at: new Date(nowMs + LIFETIME_SECONDS * 1000),
  }
}

/** Resolves with the user code. */
async function insert(tx: Db, draft: Draft): Promise<string> {
  for (let tried = 0; tried < CODES_TRIED; tried += 1) {
    const userCode = mintUserCode()
    if (await store.insertPending(tx, { ...draft, user_code: userCode })) return userCode
  }
  throw problem('device_flow_exhausted')
}

const REPEATED = ['domain_id', 'domain', 'idp_binding_id', 'idp_binding_alias', 'acr_values', 'max_age'] as const

/**
 * What the device shows. The address with everything in it repeats the place and the sign-in that the device named, so that
 * the page knows where and how to sign in before it may look the code up.
 */
function invitationOf({ baseUrl }: BeginDeps, request: BeginOrder['request'], userCode: string) {
  const code = showUserCode(userCode)
  const query = new URLSearchParams({ user_code: code })
  for (const name of REPEATED) {
    const value = request[name]
    if (value !== undefined) query.set(name, String(value))
  }
  return {
    user_code: code,
    verification_uri: `${baseUrl}/v1/device`,
    verification_uri_complete: `${baseUrl}/v1/device?${query.toString()}`,
    expires_in: LIFETIME_SECONDS,
    interval: INTERVAL_SECONDS,
  }
}
