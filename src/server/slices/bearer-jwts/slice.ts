import type { LastUses } from '../../http/auth/last-uses.ts'
import type { Slice } from '../../http/slice.ts'
import { createBearerJwtResolver, type BearerJwtResolverDeps } from './bearer-jwt-resolver.ts'

export interface BearerJwtsPorts extends Omit<BearerJwtResolverDeps, 'workloadSignIns'> {
  /** When service identities last authenticated. */
  readonly serviceSignIns: Pick<LastUses, 'note'>
}

/** Bearer JWTs of identity providers that are bound to Domains. */
export function createSlice({ serviceSignIns, ...ports }: BearerJwtsPorts): Slice {
  return { handlers: {}, resolvers: [createBearerJwtResolver({ ...ports, workloadSignIns: serviceSignIns })] }
}
