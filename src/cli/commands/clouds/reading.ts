import { rows, type Page } from '../../../client/pages.ts'
import type { CallInput } from '../../../client/client.ts'
import type { clouds } from '../../../shared/contract/clouds.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { providerBundles } from '../../../shared/contract/provider-bundles.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'

type CloudOperations = (typeof clouds)['operations']
type BundleOperations = (typeof providerBundles)['operations']

/** A Cloud as the API answers it. */
export type Cloud = Result<CloudOperations['GetCloud']>
/** A provider bundle as the API answers it. */
export type Bundle = Result<BundleOperations['GetProviderBundle']>
/** A Cloud in the roster of a bundle. */
export type CloudOfBundle = Result<BundleOperations['ListProviderBundleClouds']>['items'][number]

/** A Cloud that takes its packages from a bundle. */
export type BundledCloud = Cloud & {
  readonly provider_bundle_id: string
  readonly provider_bundle_slug: string
  readonly provider_bundle_version: number
}

/** Whether a Cloud takes its packages from a bundle. Otherwise it has packages of its own. */
export function isBundled(cloud: Cloud): cloud is BundledCloud {
  return cloud.provider_bundle_id !== undefined
}

/** Finds a Cloud by what was typed, and reads it as it is now. Throws what a look-up and a call throw. */
export async function namedCloud(session: Session, text: string): Promise<Cloud> {
  return readCloud(session, (await createResolver(session).object('clouds', text, {})).id)
}

/** Reads a Cloud. Throws `ProblemAnswer`. */
export async function readCloud(session: Session, id: string): Promise<Cloud> {
  const { value } = await (await session.caller()).call(session.operation('GetCloud'), { id })
  return value as Cloud // What the contract says of 200.
}

/** Finds a bundle by what was typed, and reads it as it is now. Throws what a look-up and a call throw. */
export async function namedBundle(session: Session, text: string): Promise<Bundle> {
  return readBundle(session, (await createResolver(session).object('bundles', text, {})).id)
}

/** Reads a bundle. Throws `ProblemAnswer`. */
export async function readBundle(session: Session, id: string): Promise<Bundle> {
  const { value } = await (await session.caller()).call(session.operation('GetProviderBundle'), { id })
  return value as Bundle // What the contract says of 200.
}

/** Reads a list row by row, to its end. Throws `ProblemAnswer`. */
export async function* rowsOfList<T>(session: Session, operationId: string, input: CallInput = {}): AsyncGenerator<T> {
  const caller = await session.caller()
  const operation = session.operation(operationId)
  // What the contract says of 200; the caller of this function names the type of its rows.
  const page = async (query: CallInput): Promise<Page<T>> => (await caller.call(operation, query)).value as Page<T>
  yield* rows(page, { ...input, limit: '200' })
}
