import type { Violation } from '../api/operations.ts'
import { counted } from './format.ts'

const KINDS: Readonly<Record<Violation['kind'], string>> = { binary: 'Binary', hook: 'Hook', host_key: 'SSH host key' }

export const kindText = (kind: Violation['kind']): string => KINDS[kind]

/** `Binary /usr/bin/agent on web-1`. */
export function violationText({ kind, artifact, node_name: node }: Violation): string {
  return `${[kindText(kind), artifact].filter((part) => part !== undefined).join(' ')} on ${node ?? 'a node that left'}`
}

/** One cause of violations: an artifact that nodes of the Domain report. */
export interface Cause {
  readonly artifactId: string
  /** `Binary /usr/bin/agent, 12 nodes`. */
  readonly text: string
}

/** The causes of violations, the one on the most nodes first. */
export function causesOf(violations: readonly Violation[]): readonly Cause[] {
  const artifacts = new Set(violations.map(({ artifact_id: id }) => id))
  return [...artifacts]
    .map((artifactId) => ({ artifactId, ofOne: violations.filter(({ artifact_id: id }) => id === artifactId) }))
    .map((cause) => ({ ...cause, nodes: new Set(cause.ofOne.map(({ node_id: id }) => id)).size }))
    .toSorted((a, b) => b.nodes - a.nodes)
    .map(({ artifactId, ofOne, nodes }) => ({ artifactId, text: `${whatOf(ofOne[0])}, ${counted(nodes, 'node')}` }))
}

const whatOf = (violation: Violation | undefined): string =>
  violation === undefined ? '' : `${kindText(violation.kind)} ${violation.artifact ?? ''}`.trim()
