import { spanOf } from '../../shared/bridges/subnet.ts'

const ADDRESS_BITS = 128n
const FAMILY_BITS = 1n

/**
 * A subnet of a bridge as a range in PostgreSQL's text form. Each resource has a stretch of the number line for each family,
 * so that two ranges overlap exactly where both are of one resource and of one family and have an address in common.
 */
export function subnetSpanOf(resourceId: string, subnet: string): string {
  const { family, first, last } = spanOf(subnet)
  const resource = BigInt(`0x${resourceId.replaceAll('-', '')}`)
  const stretch = ((resource << FAMILY_BITS) | (family === 4 ? 0n : 1n)) << ADDRESS_BITS
  return `[${stretch + first},${stretch + last}]`
}
