import type { Slice, SurfaceName } from '../http/slice.ts'
import { createSlice as audit } from '../slices/audit/slice.ts'
import { createSlice as authz } from '../slices/authz/slice.ts'
import { createSlice as bearerJwts } from '../slices/bearer-jwts/slice.ts'
import { createSlice as deviceFlow } from '../slices/device-flow/slice.ts'
import { createSlice as domains } from '../slices/domains/slice.ts'
import { createSlice as executions } from '../slices/executions/slice.ts'
import { createSlice as grants } from '../slices/grants/slice.ts'
import { createSlice as groups } from '../slices/groups/slice.ts'
import { createSlice as homePage } from '../slices/home-page/slice.ts'
import { createSlice as identities } from '../slices/identities/slice.ts'
import { createSlice as idpBindings } from '../slices/idp-bindings/slice.ts'
import { createSlice as invitations } from '../slices/invitations/slice.ts'
import { createSlice as joinTokens } from '../slices/join-tokens/slice.ts'
import { createSlice as localAccounts } from '../slices/local-accounts/slice.ts'
import { createSlice as mediatedSessions } from '../slices/mediated-sessions/slice.ts'
import { createSlice as meshKeys } from '../slices/mesh-keys/slice.ts'
import { createSlice as mesh } from '../slices/mesh/slice.ts'
import { createSlice as meta } from '../slices/meta/slice.ts'
import { createSlice as nodeEvents } from '../slices/node-events/slice.ts'
import { createSlice as nodeObservations } from '../slices/node-observations/slice.ts'
import { createSlice as nodeState } from '../slices/node-state/slice.ts'
import { createSlice as nodes } from '../slices/nodes/slice.ts'
import { createSlice as projects } from '../slices/projects/slice.ts'
import { createSlice as relationTuples } from '../slices/relation-tuples/slice.ts'
import { createSlice as resources } from '../slices/resources/slice.ts'
import { createSlice as sessions } from '../slices/sessions/slice.ts'
import { createSlice as signIn } from '../slices/sign-in/slice.ts'
import { createSlice as signingKeys } from '../slices/signing-keys/slice.ts'
import { createSlice as tokens } from '../slices/tokens/slice.ts'
import { createSlice as workloads } from '../slices/workloads/slice.ts'

/** Every slice of the server. Credentials are tried in this order: those of nodes arrive most often. */
const SLICES = [
  nodes,
  tokens,
  joinTokens,
  bearerJwts,
  sessions,
  audit,
  authz,
  deviceFlow,
  domains,
  executions,
  grants,
  groups,
  homePage,
  identities,
  idpBindings,
  invitations,
  localAccounts,
  mediatedSessions,
  meshKeys,
  mesh,
  meta,
  nodeEvents,
  nodeObservations,
  nodeState,
  projects,
  relationTuples,
  resources,
  signIn,
  signingKeys,
  workloads,
] as const

type Create = (typeof SLICES)[number]
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
  const creators = SLICES as readonly ((given: SlicePorts) => Slice<SurfaceName>)[]
  return creators.map((create) => create(ports))
}
