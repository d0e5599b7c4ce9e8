import type { Provider } from '../provider.ts'
import { aws } from './aws.ts'
import { azure } from './azure.ts'
import { gcp } from './gcp.ts'
import { hetzner } from './hetzner.ts'
import { openstack } from './openstack.ts'

/** Every provider by its name in the API (decisions: Catalogue). */
export const PROVIDERS = { aws, azure, gcp, hetzner, openstack } as const satisfies {
  readonly [name: string]: Provider
}

export type ProviderName = keyof typeof PROVIDERS

/** The names, in the order of the API document. */
export const PROVIDER_NAMES = ['aws', 'azure', 'gcp', 'hetzner', 'openstack'] as const satisfies readonly ProviderName[]
