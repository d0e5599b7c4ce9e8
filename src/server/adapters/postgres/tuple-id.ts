import { createHash } from 'node:crypto'
import type { Tuple } from '../../ports/unit-of-work.ts'

/** Namespace of tuple ids; fixed forever, or every stored id would change. */
const NAMESPACE = Buffer.from('6f1d3c0a9b5e4e0f8a7c2d4b1e93f605', 'hex')

/**
 * The id of a tuple: UUIDv5 (RFC 9562 §5.5) over subject, relation, resource and caveat name, so that one binding has one
 * id forever (S0 RelationTuple). The parts are joined as JSON, which no choice of parts can make ambiguous.
 */
export function tupleId({ subject, relation, resource, caveatName = '' }: Tuple): string {
  const name = JSON.stringify([subject, relation, resource, caveatName])
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
