import { createHash } from 'node:crypto'

/** Version of the document's form: a new form has other bytes for the same revisions. */
const FORM = 'v4'

/** What determines a state: equal values for a node mean equal bytes on every replica. */
export interface StateOf {
  readonly nodeId: string
  /** The version of its peers. */
  readonly peers: PeersVersion
  readonly node: number
}

/** The revision of the Domain's peers where a node sees all of them; else the digest of those that it sees. */
export type PeersVersion = number | string

/** The entity tag of a state (RFC 9110 §8.8.3). */
export function etagOf({ nodeId, peers, node }: StateOf): string {
  return `"${createHash('sha256').update(`${FORM}|${peers}|${node}|${nodeId}`).digest('base64url')}"`
}

/** Whether `If-None-Match` names the tag, compared weakly (RFC 9110 §13.1.2). */
export function isNamed(etag: string, ifNoneMatch: string): boolean {
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
