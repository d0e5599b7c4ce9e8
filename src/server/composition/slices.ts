import type { Slice, SurfaceName } from '../http/slice.ts'
import * as approvals from '../slices/approvals/slice.ts'
import * as artifacts from '../slices/artifacts/slice.ts'
import * as audit from '../slices/audit/slice.ts'
import * as authz from '../slices/authz/slice.ts'
import * as bearerJwts from '../slices/bearer-jwts/slice.ts'
import * as bridge from '../slices/bridge/slice.ts'
import * as capacity from '../slices/capacity/slice.ts'
import * as cloudCredentials from '../slices/cloud-credentials/slice.ts'
import * as clouds from '../slices/clouds/slice.ts'
import * as console from '../slices/console/slice.ts'
import * as deviceFlow from '../slices/device-flow/slice.ts'
import * as domainEvents from '../slices/domain-events/slice.ts'
import * as domains from '../slices/domains/slice.ts'
import * as executions from '../slices/executions/slice.ts'
import * as grants from '../slices/grants/slice.ts'
import * as groups from '../slices/groups/slice.ts'
import * as homePage from '../slices/home-page/slice.ts'
import * as identities from '../slices/identities/slice.ts'
import * as idpBindings from '../slices/idp-bindings/slice.ts'
import * as integrity from '../slices/integrity/slice.ts'
import * as invitations from '../slices/invitations/slice.ts'
import * as joinTokens from '../slices/join-tokens/slice.ts'
import * as labels from '../slices/labels/slice.ts'
import * as lending from '../slices/lending/slice.ts'
import * as localAccounts from '../slices/local-accounts/slice.ts'
import * as mediatedSessions from '../slices/mediated-sessions/slice.ts'
import * as meshKeys from '../slices/mesh-keys/slice.ts'
import * as mesh from '../slices/mesh/slice.ts'
import * as meta from '../slices/meta/slice.ts'
import * as nodeEvents from '../slices/node-events/slice.ts'
import * as nodeObservations from '../slices/node-observations/slice.ts'
import * as nodeSecrets from '../slices/node-secrets/slice.ts'
import * as nodeState from '../slices/node-state/slice.ts'
import * as nodes from '../slices/nodes/slice.ts'
import * as objectSearch from '../slices/object-search/slice.ts'
import * as policies from '../slices/policies/slice.ts'
import * as projects from '../slices/projects/slice.ts'
import * as providerBundles from '../slices/provider-bundles/slice.ts'
import * as relationTuples from '../slices/relation-tuples/slice.ts'
import * as resources from '../slices/resources/slice.ts'
import * as rollouts from '../slices/rollouts/slice.ts'
import * as secrets from '../slices/secrets/slice.ts'
import * as sessions from '../slices/sessions/slice.ts'
import * as signIn from '../slices/sign-in/slice.ts'
import * as signingKeys from '../slices/signing-keys/slice.ts'
import * as tokens from '../slices/tokens/slice.ts'
import * as webhooks from '../slices/webhooks/slice.ts'
import * as workloads from '../slices/workloads/slice.ts'
import type { SliceModule } from './slice-module.ts'

/** Every slice of the server. Credentials are tried in this order: those of nodes arrive most often. */
export const SLICES = [
  nodes,
  tokens,
  joinTokens,
  bearerJwts,
  sessions,
  approvals,
  artifacts,
  audit,
  authz,
  bridge,
  capacity,
  cloudCredentials,
  clouds,
  console,
  deviceFlow,
  domainEvents,
  domains,
  executions,
  grants,
  groups,
  homePage,
  identities,
  idpBindings,
  integrity,
  invitations,
  labels,
  lending,
  localAccounts,
  mediatedSessions,
  meshKeys,
  mesh,
  meta,
  nodeEvents,
  nodeObservations,
  nodeSecrets,
  nodeState,
  objectSearch,
  policies,
  projects,
  providerBundles,
  relationTuples,
  resources,
  rollouts,
  secrets,
  signIn,
  signingKeys,
  webhooks,
  workloads,
] as const satisfies readonly SliceModule[]

type Create = (typeof SLICES)[number]['createSlice']
type Intersection<Union> = (Union extends unknown ? (value: Union) => void : never) extends (value: infer All) => void
  ? All
  : never
type NamesOf<S> = S extends Slice<infer Name> ? Name : never
type Unserved = Exclude<SurfaceName, NamesOf<ReturnType<Create>>>

/** What all slices ask for, by name. A surface that no slice serves is a compile error that names it. */
export type SlicePorts = [Unserved] extends [never]
  ? Intersection<Parameters<Create>[0]>
  : { readonly [Name in Unserved]: 'no slice serves this surface' }

/** Creates every slice over the ports. */
export function createSlices(ports: SlicePorts): readonly Slice<SurfaceName>[] {
  // `SlicePorts` is what each of them asks for; a loop over functions of different parameters cannot say so.
  const modules = SLICES as readonly { readonly createSlice: (given: SlicePorts) => Slice<SurfaceName> }[]
  return modules.map(({ createSlice }) => createSlice(ports))
}
