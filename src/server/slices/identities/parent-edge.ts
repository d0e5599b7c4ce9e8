import type { Tuple, TuplePlace } from '../../ports/unit-of-work.ts'

/** The edge that puts a principal into its Domain. */
export function parentEdgeOf(reference: string, domainId: string): { tuple: Tuple; place: TuplePlace } {
  return {
    tuple: { subject: `domain:${domainId}`, relation: 'domain', resource: reference },
    place: { domainId, projectId: null },
  }
}
