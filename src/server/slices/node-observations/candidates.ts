import { overlaps, spanOf } from '../../../shared/bridges/subnet.ts'
import { formatEndpoint } from '../../sql/endpoint-text.ts'
import { isLinkLocalHost, parseEndpoint } from './endpoint-address.ts'

/**
 * Reads the candidates of a report: `host:port` in one spelling, each once, in their order. Undefined where one is nothing that a
 * peer could send to: what is no endpoint, a link-local address, which needs a zone, and an address of the mesh, which would lead
 * into the tunnel itself.
 */
export function readCandidates(texts: readonly string[], meshCidr: string): readonly string[] | undefined {
  const read = texts.map((text) => readCandidate(text, meshCidr))
  const usable = read.filter((text) => text !== undefined)
  return usable.length < texts.length ? undefined : [...new Set(usable)]
}

function readCandidate(text: string, meshCidr: string): string | undefined {
  const address = parseEndpoint(text)
  if (address === undefined || isLinkLocalHost(address.host) || isInMesh(address.host, meshCidr)) return undefined
  return formatEndpoint(address.host, address.port)
}

function isInMesh(host: string, meshCidr: string): boolean {
  return overlaps(spanOf(`${host}/${host.includes(':') ? 128 : 32}`), spanOf(meshCidr))
}
